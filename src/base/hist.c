// Log-linear histogram: values share a power of two, which is cut into equal sub-buckets, so that
// the error stays below one part in 10^digits whatever the size of the value.
#include "base/hist.h"

#include "base/die.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct Hist {
    int sub_bits;      // sub-buckets per power of two: 2^sub_bits
    int64_t max_value; // larger values count as this
    size_t bucket_count;
    int64_t count, min, max;
    double sum, sum_of_squares;
    int64_t buckets[];
};

static size_t bucket_of(const Hist *hist, int64_t value)
{
    int64_t linear = (int64_t)1 << (hist->sub_bits + 1);

    if (value < linear) {
        return (size_t)value;
    }
    int power = 63 - __builtin_clzll((unsigned long long)value);
    int shift = power - hist->sub_bits;
    return (size_t)(((int64_t)(shift + 1) << hist->sub_bits) + (value >> shift) -
                    ((int64_t)1 << hist->sub_bits));
}

// The middle of the values that share the bucket.
static int64_t bucket_value(const Hist *hist, size_t bucket)
{
    int64_t sub = (int64_t)1 << hist->sub_bits;

    if ((int64_t)bucket < sub * 2) {
        return (int64_t)bucket;
    }
    int shift = (int)((int64_t)bucket / sub) - 1;
    int64_t low = ((int64_t)bucket % sub + sub) << shift;
    return low + (((int64_t)1 << shift) >> 1);
}

Hist *hist_new(int digits, int64_t max)
{
    Hist sizing = {.sub_bits = digits <= 2 ? 7 : 10, .max_value = max};
    size_t buckets = bucket_of(&sizing, max) + 1;
    Hist *hist = calloc(1, sizeof *hist + buckets * sizeof hist->buckets[0]);

    if (!hist) {
        die("out of memory");
    }
    hist->sub_bits = sizing.sub_bits;
    hist->max_value = max;
    hist->bucket_count = buckets;
    hist->min = INT64_MAX;
    return hist;
}

void hist_free(Hist *hist)
{
    free(hist);
}

void hist_record(Hist *hist, int64_t value)
{
    if (value < 0) {
        value = 0;
    }
    if (value > hist->max_value) {
        value = hist->max_value;
    }
    hist->buckets[bucket_of(hist, value)]++;
    hist->count++;
    hist->sum += (double)value;
    hist->sum_of_squares += (double)value * (double)value;
    if (value < hist->min) {
        hist->min = value;
    }
    if (value > hist->max) {
        hist->max = value;
    }
}

void hist_record_corrected(Hist *hist, int64_t value, int64_t expected_interval)
{
    hist_record(hist, value);
    if (expected_interval <= 0) {
        return;
    }
    for (int64_t missed = value - expected_interval; missed >= expected_interval;
         missed -= expected_interval) {
        hist_record(hist, missed);
    }
}

void hist_merge(Hist *into, const Hist *from)
{
    if (into->sub_bits != from->sub_bits || into->bucket_count != from->bucket_count) {
        die("histograms of different shapes cannot be merged");
    }
    for (size_t i = 0; i < into->bucket_count; i++) {
        into->buckets[i] += from->buckets[i];
    }
    into->count += from->count;
    into->sum += from->sum;
    into->sum_of_squares += from->sum_of_squares;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

void hist_reset(Hist *hist)
{
    memset(hist->buckets, 0, hist->bucket_count * sizeof hist->buckets[0]);
    hist->count = hist->max = 0;
    hist->min = INT64_MAX;
    hist->sum = hist->sum_of_squares = 0;
}

int64_t hist_count(const Hist *hist)
{
    return hist->count;
}

int64_t hist_min(const Hist *hist)
{
    return hist->count ? hist->min : 0;
}

int64_t hist_max(const Hist *hist)
{
    return hist->max;
}

double hist_mean(const Hist *hist)
{
    return hist->count ? hist->sum / (double)hist->count : 0;
}

double hist_deviation(const Hist *hist)
{
    if (hist->count < 2) {
        return 0;
    }
    double n = (double)hist->count;
    double variance = (hist->sum_of_squares - hist->sum * hist->sum / n) / (n - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

int64_t hist_percentile(const Hist *hist, double percent)
{
    int64_t rank = (int64_t)ceil(percent / 100 * (double)hist->count), seen = 0;

    if (hist->count == 0) {
        return 0;
    }
    if (rank < 1) {
        rank = 1;
    }
    for (size_t i = 0; i < hist->bucket_count; i++) {
        seen += hist->buckets[i];
        if (seen >= rank) {
            int64_t value = bucket_value(hist, i);
            // The ends are known exactly.
            value = value > hist->max ? hist->max : value;
            return value < hist->min ? hist->min : value;
        }
    }
    return hist->max;
}

int64_t hist_count_below(const Hist *hist, int64_t value)
{
    int64_t seen = 0;

    if (value < 0) {
        return 0;
    }
    if (value > hist->max_value) {
        return hist->count;
    }
    for (size_t i = 0, last = bucket_of(hist, value); i <= last; i++) {
        seen += hist->buckets[i];
    }
    return seen;
}
