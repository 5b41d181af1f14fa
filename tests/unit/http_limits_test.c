// Time and number: slow clients, idle ones, too many at once, and the end of a server.
#include "http_probe.h"

#include <stdatomic.h>

static atomic_int running, ended_streams;
static atomic_bool gate_open;

static ptrdiff_t endless_read(void *context, char *to, size_t max)
{
    (void)context;
    memset(to, 'x', max);
    return (ptrdiff_t)max;
}

static void endless_end(void *context)
{
    (void)context;
    ended_streams++;
}

static void handle(Req *req, void *context)
{
    (void)context;
    if (str_eq(req->path, S("/endless"))) {
        (void)!reply_stream(req, 200, "text/plain", endless_read, endless_end, NULL);
        return;
    }
    if (str_eq(req->path, S("/gate"))) {
        running++;
        while (!gate_open) {
            sleep_ms(1);
        }
        running--;
    }
    (void)!reply_text(req, 200, req->has_body ? req->body : S("answered"));
}

static HttpServer *server_start(HttpOptions options)
{
    HttpServer *server = NULL;

    options.listen = S("127.0.0.1:0");
    options.handle = handle;
    assert_ok(http_start(&options, &server));
    return server;
}

static void gate_wait_for(int count)
{
    for (int i = 0; i < PATIENCE_MS && running != count; i++) {
        sleep_ms(1);
    }
    assert_int_equal(running, count);
}

#define ASKS(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

// Sends each a byte every 100 ms until the server has closed all or `ms` are over.
static bool trickles_are_cut(Probe *probes, int count, int ms)
{
    int closed = 0;

    for (int i = 0; i < ms / 100 && closed < count; i++) {
        sleep_ms(100);
        closed = 0;
        for (int k = 0; k < count; k++) {
            probe_send_z(&probes[k], "a");
            closed += probes[k].is_closed || (!probe_read(&probes[k], 0) && probes[k].is_closed);
        }
    }
    return closed == count;
}

static void a_head_or_body_that_trickles_is_cut(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){.request_timeout_s = 1, .idle_timeout_s = 20});
    Probe probes[3];

    for (int i = 0; i < 3; i++) {
        probes[i] = probe_open(http_port(server));
    }
    probe_send_z(&probes[0], "GET /");
    probe_send_z(&probes[1], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    // The second request of a connection is watched like the first.
    probe_send_z(&probes[2], ASKS("/a"));
    assert_int_equal(probe_answer(&probes[2]).status, 200);
    probe_send_z(&probes[2], "GET /");
    assert_true(trickles_are_cut(probes, 3, PATIENCE_MS));
    for (int i = 0; i < 3; i++) {
        probe_close(&probes[i]);
    }
    http_stop(server, 1);
}

static void an_idle_connection_lives_as_long_as_its_own_limit(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){.request_timeout_s = 1, .idle_timeout_s = 8});
    Probe probe = probe_open(http_port(server));

    probe_send_z(&probe, ASKS("/a"));
    assert_int_equal(probe_answer(&probe).status, 200);
    sleep_ms(2200);
    probe_send_z(&probe, ASKS("/a"));
    assert_int_equal(probe_answer(&probe).status, 200);
    assert_false(probe_read(&probe, PATIENCE_MS));
    assert_true(probe.is_closed);
    probe_close(&probe);
    http_stop(server, 1);
}

static void a_handler_may_take_longer_than_clients_may(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){.request_timeout_s = 1, .idle_timeout_s = 1});
    Probe probe = probe_open(http_port(server));

    gate_open = false;
    probe_send_z(&probe, ASKS("/gate"));
    gate_wait_for(1);
    sleep_ms(2500);
    gate_open = true;
    assert_int_equal(probe_answer(&probe).status, 200);
    probe_close(&probe);
    http_stop(server, 1);
}

