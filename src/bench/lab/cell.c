// One cell: fresh data, a fresh server, load, figures, what must hold afterwards.
#include "lab.h"

#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOK_MS = 20,
    LONG_S = 7200, // at most so many samples of a cell
};

#define CLOCK_JUMP_MS 500

void cell_add_reason(Cell *cell, Str reason)
{
    if (!str_list_has(&cell->reasons, reason)) {
        str_list_add(&cell->reasons, reason);
    }
}

bool cell_is_short_of_data(const Cell *cell)
{
    for (size_t i = 0; i < cell->lists.len; i++) {
        if (cell->lists.at[i].serves_once && cell->lists.at[i].is_used_up) {
            return true;
        }
    }
    return false;
}

static bool is_managed(const Lab *lab)
{
    return lab->experiment->target.url.len == 0;
}

static bool is_due(const Lab *lab, const PlannedCell *planned, Rhythm rhythm)
{
    const PlannedCell *last = lab->last;

    return !last || rhythm == EVERY_RUN || last->configuration != planned->configuration ||
           (rhythm == EVERY_BLOCK && last->block != planned->block);
}

void cell_stop_server(Lab *lab, Cell *cell)
{
    if (!lab->server.is_there) {
        return;
    }
    bool is_known_dead = lab->server.pid == 0;
    Err *err = server_stop(&lab->server);
    if (err && cell && !is_known_dead) {
        cell_add_reason(cell, err->message);
    }
    if (!is_known_dead) {
        lab_annotate(lab, cell ? cell->id : S(""), err ? "crash" : "stop", "lab",
                     err ? err->message : S("server stopped"));
    }
    if (cell) {
        lab_annotate_log(lab, cell->id);
    }
}

// The arms with observability.level=full, its default, export to the lab's collector.
static bool exports(const Lab *lab, const Configuration *configuration)
{
    Str level =
        json_scalar_text(experiment_member(configuration->options, S("observability.level")));
    bool is_own =
        experiment_member(configuration->options, S("observability.otlp_endpoint")) != NULL;

    return lab->sink && !is_own && (!level.len || str_eq(level, S("full")));
}

static Err *start_server(Lab *lab, Cell *cell, const PlannedCell *planned)
{
    ServerSpec spec = {.data = lab->work,
                       .configuration = planned->configuration,
                       .cpuset = lab->experiment->target.cpuset,
                       .memory_limit = lab->experiment->target.memory_limit,
                       .log = str_fmt(STR_FMT "/logs/%03lld-" STR_FMT ".log", STR_ARG(lab->folder),
                                      (long long)++lab->cells_begun,
                                      STR_ARG(planned->configuration->name))};

    if (exports(lab, planned->configuration)) {
        str_list_add(&spec.options, str_fmt("--observability.otlp_endpoint=" STR_FMT,
                                            STR_ARG(otlp_sink_url(lab->sink))));
    }
    TRY(make_folders(str_fmt(STR_FMT "/logs", STR_ARG(lab->folder))));
    TRY(server_start(&spec, &lab->server));
    lab_annotate(lab, cell->id, "start", "lab",
                 str_fmt("server started as process %d: " STR_FMT, (int)lab->server.pid,
                         STR_ARG(planned->configuration->label)));
    return NULL;
}

