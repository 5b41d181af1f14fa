// result.json: what is written is read back, bad ones are refused.
#include "test.h"

#include "bench/result.h"

#include <math.h>
#include <string.h>

static Str packed_of(int64_t first, int n)
{
    Hist *hist = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (int i = 0; i < n; i++) {
        hist_record(hist, first * (i + 1));
    }
    Str packed = hist_pack(hist);
    hist_free(hist);
    return packed;
}

static void a_packed_histogram_holds_exactly_what_was_recorded(void **state)
{
    (void)state;
    Hist *a = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    Hist *b = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (int64_t i = 1, value = 1; i <= 2000; i++) {
        value = (value * 1103515245 + 12345) % 4000000000LL; // some lie beyond the longest
        hist_record(a, value);
    }
    assert_true(hist_merge_packed(b, hist_pack(a)));
    assert_int_equal(hist_count(b), 2000);
    assert_int_equal(hist_packed_count(hist_pack(a)), 2000);
    assert_int_equal(hist_min(a), hist_min(b));
    assert_int_equal(hist_max(a), hist_max(b));
    assert_true(hist_mean(a) == hist_mean(b) && hist_deviation(a) == hist_deviation(b));
    for (double p = 0; p <= 100; p += 0.5) {
        assert_int_equal(hist_percentile(a, p), hist_percentile(b, p));
    }
    assert_true(str_eq(hist_pack(a), hist_pack(b)));
    hist_free(a);
    hist_free(b);
}

static void packing_and_merging_agree_with_merging(void **state)
{
    (void)state;
    Hist *merged = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    Hist *direct = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (int64_t i = 1; i <= 300; i++) {
        hist_record(direct, i * 997);
        hist_record(direct, i * 31);
    }
    assert_true(hist_merge_packed(merged, packed_of(997, 300)));
    assert_true(hist_merge_packed(merged, packed_of(31, 300)));
    assert_true(hist_merge_packed(merged, packed_of(31, 0)));
    assert_true(str_eq(hist_pack(merged), hist_pack(direct)));
    hist_free(merged);
    hist_free(direct);
}

static void bytes_that_are_no_histogram_add_nothing(void **state)
{
    (void)state;
    Hist *into = hist_new(RESULT_DIGITS, RESULT_LONGEST_US), *coarse = hist_new(2, 1000);
    Str good = packed_of(1000, 50);

    hist_record(coarse, 5);
    assert_false(hist_merge_packed(into, S("")));
    assert_false(hist_merge_packed(into, S("Hello")));
    assert_false(hist_merge_packed(into, hist_pack(coarse)));
    for (size_t len = 1; len < good.len; len++) {
        Str cut = str_sub(good, 0, len);
        bool is_taken = hist_merge_packed(into, cut);
        // Cut between two buckets it is a smaller histogram.
        assert_int_equal(hist_count(into), is_taken ? hist_packed_count(cut) : 0);
        hist_reset(into);
    }
    char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) {
        memcpy(bytes, good.at, sizeof bytes);
        bytes[i] = (char)(bytes[i] ^ 0xFF);
        // Taken or not, it must not go astray.
        bool is_taken = hist_merge_packed(into, (Str){bytes, sizeof bytes});
        assert_true(is_taken || hist_count(into) == 0);
        hist_reset(into);
    }
    hist_free(into);
    hist_free(coarse);
}

static Result *small_result(void)
{
    Result *result = NEW(Result);
    Cell *cell = NEW(Cell);
    static Slice slices[] = {{.second = -1, .failed = 2}, {.second = 0}};
    static Counted errors[] = {{.name = {"status 500", 10}, .count = 2}};
    static double ticks[] = {0, 1}, values[] = {0.1, 0};
    static Annotation note = {.at = 1714566896789, .kind = {"note", 4}, .text = {"hm", 2}};
    static Measure measure = {.kind = MEASURE_REQUEST,
                              .name = {"GET /x", 6},
                              .errors = {errors, 1},
                              .slices = {slices, 2}};
    static Series series = {.group = GROUP_DRIVER,
                            .name = {"cpu", 3},
                            .unit = UNIT_VCPU,
                            .is_counter = true,
                            .values = {values, 2}};
    values[1] = NAN;
    slices[1].ok = measure.ok = packed_of(700, 9);
    *cell = (Cell){.id = S("x/main/block1/a"),
                   .block = 1,
                   .state = CELL_INVALID,
                   .ticks = {ticks, 2},
                   .measures = {&measure, 1},
                   .series = {&series, 1}};
    str_list_add(&cell->reasons, S("a second"));
    *result = (Result){.schema = RESULT_SCHEMA,
                       .id = S("x-1"),
                       .started_at = 1714566896789,
                       .experiment = json_object(),
                       .cells = {cell, 1},
                       .annotations = {&note, 1}};
    json_set_str(result->experiment, "experiment.id", S("x"));
    return result;
}

