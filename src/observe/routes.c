// Response times per route and class of status, for Prometheus.
#include "observe/internal.h"

#include "base/arena.h"
#include "base/die.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

const int64_t route_bounds_us[ROUTE_BOUNDS] = {500,     1000,    2500,    5000,    10000,
                                               25000,   50000,   100000,  250000,  500000,
                                               1000000, 2500000, 5000000, 10000000};

// What a request writes comes first: one line of the processor's cache unless it took long.
struct RouteCounts {
    _Atomic int64_t sum_us;
    _Atomic uint64_t buckets[ROUTE_BOUNDS + 1];
    const char *module, *method, *route;
    int status_class;
    struct RouteCounts *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards making them and the list
static struct RouteCounts *all;
static RouteFigures no_route; // of requests without one

static struct RouteCounts *counts_new(const Observed *request, int status_class)
{
    struct RouteCounts *counts = NULL;

    if (posix_memalign((void **)&counts, 64, sizeof *counts)) {
        die("out of memory");
    }
    *counts = (struct RouteCounts){.module = request->module,
                                   .method = request->method,
                                   .route = request->route,
                                   .status_class = status_class,
                                   .next = all};
    all = counts;
    return counts;
}

// They live as long as the process.
static struct RouteCounts *counts_for(const Observed *request)
{
    int class = request->status / 100;
    RouteFigures *figures = request->figures ? request->figures : &no_route;

    class = class < 1 || class > STATUS_CLASSES ? STATUS_CLASSES : class;
    struct RouteCounts *_Atomic *place = &figures->classes[class - 1];
    struct RouteCounts *counts = atomic_load_explicit(place, memory_order_acquire);
    if (!counts) {
        pthread_mutex_lock(&lock);
        counts = *place ? *place : counts_new(request, class);
        atomic_store_explicit(place, counts, memory_order_release);
        pthread_mutex_unlock(&lock);
    }
    return counts;
}

void route_expect(RouteFigures *figures)
{
    // Memory that was last used some requests ago is far away: it comes while the request works.
    __builtin_prefetch(atomic_load_explicit(&figures->classes[1], memory_order_relaxed), 1);
}

void routes_add(const Observed *request)
{
    int64_t us = (request->ended_ns - request->begun_ns) / 1000;
    struct RouteCounts *counts = counts_for(request);
    int bucket = 0;

    while (bucket < ROUTE_BOUNDS && us > route_bounds_us[bucket]) {
        bucket++;
    }
    atomic_fetch_add_explicit(&counts->sum_us, us, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->buckets[bucket], 1, memory_order_relaxed);
}

static RouteTimes times_of(const struct RouteCounts *counts)
{
    RouteTimes times = {.module = counts->module,
                        .method = counts->method,
                        .route = counts->route,
                        .status_class = counts->status_class,
                        .sum_us = counts->sum_us};

    for (int i = 0; i <= ROUTE_BOUNDS; i++) {
        times.buckets[i] = counts->buckets[i];
        times.count += times.buckets[i];
    }
    return times;
}

size_t route_times_read(RouteTimes **out)
{
    size_t n = 0, count = 0;

    pthread_mutex_lock(&lock);
    for (const struct RouteCounts *counts = all; counts; counts = counts->next) {
        count++;
    }
    *out = NEW_ARRAY(RouteTimes, count + 1);
    for (const struct RouteCounts *counts = all; counts; counts = counts->next) {
        (*out)[n++] = times_of(counts);
    }
    pthread_mutex_unlock(&lock);
    return n;
}
