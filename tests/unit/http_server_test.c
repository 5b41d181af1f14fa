// The server at its socket: what goes in as bytes and what comes out.
#include "http_probe.h"

#include <stdatomic.h>
#include <zlib.h>

static HttpServer *server;
static atomic_int ended_streams, running;
static atomic_bool gate_open;

typedef struct {
    size_t left, total;
    bool fails;
} Pour;

static ptrdiff_t pour_read(void *context, char *to, size_t max)
{
    Pour *pour = context;
    size_t len = pour->left < max ? pour->left : max;

    if (pour->fails && pour->left < pour->total / 2) {
        return -1;
    }
    memset(to, 'x', len);
    pour->left -= len;
    return (ptrdiff_t)len;
}

static void pour_end(void *context)
{
    (void)context;
    ended_streams++;
}

static void pour_reply(Req *req, bool fails)
{
    Pour *pour = NEW(Pour);
    int64_t size = 0;

    str_int64(req_query_text(req, "size"), &size);
    *pour = (Pour){(size_t)size, (size_t)size, fails};
    (void)!reply_stream(req, 200, "text/plain", pour_read, pour_end, pour);
}

static void show(Req *req)
{
    Buf buf = buf_new(req->arena, 1 << 20);

    buf_fmt(&buf, "%s|" STR_FMT "|" STR_FMT "|%d|%d|%d\n", method_name(req->method),
            STR_ARG(req->path), STR_ARG(req->query_text), req->is_head, req->is_loopback,
            req->has_body);
    for (size_t i = 0; i < req->query.len; i++) {
        buf_fmt(&buf, STR_FMT "=" STR_FMT "\n", STR_ARG(req->query.at[i].name),
                STR_ARG(req->query.at[i].value));
    }
    (void)!reply_text(req, 200, buf_str(&buf));
}

static void echo(Req *req)
{
    (void)!reply_body(req, 200, "application/octet-stream", req->body);
}

static void gate_wait(Req *req)
{
    running++;
    while (!gate_open) {
        sleep_ms(1);
    }
    running--;
    (void)!reply_text(req, 200, S("through"));
}

static void handle(Req *req, void *context)
{
    (void)context;
    if (str_eq(req->path, S("/echo"))) {
        echo(req);
    } else if (str_eq(req->path, S("/gate"))) {
        gate_wait(req);
    } else if (str_eq(req->path, S("/pour"))) {
        pour_reply(req, false);
    } else if (str_eq(req->path, S("/pour-half"))) {
        pour_reply(req, true);
    } else if (str_eq(req->path, S("/token"))) {
        reply_header(req, "x-okapi-token", S("a.b.c"));
        reply_header(req, "X-Bad", S("a\r\nSet-Cookie: evil=1"));
        (void)!reply_json_text(req, 201, S("{}"));
    } else if (str_eq(req->path, S("/empty"))) {
        (void)!reply_empty(req, 204);
    } else if (str_eq(req->path, S("/nothing"))) {
        return;
    } else if (str_eq(req->path, S("/long"))) {
        char *text = arena_alloc(req->arena, 100000);
        memset(text, 'y', 100000);
        (void)!reply_json_text(req, 200, (Str){text, 100000});
    } else {
        show(req);
    }
}

static size_t body_max_of(const Req *req, void *context)
{
    (void)context;
    return str_eq(req_query_text(req, "big"), S("yes")) ? 64 * 1024 * 1024 : 0;
}

static HttpServer *server_start(HttpOptions options)
{
    HttpServer *started = NULL;

    options.listen = S("127.0.0.1:0");
    options.handle = handle;
    options.body_max_of = body_max_of;
    assert_ok(http_start(&options, &started));
    return started;
}

static int start(void **state)
{
    (void)state;
    server = server_start((HttpOptions){.body_max = 4 * 1024 * 1024});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_stop(server, 5);
    return 0;
}

#define HOST "Host: localhost\r\n"

static Answer get(const char *target, const char *headers)
{
    return ask(http_port(server), str_fmt("GET %s HTTP/1.1\r\n" HOST "%s\r\n", target, headers));
}

