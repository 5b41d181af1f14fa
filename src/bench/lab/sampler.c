// The sampler's thread and its table of values.
#include "sampler.h"

#include "base/die.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROWS_FIRST = 256,
    ARENA_MAX = 64 << 20,
    FAILURES_MAX = 3,
};

// The server counts all the time: asking it more often would only cost it time.
#define INSIDE_EVERY_NS ((int64_t)5 * 1000000000)

struct Sampler {
    SamplerOptions options;
    char admin_url[256];
    pthread_t thread;
    pthread_mutex_t lock; // guards `stop` and `now`
    pthread_cond_t wanted;
    bool stop;
    SampleTable table;
    ServerLoad now;
    bool begins;            // the steady window: sample at once
    int failures;           // of the calls into the server, one after the other
    int64_t next_inside_ns; // when they are due
    double last_cpu_s;
    int64_t last_ns;
};

static void *grown(void *at, size_t bytes)
{
    void *bigger = realloc(at, bytes);

    if (!bigger) {
        die("out of memory");
    }
    return bigger;
}

void table_begin_row(SampleTable *table, int64_t now_ns)
{
    if (table->row_len == table->row_cap) {
        table->row_cap = table->row_cap ? table->row_cap * 2 : ROWS_FIRST;
        table->at_ns = grown(table->at_ns, table->row_cap * sizeof *table->at_ns);
        for (size_t i = 0; i < table->column_len; i++) {
            table->columns[i].values =
                grown(table->columns[i].values, table->row_cap * sizeof(double));
        }
    }
    table->at_ns[table->row_len] = now_ns;
    for (size_t i = 0; i < table->column_len; i++) {
        table->columns[i].values[table->row_len] = NAN;
    }
    table->row_len++;
}

static SampleColumn *column_of(SampleTable *table, SeriesGroup group, const char *subject,
                               const Figure *figure)
{
    for (size_t i = 0; i < table->column_len; i++) {
        SampleColumn *column = &table->columns[i];
        if (column->group == group && strcmp(column->name, figure->name) == 0 &&
            strcmp(column->subject, subject) == 0) {
            return column;
        }
    }
    if (table->column_len == table->column_cap) {
        table->column_cap = table->column_cap ? table->column_cap * 2 : 64;
        table->columns = grown(table->columns, table->column_cap * sizeof *table->columns);
    }
    SampleColumn *column = &table->columns[table->column_len++];
    *column =
        (SampleColumn){.group = group, .unit = figure->unit, .is_counter = figure->is_counter};
    strncpy(column->subject, subject, sizeof column->subject - 1);
    strncpy(column->name, figure->name, sizeof column->name - 1);
    column->values = grown(NULL, table->row_cap * sizeof(double));
    for (size_t i = 0; i < table->row_len; i++) {
        column->values[i] = NAN;
    }
    return column;
}

void table_set(SampleTable *table, SeriesGroup group, const char *subject, const Figure *figure,
               double value)
{
    SampleColumn *column = column_of(table, group, subject, figure);

    column->values[table->row_len - 1] = value;
}

static double last_value(const SampleTable *table, const char *name)
{
    for (size_t i = 0; i < table->column_len; i++) {
        const SampleColumn *column = &table->columns[i];
        if (column->group == GROUP_PROCESS && strcmp(column->name, name) == 0) {
            return column->values[table->row_len - 1];
        }
    }
    return NAN;
}

static void note_now(Sampler *sampler, int64_t now_ns)
{
    const SampleTable *table = &sampler->table;
    double cpu_s = last_value(table, "cpu.user") + last_value(table, "cpu.system");

    pthread_mutex_lock(&sampler->lock);
    sampler->now.vcpu = (cpu_s - sampler->last_cpu_s) / ((double)(now_ns - sampler->last_ns) / 1e9);
    sampler->now.bytes = last_value(table, "memory.anonymous");
    pthread_mutex_unlock(&sampler->lock);
    sampler->last_cpu_s = cpu_s;
    sampler->last_ns = now_ns;
}

static void take_sample(Sampler *sampler, bool with_inside)
{
    SampleTable *table = &sampler->table;
    int64_t now_ns = clock_ns();

    table_begin_row(table, now_ns);
    if (sampler->options.pid > 0) {
        sample_process(table, sampler->options.pid);
        note_now(sampler, now_ns);
    }
    sample_driver(table);
    if (sampler->options.host) {
        sample_host(table);
    }
    if (sampler->options.admin_url.len && sampler->failures < FAILURES_MAX &&
        (with_inside || now_ns >= sampler->next_inside_ns)) {
        sampler->failures = sample_inside(table, &sampler->options) ? 0 : sampler->failures + 1;
        sampler->next_inside_ns = now_ns + INSIDE_EVERY_NS;
    }
}

