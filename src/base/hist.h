// A histogram of durations: log-linear buckets, one increment per value, exact to the digits
// chosen.
#pragma once

#include "base/err.h"

typedef struct Hist Hist;

// `digits` 2 (server metrics) or 3 (lab); values from 1 to `max`, larger ones count as `max`.
Hist *hist_new(int digits, int64_t max);
void hist_free(Hist *hist);
void hist_record(Hist *hist, int64_t value);
// As HdrHistogram's recordValueWithExpectedInterval: fills in what a stalled closed loop left out.
void hist_record_corrected(Hist *hist, int64_t value, int64_t expected_interval);
void hist_merge(Hist *into, const Hist *from);
void hist_reset(Hist *hist);
int64_t hist_count(const Hist *hist);
int64_t hist_min(const Hist *hist);
int64_t hist_max(const Hist *hist);
double hist_mean(const Hist *hist);
double hist_deviation(const Hist *hist);
// The value that `percent` (0..100) of all values do not exceed, by the nearest-rank method.
int64_t hist_percentile(const Hist *hist, double percent);
// Number of values not above `value`.
int64_t hist_count_below(const Hist *hist, int64_t value);

// The histogram as bytes: only the buckets that hold something, exact, some two bytes for each. In
// the current arena.
Str hist_pack(const Hist *hist);
// Adds what hist_pack wrote; false if the bytes are none, or of a histogram of another shape (then
// nothing is added).
WARN_UNUSED bool hist_merge_packed(Hist *into, Str packed);
// How many values a packed histogram holds; 0 if it is none.
int64_t hist_packed_count(Str packed);
// Calls with the value that stands for each filled bucket, in rising order; false if it is none.
typedef void (*HistEach)(int64_t value, int64_t count, void *context);
WARN_UNUSED bool hist_packed_each(Str packed, HistEach each, void *context);
