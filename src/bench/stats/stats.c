// Medians, ranks, trends. Distribution functions are those of libm.
#include "stats.h"

#include "base/arena.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z95 1.959963984540054

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
    sort_array(values, n, sizeof *values, by_value);
}

double stats_quantile_sorted(const double *sorted, size_t n, double share)
{
    if (n == 0) {
        return NAN;
    }
    double place = share * (double)(n - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

static double *sorted_copy(const double *values, size_t n)
{
    double *copy = NEW_ARRAY(double, n + 1);

    memcpy(copy, values, n * sizeof *copy);
    stats_sort(copy, n);
    return copy;
}

double stats_median(const double *values, size_t n)
{
    return stats_quantile_sorted(sorted_copy(values, n), n, 0.5);
}

double stats_mean(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return n ? sum / (double)n : NAN;
}

double stats_deviation(const double *values, size_t n)
{
    double mean = stats_mean(values, n), squares = 0;

    for (size_t i = 0; i < n; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

double stats_normal_p(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

Interval stats_wilson(int64_t hits, int64_t n)
{
    if (n <= 0) {
        return (Interval){0, 1};
    }
    double size = (double)n, share = (double)hits / size, z2 = Z95 * Z95;
    double middle = (share + z2 / (2 * size)) / (1 + z2 / size);
    double half = Z95 / (1 + z2 / size) * sqrt(share * (1 - share) / size + z2 / (4 * size * size));
    return (Interval){hits == 0 ? 0 : middle - half, hits == n ? 1 : middle + half};
}

double stats_proportions_p(int64_t hits_a, int64_t n_a, int64_t hits_b, int64_t n_b)
{
    if (n_a <= 0 || n_b <= 0) {
        return 1;
    }
    double a = (double)n_a, b = (double)n_b;
    double pooled = (double)(hits_a + hits_b) / (a + b);
    double error = sqrt(pooled * (1 - pooled) * (1 / a + 1 / b));
    return error > 0 ? stats_normal_p(((double)hits_a / a - (double)hits_b / b) / error) : 1;
}

// Sum of t^3 - t over groups of equal values.
static double ties_of(const double *sorted, size_t n)
{
    double ties = 0;

    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && sorted[end] == sorted[i]) {
            end++;
        }
        double t = (double)(end - i);
        ties += t * t * t - t;
        i = end;
    }
    return ties;
}

// Two-sided p of the U statistic.
static double rank_p(double u, const double *sorted, double a, double b)
{
    double n = a + b;
    double variance = a * b / 12 * (n + 1 - ties_of(sorted, (size_t)n) / (n * (n - 1)));
    double away = fabs(u - a * b / 2) - 0.5; // corrected for continuity
    return variance > 0 ? stats_normal_p(away > 0 ? away / sqrt(variance) : 0) : 1;
}

RankTest stats_rank_test(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double *both = NEW_ARRAY(double, n_a + n_b + 1);
    double *differences = NEW_ARRAY(double, n_a *n_b + 1);
    double u = 0;

    if (n_a == 0 || n_b == 0) {
        return (RankTest){NAN, NAN, NAN};
    }
    for (size_t i = 0; i < n_a; i++) {
        for (size_t j = 0; j < n_b; j++) {
            u += b[j] > a[i] ? 1 : b[j] == a[i] ? 0.5 : 0;
            differences[i * n_b + j] = b[j] - a[i];
        }
    }
    memcpy(both, a, n_a * sizeof *both);
    memcpy(both + n_a, b, n_b * sizeof *both);
    stats_sort(both, n_a + n_b);
    return (RankTest){.p = rank_p(u, both, (double)n_a, (double)n_b),
                      .shift = stats_median(differences, n_a * n_b),
                      .superiority = u / ((double)n_a * (double)n_b)};
}

// Kendall's sum of signs and its variance.
static void kendall(const double *values, size_t n, double *sum, double *variance)
{
    double size = (double)n;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            *sum += (values[j] > values[i]) - (values[j] < values[i]);
        }
    }
    double ties = 0;
    const double *sorted = sorted_copy(values, n);
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && sorted[end] == sorted[i]) {
            end++;
        }
        double t = (double)(end - i);
        ties += t * (t - 1) * (2 * t + 5);
        i = end;
    }
    *variance += (size * (size - 1) * (2 * size + 5) - ties) / 18;
}

static double kendall_p(double sum, double variance)
{
    double away = fabs(sum) - 1;
    return variance > 0 && away > 0 ? stats_normal_p(away / sqrt(variance)) : 1;
}

double stats_mann_kendall_p(const double *values, size_t n)
{
    double sum = 0, variance = 0;

    if (n < 3) {
        return 1;
    }
    kendall(values, n, &sum, &variance);
    return kendall_p(sum, variance);
}

// Sums over the pieces: they are independent.
static double pieces_variance(const double *y, const int *piece, size_t n, double *sum)
{
    double variance = 0;

    for (size_t from = 0; from < n;) {
        size_t end = from + 1;
        while (end < n && (!piece || piece[end] == piece[from])) {
            end++;
        }
        kendall(y + from, end - from, sum, &variance);
        from = end;
    }
    return variance;
}

Trend stats_trend(const double *x, const double *y, const int *piece, size_t n)
{
    Trend trend = {.slope = NAN, .interval = {NAN, NAN}, .p = 1, .n = n};
    double *slopes = NEW_ARRAY(double, n *n / 2 + 1), sum = 0;
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n && (!piece || piece[j] == piece[i]); j++) {
            if (x[j] != x[i]) {
                slopes[len++] = (y[j] - y[i]) / (x[j] - x[i]);
            }
        }
    }
    trend.middle = stats_median(y, n);
    if (len == 0) {
        return trend;
    }
    stats_sort(slopes, len);
    trend.slope = stats_quantile_sorted(slopes, len, 0.5);
    double variance = pieces_variance(y, piece, n, &sum);
    trend.p = kendall_p(sum, variance);
    // Sen's interval: the slopes whose ranks lie within the spread of Kendall's sum.
    double half = Z95 * sqrt(variance);
    double low = floor(((double)len - half) / 2), high = ceil(((double)len + half) / 2);
    trend.interval.low = low < 0 ? -INFINITY : slopes[(size_t)low];
    trend.interval.high = high >= (double)len ? INFINITY : slopes[(size_t)high];
    return trend;
}

void stats_holm(double *p, size_t n)
{
    bool *is_done = NEW_ARRAY(bool, n + 1);
    double largest = 0;

    for (size_t rank = 0; rank < n; rank++) {
        size_t least = n;
        for (size_t i = 0; i < n; i++) {
            if (!is_done[i] && (least == n || p[i] < p[least])) {
                least = i;
            }
        }
        double adjusted = fmin(1, p[least] * (double)(n - rank));
        largest = fmax(largest, adjusted);
        p[least] = largest;
        is_done[least] = true;
    }
}
