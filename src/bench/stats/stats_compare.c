// Intervals and comparisons by resampling: units of repetition, and runs of slices within each, so
// that what hangs together in time stays together.
#include "stats.h"

#include "bench/plan/actor.h"

#include <math.h>
#include <string.h>

#define Z_POWER 0.8416212335729143 // 80 % of experiments find it
#define Z_ONE   1.6448536269514722
#define Z_TWO   1.959963984540054
#define HALF_PI 1.5707963267948966 // a median needs so many times the values of a mean
#define MANY    10000

enum {
    GROUP = 64,
};

// A draw adds slices up; the metric is read from the sums.
typedef struct {
    const Samples *of;
    double over, under;
    uint32_t *counts, *groups; // by bin, and by GROUP bins to find the percentile fast
    size_t group_len;
} Drawn;

static Drawn drawn_new(const Samples *of)
{
    return (Drawn){.of = of,
                   .counts = NEW_ARRAY(uint32_t, of->bin_len + 1),
                   .groups = NEW_ARRAY(uint32_t, of->bin_len / GROUP + 1),
                   .group_len = of->bin_len / GROUP + 1};
}

static void drawn_clear(Drawn *drawn)
{
    drawn->over = drawn->under = 0;
    memset(drawn->counts, 0, drawn->of->bin_len * sizeof *drawn->counts);
    memset(drawn->groups, 0, drawn->group_len * sizeof *drawn->groups);
}

// Most of the time of all statistics passes here.
static void drawn_add(Drawn *drawn, const Sample *sample, size_t slice)
{
    const uint32_t *bin = sample->bin, *count = sample->count;
    uint32_t *counts = drawn->counts, *groups = drawn->groups;

    if (drawn->of->percent < 0) {
        drawn->over += sample->over[slice];
        drawn->under += sample->under[slice];
        return;
    }
    for (uint32_t i = sample->from[slice], end = sample->from[slice + 1]; i < end; i++) {
        counts[bin[i]] += count[i];
        groups[bin[i] / GROUP] += count[i];
    }
}

static double drawn_value(const Drawn *drawn)
{
    if (drawn->of->percent < 0) {
        return drawn->under > 0 ? drawn->over / drawn->under : NAN;
    }
    uint64_t total = 0, seen = 0;
    size_t group = 0;
    for (size_t i = 0; i < drawn->group_len; i++) {
        total += drawn->groups[i];
    }
    if (total == 0) {
        return NAN;
    }
    uint64_t rank = (uint64_t)ceil(drawn->of->percent / 100 * (double)total);
    for (rank = rank < 1 ? 1 : rank; seen + drawn->groups[group] < rank; group++) {
        seen += drawn->groups[group];
    }
    for (size_t i = group * GROUP; i < drawn->of->bin_len; i++) {
        seen += drawn->counts[i];
        if (seen >= rank) {
            return drawn->of->bins[i];
        }
    }
    return NAN;
}

// Runs of ten seconds, or of a third of what there is.
static size_t run_of(const Samples *samples, const Sample *sample)
{
    size_t ten = (size_t)(STATS_RUN_S / (samples->slice_s > 0 ? samples->slice_s : 1));
    size_t third = (sample->len + 2) / 3;
    size_t run = ten < third ? ten : third;
    return run < 1 ? 1 : run;
}

// As many slices as there are, drawn in runs that wrap around the end.
static void draw_within(Drawn *drawn, const Sample *sample, Rng *rng)
{
    size_t run = run_of(drawn->of, sample);

    for (size_t i = 0; i < sample->len;) {
        size_t at = (size_t)rng_between(rng, 0, (int64_t)sample->len - 1);
        for (size_t j = 0; j < run && i < sample->len; j++, i++) {
            drawn_add(drawn, sample, (at + j) % sample->len);
        }
    }
}

static double points_middle(const Samples *samples)
{
    double *points = NEW_ARRAY(double, samples->len + 1);
    size_t n = 0;

    for (size_t i = 0; i < samples->len; i++) {
        if (!isnan(samples->at[i].point)) {
            points[n++] = samples->at[i].point;
        }
    }
    return stats_median(points, n);
}

static bool has_slices(const Samples *samples)
{
    for (size_t i = 0; i < samples->len; i++) {
        if (samples->at[i].len == 0) {
            return false;
        }
    }
    return samples->len > 0;
}

double stats_pooled(const Samples *samples)
{
    if (!has_slices(samples)) {
        return points_middle(samples);
    }
    Drawn drawn = drawn_new(samples);
    for (size_t i = 0; i < samples->len; i++) {
        for (size_t slice = 0; slice < samples->at[i].len; slice++) {
            drawn_add(&drawn, &samples->at[i], slice);
        }
    }
    return drawn_value(&drawn);
}