static void a_request_is_answered_and_the_connection_stays_open(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));

    for (int i = 0; i < 5; i++) {
        probe_send_z(&probe, "GET /users/1?limit=3 HTTP/1.1\r\n" HOST "\r\n");
        Answer answer = probe_answer(&probe);
        assert_int_equal(answer.status, 200);
        assert_str(answer.body, "GET|/users/1|limit=3|0|1|0\nlimit=3\n");
        assert_str(answer_header(answer.head, "connection"), "");
    }
    probe_close(&probe);
}

static void raw_blanks_and_quotes_in_a_target_arrive(void **state)
{
    (void)state;
    Answer answer = get("/users?query=barcode==\"1 2\" and a<>b|c&limit=1", "");

    assert_int_equal(answer.status, 200);
    assert_str(answer.body, "GET|/users|query=barcode==\"1 2\" and a<>b|c&limit=1|0|1|0\n"
                            "query=barcode==\"1 2\" and a<>b|c\nlimit=1\n");
    answer = get("/users?query=a%3D%3D%22b+c%22", "");
    assert_str(answer.body, "GET|/users|query=a%3D%3D%22b+c%22|0|1|0\nquery=a==\"b c\"\n");
}

static void a_path_arrives_undecoded(void **state)
{
    (void)state;
    assert_str(get("/users/a%2Fb+c", "").body, "GET|/users/a%2Fb+c||0|1|0\n");
}

static void requests_sent_in_one_go_are_answered_in_order(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe, "GET /a HTTP/1.1\r\n" HOST "\r\n"
                         "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"
                         "GET /b HTTP/1.1\r\n" HOST "\r\n");
    assert_str(probe_answer(&probe).body, "GET|/a||0|1|0\n");
    assert_str(probe_answer(&probe).body, "abc");
    assert_str(probe_answer(&probe).body, "GET|/b||0|1|0\n");
    probe_close(&probe);
}

static void a_request_may_arrive_byte_by_byte(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));
    Str text = S("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd");

    for (size_t i = 0; i < text.len; i++) {
        probe_send(&probe, str_sub(text, i, i + 1));
        if (i % 8 == 0) {
            sleep_ms(1);
        }
    }
    assert_str(probe_answer(&probe).body, "abcd");
    probe_close(&probe);
}

static void a_chunked_body_arrives_whole(void **state)
{
    (void)state;
    Answer answer = ask(http_port(server), S("POST /echo HTTP/1.1\r\nHost: a\r\n"
                                             "Transfer-Encoding: chunked\r\n\r\n"
                                             "3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\n\r\n"));
    assert_str(answer.body, "abcdefgh");
}

// A body of `len` bytes that shows where a piece is missing.
static Str pattern(size_t len)
{
    char *at = arena_alloc(arena_current(), len);

    for (size_t i = 0; i < len; i++) {
        at[i] = (char)(i * 2654435761u >> 13);
    }
    return (Str){at, len};
}

static void bodies_of_all_sizes_come_back_unchanged(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 16384, 65536, 65537, 1048576, 1048577, 3000000};
    Probe probe = probe_open(http_port(server));

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Str body = pattern(sizes[i]);
        probe_send(&probe,
                   str_fmt("POST /echo HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n", body.len));
        probe_send(&probe, body);
        Answer answer = probe_answer(&probe);
        assert_int_equal(answer.status, 200);
        assert_true(str_eq(answer.body, body));
    }
    probe_close(&probe);
}

static Str packed(Str text)
{
    z_stream z = {0};
    char *to = arena_alloc(arena_current(), text.len + 1024);

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text.at;
    z.avail_in = (uInt)text.len;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)text.len + 1024;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return (Str){to, z.total_out};
}

static Answer post(const char *target, const char *headers, Str body)
{
    Probe probe = probe_open(http_port(server));

    probe_send(&probe, str_fmt("POST %s HTTP/1.1\r\n" HOST "%sContent-Length: %zu\r\n\r\n", target,
                               headers, body.len));
    probe_send(&probe, body);
    Answer answer = probe_answer(&probe);
    probe_close(&probe);
    return answer;
}

