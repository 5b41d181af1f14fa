// W3C trace contexts. Source: spec/interop.md 7.3.
#include "test.h"

#include "base/trace.h"

#include <string.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN  "b7ad6b7169203331"

static void a_traceparent_reads_back_as_it_was_written(void **state)
{
    (void)state;
    TraceContext context = {0};
    char text[TRACEPARENT_LEN + 1];

    assert_true(traceparent_read(S("00-" TRACE "-" SPAN "-01"), &context));
    assert_true(context.is_sampled && context.has_parent);
    memcpy(context.span_id, context.parent_id, sizeof context.span_id);
    traceparent_write(&context, text);
    assert_string_equal(text, "00-" TRACE "-" SPAN "-01");
    assert_true(traceparent_read(S("00-" TRACE "-" SPAN "-00"), &context));
    assert_false(context.is_sampled);
}

static void what_is_no_traceparent_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "00-" TRACE "-" SPAN,
        "00-" TRACE "-" SPAN "-0",
        "00-" TRACE "-" SPAN "-01x",
        "00-" TRACE "-" SPAN "-01-more",
        "ff-" TRACE "-" SPAN "-01",
        "0g-" TRACE "-" SPAN "-01",
        "00-" TRACE "-" SPAN "-0g",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
        "00_" TRACE "-" SPAN "-01",
    };
    TraceContext context;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (traceparent_read(str_of(bad[i]), &context)) {
            fail_msg("taken: %s", bad[i]);
        }
    }
}

static void a_later_version_may_have_more_behind_it(void **state)
{
    (void)state;
    TraceContext context;

    assert_true(traceparent_read(S("01-" TRACE "-" SPAN "-01"), &context));
    assert_true(traceparent_read(S("01-" TRACE "-" SPAN "-01-more"), &context));
    assert_false(traceparent_read(S("01-" TRACE "-" SPAN "-01more"), &context));
}

static void a_share_of_requests_without_caller_is_sampled(void **state)
{
    (void)state;
    int sampled = 0;

    for (int i = 0; i < 10000; i++) {
        trace_begin(S(""), S(""), 10);
        sampled += trace_current()->is_sampled;
        assert_false(trace_current()->has_parent);
    }
    assert_in_range(sampled, 800, 1200);
    trace_begin(S(""), S(""), 100);
    assert_true(trace_current()->is_sampled);
    trace_begin(S(""), S(""), 0);
    assert_false(trace_current()->is_sampled);
    trace_end();
    assert_null(trace_current());
}

static void spans_of_a_trace_have_ids_of_their_own(void **state)
{
    (void)state;
    unsigned char a[8], b[8];

    trace_begin(S("00-" TRACE "-" SPAN "-01"), S(""), 0);
    TraceContext first = *trace_current();
    trace_begin(S("00-" TRACE "-" SPAN "-01"), S(""), 0);
    assert_true(first.is_sampled);
    assert_memory_equal(first.trace_id, trace_current()->trace_id, 16);
    assert_memory_not_equal(first.span_id, trace_current()->span_id, 8);
    trace_span_id(a);
    trace_span_id(b);
    assert_memory_not_equal(a, b, 8);
    trace_end();
}

static void what_other_systems_noted_goes_with_the_callers_trace_only(void **state)
{
    (void)state;
    char longer[TRACESTATE_MAX + 2];

    trace_begin(S("00-" TRACE "-" SPAN "-01"), S("vendor=a1"), 0);
    assert_true(str_eq(trace_current()->state, S("vendor=a1")));
    trace_begin(S("nonsense"), S("vendor=a1"), 100);
    assert_int_equal(trace_current()->state.len, 0);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    trace_begin(S("00-" TRACE "-" SPAN "-01"), str_of(longer), 0);
    assert_int_equal(trace_current()->state.len, 0);
    trace_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_reads_back_as_it_was_written),
        cmocka_unit_test(what_is_no_traceparent_is_refused),
        cmocka_unit_test(a_later_version_may_have_more_behind_it),
        cmocka_unit_test(a_share_of_requests_without_caller_is_sampled),
        cmocka_unit_test(spans_of_a_trace_have_ids_of_their_own),
        cmocka_unit_test(what_other_systems_noted_goes_with_the_callers_trace_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