static double resample_points(const Samples *samples, Rng *rng)
{
    double *points = NEW_ARRAY(double, samples->len + 1);

    for (size_t i = 0; i < samples->len; i++) {
        points[i] = samples->at[rng_between(rng, 0, (int64_t)samples->len - 1)].point;
    }
    return stats_median(points, samples->len);
}

static double resample_pooled(Drawn *drawn, Rng *rng)
{
    const Samples *samples = drawn->of;

    drawn_clear(drawn);
    for (size_t i = 0; i < samples->len; i++) {
        draw_within(drawn, &samples->at[rng_between(rng, 0, (int64_t)samples->len - 1)], rng);
    }
    return drawn_value(drawn);
}

static size_t without_nan(double *values, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isnan(values[i])) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

static Interval interval_of(const double *sorted, size_t n, double level)
{
    return (Interval){stats_quantile_sorted(sorted, n, (1 - level) / 2),
                      stats_quantile_sorted(sorted, n, (1 + level) / 2)};
}

Interval stats_interval(const Samples *samples, uint64_t seed)
{
    bool by_slices = has_slices(samples);
    Rng rng;

    // One value says nothing about its spread.
    if (samples->len == 0 || (!by_slices && samples->len < 2)) {
        return (Interval){NAN, NAN};
    }
    ArenaMark mark = arena_mark(arena_current());
    double *values = NEW_ARRAY(double, STATS_RESAMPLES);
    Drawn drawn = drawn_new(samples);
    rng_seed(&rng, seed, 0);
    for (size_t i = 0; i < STATS_RESAMPLES; i++) {
        values[i] = by_slices ? resample_pooled(&drawn, &rng) : resample_points(samples, &rng);
    }
    size_t n = without_nan(values, STATS_RESAMPLES);
    stats_sort(values, n);
    Interval interval = interval_of(values, n, 0.95);
    arena_release(arena_current(), mark);
    return interval;
}

const char *verdict_name(Verdict verdict)
{
    static const char *const names[] = {"equivalent", "different but small", "worse", "better",
                                        "inconclusive"};
    return names[verdict];
}

typedef struct {
    const Sample *a, *b;
} Pair;

static size_t pairs_of(const Samples *a, const Samples *b, Pair *pairs)
{
    size_t n = 0;

    for (size_t i = 0; i < a->len; i++) {
        for (size_t j = 0; j < b->len; j++) {
            if (a->at[i].unit == b->at[j].unit && a->at[i].point > 0 && b->at[j].point > 0) {
                pairs[n++] = (Pair){&a->at[i], &b->at[j]};
                break;
            }
        }
    }
    return n;
}

static double value_within(Drawn *drawn, const Sample *sample, Rng *rng)
{
    if (sample->len == 0) {
        return sample->point;
    }
    drawn_clear(drawn);
    draw_within(drawn, sample, rng);
    return drawn_value(drawn);
}

// Logarithms of resampled ratios, sorted. Both cells of a pair had the same load, draw by draw,
// from the same seed: the same seconds are drawn for both, so that what the load or the growth of
// the data does to a second cancels out.
static size_t resample_ratios(const Samples *a, const Samples *b, const Pair *pairs, size_t n,
                              uint64_t seed, double *out)
{
    double *logs = NEW_ARRAY(double, n);
    Drawn of_a = drawn_new(a), of_b = drawn_new(b);
    Rng rng;

    rng_seed(&rng, seed, 1);
    for (size_t i = 0; i < STATS_RESAMPLES; i++) {
        size_t got = 0;
        for (size_t j = 0; j < n; j++) {
            const Pair *pair = &pairs[rng_between(&rng, 0, (int64_t)n - 1)];
            Rng again = rng;
            double x = value_within(&of_a, pair->a, &rng);
            double y = value_within(&of_b, pair->b, pair->a->len == pair->b->len ? &again : &rng);
            if (x > 0 && y > 0) {
                logs[got++] = log(y / x);
            }
        }
        ArenaMark mark = arena_mark(arena_current());
        out[i] = stats_median(logs, got);
        arena_release(arena_current(), mark);
    }
    size_t kept = without_nan(out, STATS_RESAMPLES);
    stats_sort(out, kept);
    return kept;
}

// Share of sorted values beyond a limit, never quite nothing: p values of a bootstrap.
static double share_beyond(const double *sorted, size_t n, double limit, bool above)
{
    size_t beyond = 0;

    for (size_t i = 0; i < n; i++) {
        beyond += above ? sorted[i] >= limit : sorted[i] <= limit;
    }
    return ((double)beyond + 1) / ((double)n + 1);
}

static Verdict verdict_of(const Comparison *is, const CompareOptions *options, bool is_different)
{
    double margin = 1 + options->margin;
    bool is_within = is->within90.low >= 1 / margin && is->within90.high <= margin;
    bool is_beyond = is->ratio > margin || is->ratio < 1 / margin;

    if (is->pairs < options->min_units || is->pairs < 2 || isnan(is->within95.low)) {
        return VERDICT_INCONCLUSIVE;
    }
    if (is_different && (is_beyond || (options->is_superiority && !is_within))) {
        return (is->ratio > 1) == options->is_higher_better ? VERDICT_BETTER : VERDICT_WORSE;
    }
    if (is_different && is_within) {
        return VERDICT_SMALL;
    }
    return is_within && !options->is_superiority ? VERDICT_EQUIVALENT : VERDICT_INCONCLUSIVE;
}

