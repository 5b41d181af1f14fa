// octavo bench run: an experiment from its file to its result.
#include "bench/bench.h"

#include "environment.h"
#include "live.h"
#include "bench/report/folder.h"
#include "bench/report/trend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    RUN_ARENA_MAX = 2000 << 20,
    ANNOTATIONS_STEP = 256,
    ATTEMPTS = 2,
};
#define BUSY_LIMIT       0.1
#define REPORT_ARENA_MAX ((size_t)4 << 30)

static const char usage[] =
    "octavo bench run NAME|FILE [options]\n"
    "Runs an experiment (a built-in one by its name, or a file): all its configurations, each on\n"
    "fresh data in a fresh server, and writes its result and report.\n\n"
    "  --profile NAME    a variant of the experiment: short, smoke ... (the full length)\n"
    "  --lab.dir DIR     folder of the results (lab)\n"
    "  --data-dir DIR    folder of the prepared libraries (lab.dir/data)\n"
    "  --only CELL       only the cells with this in their id (octavo bench plan shows them)\n"
    "  --resume          go on with the last run of this experiment that was broken off\n"
    "  --url URL         against a server that runs already; nothing is started or reset\n"
    "  --inputs DIR      folder of the plans' data files, with --url\n"
    "  --label TEXT      free text for the result\n"
    "  --serve ADDRESS   what it does as a page for browsers, like 127.0.0.1:9140\n"
    "  --force           also on a machine that is busy with other work\n\n"
    "On a terminal: p pauses after a cell, n takes a note, q stops and reports what exists.\n"
    "Exit code: 0 all limits met, 1 one is not, 2 cells are invalid or missing, 3 error.\n";

typedef struct {
    const char *name;
    Str profile, lab_dir, data_dir, only, url, inputs, label, serve;
    bool resumes, is_forced;
} RunOptions;

static Lab *running; // for the signal handler and prepared_open

// ---------------------------------------------------------------------------------------------
// Annotations

void lab_annotate(Lab *lab, Str cell, const char *kind, const char *source, Str text)
{
    Result *result = lab->result;
    size_t n = result->annotations.len;

    if (n % ANNOTATIONS_STEP == 0) {
        Annotation *bigger = NEW_ARRAY(Annotation, n + ANNOTATIONS_STEP);
        if (n > 0) {
            memcpy(bigger, result->annotations.at, n * sizeof *bigger);
        }
        result->annotations.at = bigger;
    }
    result->annotations.at[result->annotations.len++] =
        (Annotation){.at = time_now(),
                     .cell = cell,
                     .kind = str_of(kind),
                     .text = str_copy(arena_current(), text),
                     .source = str_of(source)};
}

static Str notes_file(Str folder)
{
    return str_fmt(STR_FMT "/notes", STR_ARG(folder));
}

void lab_take_notes(Lab *lab, Str cell)
{
    Str text = {0}, line;
    size_t n = 0;

    if (file_text(notes_file(lab->folder), &text)) {
        return; // nobody has left one
    }
    while (str_next(&text, '\n', &line)) {
        Str at = {0}, note = line;
        Time time = 0;
        if (n++ < lab->notes_taken || !str_next(&note, '\t', &at) || !time_parse(at, &time)) {
            continue;
        }
        lab_annotate(lab, cell, "note", "octavo bench note", note);
        lab->result->annotations.at[lab->result->annotations.len - 1].at = time;
    }
    lab->notes_taken = n > lab->notes_taken ? n : lab->notes_taken;
}

// ---------------------------------------------------------------------------------------------
// The result and its folder

static Str result_file(Str folder)
{
    return str_fmt(STR_FMT "/result.json", STR_ARG(folder));
}

Err *lab_save(const Lab *lab)
{
    return result_save(lab->result, str_z(result_file(lab->folder)));
}

static Cell planned_cell(const PlannedCell *planned)
{
    return (Cell){.id = planned->id,
                  .block = planned->block,
                  .place = planned->place,
                  .attempt = 1,
                  .configuration = planned->configuration->name,
                  .run = planned->run->name,
                  .load = planned->run->workloads[0].load->name,
                  .state = CELL_PLANNED,
                  .planned_s = planned->run->steady_s};
}

