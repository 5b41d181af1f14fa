// A run: setup groups one after the other, then the main groups together; the steady window.
#include "loop.h"

#include "base/date.h"
#include "base/die.h"

#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    THREADS_MAX = 64,
    SETUP_NUMBERS = 1 << 24, // users of setup groups draw from other streams
    TICK_MS = 10,
    SECOND_NS = 1000000000,
    LAG_LIMIT_US = 5000,
    P99_MIN = 500,
    P95_MIN = 100,
};
#define BUSY_LIMIT   0.8
#define STEADY_MIN_S 0.2
#define STEADY_SHARE 0.1 // of the run; a shorter window says less than the whole

// What the main thread follows during a phase.
typedef struct {
    Run *run;
    Loop *loops;
    int loop_len;
    int64_t ramp_end_ns, end_ns; // latest of all groups
    size_t group_len;            // that are running
    int64_t steady_ns;           // 0: not yet
    int64_t steady_end_ns;       // 0: not yet
    bool is_ready;               // for it
    Tallies outside;             // of it
    Slow outside_slow[SLOW_MAX];
    size_t outside_slow_len;
    Tallies second;                                             // the last one, of all loops
    int64_t second_ns;                                          // when it ended
    int64_t cpu_at_begin[THREADS_MAX], cpu_at_end[THREADS_MAX]; // of the steady window
} Watch;

static volatile sig_atomic_t stop_requested;

void driver_stop(void)
{
    stop_requested = 1;
}

static Err *bad_url(Str url, const char *why)
{
    return err_text(400, "--url " STR_FMT ": %s", STR_ARG(url), why);
}

static Err *resolve(Run *run, Str url, const char *host)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char address[NI_MAXHOST];
    int code = getaddrinfo(host, NULL, &hints, &found);

    if (code == 0) {
        code = getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof address, NULL, 0,
                           NI_NUMERICHOST);
        run->address =
            found->ai_family == AF_INET6 ? str_fmt("[%s]", address) : str_fmt("%s", address);
        freeaddrinfo(found);
    }
    return code ? bad_url(url, gai_strerror(code)) : NULL;
}

static Err *read_url(Run *run, Str url)
{
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *port = NULL, *path = NULL;
    Err *err = NULL;

    if (curl_url_set(parts, CURLUPART_URL, str_z(url), 0) ||
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) ||
        curl_url_get(parts, CURLUPART_HOST, &host, 0) ||
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ||
        curl_url_get(parts, CURLUPART_PATH, &path, 0)) {
        err = bad_url(url, "is no address like http://127.0.0.1:9130");
    } else {
        Str bare = str_of(host);
        if (host[0] == '[') {
            bare = str_sub(bare, 1, bare.len - 1);
        }
        run->is_tls = strcmp(scheme, "https") == 0;
        run->host_header = str_fmt("%s:%s", host, port);
        run->port = str_fmt("%s", port);
        Str base = str_fmt("%s", path);
        run->base_path = str_ends(base, S("/")) ? str_sub(base, 0, base.len - 1) : base;
        err = resolve(run, url, str_z(bare));
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_url_cleanup(parts);
    return err;
}

typedef struct {
    int64_t users, begin_ns, ramp_ns, end_ns, iterations;
} GroupTimes;

static double seconds(Text *text, Actor *actor, double fallback)
{
    double value = fallback;

    if (text && !str_double(str_trim(text_str(text, actor)), &value)) {
        value = fallback;
    }
    return value;
}

// The numbers of a group with what the command line says instead.
static GroupTimes group_times(const Run *run, const Group *group, size_t main_groups)
{
    const DriverOptions *options = run->options;
    Vars *vars = vars_new(&run->plan->symbols);
    Actor actor = {.plan = run->plan, .vars = vars};
    GroupTimes times = {.users = text_int(group->users, &actor, 1)};
    double ramp = seconds(group->ramp_s, &actor, 0),
           duration = seconds(group->duration_s, &actor, 0);

    if (!group->is_setup) {
        times.users = options->users > 0 && main_groups == 1 ? options->users : times.users;
        ramp = options->ramp_s >= 0 ? options->ramp_s : ramp;
        duration = options->duration_s >= 0 ? options->duration_s : duration;
    }
    times.begin_ns = run->begin_ns + (int64_t)(seconds(group->start_delay_s, &actor, 0) * 1e9);
    times.ramp_ns = (int64_t)(ramp * 1e9);
    times.end_ns = duration > 0 ? times.begin_ns + (int64_t)(duration * 1e9) : INT64_MAX;
    times.iterations = text_int(group->iterations, &actor, -1);
    vars_free(vars);
    return times;
}