// Data and server as the design wants them.
static Err *make_ready(Lab *lab, Cell *cell, const PlannedCell *planned)
{
    const Experiment *experiment = lab->experiment;

    if (!is_managed(lab)) {
        return NULL;
    }
    // Nobody knows what a server that died left behind.
    bool resets = is_due(lab, planned, experiment->data.reset) || !lab->server.is_there ||
                  !server_is_alive(&lab->server);
    if (resets || is_due(lab, planned, experiment->design.restart)) {
        cell_stop_server(lab, NULL);
        if (resets) {
            const Prepared *library =
                &lab->libraries[planned->configuration - experiment->configurations];
            TRY(prepared_copy(library, lab->work));
            lab->inputs = library->inputs;
            lab->first_on_data = cell;
            lab_annotate(
                lab, cell->id, "reset", "lab",
                str_fmt("fresh copy of the data, checksum " STR_FMT, STR_ARG(library->checksum)));
        }
        TRY(start_server(lab, cell, planned));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------

static SamplerOptions sampler_options(const Lab *lab, const RunPlan *run)
{
    const Experiment *experiment = lab->experiment;
    double longest = run->warmup_s + run->steady_s + 60;

    return (SamplerOptions){.pid = lab->server.pid,
                            .admin_url = is_managed(lab) ? lab->server.admin_url
                                                         : experiment->target.admin_url,
                            .interval_s = fmax(experiment->sample.interval_s, longest / LONG_S),
                            .modules = experiment->sample.modules,
                            .database = experiment->sample.database,
                            .host = experiment->sample.host};
}

static Json *process_json(const Lab *lab, const Cell *cell)
{
    Json *list = json_array(), *process = json_object();
    int64_t limit = 0;
    Str text = {0};

    for (size_t i = 0; i < lab->experiment->configuration_len; i++) {
        const Configuration *one = &lab->experiment->configurations[i];
        if (str_eq(one->name, cell->configuration)) {
            text = one->memory_limit.len ? one->memory_limit : lab->experiment->target.memory_limit;
        }
    }
    json_set_str(process, "name", S("octavo"));
    json_set_int(process, "pid", lab->server.pid);
    json_set_int(process, "instances", 1);
    json_set(process, "version", json_copy(json_get(cell->deployment, "process.version")));
    json_set(process, "cpus", json_copy(json_get(cell->deployment, "process.cpus")));
    json_set(process, "threads", json_copy(json_get(cell->deployment, "process.threads")));
    if (text.len && experiment_bytes(text, &limit)) {
        json_set_int(process, "memoryHardBytes", limit);
        json_set_str(process, "memoryLimitBy",
                     lab->server.cgroup.len ? S("control group") : S("nothing"));
    }
    json_add(list, process);
    return list;
}

// Looks after the cell until its load is over; false if the server ended by itself.
static bool watch(Lab *lab, CellLoad *load, Sampler *sampler, Cell *cell)
{
    bool has_server = is_managed(lab);

    while (!cell_load_is_over(load)) {
        usleep(LOOK_MS * 1000);
        if (cell_load_has_begun(load)) {
            sampler_begin(sampler);
        }
        if (has_server && !server_is_alive(&lab->server)) {
            Str text = str_fmt("the server " STR_FMT " in the middle of the cell",
                               STR_ARG(server_end_text(&lab->server)));
            lab_annotate(lab, cell->id, "crash", "lab", text);
            cell_add_reason(cell, text);
            cell_load_cancel(load);
            has_server = false;
        }
        live_show(lab->screen, cell, cell_load_now(load), sampler_now(sampler));
        if (atomic_load(&lab->is_asked_to_stop)) {
            cell_load_cancel(load);
        }
    }
    return has_server || !is_managed(lab);
}

static void check_data(Lab *lab, Cell *cell)
{
    Err *err = library_check(lab->work, &cell->data_checks.at, &cell->data_checks.len);

    if (err) {
        cell_add_reason(cell, err->message);
    }
    for (size_t i = 0; i < cell->data_checks.len; i++) {
        const DataCheck *check = &cell->data_checks.at[i];
        if (!check->is_right) {
            cell_add_reason(cell, str_fmt("the data are not whole: " STR_FMT " does not hold",
                                          STR_ARG(check->name)));
        }
    }
}

// What the collector got from this cell; an arm that exports nothing is not what it claims to be.
static void check_collector(Lab *lab, const PlannedCell *planned, Cell *cell)
{
    OtlpSinkFigures now = otlp_sink_figures(lab->sink), *before = &lab->sink_before;
    Json *collector = json_object();
    uint64_t spans = now.spans - before->spans, broken = now.broken - before->broken;

    json_set_str(collector, "name", S("collector of the lab"));
    json_set_int(collector, "spans", (int64_t)spans);
    json_set_int(collector, "calls", (int64_t)(now.calls - before->calls));
    json_set_int(collector, "bytes", (int64_t)(now.bytes - before->bytes));
    json_add(cell->processes, collector);
    if (broken > 0) {
        cell_add_reason(
            cell, str_fmt("%llu calls to the collector were no OTLP", (unsigned long long)broken));
    }
    if (spans == 0 && exports(lab, planned->configuration)) {
        cell_add_reason(cell, S("the collector got no span"));
    }
}

static int64_t clock_offset_ms(void)
{
    return time_now() - clock_ns() / 1000000;
}

static void measure(Lab *lab, const PlannedCell *planned, CellLoad *load, Cell *cell)
{
    SamplerOptions options = sampler_options(lab, planned->run);
    int64_t offset = clock_offset_ms();

    if (options.admin_url.len) {
        cell->deployment = deployment_take(options.admin_url);
    }
    Sampler *sampler = sampler_start(&options);
    bool is_alive = watch(lab, load, sampler, cell);
    sampler_stop(sampler);
    if (options.admin_url.len && is_alive && lab->experiment->sample.database) {
        statements_take(options.admin_url, cell);
    }
    cell_load_finish(load, cell);
    sampler_fill(sampler, cell_load_zero_ns(load), cell);
    sampler_free(sampler);
    int64_t jump = clock_offset_ms() - offset;
    if (jump > CLOCK_JUMP_MS || jump < -CLOCK_JUMP_MS) {
        cell_add_reason(cell, str_fmt("the clock jumped by %lld ms", (long long)jump));
    }
    if (is_managed(lab)) {
        cell->processes = process_json(lab, cell);
    }
}

Err *cell_run(Lab *lab, const PlannedCell *planned, Cell *cell)
{
    CellLoad *load = NULL;

    live_phase(lab->screen, cell, "reset");
    TRY(make_ready(lab, cell, planned));
    lab->last = planned;
    TRY(lab_save(lab));
    live_phase(lab->screen, cell, "warm-up");
    lab->sink_before = lab->sink ? otlp_sink_figures(lab->sink) : (OtlpSinkFigures){0};
    cell->planned_s = planned->run->steady_s;
    TRY(cell_load_start(lab, planned, cell,
                        is_managed(lab) ? lab->server.url : lab->experiment->target.url, &load));
    measure(lab, planned, load, cell);
    live_phase(lab->screen, cell, "check");
    if (atomic_load(&lab->is_asked_to_stop)) {
        // Half a cell says nothing.
        cell->state = CELL_PLANNED;
        cell->reasons = (StrList){0};
        cell_add_reason(cell, S("the run was stopped"));
        return NULL;
    }
    if (is_managed(lab)) {
        if (lab->experiment->design.restart == EVERY_RUN) {
            cell_stop_server(lab, cell);
            if (lab->sink) {
                check_collector(lab, planned, cell);
            }
        }
        check_data(lab, cell);
    }
    lab_take_notes(lab, cell->id);
    cell->state = cell->reasons.len > 0 ? CELL_INVALID : CELL_DONE;
    return NULL;
}
