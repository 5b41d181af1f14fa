// The client for single calls, against our own server, plain and over TLS.
#include "test.h"

#include "http/client.h"

#include <string.h>

static HttpServer *plain, *tls;

static void handle(Req *req, void *context)
{
    (void)context;
    reply_header(req, "X-Method", str_of(method_name(req->method)));
    reply_header(req, "X-Seen", req_header(req, "X-Sent"));
    reply_header(req, "X-Tls", req->is_tls ? S("yes") : S("no"));
    (void)!reply_text(
        req, 201, str_fmt(STR_FMT "/" STR_FMT, STR_ARG(req->body), STR_ARG(req->remote_address)));
}

static int start(void **state)
{
    (void)state;
    HttpOptions options = {.listen = S("127.0.0.1:0"), .handle = handle};

    assert_ok(http_start(&options, &plain));
    options.tls_certificate = S(TESTS_DIR "/data/http/localhost.crt");
    options.tls_key = S(TESTS_DIR "/data/http/localhost.key");
    assert_ok(http_start(&options, &tls));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_stop(plain, 1);
    http_stop(tls, 1);
    return 0;
}

static Str url_of(const char *scheme, const HttpServer *server)
{
    return str_fmt("%s://127.0.0.1:%d/x", scheme, http_port(server));
}

static void a_call_sends_method_headers_and_body(void **state)
{
    (void)state;
    static const Method methods[] = {GET, POST, PUT, DELETE, PATCH, OPTIONS};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        HttpCall call = {.method = methods[i], .url = url_of("http", plain), .body = S("hello")};
        HttpAnswer answer = {0};
        name_values_add(&call.headers, S("X-Sent"), S("a b"));
        assert_ok(http_call(&call, &answer));
        assert_int_equal(answer.status, 201);
        assert_str(answer.body, "hello/127.0.0.1");
        assert_str(http_answer_header(&answer, "x-method"), method_name(methods[i]));
        assert_str(http_answer_header(&answer, "x-seen"), "a b");
        assert_str(http_answer_header(&answer, "x-none"), "");
    }
}

static void calls_of_a_thread_share_a_connection(void **state)
{
    (void)state;
    HttpCall call = {.url = url_of("http", plain)};
    HttpAnswer answer = {0};

    for (int i = 0; i < 10; i++) {
        assert_ok(http_call(&call, &answer));
        assert_int_equal(http_connections(plain), 1);
    }
}

static void a_head_call_has_no_body(void **state)
{
    (void)state;
    HttpCall call = {.method = HEAD, .url = url_of("http", plain)};
    HttpAnswer answer = {0};

    assert_ok(http_call(&call, &answer));
    assert_int_equal(answer.body.len, 0);
    assert_str(http_answer_header(&answer, "content-length"), "10");
}

static void a_call_to_nobody_gives_502(void **state)
{
    (void)state;
    HttpCall call = {.url = S("http://127.0.0.1:1/x"), .timeout_ms = 2000};
    HttpAnswer answer = {.status = 7};

    Err *err = http_call(&call, &answer);
    assert_non_null(err);
    assert_int_equal(err->status, 502);
    assert_int_equal(answer.status, 7);
    call.url = S("file:///etc/hostname");
    assert_non_null(http_call(&call, &answer));
}

static void an_answer_that_is_too_long_gives_502(void **state)
{
    (void)state;
    HttpCall call = {
        .method = POST, .url = url_of("http", plain), .body = S("0123456789"), .answer_max = 12};
    HttpAnswer answer = {0};

    Err *err = http_call(&call, &answer);
    assert_non_null(err);
    assert_true(str_ends(err->message, S("the answer is too long")));
}

static void tls_is_spoken_and_certificates_are_checked(void **state)
{
    (void)state;
    HttpCall call = {.method = POST,
                     .url = url_of("https", tls),
                     .body = S("secret"),
                     .trusted = S(TESTS_DIR "/data/http/localhost.crt")};
    HttpAnswer answer = {0};

    assert_ok(http_call(&call, &answer));
    assert_str(answer.body, "secret/127.0.0.1");
    assert_str(http_answer_header(&answer, "x-tls"), "yes");
    call.trusted = S("");
    assert_non_null(http_call(&call, &answer));
}

static void a_missing_or_wrong_certificate_is_an_error_at_start(void **state)
{
    (void)state;
    HttpServer *none = NULL;
    HttpOptions options = {.listen = S("127.0.0.1:0"),
                           .handle = handle,
                           .tls_certificate = S("/nowhere.crt"),
                           .tls_key = S("/nowhere.key")};

    assert_err(http_start(&options, &none), 500,
               "Cannot read the TLS file /nowhere.crt: No such file or directory");
    options.tls_certificate = options.tls_key = S(__FILE__);
    assert_non_null(http_start(&options, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_sends_method_headers_and_body),
        cmocka_unit_test(calls_of_a_thread_share_a_connection),
        cmocka_unit_test(a_head_call_has_no_body),
        cmocka_unit_test(a_call_to_nobody_gives_502),
        cmocka_unit_test(an_answer_that_is_too_long_gives_502),
        cmocka_unit_test(tls_is_spoken_and_certificates_are_checked),
        cmocka_unit_test(a_missing_or_wrong_certificate_is_an_error_at_start),
    };

    return cmocka_run_group_tests_name("http client", tests, start, stop);
}
