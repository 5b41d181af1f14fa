// Text, times, ids, histograms, options.
#include "test.h"

#include "base/buf.h"
#include "base/config.h"
#include "base/country.h"
#include "base/date.h"
#include "base/file.h"
#include "base/hist.h"
#include "base/memory.h"
#include "base/uuid.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void every_form_of_a_time_that_clients_send_is_read(void **state)
{
    (void)state;
    static const char *const same[] = {
        "2024-05-01T12:34:56.789+00:00", "2024-05-01T12:34:56.789Z",
        "2024-05-01T12:34:56.789",       "2024-05-01T14:34:56.789+02:00",
        "2024-05-01T14:34:56.789+0200",  "2024-05-01T14:34:56.789+02",
        "2024-05-01T07:04:56.789-05:30", "2024-05-01 12:34:56.789",
        "2024-05-01T12:34:56.7891234Z",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        Time time = 0;
        assert_true(time_parse(str_of(same[i]), &time));
        assert_str(time_format(time), "2024-05-01T12:34:56.789+00:00");
    }
    Time time = 0;
    assert_true(time_parse(S("2018-10-15"), &time));
    assert_str(time_format_z(time), "2018-10-15T00:00:00.000Z");
    assert_true(time_parse(S("2018-10-15T07:08"), &time));
    assert_str(time_format_basic(time), "2018-10-15T07:08:00.000+0000");
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2024",
        "2024-13-01",
        "2024-02-30",
        "2023-02-29",
        "2024-05-01T",
        "2024-05-01T25:00:00Z",
        "2024-05-01T12:00:00+",
        "2024-05-01T12:00:00Zx",
        "01/05/2024",
        "now",
        "2024-05-01T12:00:00.Z",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Time time = 0;
        assert_false(time_parse(str_of(bad[i]), &time));
    }
}

static void times_before_1970_and_leap_days_round_trip(void **state)
{
    (void)state;
    static const char *const times[] = {
        "1969-12-31T23:59:59.999+00:00", "0001-01-01T00:00:00.000+00:00",
        "2000-02-29T12:00:00.000+00:00", "9999-12-31T23:59:59.000+00:00"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        Time time = 0;
        assert_true(time_parse(str_of(times[i]), &time));
        assert_str(time_format(time), times[i]);
    }
}