// From the spread of the units' ratios: how many pairs would show equivalence, or the difference.
static size_t units_needed(const double *logs, size_t n, double estimate, double margin)
{
    double spread = stats_deviation(logs, n), room = log(1 + margin) - fabs(estimate);

    if (n < 2) {
        return 0;
    }
    double wanted =
        room > 0 ? (Z_ONE + Z_POWER) * spread / room : (Z_TWO + Z_POWER) * spread / fabs(estimate);
    double needed = ceil(HALF_PI * wanted * wanted);
    needed = needed > MANY ? MANY : needed;
    return needed > (double)n ? (size_t)needed : n + 1;
}

static RankTest ranks_of(const Samples *a, const Samples *b)
{
    double *x = NEW_ARRAY(double, a->len + 1), *y = NEW_ARRAY(double, b->len + 1);

    for (size_t i = 0; i < a->len; i++) {
        x[i] = a->at[i].point;
    }
    for (size_t i = 0; i < b->len; i++) {
        y[i] = b->at[i].point;
    }
    RankTest ranks = stats_rank_test(x, without_nan(x, a->len), y, without_nan(y, b->len));
    if (a->len < 4 || b->len < 4) {
        ranks.p = NAN; // the normal approximation does not hold
    }
    return ranks;
}

static void compare_pairs(const Samples *a, const Samples *b, const Pair *pairs,
                          const CompareOptions *options, Comparison *out)
{
    double *logs = NEW_ARRAY(double, out->pairs), *drawn = NEW_ARRAY(double, STATS_RESAMPLES);
    double margin = log(1 + options->margin);

    for (size_t i = 0; i < out->pairs; i++) {
        logs[i] = log(pairs[i].b->point / pairs[i].a->point);
    }
    double estimate = stats_median(logs, out->pairs);
    out->ratio = exp(estimate);
    // A single point on each side has no spread to draw from.
    if (out->pairs < 2 && (pairs[0].a->len == 0 || pairs[0].b->len == 0)) {
        return;
    }
    size_t n = resample_ratios(a, b, pairs, out->pairs, options->seed, drawn);
    Interval log90 = interval_of(drawn, n, 1 - 2 * options->alpha),
             log95 = interval_of(drawn, n, 1 - options->alpha);
    out->within90 = (Interval){exp(log90.low), exp(log90.high)};
    out->within95 = (Interval){exp(log95.low), exp(log95.high)};
    out->difference_p =
        fmin(1, 2 * fmin(share_beyond(drawn, n, 0, true), share_beyond(drawn, n, 0, false)));
    out->equivalence_p =
        fmax(share_beyond(drawn, n, margin, true), share_beyond(drawn, n, -margin, false));
    out->verdict = verdict_of(out, options, out->within95.low > 1 || out->within95.high < 1);
    if (out->verdict == VERDICT_INCONCLUSIVE) {
        out->units_needed = units_needed(logs, out->pairs, estimate, options->margin);
        if (out->units_needed < options->min_units) {
            out->units_needed = options->min_units;
        }
    }
}

Comparison stats_compare(const Samples *a, const Samples *b, const CompareOptions *options)
{
    Pair *pairs = NEW_ARRAY(Pair, a->len + 1);
    Comparison out = {.pairs = pairs_of(a, b, pairs),
                      .ratio = NAN,
                      .within90 = {NAN, NAN},
                      .within95 = {NAN, NAN},
                      .difference_p = 1,
                      .equivalence_p = 1,
                      .verdict = VERDICT_INCONCLUSIVE,
                      .ranks = ranks_of(a, b)};

    if (out.pairs > 0) {
        compare_pairs(a, b, pairs, options, &out);
    }
    return out;
}

void stats_correct(Comparison *comparisons, size_t n, double alpha)
{
    double *p = NEW_ARRAY(double, n + 1);

    for (size_t i = 0; i < n; i++) {
        p[i] = comparisons[i].difference_p;
    }
    stats_holm(p, n);
    for (size_t i = 0; i < n; i++) {
        Verdict verdict = comparisons[i].verdict;
        comparisons[i].difference_p = p[i];
        // Equivalence needs no correction: each claim has to pass on its own.
        if (p[i] > alpha && (verdict == VERDICT_WORSE || verdict == VERDICT_BETTER)) {
            comparisons[i].verdict = VERDICT_INCONCLUSIVE;
        } else if (p[i] > alpha && verdict == VERDICT_SMALL) {
            comparisons[i].verdict = VERDICT_EQUIVALENT;
        }
    }
}