static void a_result_is_read_back_as_it_was_written(void **state)
{
    (void)state;
    Str text = result_text(small_result());
    Result *back = NULL;

    assert_ok(result_parse(text, &back));
    assert_true(str_eq(result_text(back), text));
    Cell *cell = &back->cells.at[0];
    assert_int_equal(cell->state, CELL_INVALID);
    assert_str(cell->reasons.at[0], "a second");
    assert_int_equal(cell->measures.at[0].kind, MEASURE_REQUEST);
    assert_int_equal(cell->measures.at[0].slices.at[0].second, -1);
    assert_int_equal(cell->measures.at[0].slices.at[0].failed, 2);
    assert_int_equal(hist_packed_count(cell->measures.at[0].slices.at[1].ok), 9);
    assert_str(cell->measures.at[0].errors.at[0].name, "status 500");
    assert_true(cell->series.at[0].values.at[0] == 0.1);
    assert_true(isnan(cell->series.at[0].values.at[1]));
    assert_int_equal(cell->series.at[0].unit, UNIT_VCPU);
    assert_true(back->annotations.at[0].at == 1714566896789);
}

// 24 hours as the driver and the sampler leave them: a histogram each second of two transactions,
// and as many samples of sixty series as are kept of the longest cell.
static void a_day_takes_little_room_and_is_read_back_whole(void **state)
{
    enum { SECONDS = 86400, TICKS = 7200, SERIES = 60 };
    (void)state;
    Arena *arena = arena_new((size_t)512 << 20), *former = arena_use(arena);
    Result *result = small_result(), *back = NULL;
    Cell *cell = &result->cells.at[0];
    Hist *second = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    cell->measures.at = NEW_ARRAY(Measure, 2);
    cell->measures.len = 2;
    for (int i = 0; i < 2; i++) {
        Measure *measure = &cell->measures.at[i];
        *measure = (Measure){.name = S("check-out"), .ok = packed_of(700, 9)};
        measure->slices.at = NEW_ARRAY(Slice, SECONDS);
        for (; measure->slices.len < SECONDS; measure->slices.len++) {
            int64_t s = (int64_t)measure->slices.len;
            hist_reset(second);
            for (int k = 0; k < 3; k++) {
                hist_record(second, 20000 + s % 977 * 13 + k * 3000);
            }
            measure->slices.at[s] = (Slice){.second = s, .ok = hist_pack(second)};
        }
    }
    hist_free(second);
    cell->ticks = (Numbers){NEW_ARRAY(double, TICKS), TICKS};
    for (int i = 0; i < TICKS; i++) {
        cell->ticks.at[i] = i * 12;
    }
    cell->series.at = NEW_ARRAY(Series, SERIES);
    for (; cell->series.len < SERIES; cell->series.len++) {
        cell->series.at[cell->series.len] = (Series){.name = S("cpu"), .values = cell->ticks};
    }
    Str text = result_text(result);
    assert_true(text.len < (size_t)24 << 20);
    assert_ok(result_parse(text, &back));
    assert_int_equal(back->cells.at[0].measures.at[1].slices.len, SECONDS);
    assert_int_equal(back->cells.at[0].series.len, SERIES);
    assert_true(str_eq(result_text(back), text));
    assert_true(arena_used(arena) < (size_t)256 << 20);
    arena_use(former);
    arena_free(arena);
}

static void what_is_no_result_is_refused_with_the_place(void **state)
{
    (void)state;
    Result *back = NULL;

    assert_err(result_parse(S("{}"), &back), 400,
               "it is no result of an experiment that this version reads (schema 1)");
    assert_err(result_parse(S("{\"schemaVersion\":2,\"experiment\":{}}"), &back), 400,
               "it is no result of an experiment that this version reads (schema 1)");
    assert_err(result_parse(S("{\"schemaVersion\":1,\"experiment\":{},\"cells\":[{\"measures\":"
                              "[{\"ok\":\"AAAA\"}]}]}"),
                            &back),
               400, "cells: measures: ok: it is no packed histogram");
    assert_err(result_parse(S("{\"schemaVersion\":1,\"experiment\":{},\"cells\":[{\"state\":"
                              "\"well\"}]}"),
                            &back),
               400, "cells: state: \"well\" is none of its words");
    assert_err(result_parse(S("{\"schemaVersion\":1,\"experiment\":{},\"cells\":[{\"id\":\"c\","
                              "\"windowS\":1e300}]}"),
                            &back),
               400, "cell c: its times or its block cannot be");
    assert_err(result_parse(S("{\"schemaVersion\":1,\"experiment\":{},\"cells\":[{\"ticks\":"
                              "\"1 x\"}]}"),
                            &back),
               400, "cells: ticks: \"x\" is no number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_histogram_holds_exactly_what_was_recorded),
        cmocka_unit_test(packing_and_merging_agree_with_merging),
        cmocka_unit_test(bytes_that_are_no_histogram_add_nothing),
        cmocka_unit_test(a_result_is_read_back_as_it_was_written),
        cmocka_unit_test(a_day_takes_little_room_and_is_read_back_whole),
        cmocka_unit_test(what_is_no_result_is_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
