// The lab's collector: walks protocol buffers just far enough to count spans.
#include "otlp_sink.h"

#include "http/http.h"

#include <stdatomic.h>

enum {
    SINK_ARENA_MAX = 1 << 16,
    GRACE_S = 2,
    BODY_MAX = 8 << 20,
};

struct OtlpSink {
    Arena *arena;
    HttpServer *server;
    Str url;
    _Atomic uint64_t calls, bytes, spans, broken;
};

static bool varint_take(Str *from, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && from->len; shift += 7) {
        unsigned char byte = (unsigned char)from->at[0];
        *from = str_sub(*from, 1, from->len);
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return true;
        }
    }
    return false;
}

// The next field; its text if it is a message or a string. False at the end and for what is none.
static bool field_take(Str *from, uint64_t *field, Str *text)
{
    uint64_t key = 0, value = 0;

    *text = (Str){0};
    if (!from->len || !varint_take(from, &key)) {
        return false;
    }
    *field = key >> 3;
    switch (key & 7) {
    case 0:
        return varint_take(from, &value);
    case 1:
        value = 8;
        break;
    case 2:
        if (!varint_take(from, &value)) {
            return false;
        }
        break;
    case 5:
        value = 4;
        break;
    default:
        return false;
    }
    if (value > from->len) {
        return false;
    }
    *text = str_sub(*from, 0, (size_t)value);
    *from = str_sub(*from, (size_t)value, from->len);
    return true;
}

// Messages at the end of a path of fields, each level inside the one before.
static bool count_at(Str message, const int *path, size_t depth, uint64_t *count)
{
    uint64_t field = 0;
    Str text;

    while (message.len) {
        if (!field_take(&message, &field, &text)) {
            return false;
        }
        if (field != (uint64_t)path[0]) {
            continue;
        }
        if (depth == 1) {
            ++*count;
        } else if (!count_at(text, path + 1, depth - 1, count)) {
            return false;
        }
    }
    return true;
}

static void sink_handle(Req *req, void *context)
{
    static const int spans_path[] = {1, 2, 2}; // resource_spans, scope_spans, spans
    OtlpSink *sink = context;
    uint64_t spans = 0;

    sink->calls++;
    sink->bytes += req->body.len;
    bool is_traces = str_eq(req->path, S("/v1/traces"));
    if (!count_at(req->body, spans_path, sizeof spans_path / sizeof *spans_path, &spans)) {
        sink->broken++;
        (void)reply_text(req, 400, S("not OTLP"));
        return;
    }
    sink->spans += is_traces ? spans : 0;
    (void)reply_body(req, 200, "application/x-protobuf", S(""));
}

Err *otlp_sink_start(OtlpSink **out)
{
    Arena *arena = arena_new(SINK_ARENA_MAX), *former;
    OtlpSink *sink = arena_alloc(arena, sizeof *sink);
    HttpOptions options = {
        .listen = S("127.0.0.1:0"), .handle = sink_handle, .context = sink, .body_max = BODY_MAX};

    sink->arena = arena;
    Err *err = http_start(&options, &sink->server);
    if (err) {
        arena_free(arena);
        return err;
    }
    former = arena_use(arena);
    sink->url = str_fmt("http://127.0.0.1:%d", http_port(sink->server));
    arena_use(former);
    *out = sink;
    return NULL;
}

Str otlp_sink_url(const OtlpSink *sink)
{
    return sink->url;
}

OtlpSinkFigures otlp_sink_figures(const OtlpSink *sink)
{
    return (OtlpSinkFigures){sink->calls, sink->bytes, sink->spans, sink->broken};
}

void otlp_sink_stop(OtlpSink *sink)
{
    http_stop(sink->server, GRACE_S);
    arena_free(sink->arena);
}