static void new_result(Lab *lab, Str id, Str label)
{
    const Experiment *experiment = lab->experiment;
    Result *result = NEW(Result);

    *result = (Result){.schema = RESULT_SCHEMA,
                       .id = id,
                       .profile = experiment->profile,
                       .label = label,
                       .started_at = time_now(),
                       .experiment = experiment->json};
    result->configurations.at = experiment->configurations;
    result->configurations.len = experiment->configuration_len;
    // Room for a second attempt of each.
    result->cells.at =
        arena_alloc_array(arena_current(), lab->plan.len * ATTEMPTS + 1, sizeof(Cell));
    for (size_t i = 0; i < lab->plan.len; i++) {
        result->cells.at[result->cells.len++] = planned_cell(&lab->plan.at[i]);
    }
    lab->result = result;
}

// A result that is locked belongs to a run at work.
static bool lock_folder(Str folder)
{
    int file = open(str_z(str_fmt(STR_FMT "/lock", STR_ARG(folder))),
                    O_WRONLY | O_CREAT | O_CLOEXEC, 0640);

    return file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0; // held until the process ends
}

static bool is_unfinished(const Result *result)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        if (result->cells.at[i].state == CELL_PLANNED) {
            return true;
        }
    }
    return false;
}

// The latest result of the experiment and profile that is not finished.
static Err *find_unfinished(Lab *lab, const RunOptions *options, Str prefix)
{
    DIR *dir = opendir(str_z(options->lab_dir));
    Str latest = {0};

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        Str name = str_fmt("%s", entry->d_name);
        if (str_starts(name, prefix) && str_cmp(name, latest) > 0) {
            latest = name;
        }
    }
    if (dir) {
        closedir(dir);
    }
    lab->folder = str_fmt(STR_FMT "/" STR_FMT, STR_ARG(options->lab_dir), STR_ARG(latest));
    if (!latest.len) {
        return err_text(400, "there is no run to go on with: " STR_FMT "/" STR_FMT "...",
                        STR_ARG(options->lab_dir), STR_ARG(prefix));
    }
    TRY(result_load(str_z(result_file(lab->folder)), &lab->result));
    if (!is_unfinished(lab->result)) {
        return err_text(400, STR_FMT " is finished", STR_ARG(latest));
    }
    return json_equal(lab->result->experiment, lab->experiment->json)
               ? NULL
               : err_text(400, STR_FMT " was begun with another experiment file", STR_ARG(latest));
}

static Err *resume(Lab *lab, const RunOptions *options, Str prefix)
{
    TRY(find_unfinished(lab, options, prefix));
    Result *result = lab->result;
    Cell *cells = arena_alloc_array(arena_current(), lab->plan.len * ATTEMPTS + result->cells.len,
                                    sizeof(Cell));
    memcpy(cells, result->cells.at, result->cells.len * sizeof *cells);
    result->cells.at = cells;
    Annotation *annotations =
        NEW_ARRAY(Annotation, (result->annotations.len / ANNOTATIONS_STEP + 1) * ANNOTATIONS_STEP);
    if (result->annotations.len > 0) {
        memcpy(annotations, result->annotations.at, result->annotations.len * sizeof *annotations);
    }
    result->annotations.at = annotations;
    result->was_stopped = false;
    Str notes = {0}, line;
    if (!file_text(notes_file(lab->folder), &notes)) {
        while (str_next(&notes, '\n', &line)) {
            lab->notes_taken++;
        }
    }
    return NULL;
}

static Err *open_result(Lab *lab, const RunOptions *options)
{
    Str profile = lab->experiment->profile.len ? lab->experiment->profile : S("full");
    Str prefix = str_fmt(STR_FMT "-" STR_FMT "-", STR_ARG(lab->experiment->id), STR_ARG(profile));
    Str now = time_format_z(time_now());

    if (options->resumes) {
        TRY(resume(lab, options, prefix));
    } else {
        // 2024-05-01T12:34:56.789Z -> 20240501T123456Z
        Str id = str_fmt(STR_FMT STR_FMT STR_FMT STR_FMT STR_FMT STR_FMT STR_FMT "Z",
                         STR_ARG(prefix), STR_ARG(str_sub(now, 0, 4)), STR_ARG(str_sub(now, 5, 7)),
                         STR_ARG(str_sub(now, 8, 11)), STR_ARG(str_sub(now, 11, 13)),
                         STR_ARG(str_sub(now, 14, 16)), STR_ARG(str_sub(now, 17, 19)));
        lab->folder = str_fmt(STR_FMT "/" STR_FMT, STR_ARG(options->lab_dir), STR_ARG(id));
        TRY(make_folders(lab->folder));
        new_result(lab, id, options->label);
    }
    lab->work = str_fmt(STR_FMT "/work", STR_ARG(lab->folder));
    return lock_folder(lab->folder)
               ? NULL
               : err_text(400, STR_FMT " is being worked on", STR_ARG(lab->folder));
}

