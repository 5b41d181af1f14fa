// The load of a cell: a thread for each workload plays its plan; what it counts by the second
// becomes the measures of the cell.
#include "cell_lists.h"

#include "base/die.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LOAD_ARENA_MAX = 1 << 30,
    VARIABLES_MAX = 64,
    LATE_S = 60, // a steady window that has not begun this long after the warm-up never will
    NOW_TYPES_MAX = 8,
    NOW_S = 10, // times of the live view are those of so many seconds
};

// What one second counted of one type.
typedef struct {
    int64_t from_ns;
    Str ok;
    int64_t failed;
} TypeSecond;

typedef struct {
    TypeSecond *at;
    size_t len, cap;
} TypeSeconds;

typedef struct {
    CellLoad *load;
    const RunWorkload *run;
    pthread_t thread;
    Arena *arena;
    Plan *plan;
    PlanVariable variables[VARIABLES_MAX];
    size_t variable_len;
    DriverOptions options;
    RunResult result;
    TypeSeconds *seconds; // by transaction; of a plan without any by request
    Str failure;          // the run could not be done
} PartLoad;

struct CellLoad {
    Lab *lab;
    const PlannedCell *planned;
    Str url;
    PartLoad *parts;
    size_t part_len;
    int64_t begin_ns;
    _Atomic bool cancel;
    _Atomic int running;    // parts that the cell waits for
    _Atomic int not_ready;  // see DriverOptions
    _Atomic bool has_begun; // until it has been told
    pthread_mutex_t lock;   // guards `now`
    LoadNow now;
};

// ---------------------------------------------------------------------------------------------
// Counting

static bool has_transactions(const Plan *plan)
{
    return plan->transactions.len > 0;
}

static void add_type_second(TypeSeconds *seconds, TypeSecond one)
{
    seconds->at =
        array_room(arena_current(), seconds->at, seconds->len, &seconds->cap, sizeof *seconds->at);
    seconds->at[seconds->len++] = one;
}

static Str packed(const Hist *hist)
{
    return hist && hist_count(hist) > 0 ? hist_pack(hist) : S("");
}

static const Tally *types_of(const PartLoad *part, const Tallies *counts, size_t *len)
{
    *len = has_transactions(part->plan) ? counts->transaction_len : counts->request_len;
    return has_transactions(part->plan) ? counts->transactions : counts->requests;
}

static Str type_name(const PartLoad *part, size_t i)
{
    return has_transactions(part->plan) ? part->plan->transactions.at[i]
                                        : part->plan->requests.at[i];
}

// The times of a type in the last seconds; free with hist_free.
static Hist *recent_times(const TypeSeconds *seconds, int64_t now_ns)
{
    Hist *times = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (size_t i = seconds->len; i > 0; i--) {
        const TypeSecond *one = &seconds->at[i - 1];
        if (one->from_ns < now_ns - NOW_S * (int64_t)1000000000 ||
            (one->ok.len > 0 && !hist_merge_packed(times, one->ok))) {
            break;
        }
    }
    return times;
}

static void show_second(PartLoad *part, const Second *second)
{
    CellLoad *load = part->load;
    double span = (double)(second->to_ns - second->from_ns) / 1e9;
    size_t n = 0;
    LoadNow *now = &load->now;

    types_of(part, second->counts, &n);

    pthread_mutex_lock(&load->lock);
    now->per_s = span > 0 ? (double)tally_count(&second->counts->all_requests) / span : 0;
    now->users = (double)second->users;
    now->transactions += tally_count(&second->counts->all_transactions);
    now->errors += tally_failed(&second->counts->all_requests);
    now->is_steady = second->is_steady;
    now->of_len = 0;
    for (size_t i = 0; i < n && now->of_len < NOW_TYPES_MAX; i++) {
        Hist *ok = recent_times(&part->seconds[i], second->to_ns);
        if (hist_count(ok) > 0) {
            Str name = type_name(part, i);
            snprintf(now->of[now->of_len].name, sizeof now->of[0].name, STR_FMT, STR_ARG(name));
            now->of[now->of_len].p50_ms = (double)hist_percentile(ok, 50) / 1000;
            now->of[now->of_len++].p95_ms = (double)hist_percentile(ok, 95) / 1000;
        }
        hist_free(ok);
    }
    pthread_mutex_unlock(&load->lock);
}