// The users of the groups from `first` on, dealt to the loops in turn.
static void deal_users(Watch *watch, const Group *groups, size_t n, User **users, size_t *lens)
{
    Run *run = watch->run;
    GroupTimes *times = NEW_ARRAY(GroupTimes, n);
    size_t main_groups = 0, total = 0;

    for (size_t i = 0; i < n; i++) {
        main_groups += !groups[i].is_setup;
    }
    watch->group_len = run->is_setup ? n : main_groups;
    for (size_t i = 0; i < n; i++) {
        if (groups[i].is_setup == run->is_setup) {
            times[i] = group_times(run, &groups[i], main_groups);
            total += (size_t)times[i].users;
        }
    }
    for (int l = 0; l < watch->loop_len; l++) {
        users[l] = calloc(total / (size_t)watch->loop_len + 1, sizeof **users);
        if (!users[l]) {
            die("out of memory");
        }
    }
    for (size_t i = 0, number = 0; i < n; i++) {
        for (int64_t u = 0; u < times[i].users; u++, number++) {
            size_t l = number % (size_t)watch->loop_len;
            users[l][lens[l]++] = (User){
                .group = &groups[i],
                .actor = {.number = (uint32_t)number + (run->is_setup ? SETUP_NUMBERS : 0)},
                .due_ns = times[i].begin_ns + times[i].ramp_ns / times[i].users * u,
                .end_ns = times[i].end_ns,
                .iterations = times[i].iterations,
            };
        }
        int64_t ramp_end = times[i].begin_ns + times[i].ramp_ns;
        watch->ramp_end_ns = ramp_end > watch->ramp_end_ns ? ramp_end : watch->ramp_end_ns;
        watch->end_ns = times[i].end_ns > watch->end_ns ? times[i].end_ns : watch->end_ns;
    }
    run->user_count = (uint32_t)total;
    atomic_store(&run->running, (uint32_t)total);
    atomic_store(&run->finished_one, 0);
}

static bool is_counting(const Watch *watch)
{
    return watch->steady_ns && !watch->steady_end_ns;
}

static const Feed *used_up_list(const Plan *plan)
{
    const Feed *feed = plan->feeds;

    while (feed && !(feed->is_single_use && feed->ended_ns)) {
        feed = feed->following;
    }
    return feed;
}

static void show_progress(const Watch *watch, int64_t now)
{
    const Run *run = watch->run;
    const Tallies *counts = &watch->second;
    const Hist *shown =
        counts->all_transactions.ok ? counts->all_transactions.ok : counts->all_requests.ok;
    Progress progress = {.at_s = (double)(now - run->begin_ns) / 1e9,
                         .span_s = (double)(now - watch->second_ns) / 1e9,
                         .users = atomic_load(&run->running),
                         .transactions = tally_count(&counts->all_transactions),
                         .requests = tally_count(&counts->all_requests),
                         .errors = tally_failed(&counts->all_requests),
                         .used_up = used_up_list(run->plan),
                         .is_steady = is_counting(watch)};

    if (shown && hist_count(shown) > 0) {
        progress.p50_us = hist_percentile(shown, 50);
        progress.p95_us = hist_percentile(shown, 95);
    }
    run->options->progress(&progress, run->options->context);
}

// Takes what the loops counted since the last call.
static void end_second(Watch *watch, int64_t now)
{
    Run *run = watch->run;
    const DriverOptions *options = run->options;

    for (int i = 0; i < watch->loop_len; i++) {
        Tallies *ended = count_swap(&watch->loops[i]);
        tallies_merge(&watch->second, ended);
        tallies_reset(ended);
    }
    tallies_merge(is_counting(watch) ? &run->result->steady : &watch->outside, &watch->second);
    if (options->progress) {
        show_progress(watch, now);
    }
    if (options->second && !watch->steady_end_ns) {
        options->second(&(Second){.counts = &watch->second,
                                  .from_ns = watch->second_ns,
                                  .to_ns = now,
                                  .users = atomic_load(&run->running),
                                  .is_steady = is_counting(watch)},
                        options->context);
    }
    tallies_reset(&watch->second);
    watch->second_ns = now;
}

// What the loops have used and kept until now.
static void take_loops(Watch *watch, int64_t *cpu_ns, Slow *slowest, size_t *len)
{
    for (int i = 0; i < watch->loop_len; i++) {
        Loop *loop = &watch->loops[i];
        cpu_ns[i] = atomic_load(&loop->cpu_ns);
        count_begin(loop);
        for (size_t k = 0; k < loop->slow_len; k++) {
            count_slow(slowest, len, &loop->slowest[k]);
        }
        loop->slow_len = 0;
        count_end(loop);
    }
}