// ---------------------------------------------------------------------------------------------
// Cells

static const PlannedCell *plan_of(const Lab *lab, const Cell *cell)
{
    for (size_t i = 0; i < lab->plan.len; i++) {
        if (str_eq(lab->plan.at[i].id, cell->id)) {
            return &lab->plan.at[i];
        }
    }
    return NULL;
}

// "12 of 36 perf-920/... done: check-out 3.1/s p50 12.3 p95 20.1 ms, ..."
static void say_cell(Lab *lab, const Cell *cell, size_t number)
{
    Buf line = buf_new(arena_current(), 4096);

    buf_fmt(&line, "%zu of %zu " STR_FMT ": %s", number, lab->result->cells.len, STR_ARG(cell->id),
            cell->state == CELL_DONE      ? "done"
            : cell->state == CELL_INVALID ? "INVALID"
                                          : "stopped");
    for (size_t i = 0; i < cell->measures.len; i++) {
        const Measure *measure = &cell->measures.at[i];
        Hist *times = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
        if (measure->kind == MEASURE_TRANSACTION && measure->ok.len && cell->window_s > 0 &&
            hist_merge_packed(times, measure->ok)) {
            buf_fmt(&line, ", " STR_FMT " %.1f/s p50 %.1f p95 %.1f ms", STR_ARG(measure->name),
                    (double)hist_count(times) / cell->window_s,
                    (double)hist_percentile(times, 50) / 1000,
                    (double)hist_percentile(times, 95) / 1000);
        }
        hist_free(times);
    }
    for (size_t i = 0; i < cell->reasons.len; i++) {
        buf_fmt(&line, "\n    " STR_FMT, STR_ARG(cell->reasons.at[i]));
    }
    live_say(lab->screen, buf_str(&line));
}

// Behind an invalid cell comes its second attempt.
static void plan_repetition(Result *result, size_t i, const PlannedCell *planned)
{
    Cell *cells = result->cells.at;

    if (cells[i].attempt >= ATTEMPTS) {
        return;
    }
    memmove(&cells[i + 2], &cells[i + 1], (result->cells.len - i - 1) * sizeof *cells);
    cells[i + 1] = planned_cell(planned);
    cells[i + 1].attempt = cells[i].attempt + 1;
    result->cells.len++;
}

static bool is_chosen(const Cell *cell, Str only)
{
    return !only.len || str_find(cell->id, only, 0) >= 0;
}

static void leave_rest(Result *result, Str only, Str why)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        if (cell->state == CELL_PLANNED && is_chosen(cell, only)) {
            cell->reasons = (StrList){0};
            cell_add_reason(cell, why);
        }
    }
}

// Why no further cell may begin; empty: go on.
static Str why_ends(const Lab *lab, int64_t begun_ns)
{
    double limit = lab->experiment->design.time_limit_s;

    if (atomic_load(&lab->is_asked_to_stop)) {
        return S("the run was stopped");
    }
    if (limit > 0 && (double)(clock_ns() - begun_ns) / 1e9 > limit) {
        return str_fmt("the time limit of %g s was reached", limit);
    }
    return S("");
}

// Of an attempt that was broken off only the lines it used count.
static void begin_anew(Cell *cell, const PlannedCell *planned)
{
    Cell fresh = planned_cell(planned);

    fresh.attempt = cell->attempt;
    fresh.lists.at = cell->lists.at;
    fresh.lists.len = cell->lists.len;
    *cell = fresh;
}

static Err *run_cells(Lab *lab, Str only)
{
    Result *result = lab->result;
    int64_t begun_ns = clock_ns();

    lab->first_on_data = result->cells.at;
    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        const PlannedCell *planned = plan_of(lab, cell);
        if (cell->state != CELL_PLANNED || !is_chosen(cell, only) || !planned) {
            continue;
        }
        live_wait_if_paused(lab->screen);
        Str why = why_ends(lab, begun_ns);
        if (why.len) {
            result->was_stopped = true;
            leave_rest(result, only, why);
            return lab_save(lab);
        }
        begin_anew(cell, planned);
        TRY(cell_run(lab, planned, cell));
        say_cell(lab, cell, i + 1);
        if (cell->state == CELL_INVALID && !cell_is_short_of_data(cell)) {
            plan_repetition(result, i, planned);
        }
        TRY(lab_save(lab));
    }
    return NULL;
}