static void take_second(const Second *second, void *context)
{
    PartLoad *part = context;
    size_t n = 0;
    const Tally *types = types_of(part, second->counts, &n);

    for (size_t i = 0; i < n; i++) {
        if (tally_count(&types[i]) > 0) {
            add_type_second(&part->seconds[i],
                            (TypeSecond){.from_ns = second->from_ns,
                                         .ok = packed(types[i].ok),
                                         .failed = (int64_t)tally_failed(&types[i])});
        }
    }
    show_second(part, second);
}

static void window_begins(void *context)
{
    PartLoad *part = context;
    atomic_store(&part->load->has_begun, true);
}

// ---------------------------------------------------------------------------------------------
// Playing

static void add_variable(PartLoad *part, Str name, Str value)
{
    if (part->variable_len < VARIABLES_MAX) {
        part->variables[part->variable_len++] =
            (PlanVariable){str_copy(arena_current(), name), str_copy(arena_current(), value)};
    }
}

static void choose_variables(PartLoad *part)
{
    // Properties that FOLIO's plans read; groups of several users must get them, too.
    add_variable(part, S("VUSERS"), str_fmt("%lld", (long long)part->run->load->users));
    add_variable(part, S("RAMP_UP"), str_fmt("%g", part->run->load->ramp_s));
    add_variable(part, S("DURATION"), S("0"));
}

static void choose_options(PartLoad *part)
{
    const CellLoad *load = part->load;
    const RunPlan *run = load->planned->run;
    const Workload *workload = part->run->workload;
    const Load *of = part->run->load;
    bool is_first = part->run->start_offset_s <= 0;

    part->options = (DriverOptions){
        .url = load->url,
        .seed = load->lab->experiment->seed * 1000 + (uint64_t)load->planned->block,
        .threads = 1,
        .users = of->users,
        .ramp_s = of->ramp_s,
        .duration_s = 0,
        // The warm-up of an experiment counts from the begin on.
        .warmup_s = run->warmup_s > of->ramp_s ? run->warmup_s - of->ramp_s : 0,
        .steady_s = is_first ? run->steady_s : 0,
        .patience_s = LATE_S,
        .cooldown_s = run->cooldown_s,
        .timeout_s = workload->timeout_s,
        .rate = of->rate,
        .is_poisson = of->is_poisson,
        .think = workload->think,
        .think_scale = workload->think_scale,
        .without_preflights = !workload->has_preflights,
        .second = take_second,
        .steady = is_first ? window_begins : NULL,
        .context = part,
        .not_ready = is_first ? &part->load->not_ready : NULL,
        .cancel = &part->load->cancel,
    };
}

static Err *read_plan(PartLoad *part, const Cell *cell)
{
    PlanOptions options = {
        .inputs = part->load->lab->inputs, .variables = part->variables, .stops_at_end = true};
    size_t n = 0;

    choose_variables(part);
    options.variable_len = part->variable_len;
    TRY(workload_plan(part->run->workload, &options, &part->plan));
    n = has_transactions(part->plan) ? part->plan->transactions.len : part->plan->requests.len;
    part->seconds = NEW_ARRAY(TypeSeconds, n + 1);
    lists_go_on(part->load->lab, cell, part->run->workload->name, part->plan);
    choose_options(part);
    return NULL;
}

