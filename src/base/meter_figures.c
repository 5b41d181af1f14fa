// Sums per module: since the start, per second of the last two minutes, and response times in
// slots of ten seconds.
#include "base/meter_figures.h"

#include "base/arena.h"
#include "base/date.h"
#include "base/die.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    SECONDS = METER_WINDOW_MAX_S + 4,
    TIME_SLOT_S = 10,
    TIME_SLOTS = METER_WINDOW_MAX_S / TIME_SLOT_S + 2,
    // Response times: 32 buckets per power of two, 3 % wide, up to a minute in microseconds.
    TIME_BITS = 5,
    TIME_MAX_US = 1 << 26,
    TIME_BUCKETS = (26 - TIME_BITS + 2) << TIME_BITS,
};

// What a request adds stands together.
typedef struct {
    uint64_t requests, errors, bytes_in, bytes_out, calls;
    int64_t cpu_ns, wall_ns, queue_ns, store_ns;
} Sums;

typedef struct {
    int64_t second;
    Sums before; // all that came before it
} Second;

typedef struct {
    int64_t slot;
    uint32_t buckets[TIME_BUCKETS];
} Times;

struct MeterFigures {
    _Alignas(64) Sums total;
    size_t memory_bytes;
    Times *times[TIME_SLOTS]; // made when a request comes
    Second seconds[SECONDS];  // in which something was added, whichever module's
};

typedef struct {
    int64_t second;
    int64_t cpu_ns; // of the process, when it began
} ProcessSecond;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
Meter meters[METERS_MAX];
static size_t meter_count;
static ProcessSecond process_seconds[SECONDS];
static int64_t last_second;

static void *memory(size_t size)
{
    void *at = NULL;

    if (posix_memalign(&at, 64, size)) {
        die("out of memory");
    }
    return memset(at, 0, size);
}

static Meter *meter_find(const char *module)
{
    for (size_t i = 0; i < meter_count; i++) {
        if (strcmp(meters[i].module, module) == 0) {
            return &meters[i];
        }
    }
    return NULL;
}

Meter *meter_of(const char *module)
{
    pthread_mutex_lock(&lock);
    Meter *meter = meter_find(module);
    if (!meter) {
        if (meter_count == METERS_MAX) {
            die("more than %d modules", METERS_MAX);
        }
        meter = &meters[meter_count++];
        meter->module = module;
    }
    pthread_mutex_unlock(&lock);
    return meter;
}

Meter *meter_edge(void)
{
    static Meter *_Atomic edge;

    if (!edge) {
        edge = meter_of("okapi");
    }
    return edge;
}

const char *meter_module(const Meter *meter)
{
    return meter->module;
}

void meter_cache(Meter *meter, ptrdiff_t change)
{
    meter->cache_bytes += (size_t)change;
}

void meter_in_flight(Meter *meter, int change)
{
    meter->in_flight += (uint64_t)change;
    if (change > 0) {
        // What its end will add to comes while it works.
        __builtin_prefetch(&lock, 1);
        __builtin_prefetch(meter->figures, 1);
        __builtin_prefetch((char *)meter->figures + 64, 1);
    }
}

static int64_t process_cpu_ns(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * (int64_t)1000000000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * (int64_t)1000;
}

// ---------------------------------------------------------------------------------------------
// Adding, with the lock held

static void second_note(const Meter *meter, int64_t second)
{
    struct MeterFigures *figures = meter->figures;

    figures->seconds[second % SECONDS] = (Second){second, figures->total};
}

// A second begins in which something is added: what came before it is noted once for all, so that
// adding touches one sum and no more.
static void second_begin(int64_t second)
{
    process_seconds[second % SECONDS] = (ProcessSecond){second, process_cpu_ns()};
    last_second = second;
    for (size_t i = 0; i < meter_count; i++) {
        if (meters[i].figures) {
            second_note(&meters[i], second);
        }
    }
}

static void sums_add(Sums *to, const Sums *from)
{
    to->requests += from->requests;
    to->errors += from->errors;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->calls += from->calls;
    to->cpu_ns += from->cpu_ns;
    to->wall_ns += from->wall_ns;
    to->queue_ns += from->queue_ns;
    to->store_ns += from->store_ns;
}

