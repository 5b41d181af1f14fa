// Takes a request from the library, runs its handler, hands the answer back.
#include "http/exchange.h"

#include "http/body.h"
#include "http/gzip.h"
#include "http/head.h"

#include "base/die.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
    VERSION_LEN = 8, // HTTP/1.1
    PACK_MIN = 4 * 1024,
    LARGE_BODY = 1024 * 1024,
    STREAM_PIECE = 32 * 1024,
};

typedef struct {
    HttpServer *server;
    Conn *conn;
    Req req;
    Head head;
    const char *raw_target; // in the library's memory
    Body body, unpacked;
    bool has_begun;
    bool is_answered;
} Exchange;

void *exchange_begin(void *context, const char *target, struct MHD_Connection *connection)
{
    HttpServer *server = context;
    Conn *conn =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

    arena_use(conn->arena);
    Exchange *exchange = NEW(Exchange);
    exchange->server = server;
    exchange->conn = conn;
    exchange->raw_target = target;
    Req *req = &exchange->req;
    req->arena = conn->arena;
    // The library goes on to cut the target to pieces where it lies.
    req->target = str_copy(conn->arena, str_of(target));
    req->remote_address = str_of(conn->remote_address);
    req->is_tls = server->is_tls;
    req->now = time_now();
    req->begun_ns = clock_ns();
    req->body = S("");
    conn_set(conn, CONN_READING, req->begun_ns);
    return exchange;
}

static enum MHD_Result header_take(void *context, enum MHD_ValueKind kind, const char *name,
                                   size_t name_len, const char *value, size_t value_len)
{
    Exchange *exchange = context;

    (void)kind;
    name_values_add(&exchange->req.headers, (Str){name, name_len},
                    value ? (Str){value, value_len} : S(""));
    // One more than the limit shows that it was passed.
    return exchange->req.headers.len > HEADER_COUNT_MAX ? MHD_NO : MHD_YES;
}

static Head refusal(int status, const char *text)
{
    return (Head){.status = status, .text = text};
}

// Size and shape of what the library has parsed. Texts are only looked at after that.
static Head head_look_at(Exchange *exchange, struct MHD_Connection *connection, const char *method,
                         const char *version)
{
    const HttpOptions *options = &exchange->server->options;
    Req *req = &exchange->req;
    size_t head_len =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    const char *line_end = version + VERSION_LEN;

    // The library ends the target at a NUL; the version tells where it really ends.
    if ((size_t)(version - 1 - exchange->raw_target) != req->target.len) {
        return refusal(400, "The request target holds a control character");
    }
    if (req->target.len > options->request_line_max) {
        return refusal(414, "The request line is too long");
    }
    if (head_len - (size_t)(line_end - method) > options->headers_max) {
        return refusal(431, "The header fields are too long");
    }
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, header_take, exchange);
    if (req->headers.len <= HEADER_COUNT_MAX &&
        !head_is_gapless(line_end, method + head_len, &req->headers)) {
        return refusal(400, "A header field holds a control character or is folded");
    }
    return head_of_headers(&req->headers);
}

static Head head_take(Exchange *exchange, struct MHD_Connection *connection, const char *method,
                      const char *version)
{
    Req *req = &exchange->req;
    Head head = head_look_at(exchange, connection, method, version);

    if (head.status) {
        return head;
    }
    Head target = head_of_target(req->target, &req->path, &req->query_text);
    if (target.status) {
        return target;
    }
    if (!form_parse(req->query_text, &req->query)) {
        return refusal(400, "The query holds a NUL byte or is no valid UTF-8");
    }
    if (!method_of(str_of(method), &req->method)) {
        req->method = METHOD_OTHER;
    }
    req->is_head = req->method == HEAD;
    req->method = req->is_head ? GET : req->method;
    req->is_loopback = exchange->conn->is_local && !head.is_forwarded;
    req->accepts_gzip = head.accepts_gzip;
    req->has_body = head.is_chunked || head.length > 0;
    return head;
}

static enum MHD_Result answer(Exchange *exchange, struct MHD_Connection *connection);

// A refusal before the body is read: the library closes the connection behind it.
static enum MHD_Result refuse(Exchange *exchange, struct MHD_Connection *connection, int status,
                              const char *text)
{
    exchange->conn->lingers = true;
    reply_err(&exchange->req, err_text(status, "%s", text));
    return answer(exchange, connection);
}