// From here on counts belong to the steady window.
static void begin_steady(Watch *watch, int64_t now)
{
    end_second(watch, now);
    watch->steady_ns = now;
    if (watch->run->options->steady) {
        watch->run->options->steady(watch->run->options->context);
    }
    if (watch->run->options->steady_s > 0) {
        watch->end_ns = now + (int64_t)(watch->run->options->steady_s * 1e9);
    }
    take_loops(watch, watch->cpu_at_begin, watch->outside_slow, &watch->outside_slow_len);
}

// From here on they do not.
static void end_steady(Watch *watch, int64_t now)
{
    RunResult *result = watch->run->result;

    end_second(watch, now);
    watch->steady_end_ns = now;
    take_loops(watch, watch->cpu_at_end, result->slowest, &result->slow_len);
}

// The first user has ended for want of data: with one group all will, and the load is another one.
static bool is_short_of_data(const Watch *watch)
{
    return watch->group_len == 1 && atomic_load(&watch->run->used_up);
}

static bool is_cancelled(const Run *run)
{
    return stop_requested || (run->options->cancel && atomic_load(run->options->cancel));
}

// Every user has been through one transaction. In the open model arrivals go to whoever is free:
// some users may never get one.
static bool is_warm(const Run *run)
{
    uint32_t needed = run->options->rate > 0 ? 1 : run->user_count;

    return atomic_load(&run->finished_one) >= needed;
}

// Says once that this plan is ready.
static bool are_others_ready(Watch *watch)
{
    _Atomic int *not_ready = watch->run->options->not_ready;

    if (!not_ready) {
        return true;
    }
    if (!watch->is_ready) {
        watch->is_ready = true;
        atomic_fetch_sub(not_ready, 1);
    }
    return atomic_load(not_ready) <= 0;
}

static void sleep_until(int64_t until_ns)
{
    int64_t left = until_ns - clock_ns(), most = TICK_MS * (int64_t)1000000;
    const struct timespec pause = {.tv_nsec = left < 0 ? 0 : left < most ? left : most};

    nanosleep(&pause, NULL);
}

// Waits for the end; starts the steady window and ends the seconds on the way.
static void watch_phase(Watch *watch)
{
    Run *run = watch->run;
    const DriverOptions *options = run->options;
    int64_t warm_ns = watch->ramp_end_ns + (int64_t)(options->warmup_s * 1e9);
    int64_t next_ns = run->begin_ns + SECOND_NS;

    watch->second_ns = run->begin_ns;
    if (options->steady_s > 0 && !run->is_setup) {
        watch->end_ns = warm_ns + (int64_t)(options->patience_s * 1e9);
    }
    while (atomic_load(&run->running) > 0 && !atomic_load(&run->stop)) {
        sleep_until(watch->end_ns < next_ns || run->is_setup ? watch->end_ns : next_ns);
        int64_t now = clock_ns();
        if (now >= watch->end_ns || is_cancelled(run)) {
            break;
        }
        if (run->is_setup) {
            continue;
        }
        if (!watch->steady_ns && now >= warm_ns && is_warm(run) && are_others_ready(watch)) {
            begin_steady(watch, now);
            next_ns = now + SECOND_NS;
        } else if (is_counting(watch) && is_short_of_data(watch)) {
            end_steady(watch, now);
            next_ns = now + SECOND_NS;
        } else if (now >= next_ns) {
            end_second(watch, now);
            next_ns += SECOND_NS;
        }
    }
    // Nobody waits for one that has ended.
    (void)are_others_ready(watch);
    atomic_store(&run->stop, true);
}

// What the driver itself used, and whether it was the limit.
static void judge_driver(Watch *watch)
{
    RunResult *result = watch->run->result;
    const Hist *beats = result->steady.heartbeat.ok;

    for (int i = 0; i < watch->loop_len; i++) {
        int64_t before = result->is_steady ? watch->cpu_at_begin[i] : 0;
        double cpu_s = (double)(watch->cpu_at_end[i] - before) / 1e9;
        double share = cpu_s / result->window_s;
        result->cpu_s += cpu_s;
        result->busiest = share > result->busiest ? share : result->busiest;
    }
    // Few beats say little about rare delays.
    int64_t n = beats ? hist_count(beats) : 0;
    double percent = n >= P99_MIN ? 99 : n >= P95_MIN ? 95 : 50;
    result->late_us = n ? hist_percentile(beats, percent) : 0;
    result->is_limited = result->busiest > BUSY_LIMIT || result->late_us > LAG_LIMIT_US;
}