static struct MeterFigures *figures_of(Meter *meter, int64_t now_ns)
{
    int64_t second = now_ns / 1000000000;

    if (second > last_second) {
        second_begin(second);
    }
    if (!meter->figures) {
        meter->figures = memory(sizeof *meter->figures);
        second_note(meter, last_second);
    }
    return meter->figures;
}

void figures_add(MeterShare shares[METERS_MAX], uint64_t touched[METERS_MAX / 64], int64_t now_ns)
{
    pthread_mutex_lock(&lock);
    for (int w = 0; w < METERS_MAX / 64; w++) {
        for (uint64_t bits = touched[w]; bits; bits &= bits - 1) {
            int i = w * 64 + __builtin_ctzll(bits);
            MeterShare *share = &shares[i];
            struct MeterFigures *figures = figures_of(&meters[i], now_ns);
            figures->total.calls += share->calls;
            figures->total.cpu_ns += share->cpu_ns;
            figures->total.wall_ns += share->wall_ns;
            figures->total.queue_ns += share->queue_ns;
            figures->total.store_ns += share->store_ns;
            if (share->memory_bytes > figures->memory_bytes) {
                figures->memory_bytes = share->memory_bytes;
            }
            *share = (MeterShare){0};
        }
        touched[w] = 0;
    }
    pthread_mutex_unlock(&lock);
}

static size_t time_bucket(int64_t us)
{
    us = us < 0 ? 0 : us >= TIME_MAX_US ? TIME_MAX_US - 1 : us;
    if (us < 2 << TIME_BITS) {
        return (size_t)us;
    }
    int shift = 63 - __builtin_clzll((unsigned long long)us) - TIME_BITS;
    return ((size_t)(shift + 1) << TIME_BITS) + (size_t)(us >> shift) - (1 << TIME_BITS);
}

// The middle of the bucket.
static int64_t bucket_us(size_t bucket)
{
    if (bucket < 2 << TIME_BITS) {
        return (int64_t)bucket;
    }
    int shift = (int)(bucket >> TIME_BITS) - 1;
    int64_t low = (int64_t)((bucket & ((1 << TIME_BITS) - 1)) + (1 << TIME_BITS)) << shift;
    return low + ((int64_t)1 << shift >> 1);
}

static void time_add(struct MeterFigures *figures, int64_t ns, int64_t now_ns)
{
    int64_t slot = now_ns / 1000000000 / TIME_SLOT_S;
    Times **times = &figures->times[slot % TIME_SLOTS];

    if (!*times) {
        *times = memory(sizeof **times);
    }
    if ((*times)->slot != slot) {
        memset((*times)->buckets, 0, sizeof(*times)->buckets);
        (*times)->slot = slot;
    }
    (*times)->buckets[time_bucket(ns / 1000)]++;
}

void meter_request(Meter *meter, const MeterRequest *request, int64_t now_ns)
{
    pthread_mutex_lock(&lock);
    struct MeterFigures *figures = figures_of(meter, now_ns);
    figures->total.requests++;
    figures->total.errors += request->failed;
    figures->total.bytes_in += request->bytes_in;
    figures->total.bytes_out += request->bytes_out;
    time_add(figures, request->ns, now_ns);
    pthread_mutex_unlock(&lock);
}

// ---------------------------------------------------------------------------------------------
// Reading, with the lock held

typedef struct {
    int64_t now_s, from_s; // seconds that count: from_s 0 = all there ever were
    uint32_t times[TIME_BUCKETS];
} Reading;

static Reading reading_of(int window_s)
{
    int64_t now_s = clock_ns() / 1000000000;
    int max_s = window_s > METER_WINDOW_MAX_S ? METER_WINDOW_MAX_S : window_s;

    return (Reading){.now_s = now_s, .from_s = window_s > 0 ? now_s - max_s + 1 : 0};
}