static void wait_for_offset(const PartLoad *part)
{
    int64_t until = part->load->begin_ns + (int64_t)(part->run->start_offset_s * 1e9);

    while (clock_ns() < until && !atomic_load(&part->load->cancel)) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

static void *part_main(void *context)
{
    PartLoad *part = context;
    CellLoad *load = part->load;

    Arena *former = arena_use(part->arena);
    wait_for_offset(part);
    Err *err = driver_run(part->plan, &part->options, &part->result);
    if (err) {
        part->failure = err->message;
        atomic_fetch_sub(&load->not_ready, 1);
    }
    bool was_last = part->run->start_offset_s <= 0 && atomic_fetch_sub(&load->running, 1) == 1;
    if (was_last || part->result.used_up) {
        // The others last as long as those that began at once; without data the cell is void.
        atomic_store(&load->cancel, true);
    }
    arena_use(former);
    return NULL;
}

Err *cell_load_start(Lab *lab, const PlannedCell *planned, const Cell *cell, Str url,
                     CellLoad **out)
{
    const RunPlan *run = planned->run;
    CellLoad *load = NEW(CellLoad);

    *load = (CellLoad){.lab = lab,
                       .planned = planned,
                       .url = url,
                       .part_len = run->workload_len,
                       .parts = NEW_ARRAY(PartLoad, run->workload_len)};
    pthread_mutex_init(&load->lock, NULL);
    for (size_t i = 0; i < load->part_len; i++) {
        PartLoad *part = &load->parts[i];
        *part =
            (PartLoad){.load = load, .run = &run->workloads[i], .arena = arena_new(LOAD_ARENA_MAX)};
        Arena *former = arena_use(part->arena);
        Err *err = read_plan(part, cell);
        arena_use(former);
        if (err) {
            return err_text(err->status, STR_FMT, STR_ARG(err->message));
        }
        if (part->run->start_offset_s <= 0) {
            atomic_fetch_add(&load->running, 1);
            atomic_fetch_add(&load->not_ready, 1);
        }
    }
    load->begin_ns = clock_ns();
    for (size_t i = 0; i < load->part_len; i++) {
        if (pthread_create(&load->parts[i].thread, NULL, part_main, &load->parts[i])) {
            die("cannot start a thread");
        }
    }
    *out = load;
    return NULL;
}

bool cell_load_is_over(CellLoad *load)
{
    return atomic_load(&load->running) == 0;
}

void cell_load_cancel(CellLoad *load)
{
    atomic_store(&load->cancel, true);
}

bool cell_load_has_begun(CellLoad *load)
{
    return atomic_exchange(&load->has_begun, false);
}

LoadNow cell_load_now(CellLoad *load)
{
    pthread_mutex_lock(&load->lock);
    LoadNow now = load->now;
    pthread_mutex_unlock(&load->lock);
    return now;
}

int64_t cell_load_zero_ns(const CellLoad *load)
{
    return load->part_len > 0 && load->parts[0].result.is_steady
               ? load->parts[0].result.window_from_ns
               : load->begin_ns;
}

// ---------------------------------------------------------------------------------------------
// Filling the cell. Everything is copied from the arenas of the threads.

static Str kept(Str text)
{
    return str_copy(arena_current(), text);
}

static void add_error(Measure *measure, Str name, uint64_t count)
{
    if (count > 0) {
        measure->errors.at[measure->errors.len++] = (Counted){name, (int64_t)count};
    }
}

static void fill_errors(Measure *measure, const Tally *tally)
{
    measure->errors.at =
        arena_alloc_array(arena_current(), FAIL_CLASSES + STATUSES_MAX, sizeof(Counted));
    for (int i = 0; i < FAIL_CLASSES; i++) {
        if (i != FAIL_STATUS) {
            add_error(measure, str_of(failure_name((Failure)i)), tally->failures[i]);
        }
    }
    for (int i = 0; i < STATUSES_MAX; i++) {
        add_error(measure, str_fmt("status %ld", tally->statuses[i].status),
                  tally->statuses[i].times);
    }
}

static void fill_slices(Measure *measure, const TypeSeconds *seconds, int64_t zero_ns)
{
    int64_t last = INT64_MIN;

    measure->slices.at = arena_alloc_array(arena_current(), seconds->len + 1, sizeof(Slice));
    for (size_t i = 0; i < seconds->len; i++) {
        const TypeSecond *from = &seconds->at[i];
        int64_t ms = (from->from_ns - zero_ns) / 1000000;
        // What the driver begins a little late is the same second; the warm-up ends anywhere.
        int64_t second = ms >= 0 ? (ms + 500) / 1000 : -((999 - ms) / 1000);
        second = second <= last ? last + 1 : second;
        last = second;
        measure->slices.at[measure->slices.len++] =
            (Slice){.second = second, .ok = kept(from->ok), .failed = from->failed};
    }
}

static void fill_measure(const PartLoad *part, MeasureKind kind, size_t i, const Tally *tally,
                         const Tally *whole, Measure *measure)
{
    const StrList *names =
        kind == MEASURE_TRANSACTION ? &part->plan->transactions : &part->plan->requests;

    *measure = (Measure){.kind = kind,
                         .workload = part->run->workload->name,
                         .name = kept(names->at[i]),
                         .ok = packed(tally->ok),
                         .failed = packed(tally->failed),
                         .service = packed(tally->service),
                         .cut = (int64_t)whole->cut,
                         .bytes_in = (int64_t)tally->bytes_in,
                         .bytes_out = (int64_t)tally->bytes_out};
    fill_errors(measure, tally);
    if (has_transactions(part->plan) == (kind == MEASURE_TRANSACTION)) {
        fill_slices(measure, &part->seconds[i], cell_load_zero_ns(part->load));
    }
}

static void fill_measures(const PartLoad *part, Cell *cell)
{
    const Tallies *steady = &part->result.steady, *whole = &part->result.whole;

    for (size_t i = 0; i < steady->transaction_len; i++) {
        fill_measure(part, MEASURE_TRANSACTION, i, &steady->transactions[i],
                     &whole->transactions[i], &cell->measures.at[cell->measures.len++]);
    }
    for (size_t i = 0; i < steady->request_len; i++) {
        if (tally_count(&whole->requests[i]) > 0) {
            fill_measure(part, MEASURE_REQUEST, i, &steady->requests[i], &whole->requests[i],
                         &cell->measures.at[cell->measures.len++]);
        }
    }
}

static void fill_part(const PartLoad *part, Cell *cell)
{
    static const char *const thinks[] = {"effective", "written", "none"};
    const RunResult *result = &part->result;
    const Load *load = part->run->load;
    uint64_t transactions = tally_count(&result->steady.all_transactions);

    cell->parts.at[cell->parts.len++] =
        (Part){.workload = part->run->workload->name,
               .plan = kept(part->plan->name),
               .load = load->name,
               .set = part->run->set,
               .model = load->is_open ? S("open") : S("closed"),
               .think_model = str_of(thinks[part->run->workload->think]),
               .think_scale = part->run->workload->think_scale,
               .think_s = transactions ? result->steady.paused_s / (double)transactions : -1,
               .users = load->is_open ? 0 : (int64_t)result->users,
               .rate = load->rate,
               .from_s = (double)(result->window_from_ns - cell_load_zero_ns(part->load)) / 1e9,
               .window_s = result->window_s,
               .lag = packed(result->steady.lag.ok)};
    cell->driver_cpu_s += result->cpu_s;
    cell->driver_busiest =
        result->busiest > cell->driver_busiest ? result->busiest : cell->driver_busiest;
    cell->is_driver_limited = cell->is_driver_limited || result->is_limited;
    cell->driver_late = packed(result->steady.heartbeat.ok);
}

static void fill_slowest(const PartLoad *part, int64_t zero_ns, Cell *cell)
{
    const RunResult *result = &part->result;

    for (size_t i = 0; i < result->slow_len; i++) {
        const Slow *slow = &result->slowest[i];
        SlowTransaction *to = &cell->slowest.at[cell->slowest.len++];
        *to = (SlowTransaction){.workload = part->run->workload->name,
                                .name = kept(part->plan->transactions.at[slow->transaction]),
                                .at_s = (double)(slow->begin_ns - zero_ns) / 1e9,
                                .ms = (double)slow->time_us / 1000};
        to->requests.at =
            arena_alloc_array(arena_current(), slow->step_len + 1, sizeof *to->requests.at);
        for (size_t k = 0; k < slow->step_len; k++) {
            const SlowStep *step = &slow->steps[k];
            to->requests.at[to->requests.len++] =
                (SlowRequest){.name = kept(step->request->id),
                              .at_s = (double)(step->begin_ns - slow->begin_ns) / 1e9,
                              .ms = (double)step->time_us / 1000,
                              .status = step->status};
        }
    }
}

static void fill_error_samples(const PartLoad *part, int64_t zero_ns, Cell *cell)
{
    const RunResult *result = &part->result;

    for (size_t i = 0; i < result->sample_len; i++) {
        const FailureSample *sample = &result->samples[i];
        cell->error_samples.at[cell->error_samples.len++] = (ErrorSample){
            .workload = part->run->workload->name,
            .request = kept(sample->request),
            .error = sample->failure == FAIL_STATUS ? kept(sample->why)
                                                    : str_of(failure_name(sample->failure)),
            .why = kept(sample->why),
            .sent = kept(sample->sent),
            .answer = kept(sample->answer),
            .times = (int64_t)sample->times,
            .at_s = sample->at_s + (double)(part->load->begin_ns - zero_ns) / 1e9};
    }
}

static void make_room(const CellLoad *load, Cell *cell)
{
    size_t measures = 0, samples = 0, slowest = 0, lists = 0;
    Arena *arena = arena_current();

    for (size_t i = 0; i < load->part_len; i++) {
        const PartLoad *part = &load->parts[i];
        measures += part->plan->transactions.len + part->plan->requests.len;
        samples += part->result.sample_len;
        slowest += part->result.slow_len;
        lists += part->plan->feed_len;
    }
    cell->lists.at = arena_alloc_array(arena, lists + 1, sizeof *cell->lists.at);
    cell->lists.len = 0;
    cell->parts.at = arena_alloc_array(arena, load->part_len + 1, sizeof *cell->parts.at);
    cell->measures.at = arena_alloc_array(arena, measures + 1, sizeof *cell->measures.at);
    cell->slowest.at = arena_alloc_array(arena, slowest + 1, sizeof *cell->slowest.at);
    cell->error_samples.at = arena_alloc_array(arena, samples + 1, sizeof *cell->error_samples.at);
}

// On a machine that is known to be busy this is no surprise: said, but no reason to throw all away.
static void judge_driver(Lab *lab, const RunResult *result, Cell *cell)
{
    Str text = str_fmt("the driver was the limit: its busiest loop used %.0f %% of a core, it ran "
                       "%.1f ms late",
                       result->busiest * 100, (double)result->late_us / 1000);

    if (lab->is_lenient) {
        lab_annotate(lab, cell->id, "note", "lab", text);
    } else {
        cell_add_reason(cell, text);
    }
}

static CellLists lists_of(const PartLoad *part, Cell *cell)
{
    return (CellLists){.lab = part->load->lab,
                       .cell = cell,
                       .workload = part->run->workload->name,
                       .plan = part->plan,
                       .result = &part->result,
                       .zero_ns = cell_load_zero_ns(part->load)};
}

static void judge_part(const PartLoad *part, Cell *cell)
{
    const RunResult *result = &part->result;
    CellLists lists = lists_of(part, cell);
    bool is_first = part->run->start_offset_s <= 0;
    Str name = part->run->workload->name;

    if (part->failure.len) {
        cell_add_reason(cell, str_fmt(STR_FMT ": " STR_FMT, STR_ARG(name), STR_ARG(part->failure)));
    } else if (result->used_up) {
        lists_judge(&lists);
    } else if (!result->is_steady) {
        cell_add_reason(cell, str_fmt(STR_FMT ": not every user finished a transaction, the steady "
                                              "window never began",
                                      STR_ARG(name)));
    } else if (is_first && result->window_s < 0.9 * cell->planned_s) {
        cell_add_reason(cell, str_fmt(STR_FMT ": the window was %.1f s long instead of %.1f s",
                                      STR_ARG(name), result->window_s, cell->planned_s));
    }
    if (result->was_stopped) {
        cell_add_reason(cell, str_fmt(STR_FMT ": the plan stopped after an error", STR_ARG(name)));
    }
    if (result->is_limited) {
        judge_driver(part->load->lab, result, cell);
    }
}

static void judge_count(const CellLoad *load, Cell *cell)
{
    int64_t least = load->lab->experiment->design.min_transactions, count = 0, right = 0;

    for (size_t i = 0; i < load->part_len; i++) {
        const Tallies *steady = &load->parts[i].result.steady;
        const Tally *all = has_transactions(load->parts[i].plan) ? &steady->all_transactions
                                                                 : &steady->all_requests;
        count += (int64_t)tally_count(all);
        right += (int64_t)(tally_count(all) - tally_failed(all));
    }
    if (count > 0 && right == 0) {
        cell_add_reason(cell, S("not one transaction was right"));
    }
    if (count < least) {
        cell_add_reason(cell, str_fmt("%lld transactions are fewer than %lld", (long long)count,
                                      (long long)least));
    }
}

void cell_load_finish(CellLoad *load, Cell *cell)
{
    int64_t zero_ns = 0;

    for (size_t i = 0; i < load->part_len; i++) {
        pthread_join(load->parts[i].thread, NULL);
    }
    zero_ns = cell_load_zero_ns(load);
    cell->load_from_s = (double)(load->begin_ns - zero_ns) / 1e9;
    cell->window_at = time_now() - (clock_ns() - zero_ns) / 1000000;
    cell->window_s = load->parts[0].result.is_steady ? load->parts[0].result.window_s : 0;
    make_room(load, cell);
    for (size_t i = 0; i < load->part_len; i++) {
        PartLoad *part = &load->parts[i];
        judge_part(part, cell);
        if (!part->failure.len) {
            fill_part(part, cell);
            fill_measures(part, cell);
            CellLists lists = lists_of(part, cell);
            lists_fill(&lists);
            fill_slowest(part, zero_ns, cell);
        }
        fill_error_samples(part, zero_ns, cell);
    }
    judge_count(load, cell);
    for (size_t i = 0; i < load->part_len; i++) {
        PartLoad *part = &load->parts[i];
        run_result_close(&part->result);
        plan_close_files(part->plan);
        arena_free(part->arena);
    }
    pthread_mutex_destroy(&load->lock);
}
