// The lab's collector counts what a server sends it.
#include "test.h"

#include "bench/lab/otlp_sink.h"
#include "http/client.h"

static int post(const OtlpSink *sink, const char *path, Str body)
{
    HttpCall call = {.method = POST,
                     .url = str_fmt(STR_FMT "%s", STR_ARG(otlp_sink_url(sink)), path),
                     .body = body};
    HttpAnswer answer = {0};

    assert_ok(http_call(&call, &answer));
    return answer.status;
}

// resource_spans { resource {} scope_spans { span {} span { name } } } and one more resource.
static const char two_and_one[] = "\x0a\x0b\x0a\x00\x12\x07\x12\x00\x12\x03\x2a\x01x"
                                  "\x0a\x04\x12\x02\x12\x00";

static void spans_are_counted_and_other_bodies_refused(void **state)
{
    (void)state;
    OtlpSink *sink = NULL;

    assert_ok(otlp_sink_start(&sink));
    assert_int_equal(post(sink, "/v1/traces", (Str){two_and_one, sizeof two_and_one - 1}), 200);
    assert_int_equal(post(sink, "/v1/metrics", S("")), 200);
    OtlpSinkFigures figures = otlp_sink_figures(sink);
    assert_int_equal(figures.spans, 3);
    assert_int_equal(figures.calls, 2);
    assert_int_equal(figures.broken, 0);
    // Lengths that lie, a wire type that there is not, a number without end.
    assert_int_equal(post(sink, "/v1/traces", S("\x0a\x7f\x12")), 400);
    assert_int_equal(post(sink, "/v1/traces", S("\x0f")), 400);
    assert_int_equal(post(sink, "/v1/traces", S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
                     400);
    assert_int_equal(otlp_sink_figures(sink).broken, 3);
    assert_int_equal(otlp_sink_figures(sink).spans, 3);
    otlp_sink_stop(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_counted_and_other_bodies_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
