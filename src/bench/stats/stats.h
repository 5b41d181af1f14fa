// The statistics of the lab: intervals, comparisons, trends. No state, no clock: the same input
// gives the same output. Source: spec/perf-lab.md 4.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    double low, high;
} Interval;

// A median of the values; NAN of none. Order is kept.
double stats_median(const double *values, size_t n);
double stats_mean(const double *values, size_t n);
double stats_deviation(const double *values, size_t n); // of a sample; 0 below two values
// The value below which `share` (0..1) of sorted values lie, between neighbours by line.
double stats_quantile_sorted(const double *sorted, size_t n, double share);
void stats_sort(double *values, size_t n);
// Probability of a normal value further from 0 than |z|, both sides.
double stats_normal_p(double z);

// Of a share, by Wilson, 95 %.
Interval stats_wilson(int64_t hits, int64_t n);
// Two shares are the same: two-sided p of the pooled z test; 1 where nothing happened.
double stats_proportions_p(int64_t hits_a, int64_t n_a, int64_t hits_b, int64_t n_b);

// Rank tests of two independent samples.
typedef struct {
    double p;           // Mann-Whitney U, normal approximation, corrected for ties
    double shift;       // Hodges-Lehmann: median of all differences b - a
    double superiority; // probability that a value of b is larger than one of a
} RankTest;
RankTest stats_rank_test(const double *a, size_t n_a, const double *b, size_t n_b);

// Monotone trend: two-sided p of Mann-Kendall with ties; 1 below three values.
double stats_mann_kendall_p(const double *values, size_t n);

// A line through repetitions. Pieces (numbered by `piece`, NULL = one) share the slope but not the
// level: values on both sides of a restart are never compared with each other.
typedef struct {
    double slope;      // per step of x; NAN without two values in one piece
    Interval interval; // 95 %
    double p;          // Mann-Kendall over the pieces
    double middle;     // median of all values
    size_t n;
} Trend;
Trend stats_trend(const double *x, const double *y, const int *piece, size_t n);

// Adjusts p values for being many (Holm), in place, order kept.
void stats_holm(double *p, size_t n);

// What one unit of repetition (a block, a run of a job) gives for one metric, cut into slices.
typedef struct {
    int64_t unit;         // equal ones of two configurations are a pair
    double point;         // the metric of this unit; NAN = none
    size_t len;           // slices; 0: only the point is known
    double *over, *under; // of a ratio of sums, by slice
    // Of a percentile: slice i holds the entries from[i] .. from[i + 1] - 1.
    uint32_t *from, *bin, *count;
} Sample;

typedef struct {
    Sample *at;
    size_t len;
    double percent;     // of a percentile; < 0: ratio of sums
    const double *bins; // the values that bins stand for, rising
    size_t bin_len;
    double slice_s; // length of a slice
} Samples;

enum {
    STATS_RESAMPLES = 2000,
    STATS_RUN_S = 10, // slices of so many seconds are drawn together
};

// The metric of all units together, and its 95 % interval by resampling units and, within each,
// runs of slices. One unit: only within it.
double stats_pooled(const Samples *samples);
Interval stats_interval(const Samples *samples, uint64_t seed);

typedef enum {
    VERDICT_EQUIVALENT,
    VERDICT_SMALL, // different, but within the margin
    VERDICT_WORSE,
    VERDICT_BETTER,
    VERDICT_INCONCLUSIVE,
    VERDICTS,
} Verdict;
const char *verdict_name(Verdict verdict);

typedef struct {
    double margin; // 0.05
    double alpha;  // 0.05
    size_t min_units;
    bool is_higher_better;
    bool is_superiority; // only a difference is sought: never "equivalent"
    uint64_t seed;
} CompareOptions;

typedef struct {
    size_t pairs;
    double ratio; // median over pairs; NAN = no pair
    Interval within90, within95;
    double difference_p, equivalence_p;
    Verdict verdict;
    size_t units_needed; // when inconclusive; 0 = not known
    RankTest ranks;      // of the units' points; p is NAN below four of each
} Comparison;

// B against A, paired by unit.
Comparison stats_compare(const Samples *a, const Samples *b, const CompareOptions *options);
// The verdicts again with p values adjusted for n comparisons.
void stats_correct(Comparison *comparisons, size_t n, double alpha);