static void a_packed_body_is_unpacked(void **state)
{
    (void)state;
    Str body = pattern(2000000);
    Answer answer = post("/echo", "Content-Encoding: gzip\r\n", packed(body));

    assert_int_equal(answer.status, 200);
    assert_true(str_eq(answer.body, body));
    assert_int_equal(post("/echo", "Content-Encoding: gzip\r\n", S("no gzip")).status, 400);
    assert_int_equal(post("/echo", "Content-Encoding: br\r\n", S("x")).status, 415);
}

static void a_small_packed_body_that_unpacks_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    char *zeros = arena_alloc(arena_current(), 8 * 1024 * 1024);
    Str bomb = packed((Str){zeros, 8 * 1024 * 1024});

    assert_true(bomb.len < 20000);
    assert_int_equal(post("/echo", "Content-Encoding: gzip\r\n", bomb).status, 413);
}

static void a_large_text_is_packed_for_clients_that_take_gzip(void **state)
{
    (void)state;
    Answer answer = get("/long", "Accept-Encoding: gzip, deflate\r\n");
    z_stream z = {.next_in = (Bytef *)(uintptr_t)answer.body.at, .avail_in = (uInt)answer.body.len};
    char *text = arena_alloc(arena_current(), 100001);

    assert_str(answer_header(answer.head, "content-encoding"), "gzip");
    assert_str(answer_header(answer.head, "vary"), "Accept-Encoding");
    assert_true(answer.body.len < 2000);
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    z.next_out = (Bytef *)text;
    z.avail_out = 100001;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, 100000);
    inflateEnd(&z);

    answer = get("/long", "");
    assert_str(answer_header(answer.head, "content-encoding"), "");
    assert_int_equal(answer.body.len, 100000);
}

static void a_nul_byte_anywhere_in_the_head_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *at;
        size_t len;
    } heads[] = {
#define HEAD(text) {text, sizeof text - 1}
        HEAD("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n"),
        HEAD("GET /a?x=\0b HTTP/1.1\r\nHost: a\r\n\r\n"),
        HEAD("GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n"),
        HEAD("GET /a?x=%00 HTTP/1.1\r\nHost: a\r\n\r\n"),
        HEAD("GET /a HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"),
        HEAD("GET /a HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n"),
        HEAD("GET /a HTTP/1.1\r\nHost: a\r\n\0X: b\r\n\r\n"),
        HEAD("GET /a HTTP/1.1\r\nHost: a\r\n\0\r\nGET /smuggled HTTP/1.1\r\n\r\n"),
    };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Answer answer = ask(http_port(server), (Str){heads[i].at, heads[i].len});
        assert_int_equal(answer.status, 400);
        assert_str(answer_header(answer.head, "connection"), "close");
    }
}

static void a_folded_header_line_is_refused(void **state)
{
    (void)state;
    assert_int_equal(get("/a", "X-A: b\r\n c\r\n").status, 400);
    assert_int_equal(get("/a", "X-A: b\r\n\tContent-Length: 5\r\n").status, 400);
}

static void bad_framing_is_refused_and_the_connection_closed(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
        "chunked\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET nopath HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/x\r\nHost: a\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Probe probe = probe_open(http_port(server));
        probe_send_z(&probe, heads[i]);
        assert_int_equal(probe_answer(&probe).status, 400);
        assert_false(probe_read(&probe, PATIENCE_MS));
        assert_true(probe.is_closed);
        probe_close(&probe);
    }
}

static Str repeated(char c, size_t n)
{
    char *at = arena_alloc(arena_current(), n + 1);

    memset(at, c, n);
    return (Str){at, n};
}

