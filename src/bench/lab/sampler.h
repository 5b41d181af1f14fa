// Figures of a cell over time: processes and machine from outside (/proc, control groups), modules
// and database from inside, if the server tells them. A thread of its own.
#pragma once

#include "bench/result.h"

typedef struct {
    int pid;       // of the server; 0 = not on this machine
    Str admin_url; // of the admin listener; empty = nothing from inside
    double interval_s;
    bool modules, database, host;
} SamplerOptions;

typedef struct Sampler Sampler;

Sampler *sampler_start(const SamplerOptions *options);
// The steady window begins: a sample at once, from inside, too.
void sampler_begin(Sampler *sampler);
// A last sample; nothing is sampled afterwards.
void sampler_stop(Sampler *sampler);
// Puts ticks and series into the cell, in the current arena; seconds count from zero_ns (clock_ns).
void sampler_fill(const Sampler *sampler, int64_t zero_ns, Cell *cell);
void sampler_free(Sampler *sampler);

// The last known level of the server: for the live view.
typedef struct {
    double vcpu;  // over the last interval
    double bytes; // memory, without files
} ServerLoad;
ServerLoad sampler_now(Sampler *sampler);

// ---------------------------------------------------------------------------------------------
// What the files of the sampler share

// A growing list of columns; row by row. Values are NAN until they are set in a row.
typedef struct {
    SeriesGroup group;
    char subject[96], name[40];
    Unit unit;
    bool is_counter;
    double *values;
} SampleColumn;

typedef struct {
    SampleColumn *columns;
    size_t column_len, column_cap;
    int64_t *at_ns; // when a row was taken
    size_t row_len, row_cap;
} SampleTable;

typedef struct {
    const char *name;
    Unit unit;
    bool is_counter;
} Figure;

void table_begin_row(SampleTable *table, int64_t now_ns);
// Sets the value of the row that has begun.
void table_set(SampleTable *table, SeriesGroup group, const char *subject, const Figure *figure,
               double value);

// sampler_outside.c
void sample_process(SampleTable *table, int pid);
void sample_driver(SampleTable *table);
void sample_host(SampleTable *table);
// sampler_inside.c: false if the server does not answer.
bool sample_inside(SampleTable *table, const SamplerOptions *options);
// Statement statistics begin anew; what they say. Nothing if the server has none.
void statements_reset(Str admin_url);
void statements_take(Str admin_url, Cell *cell);
// GET /octavo/ops/deployment; NULL if the server does not answer it.
Json *deployment_take(Str admin_url);