static void a_request_that_waits_too_long_for_a_handler_gets_503(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){.handler_max = 2, .queue_timeout_ms = 100});
    HttpServer *admin = server_start((HttpOptions){.handler_max = 2});
    Probe first = probe_open(http_port(server)), second = probe_open(http_port(server));

    gate_open = false;
    probe_send_z(&first, ASKS("/gate"));
    probe_send_z(&second, ASKS("/gate"));
    gate_wait_for(2);
    Answer refused = ask(http_port(server), S(ASKS("/a")));
    assert_int_equal(refused.status, 503);
    assert_str(answer_header(refused.head, "retry-after"), "1");
    // A server of its own answers all the while.
    assert_int_equal(ask(http_port(admin), S(ASKS("/a"))).status, 200);
    gate_open = true;
    assert_int_equal(probe_answer(&first).status, 200);
    assert_int_equal(probe_answer(&second).status, 200);
    assert_int_equal(ask(http_port(server), S(ASKS("/a"))).status, 200);
    probe_close(&first);
    probe_close(&second);
    http_stop(server, 1);
    http_stop(admin, 1);
}

// A parsed body takes many times its size: few large ones are in work, small ones pass them by.
static void few_requests_with_large_bodies_are_in_work_at_once(void **state)
{
    enum { LARGE = 6, AT_ONCE = 4, BYTES = 1200 * 1000 };
    (void)state;
    static char body[BYTES];
    HttpServer *server = server_start((HttpOptions){.handler_max = 16});
    Probe probes[LARGE];
    Str head = str_fmt("POST /gate HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", BYTES);

    memset(body, 'x', sizeof body);
    gate_open = false;
    for (int i = 0; i < LARGE; i++) {
        probes[i] = probe_open(http_port(server));
        assert_true(probe_send(&probes[i], head) && probe_send(&probes[i], (Str){body, BYTES}));
    }
    gate_wait_for(AT_ONCE);
    assert_int_equal(ask(http_port(server), S(ASKS("/a"))).status, 200);
    assert_int_equal(running, AT_ONCE);
    gate_open = true;
    for (int i = 0; i < LARGE; i++) {
        Answer answer = probe_answer(&probes[i]);
        assert_int_equal(answer.status, 200);
        assert_int_equal(answer.body.len, BYTES);
        probe_close(&probes[i]);
    }
    http_stop(server, 1);
}

static void a_connection_beyond_the_limit_waits_for_its_turn(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){.connection_max = 2});
    Probe first = probe_open(http_port(server)), second = probe_open(http_port(server));

    probe_send_z(&first, ASKS("/a"));
    probe_send_z(&second, ASKS("/a"));
    assert_int_equal(probe_answer(&first).status, 200);
    assert_int_equal(probe_answer(&second).status, 200);
    Probe third = probe_open(http_port(server));
    probe_send_z(&third, ASKS("/a"));
    assert_false(probe_read(&third, 200));
    assert_false(third.is_closed);
    probe_close(&first);
    assert_int_equal(probe_answer(&third).status, 200);
    probe_close(&second);
    probe_close(&third);
    http_stop(server, 1);
}

typedef struct {
    HttpServer *server;
    int grace_s;
    atomic_bool is_done;
    pthread_t thread;
} Stop;

static void *stop_run(void *context)
{
    Stop *stop = context;

    http_stop(stop->server, stop->grace_s);
    stop->is_done = true;
    return NULL;
}

static void stop_begin(Stop *stop)
{
    assert_int_equal(pthread_create(&stop->thread, NULL, stop_run, stop), 0);
}

static void a_stop_answers_what_is_in_flight_and_closes_what_is_idle(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){0});
    int port = http_port(server);
    Probe idle = probe_open(port), busy = probe_open(port), slow = probe_open(port);
    Stop stop = {.server = server, .grace_s = 10};

    gate_open = false;
    probe_send_z(&idle, ASKS("/a"));
    assert_int_equal(probe_answer(&idle).status, 200);
    probe_send_z(&busy, ASKS("/gate"));
    probe_send_z(&slow, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc");
    gate_wait_for(1);
    stop_begin(&stop);
    assert_false(probe_read(&idle, PATIENCE_MS));
    assert_true(idle.is_closed);
    assert_false(stop.is_done);
    // Nobody new is let in.
    Probe late = probe_open(port);
    assert_true(late.fd < 0);
    probe_send_z(&slow, "def");
    Answer answer = probe_answer(&slow);
    assert_str(answer.body, "abcdef");
    assert_str(answer_header(answer.head, "connection"), "close");
    gate_open = true;
    answer = probe_answer(&busy);
    assert_str(answer.body, "answered");
    assert_str(answer_header(answer.head, "connection"), "close");
    pthread_join(stop.thread, NULL);
    probe_close(&idle);
    probe_close(&busy);
    probe_close(&slow);
}