static Str recipe_of(const Experiment *experiment, const Cell *cell)
{
    for (size_t i = 0; i < experiment->configuration_len; i++) {
        if (str_eq(experiment->configurations[i].name, cell->configuration)) {
            return experiment->configurations[i].recipe;
        }
    }
    return S("");
}

// Configurations whose servers ran with the same options, on libraries of one recipe, compared
// nothing.
static void judge_differences(const Experiment *experiment, Result *result)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        for (size_t k = 0; k < i; k++) {
            Cell *a = &result->cells.at[k], *b = &result->cells.at[i];
            const Json *of_a = json_get(a->deployment, "options"),
                       *of_b = json_get(b->deployment, "options");
            if (a->state != CELL_DONE || b->state != CELL_DONE || !of_a || !of_b ||
                str_eq(a->configuration, b->configuration) || !json_equal(of_a, of_b) ||
                !str_eq(recipe_of(experiment, a), recipe_of(experiment, b)) ||
                json_len(a->processes) == 0 || json_len(b->processes) == 0 ||
                json_int(json_at(a->processes, 0), "memoryHardBytes", 0) !=
                    json_int(json_at(b->processes, 0), "memoryHardBytes", 0)) {
                continue;
            }
            b->state = CELL_INVALID;
            cell_add_reason(b, str_fmt("its server ran with the same options as that of " STR_FMT,
                                       STR_ARG(a->configuration)));
        }
    }
}

// ---------------------------------------------------------------------------------------------

static void say(Str text)
{
    live_say(running->screen, text);
}

static void stop_by_signal(int number)
{
    (void)number;
    atomic_store(&running->is_asked_to_stop, true);
}

static Err *refuse_if_busy(Lab *lab)
{
    double busy = environment_busy();
    Str text =
        str_fmt("other programs use %.0f %% of this machine: figures would say little", busy * 100);

    if (busy <= BUSY_LIMIT) {
        return NULL;
    }
    if (lab->is_lenient) {
        say(str_fmt("note: " STR_FMT, STR_ARG(text)));
        lab->busy = text;
        return NULL;
    }
    return err_text(400, STR_FMT "; --force runs all the same", STR_ARG(text));
}

static Err *open_data(Lab *lab, const RunOptions *options)
{
    const Experiment *experiment = lab->experiment;
    Str inputs = options->inputs.len ? options->inputs : experiment->data.inputs;

    if (experiment->target.url.len) {
        lab->inputs = inputs.len ? inputs : S(".");
        return NULL;
    }
    lab->libraries = NEW_ARRAY(Prepared, experiment->configuration_len);
    for (size_t i = 0; i < experiment->configuration_len; i++) {
        const Configuration *configuration = &experiment->configurations[i];
        Prepared *library = &lab->libraries[i];
        Str recipe = configuration->recipe.len ? configuration->recipe : experiment->data.recipe;
        TRY(prepared_open(options->data_dir, recipe, experiment->data.seed, say, library));
        if (library->made_s > 0) {
            say(str_fmt("made in %.1f s", library->made_s));
        }
        lab->prepared = configuration->is_baseline ? *library : lab->prepared;
    }
    return NULL;
}

// Cells that were wanted and are not done.
static bool is_incomplete(const Result *result, Str only)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        const Cell *cell = &result->cells.at[i];
        bool is_repeated = i + 1 < result->cells.len && str_eq(cell[1].id, cell->id);
        if (is_chosen(cell, only) && !is_repeated && cell->state != CELL_DONE) {
            return true;
        }
    }
    return false;
}

// The result is whole whatever happens to its report.
static Err *write_report(const Lab *lab, const RunOptions *options, int *code)
{
    Arena *arena = arena_new(REPORT_ARENA_MAX), *former = arena_use(arena);
    Err *err = report_folder(str_z(lab->folder), code);

    err = err ? err : trend_write(str_z(options->lab_dir));
    arena_use(former);
    if (err) {
        err = err_text(500, "the report: " STR_FMT, STR_ARG(err->message));
    }
    arena_free(arena);
    // A chosen part of the cells is no whole run, and none is expected.
    if (!err && options->only.len) {
        *code = 0;
    }
    return err;
}