static void oversize_heads_get_their_own_status(void **state)
{
    (void)state;
    Str k8 = repeated('a', 8000), k40 = repeated('a', 40000);

    assert_int_equal(get(str_z(str_fmt("/" STR_FMT STR_FMT, STR_ARG(k8), STR_ARG(k8))), "").status,
                     200);
    assert_int_equal(
        get(str_z(str_fmt("/" STR_FMT STR_FMT STR_FMT, STR_ARG(k8), STR_ARG(k8), STR_ARG(k8))), "")
            .status,
        414);
    assert_int_equal(
        get(str_z(str_fmt("/" STR_FMT STR_FMT, STR_ARG(k40), STR_ARG(k40))), "").status, 414);
    Str line = str_fmt("X-A: " STR_FMT "\r\n", STR_ARG(k8));
    Str lines4 = str_fmt(STR_FMT STR_FMT STR_FMT STR_FMT, STR_ARG(line), STR_ARG(line),
                         STR_ARG(line), STR_ARG(line));
    assert_int_equal(get("/a", str_z(lines4)).status, 200);
    assert_int_equal(
        get(str_z(str_fmt("/" STR_FMT STR_FMT, STR_ARG(k8), STR_ARG(k8))), str_z(lines4)).status,
        200);
    assert_int_equal(
        get("/a", str_z(str_fmt(STR_FMT STR_FMT, STR_ARG(lines4), STR_ARG(line)))).status, 431);
    assert_int_equal(get("/a", str_z(str_fmt(STR_FMT STR_FMT STR_FMT, STR_ARG(lines4),
                                             STR_ARG(lines4), STR_ARG(lines4))))
                         .status,
                     431);
    Buf many = buf_new(arena_current(), 10000);
    for (int i = 0; i < 101; i++) {
        buf_fmt(&many, "a%d: b\r\n", i);
    }
    assert_int_equal(get("/a", str_z(buf_str(&many))).status, 431);
}

static void an_announced_body_beyond_the_limit_is_refused_before_it_is_read(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4194305\r\n\r\n");
    assert_int_equal(probe_answer(&probe).status, 413);
    probe_close(&probe);
}

static void a_client_that_sends_its_oversize_body_all_the_same_reads_the_413(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));
    Str body = repeated('b', 20 * 1024 * 1024);

    probe_send(&probe,
               str_fmt("POST /echo HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n", body.len));
    assert_true(probe_send(&probe, body));
    assert_int_equal(probe_answer(&probe).status, 413);
    probe_close(&probe);
}

static void a_chunked_body_beyond_the_limit_gets_413(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));
    Str chunk = str_fmt("100000\r\n" STR_FMT "\r\n", STR_ARG(repeated('c', 0x100000)));

    probe_send_z(&probe, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; i++) {
        probe_send(&probe, chunk);
    }
    probe_send_z(&probe, "0\r\n\r\n");
    assert_int_equal(probe_answer(&probe).status, 413);
    probe_close(&probe);
}

static void a_route_may_raise_the_limit_of_its_body(void **state)
{
    (void)state;
    Str body = pattern(6 * 1024 * 1024);
    Answer answer = post("/echo?big=yes", "", body);

    assert_int_equal(answer.status, 200);
    assert_true(str_eq(answer.body, body));
}

static void a_client_that_waits_for_100_continue_gets_it(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n"
                         "Expect: 100-continue\r\n\r\n");
    assert_int_equal(probe_answer(&probe).status, 100);
    probe_send_z(&probe, "abc");
    assert_str(probe_answer(&probe).body, "abc");
    probe_close(&probe);
}

static void head_is_get_without_a_body(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe,
                 "HEAD /a HTTP/1.1\r\n" HOST "\r\nGET /empty HTTP/1.1\r\n" HOST "\r\n"
                 "HEAD /pour?size=10 HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n");
    while (str_find(probe_text(&probe), S("GET|/b"), 0) < 0 && probe_read(&probe, PATIENCE_MS)) {
    }
    Str text = probe_text(&probe);
    assert_int_equal(str_find(text, S("GET|/a"), 0), -1);
    assert_true(str_find(text, S("Content-Length: 14\r\n\r\nHTTP/1.1 204"), 0) > 0);
    assert_int_equal(str_find(text, S("xxxxxxxxxx"), 0), -1);
    assert_true(str_ends(text, S("GET|/b||0|1|0\n")));
    probe_close(&probe);
}