// The steady window, or else the whole run.
static void choose_window(Watch *watch, int64_t end_ns)
{
    const Run *run = watch->run;
    RunResult *result = run->result;
    double steady_s =
        watch->steady_ns ? (double)(watch->steady_end_ns - watch->steady_ns) / 1e9 : 0;
    double run_s = (double)(end_ns - run->begin_ns) / 1e9;

    result->run_s = run_s;
    result->is_steady = (run->options->steady_s > 0 && watch->steady_ns) ||
                        (steady_s > STEADY_MIN_S && steady_s > STEADY_SHARE * run_s &&
                         tally_count(&result->steady.all_requests) > 0);
    result->window_from_ns = result->is_steady ? watch->steady_ns : run->begin_ns;
    result->window_from_s = (double)(result->window_from_ns - run->begin_ns) / 1e9;
    result->window_s = result->is_steady ? steady_s : run_s;
    if (result->is_steady) {
        tallies_merge(&result->whole, &watch->outside);
    } else {
        tallies_merge(&result->steady, &watch->outside);
        take_loops(watch, watch->cpu_at_end, watch->outside_slow, &watch->outside_slow_len);
        for (size_t i = 0; i < watch->outside_slow_len; i++) {
            count_slow(result->slowest, &result->slow_len, &watch->outside_slow[i]);
        }
    }
    tallies_merge(&result->whole, &result->steady);
}

static void sum_up(Watch *watch, int64_t end_ns)
{
    Run *run = watch->run;
    RunResult *result = run->result;

    if (is_counting(watch)) {
        end_steady(watch, end_ns);
    } else {
        end_second(watch, end_ns);
    }
    choose_window(watch, end_ns);
    result->users = run->user_count;
    result->was_stopped = atomic_load(&run->is_aborted);
    result->begin_ns = run->begin_ns;
    result->used_up = atomic_load(&run->used_up);
    if (result->used_up) {
        result->has_ended_early = atomic_load(&run->running) == 0;
        result->used_up_s = (double)(result->used_up->ended_ns - run->begin_ns) / 1e9;
    }
    judge_driver(watch);
}

// Variables that a setup group ended with are properties of the others.
static void keep_properties(const Loop *loop)
{
    const Plan *plan = loop->run->plan;
    Str value;

    for (size_t u = 0; u < loop->user_len; u++) {
        for (uint32_t i = 0; i < plan->symbols.len; i++) {
            if (!plan->symbols.at[i].is_pinned && vars_get(loop->users[u].actor.vars, i, &value)) {
                plan_set_property(plan, plan->symbols.at[i].name, value);
            }
        }
    }
}

static void run_phase(Run *run, const Group *groups, size_t n)
{
    Watch watch = {.run = run, .loop_len = run->is_setup ? 1 : run->options->threads};
    User **users = NEW_ARRAY(User *, watch.loop_len);
    size_t *lens = NEW_ARRAY(size_t, watch.loop_len);

    watch.loops = NEW_ARRAY(Loop, watch.loop_len);
    tallies_open(&watch.outside, run->plan);
    tallies_open(&watch.second, run->plan);
    run->begin_ns = clock_ns();
    atomic_store(&run->stop, false);
    deal_users(&watch, groups, n, users, lens);
    for (int i = 0; i < watch.loop_len; i++) {
        loop_start(run, &watch.loops[i], users[i], lens[i]);
    }
    watch_phase(&watch);
    int64_t end_ns = clock_ns();
    for (int i = 0; i < watch.loop_len; i++) {
        loop_join(&watch.loops[i]);
    }
    if (run->is_setup) {
        keep_properties(&watch.loops[0]);
        tallies_merge(&run->result->whole, watch.loops[0].tallies);
    } else {
        sum_up(&watch, end_ns);
    }
    for (int i = 0; i < watch.loop_len; i++) {
        loop_close(&watch.loops[i]);
        free(users[i]);
    }
    tallies_close(&watch.outside);
    tallies_close(&watch.second);
}

void run_result_close(RunResult *result)
{
    tallies_close(&result->steady);
    tallies_close(&result->whole);
    arena_free(result->arena);
    result->arena = NULL;
}

Err *driver_run(const Plan *plan, const DriverOptions *options, RunResult *result)
{
    Run *run = NEW(Run);

    result->arena = arena_new(16 << 20);
    *run = (Run){.plan = plan, .options = options, .result = result, .arena = result->arena};
    if (options->threads < 1 || options->threads > THREADS_MAX) {
        return err_text(400, "--threads must be from 1 to %d", THREADS_MAX);
    }
    pthread_mutex_init(&run->lock, NULL);
    tallies_open(&result->steady, plan);
    tallies_open(&result->whole, plan);
    TRY(read_url(run, options->url));
    curl_global_init(CURL_GLOBAL_DEFAULT);
    for (size_t i = 0; i < plan->group_len; i++) {
        if (!plan->groups[i].is_setup) {
            continue;
        }
        run->is_setup = true;
        run_phase(run, &plan->groups[i], 1);
        if (result->sample_len > 0) {
            return err_text(502, "the set-up \"" STR_FMT "\" failed",
                            STR_ARG(plan->groups[i].name));
        }
    }
    run->is_setup = false;
    run_phase(run, plan->groups, plan->group_len);
    return NULL;
}
