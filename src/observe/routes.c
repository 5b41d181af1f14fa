// Response times per route and class of status, for Prometheus.
#include "observe/internal.h"

#include "base/arena.h"

#include <pthread.h>

enum {
    ROOM = 4096, // power of two; routes beyond three quarters share one entry
    ROUTES_MAX = ROOM / 4 * 3,
    CLASSES = 5,
    ARENA_MAX = 16 << 20, // more than all entries take
};

const int64_t route_bounds_us[ROUTE_BOUNDS] = {500,     1000,    2500,    5000,    10000,
                                               25000,   50000,   100000,  250000,  500000,
                                               1000000, 2500000, 5000000, 10000000};

typedef struct {
    const void *key;
    const char *module, *method, *route;
    RouteTimes *classes[CLASSES]; // made when an answer is of the class
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
static Arena *arena;                                     // as long as the process
static Entry *entries;
static size_t entry_count;
static const char no_route; // key of requests without one

static Entry *entry_of(const void *key)
{
    size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 52;

    while (entries[at].key && entries[at].key != key) {
        at = (at + 1) % ROOM;
    }
    return &entries[at];
}

static Entry *entry_for(const Observed *request)
{
    if (!entries) {
        arena = arena_new(ARENA_MAX);
        entries = arena_alloc_array(arena, ROOM, sizeof *entries);
    }
    Entry *entry = entry_of(request->key ? request->key : &no_route);
    if (!entry->key && entry_count >= ROUTES_MAX) {
        entry = entry_of(&no_route);
    }
    if (!entry->key) {
        *entry = (Entry){.key = request->key ? request->key : &no_route,
                         .module = request->module,
                         .method = request->method,
                         .route = request->route};
        entry_count++;
    }
    return entry;
}

static RouteTimes *times_for(Entry *entry, int status)
{
    int class = status / 100 < 1 || status / 100 > CLASSES ? CLASSES : status / 100;
    RouteTimes **times = &entry->classes[class - 1];

    if (!*times) {
        *times = arena_alloc(arena, sizeof **times);
        (*times)->module = entry->module;
        (*times)->method = entry->method;
        (*times)->route = entry->route;
        (*times)->status_class = class;
    }
    return *times;
}

void routes_add(const Observed *request)
{
    int64_t us = (request->ended_ns - request->begun_ns) / 1000;
    int bucket = 0;

    while (bucket < ROUTE_BOUNDS && us > route_bounds_us[bucket]) {
        bucket++;
    }
    pthread_mutex_lock(&lock);
    RouteTimes *times = times_for(entry_for(request), request->status);
    times->count++;
    times->sum_us += us;
    times->buckets[bucket]++;
    pthread_mutex_unlock(&lock);
}

size_t route_times_read(RouteTimes **out)
{
    size_t n = 0;

    pthread_mutex_lock(&lock);
    *out = NEW_ARRAY(RouteTimes, entry_count * CLASSES + 1);
    for (size_t i = 0; entries && i < ROOM; i++) {
        for (int class = 0; class < CLASSES; class ++) {
            if (entries[i].classes[class]) {
                (*out)[n++] = *entries[i].classes[class];
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return n;
}