static void any_method_reaches_the_handler(void **state)
{
    (void)state;
    static const char *const methods[] = {"OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        Answer answer =
            ask(http_port(server), str_fmt("%s /a HTTP/1.1\r\n" HOST "\r\n", methods[i]));
        assert_int_equal(answer.status, 200);
        bool is_known = i < 4;
        assert_true(str_starts(answer.body, is_known ? str_of(methods[i]) : S("OTHER")));
    }
}

static void the_token_header_goes_out_as_it_was_given(void **state)
{
    (void)state;
    Answer answer = get("/token", "");

    assert_int_equal(answer.status, 201);
    assert_true(str_find(answer.head, S("\r\nx-okapi-token: a.b.c\r\n"), 0) > 0);
    assert_str(answer_header(answer.head, "content-type"), "application/json");
    // No value can begin a header of its own.
    assert_str(answer_header(answer.head, "x-bad"), "a  Set-Cookie: evil=1");
    assert_str(answer_header(answer.head, "set-cookie"), "");
}

static void a_forwarded_request_is_not_from_this_machine(void **state)
{
    (void)state;
    assert_str(get("/a", "X-Forwarded-For: 127.0.0.1\r\n").body, "GET|/a||0|0|0\n");
    assert_str(get("/a", "forwarded: for=127.0.0.1\r\n").body, "GET|/a||0|0|0\n");
}

static void a_handler_without_an_answer_gives_500(void **state)
{
    (void)state;
    assert_int_equal(get("/nothing", "").status, 500);
}

static size_t dechunked(Str body)
{
    size_t total = 0;

    for (size_t at = 0; at < body.len;) {
        size_t len = strtoul(body.at + at, NULL, 16);
        total += len;
        at = (size_t)str_find(body, S("\r\n"), at) + 2 + len + 2;
    }
    return total;
}

static void a_stream_reaches_a_slow_reader_whole(void **state)
{
    (void)state;
    int before = ended_streams, small = 65536;
    Probe probe = probe_open(http_port(server));

    setsockopt(probe.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    probe_send_z(&probe, "GET /pour?size=3000000 HTTP/1.1\r\n" HOST "\r\n"
                         "GET /pour?size=0 HTTP/1.1\r\n" HOST "\r\n");
    sleep_ms(100);
    Answer answer = probe_answer(&probe);
    assert_int_equal(answer.status, 200);
    assert_int_equal(dechunked(answer.body), 3000000);
    assert_int_equal(probe_answer(&probe).status, 200);
    probe_close(&probe);
    assert_true(becomes_empty(server));
    assert_int_equal(ended_streams, before + 2);
}

static void a_failing_stream_cuts_the_connection(void **state)
{
    (void)state;
    int before = ended_streams;
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe, "GET /pour-half?size=3000000 HTTP/1.1\r\n" HOST "\r\n");
    assert_int_equal(probe_answer(&probe).status, 0);
    assert_true(probe.is_closed);
    probe_close(&probe);
    assert_true(becomes_empty(server));
    assert_int_equal(ended_streams, before + 1);
}

static void clients_that_leave_in_the_middle_leave_nothing(void **state)
{
    enum { POURS = 5 };
    (void)state;
    int before = ended_streams;
    static const char *const beginnings[] = {
        "",
        "GET /a",
        "GET /a HTTP/1.1\r\nHost: a",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "GET /pour?size=50000000 HTTP/1.1\r\nHost: a\r\n\r\n",
    };

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct linger at_once = {1, 0};
        for (int hard = 0; hard < 2; hard++) {
            Probe probe = probe_open(http_port(server));
            probe_send_z(&probe, beginnings[i]);
            // The server has begun: the answer comes, or what was sent has had time to arrive.
            bool has_answer = probe_read(&probe, i == POURS ? PATIENCE_MS : 20);
            assert_int_equal(has_answer, i == POURS);
            if (hard) {
                setsockopt(probe.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            }
            probe_close(&probe);
        }
    }
    assert_true(becomes_empty(server));
    assert_int_equal(ended_streams, before + 2);
    assert_int_equal(get("/a", "").status, 200);
}