static void a_stop_waits_for_a_request_line_that_has_begun(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){0});
    Probe probe = probe_open(http_port(server));
    Stop stop = {.server = server, .grace_s = 10};

    probe_send_z(&probe, ASKS("/a"));
    assert_int_equal(probe_answer(&probe).status, 200);
    sleep_ms(50);
    probe_send_z(&probe, "GET /b HT");
    sleep_ms(50);
    stop_begin(&stop);
    sleep_ms(300);
    probe_send_z(&probe, "TP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(probe_answer(&probe).status, 200);
    pthread_join(stop.thread, NULL);
    probe_close(&probe);
}

static void a_stop_ends_with_its_grace(void **state)
{
    (void)state;
    HttpServer *server = server_start((HttpOptions){0});
    Probe stream = probe_open(http_port(server)), half = probe_open(http_port(server));
    int before = ended_streams;

    probe_send_z(&stream, ASKS("/endless"));
    assert_true(probe_read(&stream, PATIENCE_MS));
    probe_send_z(&half, "GET /b HT");
    http_stop(server, 1); // neither of them ever ends
    assert_int_equal(ended_streams, before + 1);
    probe_close(&stream);
    probe_close(&half);
}

typedef struct {
    int port;
    atomic_int answered;
    int cut;  // an answer that broke off
    int lost; // a first request of a connection without an answer
    pthread_t thread;
} Caller;

static void *caller_run(void *context)
{
    Caller *caller = context;

    for (;;) {
        Probe probe = probe_open(caller->port);
        if (probe.fd < 0) {
            return NULL;
        }
        for (int n = 0;; n++) {
            ArenaMark mark = arena_mark(arena_current());
            bool is_sent = probe_send_z(&probe, "POST /a HTTP/1.1\r\nHost: a\r\n"
                                                "Content-Length: 5\r\n\r\nhello");
            Answer answer = is_sent ? probe_answer(&probe) : (Answer){0};
            bool closes = str_eq(answer_header(answer.head, "connection"), S("close"));
            caller->answered += answer.status == 200;
            // A connection may be closed between two requests: then nothing at all comes back.
            caller->cut += !answer.status && probe.len > 0;
            caller->lost += !answer.status && n == 0;
            arena_release(arena_current(), mark);
            if (!answer.status || closes) {
                break;
            }
        }
        probe_close(&probe);
    }
}

static void a_stop_under_load_cuts_no_answer(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        HttpServer *server = server_start((HttpOptions){0});
        Caller callers[12] = {0};
        for (int i = 0; i < 12; i++) {
            callers[i].port = http_port(server);
            pthread_create(&callers[i].thread, NULL, caller_run, &callers[i]);
        }
        for (int i = 0; i < 12; i++) {
            while (!callers[i].answered) {
                sleep_ms(1);
            }
        }
        sleep_ms(100);
        http_stop(server, 60);
        for (int i = 0; i < 12; i++) {
            pthread_join(callers[i].thread, NULL);
            assert_int_equal(callers[i].cut, 0);
            assert_int_equal(callers[i].lost, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_or_body_that_trickles_is_cut),
        cmocka_unit_test(an_idle_connection_lives_as_long_as_its_own_limit),
        cmocka_unit_test(a_handler_may_take_longer_than_clients_may),
        cmocka_unit_test(a_request_that_waits_too_long_for_a_handler_gets_503),
        cmocka_unit_test(few_requests_with_large_bodies_are_in_work_at_once),
        cmocka_unit_test(a_connection_beyond_the_limit_waits_for_its_turn),
        cmocka_unit_test(a_stop_answers_what_is_in_flight_and_closes_what_is_idle),
        cmocka_unit_test(a_stop_waits_for_a_request_line_that_has_begun),
        cmocka_unit_test(a_stop_ends_with_its_grace),
        cmocka_unit_test(a_stop_under_load_cuts_no_answer),
    };

    return cmocka_run_group_tests_name("http limits", tests, NULL, NULL);
}
