// Any request to the whole program: method and target in the first line, header fields up to an
// empty one, the body behind it. Tenant and token are given where no field names them. It is
// answered, never with a fault of ours, and what is said to be JSON is.
#include "world.h"

#include "http/head.h"

enum { ANSWER_MAX = 4 << 20 };

static void stream_read(Reply *reply)
{
    static char piece[32 * 1024];
    ptrdiff_t len = 0;
    size_t total = 0;

    do {
        len = reply->stream(reply->stream_context, piece, sizeof piece);
        HOLDS(len <= (ptrdiff_t)sizeof piece);
        total += len > 0 ? (size_t)len : 0;
    } while (len > 0 && total < ANSWER_MAX);
}

// FOLIO answers 500 to some mistakes of clients, in words of its own; these are ours.
static bool is_our_fault(const Reply *reply)
{
    static const char *const ours[] = {"Internal error of the database", "Internal Server Error",
                                       "The disk ", "could not be written"};

    for (size_t i = 0; reply->status == 500 && i < sizeof ours / sizeof *ours; i++) {
        if (str_find(reply->body, str_of(ours[i]), 0) >= 0) {
            fprintf(stderr, "500: " STR_FMT "\n", STR_ARG(reply->body));
            return true;
        }
    }
    return false;
}

static void answer_look_at(Req *req)
{
    Reply *reply = &req->reply;
    Json *json = NULL;

    HOLDS(reply->status >= 200 && reply->status < 600);
    HOLDS(!is_our_fault(reply));
    if (reply->stream) {
        stream_read(reply);
    } else if (reply->content_type &&
               str_starts(str_of(reply->content_type), S("application/json")) && reply->body.len) {
        HOLDS(!json_parse(reply->body, &json));
    }
    if (reply->stream_end) {
        reply->stream_end(reply->stream_context);
    }
}

static void headers_read(Req *req, Str *text)
{
    bool has_tenant = false, has_token = false;
    Str line;

    while ((line = line_take(text)).len) {
        ptrdiff_t colon = str_find_char(line, ':', 0);
        if (colon > 0) {
            Str name = str_sub(line, 0, (size_t)colon);
            name_values_add(&req->headers, name,
                            str_trim(str_sub(line, (size_t)colon + 1, line.len)));
            has_tenant = has_tenant || str_eq_nocase(name, S("x-okapi-tenant"));
            has_token = has_token || str_eq_nocase(name, S("x-okapi-token"));
        }
    }
    if (!has_tenant) {
        name_values_add(&req->headers, S("x-okapi-tenant"), S(TENANT));
    }
    if (!has_token) {
        name_values_add(&req->headers, S("x-okapi-token"), world.token);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Arena *arena;
    Str text = {(const char *)data, size}, line, method = {"", 0};

    world_begin();
    arena = arena ? arena : arena_new((size_t)64 << 20);
    Arena *before = arena_use(arena);
    Req *req = NEW(Req);
    *req = (Req){.arena = arena, .now = time_now(), .begun_ns = clock_ns(), .body = S("")};
    line = line_take(&text);
    (void)str_next(&line, ' ', &method);
    bool is_request = method_of(method, &req->method) &&
                      !head_of_target(line, &req->path, &req->query_text).status &&
                      form_parse(req->query_text, &req->query);
    if (is_request) {
        req->target = line;
        headers_read(req, &text);
        req->body = text;
        req->has_body = text.len > 0;
        if (head_of_headers(&req->headers).status) {
            is_request = false;
        }
    }
    if (is_request) {
        gateway_handle(req, &world.app);
        answer_look_at(req);
    }
    arena_use(before);
    arena_reset(arena);
    return 0;
}