static void an_old_client_is_answered_and_closed(void **state)
{
    (void)state;
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe, "GET /pour?size=5 HTTP/1.0\r\n\r\n");
    while (probe_read(&probe, PATIENCE_MS)) {
    }
    assert_true(str_ends(probe_text(&probe), S("\r\n\r\nxxxxx")));
    probe_close(&probe);
}

static void an_address_that_cannot_be_had_is_an_error(void **state)
{
    (void)state;
    HttpServer *other = NULL;
    HttpOptions options = {.handle = handle, .listen = str_fmt("127.0.0.1:%d", http_port(server))};

    Err *err = http_start(&options, &other);
    assert_non_null(err);
    assert_true(str_starts(err->message, S("Cannot listen at 127.0.0.1:")));
    static const char *const none[] = {"nonsense", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        options.listen = str_of(none[i]);
        assert_non_null(http_start(&options, &other));
    }
}

static void every_address_is_listened_at_when_no_host_is_named(void **state)
{
    (void)state;
    HttpServer *other = NULL;
    HttpOptions options = {.handle = handle, .listen = S(":0")};

    assert_ok(http_start(&options, &other));
    Answer answer = ask(http_port(other), S("GET /a HTTP/1.1\r\n" HOST "\r\n"));
    assert_str(answer.body, "GET|/a||0|1|0\n");
    http_stop(other, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered_and_the_connection_stays_open),
        cmocka_unit_test(raw_blanks_and_quotes_in_a_target_arrive),
        cmocka_unit_test(a_path_arrives_undecoded),
        cmocka_unit_test(requests_sent_in_one_go_are_answered_in_order),
        cmocka_unit_test(a_request_may_arrive_byte_by_byte),
        cmocka_unit_test(a_chunked_body_arrives_whole),
        cmocka_unit_test(bodies_of_all_sizes_come_back_unchanged),
        cmocka_unit_test(a_packed_body_is_unpacked),
        cmocka_unit_test(a_small_packed_body_that_unpacks_beyond_the_limit_is_refused),
        cmocka_unit_test(a_large_text_is_packed_for_clients_that_take_gzip),
        cmocka_unit_test(a_nul_byte_anywhere_in_the_head_is_refused),
        cmocka_unit_test(a_folded_header_line_is_refused),
        cmocka_unit_test(bad_framing_is_refused_and_the_connection_closed),
        cmocka_unit_test(oversize_heads_get_their_own_status),
        cmocka_unit_test(an_announced_body_beyond_the_limit_is_refused_before_it_is_read),
        cmocka_unit_test(a_client_that_sends_its_oversize_body_all_the_same_reads_the_413),
        cmocka_unit_test(a_chunked_body_beyond_the_limit_gets_413),
        cmocka_unit_test(a_route_may_raise_the_limit_of_its_body),
        cmocka_unit_test(a_client_that_waits_for_100_continue_gets_it),
        cmocka_unit_test(head_is_get_without_a_body),
        cmocka_unit_test(any_method_reaches_the_handler),
        cmocka_unit_test(the_token_header_goes_out_as_it_was_given),
        cmocka_unit_test(a_forwarded_request_is_not_from_this_machine),
        cmocka_unit_test(a_handler_without_an_answer_gives_500),
        cmocka_unit_test(a_stream_reaches_a_slow_reader_whole),
        cmocka_unit_test(a_failing_stream_cuts_the_connection),
        cmocka_unit_test(clients_that_leave_in_the_middle_leave_nothing),
        cmocka_unit_test(an_old_client_is_answered_and_closed),
        cmocka_unit_test(an_address_that_cannot_be_had_is_an_error),
        cmocka_unit_test(every_address_is_listened_at_when_no_host_is_named),
    };

    return cmocka_run_group_tests_name("http server", tests, start, stop);
}