static enum MHD_Result head_arrived(Exchange *exchange, struct MHD_Connection *connection,
                                    const char *method, const char *version)
{
    const HttpOptions *options = &exchange->server->options;

    exchange->has_begun = true;
    exchange->head = head_take(exchange, connection, method, version);
    const Head *head = &exchange->head;
    if (head->status) {
        return refuse(exchange, connection, head->status, head->text);
    }
    if (!exchange->req.has_body) {
        return MHD_YES;
    }
    size_t own_max =
        options->body_max_of ? options->body_max_of(&exchange->req, options->context) : 0;
    size_t max = own_max ? own_max : options->body_max;
    if (head->length > max) {
        return refuse(exchange, connection, 413, "The request's body is too large");
    }
    const char *spool = exchange->server->spool_dir;
    exchange->body = body_new(exchange->req.arena, max, head->length, spool);
    exchange->unpacked = body_new(exchange->req.arena, max, 0, spool);
    return MHD_YES;
}

// Makes req->body of what arrived; NULL or why not.
static Err *body_complete(Exchange *exchange)
{
    Body *body = &exchange->body;

    if (!exchange->req.has_body) {
        return NULL;
    }
    Str text = S("");
    bool is_good = !body->is_too_large && !body->has_failed && body_text(body, &text);
    if (is_good && exchange->head.is_packed) {
        body = &exchange->unpacked;
        if (!gzip_unpack(text, body) && !body->is_too_large && !body->has_failed) {
            return err_text(400, "The request's body is not valid gzip");
        }
        is_good = !body->is_too_large && !body->has_failed && body_text(body, &text);
    }
    if (body->is_too_large) {
        return err_text(413, "The request's body is too large");
    }
    if (!is_good) {
        return err_text(500, "The request's body could not be stored");
    }
    exchange->req.body = text;
    exchange->req.has_body = text.len > 0;
    return NULL;
}

static bool place_wait(sem_t *places, int timeout_ms, int64_t *waited_ns)
{
    if (sem_trywait(places) == 0) {
        return true;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t begun_ns = clock_ns();
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    int failed;
    do {
        failed = sem_clockwait(places, CLOCK_MONOTONIC, &until);
    } while (failed && errno == EINTR);
    *waited_ns += clock_ns() - begun_ns;
    return !failed;
}

// Those with a large body wait for each other first, and as long as a body may take to arrive.
static bool handler_run(HttpServer *server, Req *req)
{
    bool is_large = req->body.len > LARGE_BODY;

    if (is_large && !place_wait(&server->large_bodies, server->options.request_timeout_s * 1000,
                                &req->queue_ns)) {
        return false;
    }
    bool has_place =
        place_wait(&server->handlers, server->options.queue_timeout_ms, &req->queue_ns);
    if (has_place) {
        server->options.handle(req, server->options.context);
        sem_post(&server->handlers);
    }
    if (is_large) {
        sem_post(&server->large_bodies);
    }
    return has_place;
}

static enum MHD_Result request_arrived(Exchange *exchange, struct MHD_Connection *connection)
{
    HttpServer *server = exchange->server;
    Req *req = &exchange->req;

    conn_set(exchange->conn, CONN_WORKING, req->begun_ns);
    Err *err = body_complete(exchange);
    if (err) {
        reply_err(req, err);
    } else if (!handler_run(server, req)) {
        reply_err(req, err_text(503, "The server is busy, try again later"));
        reply_header(req, "Retry-After", S("1"));
    }
    if (!req->reply.status) {
        log_line(LOG_ERROR, "http", "a handler gave no answer");
        reply_err(req, err_text(500, "Internal Server Error"));
    }
    return answer(exchange, connection);
}

enum MHD_Result exchange_continue(void *server, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_len, void **context)
{
    Exchange *exchange = *context;

    (void)server;
    (void)url;
    arena_use(exchange->conn->arena);
    if (!exchange->has_begun) {
        return head_arrived(exchange, connection, method, version);
    }
    if (*piece_len) {
        // Too much is thrown away to the end: the library takes no answer in between.
        body_add(&exchange->body, (Str){piece, *piece_len});
        *piece_len = 0;
        return MHD_YES;
    }
    return exchange->is_answered ? MHD_YES : request_arrived(exchange, connection);
}

static ssize_t stream_piece(void *context, uint64_t position, char *to, size_t max)
{
    Exchange *exchange = context;
    Reply *reply = &exchange->req.reply;

    (void)position;
    arena_use(exchange->conn->arena);
    // The clocks of slow clients stand still while the stream thinks.
    conn_set(exchange->conn, CONN_WORKING, exchange->req.begun_ns);
    ptrdiff_t len = reply->stream(reply->stream_context, to, max);
    conn_set(exchange->conn, CONN_SENDING, exchange->req.begun_ns);
    if (len < 0) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if ((size_t)len > max) {
        die("a stream wrote %td bytes into %zu", len, max);
    }
    return len ? len : MHD_CONTENT_READER_END_OF_STREAM;
}

static bool is_packable(const char *content_type)
{
    return strncmp(content_type, "text/", 5) == 0 || strstr(content_type, "json") ||
           strstr(content_type, "xml") || strstr(content_type, "javascript");
}

static void body_pack(Req *req)
{
    Reply *reply = &req->reply;
    Str packed;

    if (reply->stream || !reply->content_type || reply->body.len <= PACK_MIN ||
        !is_packable(reply->content_type)) {
        return;
    }
    for (size_t i = 0; i < reply->headers.len; i++) {
        if (str_eq_nocase(reply->headers.at[i].name, S("content-encoding"))) {
            return;
        }
    }
    reply_header(req, "Vary", S("Accept-Encoding"));
    if (req->accepts_gzip && gzip_pack(reply->body, &packed)) {
        reply->body = packed;
        reply_header(req, "Content-Encoding", S("gzip"));
    }
}

// A line end in a value would begin a header of the client's making; the library refuses those.
static const char *header_text(Str value)
{
    char *text = (char *)(uintptr_t)str_z(value);

    for (size_t i = 0; i < value.len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            text[i] = ' ';
        }
    }
    return str_z(str_trim((Str){text, value.len}));
}