// Everybody who looks at the page sees the end.
static void close_view(Lab *lab)
{
    live_close(lab->screen);
    if (lab->page) {
        usleep(500000);
        live_page_stop(lab->page);
    }
}

static Err *run_all(Lab *lab, const RunOptions *options, int *code)
{
    TRY(open_result(lab, options));
    if (options->serve.len > 0) {
        TRY(live_page_start(options->serve, lab->folder, &lab->page));
        live_say(lab->screen, str_fmt("http://127.0.0.1:%d/", live_page_port(lab->page)));
    }
    TRY(refuse_if_busy(lab));
    TRY(open_data(lab, options));
    if (lab->experiment->target.has_otlp_sink && !lab->experiment->target.url.len) {
        TRY(otlp_sink_start(&lab->sink));
    }
    lab->result->environment = environment_take(lab);
    json_set_str_if(lab->result->environment, "host.busy", lab->busy);
    TRY(lab_save(lab));
    Err *err = run_cells(lab, options->only);
    cell_stop_server(lab, NULL);
    remove_tree(lab->work);
    TRY(err);
    judge_differences(lab->experiment, lab->result);
    lab->result->ended_at = time_now();
    TRY(lab_save(lab));
    TRY(write_report(lab, options, code));
    if (is_incomplete(lab->result, options->only)) {
        *code = REPORT_INVALID;
    }
    return NULL;
}

static Err *run_experiment(Lab *lab, const RunOptions *options, int *code)
{
    Experiment *experiment = NULL;

    TRY(experiment_open(options->name, options->profile, &experiment));
    if (options->url.len) {
        experiment_use_url(experiment, options->url);
    }
    TRY(experiment_can_run(experiment));
    lab->experiment = experiment;
    lab->plan = experiment_cells(experiment);
    lab->is_lenient = options->is_forced || str_eq(options->profile, S("smoke"));
    lab->screen = live_open(lab);
    running = lab;
    signal(SIGINT, stop_by_signal);
    signal(SIGTERM, stop_by_signal);
    Err *err = run_all(lab, options, code);
    cell_stop_server(lab, NULL);
    if (lab->sink) {
        otlp_sink_stop(lab->sink);
    }
    close_view(lab);
    return err;
}

// ---------------------------------------------------------------------------------------------
// Command line

static Err *take_option(RunOptions *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        Str *to;
    } texts[] = {{"--profile", &options->profile},   {"--lab.dir", &options->lab_dir},
                 {"--data-dir", &options->data_dir}, {"--only", &options->only},
                 {"--url", &options->url},           {"--inputs", &options->inputs},
                 {"--label", &options->label},       {"--serve", &options->serve}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].to = str_of(value);
            return value ? NULL : err_text(400, "%s needs a value", name);
        }
    }
    return err_text(400, "unknown option %s; octavo bench run --help", name);
}

static Err *read_arguments(RunOptions *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (strncmp(argv[i], "--", 2) != 0) {
            if (options->name) {
                return err_text(400, "more than one experiment: %s", argv[i]);
            }
            options->name = argv[i];
        } else if (strcmp(argv[i], "--resume") == 0) {
            options->resumes = true;
        } else if (strcmp(argv[i], "--force") == 0) {
            options->is_forced = true;
        } else if (equals) {
            *equals = 0;
            TRY(take_option(options, argv[i], equals + 1));
        } else {
            TRY(take_option(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL));
            i++;
        }
    }
    if (!options->data_dir.len) {
        options->data_dir = str_fmt(STR_FMT "/data", STR_ARG(options->lab_dir));
    }
    return options->name ? NULL : err_text(400, "an experiment is needed: octavo bench run --help");
}

int bench_run(int argc, char **argv)
{
    Arena *arena = arena_new(RUN_ARENA_MAX), *former = arena_use(arena);
    RunOptions options = {.lab_dir = S("lab")};
    Lab *lab = NEW(Lab);
    int code = 0;

    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        fputs(usage, stdout);
    } else {
        Err *err = read_arguments(&options, argc, argv);
        err = err ? err : run_experiment(lab, &options, &code);
        if (err) {
            fprintf(stderr, "octavo bench run: " STR_FMT "\n", STR_ARG(err->message));
            code = 3;
        }
    }
    arena_use(former);
    arena_free(arena);
    return code;
}