// What came since the first second of the window in which there was anything.
static Sums window_sums(const struct MeterFigures *figures, const Reading *reading)
{
    Sums sums = figures->total;
    const Second *first = NULL;

    if (!reading->from_s) {
        return sums;
    }
    for (int i = 0; i < SECONDS; i++) {
        const Second *at = &figures->seconds[i];
        if (at->second >= reading->from_s && (!first || at->second < first->second)) {
            first = at;
        }
    }
    if (!first) {
        return (Sums){0};
    }
    sums.requests -= first->before.requests;
    sums.errors -= first->before.errors;
    sums.bytes_in -= first->before.bytes_in;
    sums.bytes_out -= first->before.bytes_out;
    sums.calls -= first->before.calls;
    sums.cpu_ns -= first->before.cpu_ns;
    sums.wall_ns -= first->before.wall_ns;
    sums.queue_ns -= first->before.queue_ns;
    sums.store_ns -= first->before.store_ns;
    return sums;
}

// Times since the start are not kept: the longest window stands for them.
static void window_times(const struct MeterFigures *figures, Reading *reading)
{
    int64_t from = (reading->from_s ? reading->from_s : reading->now_s - METER_WINDOW_MAX_S);

    for (int i = 0; i < TIME_SLOTS; i++) {
        const Times *times = figures->times[i];
        if (!times || times->slot < from / TIME_SLOT_S) {
            continue;
        }
        for (size_t k = 0; k < TIME_BUCKETS; k++) {
            reading->times[k] += times->buckets[k];
        }
    }
}

static int64_t percentile_us(const uint32_t *times, int percent)
{
    uint64_t count = 0, seen = 0;

    for (size_t i = 0; i < TIME_BUCKETS; i++) {
        count += times[i];
    }
    uint64_t rank = (count * (uint64_t)percent + 99) / 100;
    for (size_t i = 0; i < TIME_BUCKETS && count; i++) {
        seen += times[i];
        if (seen >= rank) {
            return bucket_us(i);
        }
    }
    return -1;
}

static MeterReading reading_make(const char *module, const Sums *sums, const uint32_t *times)
{
    return (MeterReading){
        .module = module,
        .requests = sums->requests,
        .errors = sums->errors,
        .calls = sums->calls,
        .bytes_in = sums->bytes_in,
        .bytes_out = sums->bytes_out,
        .cpu_ns = sums->cpu_ns,
        .queue_ns = sums->queue_ns,
        .store_ns = sums->store_ns,
        .handler_ns = sums->wall_ns - sums->queue_ns - sums->store_ns,
        .p50_us = percentile_us(times, 50),
        .p95_us = percentile_us(times, 95),
    };
}

static void meter_read_one(const Meter *meter, Reading *reading, MeterReading *out, Sums *all)
{
    const struct MeterFigures *figures = meter->figures;
    Sums sums = {0};

    memset(reading->times, 0, sizeof reading->times);
    if (figures) {
        sums = window_sums(figures, reading);
        window_times(figures, reading);
    }
    sums_add(all, &sums);
    *out = reading_make(meter->module, &sums, reading->times);
    out->in_flight = meter->in_flight;
    out->memory_bytes = meter->cache_bytes + (figures ? figures->memory_bytes : 0);
}

size_t meter_read(int window_s, MeterReading *readings, size_t n, MeterReading *total)
{
    static const uint32_t nothing[TIME_BUCKETS];
    Reading *reading = NEW(Reading);
    uint32_t *times = NEW_ARRAY(uint32_t, TIME_BUCKETS);
    Sums all = {0};
    uint64_t in_flight = 0;
    size_t count = 0;

    *reading = reading_of(window_s);
    pthread_mutex_lock(&lock);
    for (; count < meter_count && count < n; count++) {
        meter_read_one(&meters[count], reading, &readings[count], &all);
        in_flight += readings[count].in_flight;
        for (size_t k = 0; k < TIME_BUCKETS; k++) {
            times[k] += reading->times[k];
        }
    }
    pthread_mutex_unlock(&lock);
    *total = reading_make("", &all, all.requests ? times : nothing);
    total->in_flight = in_flight;
    return count;
}

int64_t meter_process_cpu_ns(int window_s)
{
    int64_t now = process_cpu_ns(), from_s = reading_of(window_s).from_s;
    ProcessSecond first = {INT64_MAX, now};

    if (window_s <= 0) {
        return now;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SECONDS; i++) {
        const ProcessSecond *second = &process_seconds[i];
        if (second->second >= from_s && second->second < first.second) {
            first = *second;
        }
    }
    pthread_mutex_unlock(&lock);
    return now - first.cpu_ns;
}
