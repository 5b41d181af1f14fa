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
    if (from->count == 0) {
        return;
    }
    for (size_t i = bucket_of(from, from->min); i <= bucket_of(from, from->max); i++) {
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
    // Only the part in use: the lab empties many large ones each second.
    if (hist->count > 0) {
        size_t first = bucket_of(hist, hist->min), last = bucket_of(hist, hist->max);
        memset(&hist->buckets[first], 0, (last - first + 1) * sizeof hist->buckets[0]);
    }
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

// Packed: 'H', sub_bits, then varints of max_value, min, max, sum, 8 bytes of the sum of squares,
// then for each filled bucket the distance from the one before and its count.
enum {
    PACKED_MARK = 'H',
    VARINT_MAX = 10,
    PACKED_HEAD_MAX = 2 + 4 * VARINT_MAX + 8,
};

typedef struct {
    const unsigned char *at, *end;
    bool is_bad;
} Unpacker;

static unsigned char *put_varint(unsigned char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        *to++ = (unsigned char)(value | 0x80);
    }
    *to++ = (unsigned char)value;
    return to;
}

static int64_t take_varint(Unpacker *from)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 63 && from->at < from->end; shift += 7) {
        unsigned char byte = *from->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return (int64_t)value;
        }
    }
    from->is_bad = true;
    return 0;
}

Str hist_pack(const Hist *hist)
{
    // Nothing lies outside these.
    size_t first = bucket_of(hist, hist_min(hist)), last = bucket_of(hist, hist->max), filled = 0;
    for (size_t i = first; i <= last; i++) {
        filled += hist->buckets[i] != 0;
    }
    size_t most = PACKED_HEAD_MAX + filled * 2 * VARINT_MAX;
    unsigned char *bytes = arena_alloc(arena_current(), most), *to = bytes;
    size_t before = 0;

    *to++ = PACKED_MARK;
    *to++ = (unsigned char)hist->sub_bits;
    to = put_varint(to, (uint64_t)hist->max_value);
    to = put_varint(to, (uint64_t)hist_min(hist));
    to = put_varint(to, (uint64_t)hist->max);
    to = put_varint(to, (uint64_t)hist->sum);
    memcpy(to, &hist->sum_of_squares, 8);
    to += 8;
    for (size_t i = first; i <= last; i++) {
        if (hist->buckets[i]) {
            to = put_varint(to, i - before);
            to = put_varint(to, (uint64_t)hist->buckets[i]);
            before = i;
        }
    }
    return (Str){(const char *)bytes, (size_t)(to - bytes)};
}

// The head into `hist` (its count stays 0); what follows are the buckets.
static Unpacker unpack_head(Str packed, Hist *hist)
{
    Unpacker from = {.at = (const unsigned char *)packed.at};

    from.end = from.at + packed.len;
    if (packed.len < 2 || *from.at++ != PACKED_MARK) {
        from.is_bad = true;
        return from;
    }
    *hist = (Hist){.sub_bits = *from.at++};
    hist->max_value = take_varint(&from);
    hist->min = take_varint(&from);
    hist->max = take_varint(&from);
    hist->sum = (double)take_varint(&from);
    from.is_bad |= (hist->sub_bits != 7 && hist->sub_bits != 10) || from.end - from.at < 8 ||
                   hist->min > hist->max || hist->max > hist->max_value;
    if (!from.is_bad) {
        memcpy(&hist->sum_of_squares, from.at, 8);
        from.at += 8;
        hist->bucket_count = bucket_of(hist, hist->max_value) + 1;
    }
    return from;
}

// The next filled bucket; false at the end and when the bytes are bad.
static bool unpack_bucket(Unpacker *from, Hist *head, size_t *bucket, int64_t *count)
{
    if (from->is_bad || from->at == from->end) {
        return false;
    }
    int64_t gap = take_varint(from);
    *count = take_varint(from);
    from->is_bad |= *count <= 0 || *count > INT64_MAX / 2 - head->count ||
                    gap >= (int64_t)(head->bucket_count - *bucket);
    if (from->is_bad) {
        return false;
    }
    *bucket += (size_t)gap;
    head->count += *count;
    return true;
}

bool hist_packed_each(Str packed, HistEach each, void *context)
{
    Hist head = {0};
    Unpacker from = unpack_head(packed, &head);
    size_t bucket = 0;
    int64_t count = 0;

    while (unpack_bucket(&from, &head, &bucket, &count)) {
        if (each) {
            each(bucket_value(&head, bucket), count, context);
        }
    }
    return !from.is_bad;
}

int64_t hist_packed_count(Str packed)
{
    Hist head = {0};
    Unpacker from = unpack_head(packed, &head);
    size_t bucket = 0;
    int64_t count = 0;

    while (unpack_bucket(&from, &head, &bucket, &count)) {
    }
    return from.is_bad ? 0 : head.count;
}

bool hist_merge_packed(Hist *into, Str packed)
{
    Hist head = {0};
    Unpacker from = unpack_head(packed, &head);
    size_t bucket = 0;
    int64_t count = 0;

    if (from.is_bad || head.sub_bits != into->sub_bits || head.max_value != into->max_value ||
        !hist_packed_each(packed, NULL, NULL)) {
        return false;
    }
    while (unpack_bucket(&from, &head, &bucket, &count)) {
        into->buckets[bucket] += count;
    }
    if (head.count == 0) {
        return true;
    }
    into->count += head.count;
    into->sum += head.sum;
    into->sum_of_squares += head.sum_of_squares;
    into->min = head.min < into->min ? head.min : into->min;
    into->max = head.max > into->max ? head.max : into->max;
    return true;
}