static void headers_put(Exchange *exchange, struct MHD_Response *response)
{
    const Reply *reply = &exchange->req.reply;

    if (reply->content_type) {
        MHD_add_response_header(response, "Content-Type", reply->content_type);
    }
    for (size_t i = 0; i < reply->headers.len; i++) {
        const char *text = header_text(reply->headers.at[i].value);
        if (*text &&
            MHD_add_response_header(response, str_z(reply->headers.at[i].name), text) == MHD_NO) {
            log_line(LOG_ERROR, "http", "the header " STR_FMT " could not be set",
                     STR_ARG(reply->headers.at[i].name));
        }
    }
    if (exchange->server->is_stopping) {
        MHD_add_response_header(response, "Connection", "close");
    }
}

static enum MHD_Result answer(Exchange *exchange, struct MHD_Connection *connection)
{
    Reply *reply = &exchange->req.reply;

    exchange->is_answered = true;
    body_pack(&exchange->req);
    struct MHD_Response *response =
        reply->stream
            ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, stream_piece,
                                                exchange, NULL)
            : MHD_create_response_from_buffer(reply->body.len, (void *)(uintptr_t)reply->body.at,
                                              MHD_RESPMEM_PERSISTENT);
    if (!response) {
        return MHD_NO;
    }
    headers_put(exchange, response);
    conn_set(exchange->conn, CONN_SENDING, exchange->req.begun_ns);
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return result;
}

void exchange_end(void *server, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode why)
{
    Exchange *exchange = *context;

    (void)server;
    (void)connection;
    (void)why;
    if (!exchange) {
        return;
    }
    Conn *conn = exchange->conn;
    Reply *reply = &exchange->req.reply;
    arena_use(conn->arena);
    if (reply->stream_end) {
        reply->stream_end(reply->stream_context);
    }
    body_end(&exchange->body);
    body_end(&exchange->unpacked);
    if (conn->lingers) {
        conn_linger(conn, exchange->server->is_tls);
    }
    arena_reset(conn->arena);
    *context = NULL;
    conn->served++;
    conn_set(conn, CONN_IDLE, clock_ns());
}