static void name_based_ids_are_the_ones_everybody_computes(void **state)
{
    (void)state;
    // RFC 9562, appendix A.4: www.example.com in the DNS name space.
    assert_str(uuid_of_name(S("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), S("www.example.com")),
               "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

static void new_ids_are_valid_and_different(void **state)
{
    (void)state;
    Str a = uuid_new(), b = uuid_new();
    assert_true(uuid_is_valid(a));
    assert_true(uuid_is_valid(b));
    assert_false(str_eq(a, b));
    assert_false(uuid_is_valid(S("2ed6657d-e927-068b-95e1-2665a8aea6a2")));
    assert_true(uuid_is_uuid_shaped(S("2ED6657d-e927-068b-15e1-2665a8aea6a2")));
    assert_false(uuid_is_uuid_shaped(S("2ed6657d-e927-068b-15e1-2665a8aea6a")));
}

static void ids_of_later_records_sort_behind_earlier_ones(void **state)
{
    (void)state;
    Str first = uuid_new();
    Time begun = time_now();

    while (time_now() == begun) {
    }
    assert_true(str_cmp(first, uuid_new()) < 0);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void percentiles_agree_with_sorting_all_values(void **state)
{
    (void)state;
    enum { N = 20000 };
    static int64_t values[N];
    Hist *hist = hist_new(3, 3600LL * 1000 * 1000);
    uint64_t x = 88172645463325252u;

    for (int i = 0; i < N; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        values[i] = (int64_t)(x % (i % 7 ? 5000 : 90000000)) + 1;
        hist_record(hist, values[i]);
    }
    qsort(values, N, sizeof values[0], by_value);
    static const double percents[] = {0, 1, 25, 50, 75, 90, 95, 99, 99.9, 100};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        int rank = (int)(percents[i] / 100 * N + 0.999999);
        int64_t exact = values[rank > 0 ? rank - 1 : 0];
        int64_t got = hist_percentile(hist, percents[i]);
        assert_in_range(llabs(got - exact), 0, exact / 1000 + 1);
    }
    assert_int_equal(hist_count(hist), N);
    assert_int_equal(hist_max(hist), values[N - 1]);
    assert_int_equal(hist_min(hist), values[0]);
    hist_free(hist);
}

static void times_beyond_four_digits_are_the_last_that_can_be_written(void **state)
{
    (void)state;
    Time never = 0, before = 0;

    assert_true(time_parse(S("9999-12-31T23:59:59.000-05:00"), &never));
    assert_str(time_format(never), "9999-12-31T23:59:59.999+00:00");
    assert_str(time_format_z(never + 400 * DAY_MS), "9999-12-31T23:59:59.999Z");
    assert_true(time_parse(S("0000-01-01T00:00:00+05:00"), &before));
    assert_str(time_format(before), "0000-01-01T00:00:00.000+00:00");
    assert_str(date_format(INT64_MAX), "9999-12-31");
    assert_str(date_format(INT64_MIN), "0000-01-01");
}

static void a_stall_is_filled_with_the_samples_it_hid(void **state)
{
    (void)state;
    Hist *hist = hist_new(3, 1000000);

    hist_record_corrected(hist, 1000, 100);
    assert_int_equal(hist_count(hist), 10);
    hist_free(hist);
}

static void an_unknown_option_names_its_origin(void **state)
{
    (void)state;
    static const Option options[] = {{"http.listen", "127.0.0.1:9130", "", false}, {0}};
    Config *config = config_new(options);

    assert_str(config_text(config, "http.listen"), "127.0.0.1:9130");
    assert_ok(config_set(config, S("http.listen"), S(":8000"), "flag"));
    assert_str(config_text(config, "http.listen"), ":8000");
    Err *err = config_set(config, S("http.lisen"), S("x"), "octavo.conf");
    assert_non_null(err);
    assert_non_null(strstr(str_z(err->message), "octavo.conf: unknown option 'http.lisen'"));
    config_free(config);
}

static void options_come_from_the_environment_too_and_numbers_are_numbers(void **state)
{
    (void)state;
    static const Option options[] = {
        {"http.body_mib", "32", "", false}, {"log.level", "info", "", false}, {0}};
    static const char *const bad[] = {"", "abc", "-1", "1e3", "12x", "99999999999"};
    Config *config = config_new(options);
    const Option *option = NULL;
    const char *origin = NULL;
    Str value;

    setenv("OCTAVO_HTTP_BODY_MIB", "7", 1);
    assert_ok(config_read_environment(config));
    assert_int_equal(config_int(config, "http.body_mib"), 7);
    assert_true(config_at(config, 0, &option, &value, &origin));
    assert_string_equal(origin, "OCTAVO_HTTP_BODY_MIB");
    assert_true(config_at(config, 1, &option, &value, &origin));
    assert_string_equal(origin, "default");
    assert_false(config_at(config, 2, &option, &value, &origin));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("OCTAVO_HTTP_BODY_MIB", bad[i], 1);
        Err *err = config_read_environment(config);
        assert_non_null(err);
        assert_non_null(strstr(str_z(err->message), "http.body_mib must be a whole number"));
    }
    unsetenv("OCTAVO_HTTP_BODY_MIB");
    assert_int_equal(config_int(config, "http.body_mib"), 7);
    assert_non_null(config_read_file(config, "/nowhere/octavo.conf"));
    config_free(config);
}

static void a_file_is_read_whole_up_to_its_limit(void **state)
{
    (void)state;
    char path[] = "/tmp/octavo-file-XXXXXX";
    int fd = mkstemp(path);
    Str text;

    for (int i = 0; i < 10000; i++) {
        assert_int_equal(write(fd, "0123456789\n", 11), 11);
    }
    close(fd);
    assert_null(file_read(path, 110000, &text));
    assert_int_equal(text.len, 110000);
    assert_memory_equal(text.at + 109989, "0123456789\n", 11);
    Err *err = file_read(path, 109999, &text);
    assert_non_null(err);
    assert_str(err->message, str_z(str_fmt("%s: larger than 109999 bytes", path)));
    remove(path);
    err = file_read(path, 110000, &text);
    assert_non_null(err);
    assert_int_equal(err->status, 400);
    assert_str(err->message, str_z(str_fmt("%s: No such file or directory", path)));
    err = file_read("/tmp", 110000, &text);
    assert_non_null(err);
    assert_str(err->message, "/tmp: Is a directory");
}

static void countries_have_names(void **state)
{
    (void)state;
    assert_str(country_name(S("US")), "United States");
    assert_str(country_name(S("de")), "Germany");
    assert_str(country_name(S("XX")), "");
    assert_str(country_name(S("USA")), "");
    assert_str(country_name(S("")), "");
}

// Connections keep their arenas: one huge request must not stay with each of them.
static void an_arena_gives_a_huge_first_allocation_back(void **state)
{
    (void)state;
    Arena *arena = arena_new(64 << 20);
    size_t before = mallinfo2().hblkhd;

    arena_alloc(arena, 40 << 20);
    arena_reset(arena);
    assert_int_equal(mallinfo2().hblkhd, before);
    const char *small = arena_alloc(arena, 100);
    arena_reset(arena);
    assert_ptr_equal(arena_alloc(arena, 100), small); // the usual chunk stays
    arena_free(arena);
}

static void an_arena_far_past_its_limit_takes_no_memory(void **state)
{
    (void)state;
    Arena *arena = arena_new(1 << 20);
    int64_t before = memory_used();
    char *pieces[40];

    for (int i = 0; i < 40; i++) {
        pieces[i] = memset(arena_alloc(arena, 1 << 20), i, 1 << 20);
    }
    assert_true(arena_is_over_limit(arena));
    assert_true(memory_used() - before < 20 << 20); // the sanitizer shadows an eighth of all
    for (int i = 0; i < 40; i++) {
        assert_int_equal(pieces[i][12345], i);
    }
    arena_reset(arena);
    assert_false(arena_is_over_limit(arena));
    arena_free(arena);
}

static void an_arena_past_its_limit_says_so_and_goes_on(void **state)
{
    (void)state;
    Arena *arena = arena_new(100000);

    assert_non_null(arena_alloc(arena, 90000));
    assert_false(arena_is_over_limit(arena));
    assert_null(arena_try(arena, 20000));
    assert_non_null(arena_alloc(arena, 20000));
    assert_true(arena_is_over_limit(arena));
    arena_reset(arena);
    assert_int_equal(arena_used(arena), 0);
    ArenaMark mark = arena_mark(arena);
    for (int i = 0; i < 100; i++) {
        arena_alloc(arena, 900);
    }
    arena_release(arena, mark);
    assert_int_equal(arena_used(arena), 0);
    arena_free(arena);
}

static void a_buffer_never_grows_past_its_maximum(void **state)
{
    (void)state;
    Buf buf = buf_new(arena_current(), 10);

    buf_add(&buf, S("0123456789"));
    assert_false(buf.overflowed);
    buf_char(&buf, 'x');
    assert_true(buf.overflowed);
    assert_str(buf_str(&buf), "0123456789");
}

static void parts_of_a_text_come_one_by_one(void **state)
{
    (void)state;
    Str rest = S("a,,b"), part;
    StrList parts = {0};

    while (str_next(&rest, ',', &part)) {
        str_list_add(&parts, part);
    }
    assert_int_equal(parts.len, 3);
    assert_str(str_join(parts.at, parts.len, S("|")), "a||b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_time_that_clients_send_is_read),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(times_before_1970_and_leap_days_round_trip),
        cmocka_unit_test(name_based_ids_are_the_ones_everybody_computes),
        cmocka_unit_test(new_ids_are_valid_and_different),
        cmocka_unit_test(ids_of_later_records_sort_behind_earlier_ones),
        cmocka_unit_test(percentiles_agree_with_sorting_all_values),
        cmocka_unit_test(times_beyond_four_digits_are_the_last_that_can_be_written),
        cmocka_unit_test(a_stall_is_filled_with_the_samples_it_hid),
        cmocka_unit_test(an_unknown_option_names_its_origin),
        cmocka_unit_test(options_come_from_the_environment_too_and_numbers_are_numbers),
        cmocka_unit_test(a_file_is_read_whole_up_to_its_limit),
        cmocka_unit_test(countries_have_names),
        cmocka_unit_test(an_arena_gives_a_huge_first_allocation_back),
        cmocka_unit_test(an_arena_past_its_limit_says_so_and_goes_on),
        cmocka_unit_test(an_arena_far_past_its_limit_takes_no_memory),
        cmocka_unit_test(a_buffer_never_grows_past_its_maximum),
        cmocka_unit_test(parts_of_a_text_come_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
