// A run of an experiment: what its files share.
#pragma once

#include "experiment.h"
#include "server.h"
#include "live_page.h"
#include "otlp_sink.h"
#include "prepared.h"
#include "sampler.h"

#include <stdatomic.h>

typedef struct LiveScreen LiveScreen;

typedef struct Lab {
    const Experiment *experiment;
    CellPlan plan;
    Result *result;
    Str folder;                  // of the result: result.json, notes, logs of the servers
    Str work;                    // databases of the server under test
    Prepared prepared;           // of the baseline; folder empty: the target is not ours
    Prepared *libraries;         // of the configurations, in their order
    Str inputs;                  // folder of the plans' data files
    Server server;               // pid 0: not running
    int64_t cells_begun;         // of this process
    const PlannedCell *last;     // that ran in this server, on these data
    const Cell *first_on_data;   // of the result: it and those behind it used lines of the lists
    OtlpSink *sink;              // collector for the arms that export; NULL = none is wanted
    OtlpSinkFigures sink_before; // at the begin of the cell
    LiveScreen *screen;
    LivePage *page;     // NULL: nobody asked for it
    size_t notes_taken; // lines of the notes' file
    Str busy;           // other programs were at work when it began: what to say of it
    bool is_lenient;    // on a busy machine all the same (--force, profile smoke)
    _Atomic bool is_asked_to_stop;
} Lab;

// Adds to the result's annotations.
void lab_annotate(Lab *lab, Str cell, const char *kind, const char *source, Str text);
// Lines of level error in the server's log, grouped by their shape.
void lab_annotate_log(Lab *lab, Str cell);
// Notes that `octavo bench note` left since the last call.
void lab_take_notes(Lab *lab, Str cell);

// Writes result.json as it is now.
WARN_UNUSED Err *lab_save(const Lab *lab);

// Runs a cell once: state, reasons and everything measured. An error ends the whole run: the server
// cannot be started, the data cannot be copied.
WARN_UNUSED Err *cell_run(Lab *lab, const PlannedCell *planned, Cell *cell);
// Stops the server, if one runs. What is wrong with its end goes to the reasons of the cell.
void cell_stop_server(Lab *lab, Cell *cell);

// The load of a cell: all its workloads at once (cell_load.c).
typedef struct CellLoad CellLoad;
WARN_UNUSED Err *cell_load_start(Lab *lab, const PlannedCell *planned, const Cell *cell, Str url,
                                 CellLoad **out);
bool cell_load_is_over(CellLoad *load);
// Ends it as if its time were over.
void cell_load_cancel(CellLoad *load);
// True once, when the steady window has begun.
bool cell_load_has_begun(CellLoad *load);
// Waits for the end, fills the cell; adds reasons for what makes it invalid.
void cell_load_finish(CellLoad *load, Cell *cell);
// clock_ns of the begin of the window; of the load, if there was none.
int64_t cell_load_zero_ns(const CellLoad *load);

// The last second of all workloads, times of the last ten: for the live view.
typedef struct {
    double per_s;
    double users;
    uint64_t transactions, errors; // so far
    bool is_steady;
    struct {
        char name[40];
        double p50_ms, p95_ms;
    } of[8];
    size_t of_len;
} LoadNow;
LoadNow cell_load_now(CellLoad *load);

void cell_add_reason(Cell *cell, Str reason);
// A list whose lines serve once had too few of them: to repeat the cell would end the same.
bool cell_is_short_of_data(const Cell *cell);
