// Limits from the control groups, use from the kernel's counters, and the thread that compares
// them.
#include "base/memory.h"

#include "base/date.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PERIOD_MS = 500,
    IDLE_PERIODS = 10, // between two looks for what nobody used
    SHORT_PERCENT = 85,
    PATH_BYTES = 1024,
};

// Where giving back brought little it is not tried again at once: caches help others meanwhile.
static const int64_t AGAIN_NS = 10 * (int64_t)1000000000;

// ---------------------------------------------------------------------------------------------
// Limits

static int64_t number_in_file(const char *path)
{
    char text[64];
    int64_t value = 0;
    FILE *file = fopen(path, "r");

    if (!file) {
        return 0;
    }
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    return str_int64(str_trim((Str){text, len}), &value) ? value : 0; // "max" is no number
}

// The least limit of a group and those around it. A container may see its own group as the root.
static int64_t least_limit(const char *root, char *group, const char *name)
{
    int64_t least = 0;

    for (;;) {
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s%s/%s", root, group, name);
        int64_t limit = number_in_file(path);
        least = limit > 0 && (!least || limit < least) ? limit : least;
        char *end = strrchr(group, '/');
        if (!end) {
            return least;
        }
        *end = '\0';
    }
}

// The group of the process: "0::PATH" in version 2, "N:memory:PATH" in version 1.
static int64_t limit_in_line(char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group) {
        return 0;
    }
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[1] == '\0') {
        return least_limit("/sys/fs/cgroup", group, "memory.max");
    }
    return strcmp(controllers + 1, "memory") == 0
               ? least_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes")
               : 0;
}

int64_t memory_group_limit(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[PATH_BYTES];
    int64_t least = 0;

    while (file && fgets(line, sizeof line, file)) {
        int64_t limit = limit_in_line(line);
        least = limit > 0 && (!least || limit < least) ? limit : least;
    }
    if (file) {
        fclose(file);
    }
    return least < memory_of_machine() ? least : 0;
}

int64_t memory_of_machine(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

int64_t memory_used(void)
{
    long long size, resident, shared; // in pages; shared: of files
    FILE *file = fopen("/proc/self/statm", "r");
    bool is_read = file && fscanf(file, "%lld %lld %lld", &size, &resident, &shared) == 3;

    if (file) {
        fclose(file);
    }
    return is_read ? (resident - shared) * sysconf(_SC_PAGESIZE) : 0;
}

// ---------------------------------------------------------------------------------------------
// The watch

static struct {
    pthread_mutex_t lock; // guards is_ending
    pthread_cond_t wake;
    bool is_ending;
    pthread_t thread;
    const MemoryGiver *givers;
    size_t giver_count;
    _Atomic int64_t limit; // 0: nobody watches
    atomic_bool is_short;
    _Atomic uint64_t sheds, shed_bytes;
    int64_t tried_ns, tried_at; // the thread's: when, and what was used afterwards
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t short_bytes(void)
{
    return watch.limit / 100 * SHORT_PERCENT;
}

static bool give_back(bool is_short)
{
    bool has_given = false;

    for (size_t i = 0; i < watch.giver_count; i++) {
        has_given = watch.givers[i].give(watch.givers[i].context, is_short) || has_given;
    }
    if (has_given) {
        malloc_trim(0); // what was freed lies between what is used
    }
    return has_given;
}

static void shed(int64_t used)
{
    give_back(true);
    int64_t left = memory_used();
    watch.sheds++;
    watch.shed_bytes += used > left ? (uint64_t)(used - left) : 0;
    watch.tried_ns = clock_ns();
    watch.tried_at = left;
}

static void look(int round)
{
    int64_t used = memory_used();
    bool is_due =
        used > watch.tried_at + watch.limit / 32 || clock_ns() - watch.tried_ns > AGAIN_NS;

    watch.is_short = used > short_bytes();
    if (watch.is_short && is_due) {
        shed(used);
    } else if (round % IDLE_PERIODS == 0) {
        give_back(false);
    }
}

static void *watch_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch.lock);
    for (int round = 1; !watch.is_ending; round++) {
        int64_t until_ns = clock_ns() + PERIOD_MS * (int64_t)1000000;
        struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
        pthread_cond_timedwait(&watch.wake, &watch.lock, &until);
        pthread_mutex_unlock(&watch.lock);
        look(round);
        arena_reset(arena_current());
        pthread_mutex_lock(&watch.lock);
    }
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

Err *memory_watch(int64_t limit_bytes, const MemoryGiver *givers, size_t n)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    watch.givers = givers;
    watch.giver_count = n;
    watch.is_ending = false;
    watch.limit = limit_bytes;
    if (pthread_create(&watch.thread, NULL, watch_main, NULL)) {
        watch.limit = 0;
        return err_text(500, "Cannot start the thread that watches the memory");
    }
    return NULL;
}

void memory_watch_end(void)
{
    if (!watch.limit) {
        return;
    }
    pthread_mutex_lock(&watch.lock);
    watch.is_ending = true;
    pthread_cond_signal(&watch.wake);
    pthread_mutex_unlock(&watch.lock);
    pthread_join(watch.thread, NULL);
    pthread_cond_destroy(&watch.wake);
    watch.limit = 0;
}

MemoryFigures memory_figures(void)
{
    return (MemoryFigures){
        .limit_bytes = watch.limit,
        .short_bytes = short_bytes(),
        .used_bytes = memory_used(),
        .sheds = watch.sheds,
        .shed_bytes = watch.shed_bytes,
        .is_short = watch.is_short,
    };
}