typedef enum { TICK, BEGIN, STOP } Wake;

// Waits until the monotonic time or until something is wanted.
static Wake wait_until(Sampler *sampler, int64_t at_ns)
{
    const struct timespec at = {at_ns / 1000000000, at_ns % 1000000000};

    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stop && !sampler->begins &&
           pthread_cond_timedwait(&sampler->wanted, &sampler->lock, &at) != ETIMEDOUT) {
    }
    Wake wake = sampler->stop ? STOP : sampler->begins ? BEGIN : TICK;
    sampler->begins = false;
    pthread_mutex_unlock(&sampler->lock);
    return wake;
}

static void *sampler_main(void *context)
{
    Sampler *sampler = context;
    Arena *arena = arena_new(ARENA_MAX);
    int64_t step_ns = (int64_t)(sampler->options.interval_s * 1e9), next_ns = clock_ns();

    Arena *former = arena_use(arena);
    for (Wake wake = TICK; wake != STOP; wake = wait_until(sampler, next_ns)) {
        take_sample(sampler, wake == BEGIN);
        if (wake == BEGIN && sampler->options.database && sampler->options.admin_url.len) {
            statements_reset(sampler->options.admin_url);
        }
        arena_reset(arena);
        while (next_ns <= clock_ns()) {
            next_ns += step_ns; // late ones are left out, not made up for
        }
    }
    take_sample(sampler, true);
    arena_use(former);
    arena_free(arena);
    return NULL;
}

Sampler *sampler_start(const SamplerOptions *options)
{
    Sampler *sampler = calloc(1, sizeof *sampler);
    pthread_condattr_t clock;

    if (!sampler) {
        die("out of memory");
    }
    sampler->options = *options;
    snprintf(sampler->admin_url, sizeof sampler->admin_url, STR_FMT, STR_ARG(options->admin_url));
    sampler->options.admin_url = str_of(sampler->admin_url);
    pthread_mutex_init(&sampler->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sampler->wanted, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&sampler->thread, NULL, sampler_main, sampler)) {
        die("cannot start a thread");
    }
    return sampler;
}

void sampler_begin(Sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->begins = true;
    pthread_cond_signal(&sampler->wanted);
    pthread_mutex_unlock(&sampler->lock);
}

void sampler_stop(Sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->stop = true;
    pthread_cond_signal(&sampler->wanted);
    pthread_mutex_unlock(&sampler->lock);
    pthread_join(sampler->thread, NULL);
}

ServerLoad sampler_now(Sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    ServerLoad now = sampler->now;
    pthread_mutex_unlock(&sampler->lock);
    return now;
}

static Numbers numbers_of(const double *values, size_t n)
{
    Numbers numbers = {.at = NEW_ARRAY(double, n + 1), .len = n};

    memcpy(numbers.at, values, n * sizeof *values);
    return numbers;
}

// Modules that did nothing say so by not being there.
static bool is_idle(const SampleColumn *column, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        if (!isnan(column->values[i]) && column->values[i] != 0) {
            return false;
        }
    }
    return true;
}

void sampler_fill(const Sampler *sampler, int64_t zero_ns, Cell *cell)
{
    const SampleTable *table = &sampler->table;

    cell->ticks = (Numbers){.at = NEW_ARRAY(double, table->row_len + 1), .len = table->row_len};
    for (size_t i = 0; i < table->row_len; i++) {
        cell->ticks.at[i] = round((double)(table->at_ns[i] - zero_ns) / 1e6) / 1e3;
    }
    cell->series.at = arena_alloc_array(arena_current(), table->column_len + 1, sizeof(Series));
    for (size_t i = 0; i < table->column_len; i++) {
        const SampleColumn *column = &table->columns[i];
        if (column->group == GROUP_MODULE && is_idle(column, table->row_len)) {
            continue;
        }
        cell->series.at[cell->series.len++] =
            (Series){.group = column->group,
                     .subject = str_fmt("%s", column->subject),
                     .name = str_fmt("%s", column->name),
                     .unit = column->unit,
                     .is_counter = column->is_counter,
                     .values = numbers_of(column->values, table->row_len)};
    }
}

void sampler_free(Sampler *sampler)
{
    for (size_t i = 0; i < sampler->table.column_len; i++) {
        free(sampler->table.columns[i].values);
    }
    free(sampler->table.columns);
    free(sampler->table.at_ns);
    pthread_cond_destroy(&sampler->wanted);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}
