// Answers: what a handler calls to fill req->reply.
#include "http/http.h"

#include <string.h>

static const char json_type[] = "application/json";
static const char text_type[] = "text/plain";

static Err *reply_set(Req *req, int status, const char *content_type, Str body)
{
    if (arena_is_over_limit(req->arena)) {
        return err_text(413, "The answer needs more memory than one request may take");
    }
    req->reply.status = status;
    req->reply.content_type = content_type;
    req->reply.body = body;
    return NULL;
}

Err *reply_json(Req *req, int status, const Json *json)
{
    return reply_set(req, status, json_type, json_text(json));
}

Err *reply_json_text(Req *req, int status, Str text)
{
    return reply_set(req, status, json_type, text);
}

Err *reply_text(Req *req, int status, Str text)
{
    return reply_set(req, status, text_type, text);
}

Err *reply_empty(Req *req, int status)
{
    return reply_set(req, status, NULL, S(""));
}

Err *reply_body(Req *req, int status, const char *content_type, Str body)
{
    return reply_set(req, status, content_type, body);
}

Err *reply_stream(Req *req, int status, const char *content_type, StreamRead read,
                  void (*end)(void *), void *context)
{
    req->reply.status = status;
    req->reply.content_type = content_type;
    req->reply.stream = read;
    req->reply.stream_end = end;
    req->reply.stream_context = context;
    return NULL;
}

ptrdiff_t stream_text_read(void *context, char *to, size_t max)
{
    StreamText *stream = context;

    while (stream->sent == stream->text.len) {
        if (stream->is_ended) {
            return 0;
        }
        buf_clear(&stream->text);
        stream->sent = 0;
        if (stream->more(stream) || stream->text.overflowed) {
            return -1;
        }
    }
    size_t n = stream->text.len - stream->sent;
    n = n < max ? n : max;
    memcpy(to, stream->text.at + stream->sent, n);
    stream->sent += n;
    return (ptrdiff_t)n;
}

void reply_header(Req *req, const char *name, Str value)
{
    name_values_add(&req->reply.headers, str_of(name), value);
}

void reply_err(Req *req, const Err *err)
{
    // A stream that was begun still has to be ended.
    if (req->reply.stream_end) {
        req->reply.stream_end(req->reply.stream_context);
    }
    req->reply = (Reply){.status = err->status};
    if (err->is_json) {
        req->reply.content_type = json_type;
        req->reply.body = json_err_text(err);
    } else {
        req->reply.content_type = text_type;
        req->reply.body = err->message;
    }
}
