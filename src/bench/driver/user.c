// A virtual user: runs the steps of its group's program until it has to wait.
#include "loop.h"

#include "base/date.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_AT_ONCE_MAX = 2000, // then others get their turn: a loop without requests never waits
    CONNECT_RETRY_MS = 100,   // nobody listens: do not spin
    BREATH_MS = 1,
};

typedef enum { GO_ON, WAIT, ENDED } Outcome;

void user_open(User *user, uint32_t number)
{
    const Plan *plan = user->loop->run->plan;

    user->actor = (Actor){.plan = plan, .vars = vars_new(&plan->symbols), .number = number};
    rng_seed(&user->actor.rng, user->loop->run->options->seed, number);
    user->needs_login = true;
    user->pace_due_ns = calloc(plan->pace_len + 1, sizeof *user->pace_due_ns);
    user->feed_next = calloc(plan->feed_len + 1, sizeof *user->feed_next);
    transfer_open(user);
}

void user_close(User *user)
{
    transfer_close(user);
    vars_free(user->actor.vars);
    free(user->pace_due_ns);
    free(user->feed_next);
}

static Outcome end_user(User *user)
{
    if (!user->is_over) {
        user->is_over = true;
        Tallies *counts = count_begin(user->loop);
        counts->cut += user->open_len;
        for (size_t i = 0; i < user->open_len; i++) {
            counts->transactions[user->open[i].number].cut++;
        }
        count_end(user->loop);
        user->open_len = 0;
        if (!user->has_finished_one) {
            // It cannot hold up the begin of the steady window any more.
            user->has_finished_one = true;
            atomic_fetch_add(&user->loop->run->finished_one, 1);
        }
        atomic_fetch_sub(&user->loop->run->running, 1);
    }
    return ENDED;
}

static void close_transaction(User *user, bool is_complete)
{
    OpenTransaction *transaction = &user->open[--user->open_len];

    if (transaction->requests > 0) {
        count_transaction(user, transaction);
        user->late_us = 0;
    }
    if (is_complete && !user->has_finished_one) {
        user->has_finished_one = true;
        atomic_fetch_add(&user->loop->run->finished_one, 1);
    }
}

static Outcome begin_pass(User *user)
{
    Run *run = user->loop->run;

    if (user->iterations == 0 || loop_is_over(user, clock_ns())) {
        return end_user(user);
    }
    if (run->options->rate > 0 && !run->is_setup && !user->has_arrival) {
        if (!arrival_take(user)) {
            return WAIT;
        }
    }
    user->has_arrival = false;
    user->iterations -= user->iterations > 0;
    user->at++;
    return GO_ON;
}

static double think_ms(User *user, const Timer *timer)
{
    const DriverOptions *options = user->loop->run->options;
    Actor *actor = &user->actor;
    bool is_written = options->think == THINK_WRITTEN && timer->written_ms;
    double ms = (double)text_int(is_written ? timer->written_ms : timer->offset_ms, actor, 0);

    if (timer->kind == TIMER_UNIFORM) {
        ms += rng_unit(&actor->rng) * (double)text_int(timer->spread_ms, actor, 0);
    } else if (timer->kind == TIMER_GAUSSIAN) {
        ms += rng_gauss(&actor->rng) * (double)text_int(timer->spread_ms, actor, 0);
    }
    return ms > 0 ? ms * options->think_scale : 0;
}

// A throughput timer gives each request a place in a row of equal distances.
static int64_t pace_wait_ns(User *user, const Timer *timer, int64_t now)
{
    int64_t per_minute = text_int(timer->per_minute, &user->actor, 0);
    int64_t *due = &user->pace_due_ns[timer->pace];

    if (per_minute <= 0) {
        return 0;
    }
    int64_t gap = 60 * (int64_t)1000000000 / per_minute;
    if (timer->is_shared) {
        gap *= atomic_load(&user->loop->run->running);
    }
    int64_t begin = *due > now ? *due : now;
    *due = begin + gap;
    return begin - now;
}

static int64_t wait_before_ns(User *user, const Request *request)
{
    int64_t now = clock_ns(), wait = 0;

    if (user->loop->run->options->think == THINK_NONE) {
        return 0;
    }
    for (size_t i = 0; i < request->timer_len; i++) {
        const Timer *timer = &request->timers[i];
        wait += timer->kind == TIMER_THROUGHPUT ? pace_wait_ns(user, timer, now)
                                                : (int64_t)(think_ms(user, timer) * 1e6);
    }
    return wait;
}

static Outcome pause_user(User *user, int64_t wait_ns)
{
    int64_t until = clock_ns() + wait_ns;

    loop_wait(user, until < user->end_ns ? until : user->end_ns);
    return WAIT;
}

static Outcome think(User *user, int64_t wait_ns)
{
    count_begin(user->loop)->paused_s += (double)wait_ns / 1e9;
    count_end(user->loop);
    return pause_user(user, wait_ns);
}

static Outcome begin_request(User *user, const Request *request)
{
    if (request->is_preflight && user->loop->run->options->without_preflights) {
        user->at++;
        return GO_ON;
    }
    if (!user->has_paused) {
        int64_t wait = wait_before_ns(user, request);
        user->has_paused = true;
        if (wait > 0) {
            return think(user, wait);
        }
    }
    if (loop_is_over(user, clock_ns())) {
        return end_user(user);
    }
    user->has_paused = false;
    transfer_begin(user, request);
    return WAIT;
}

static Outcome begin_transaction(User *user, const Step *step)
{
    if (user->open_len == 0) {
        user->trail.transaction = step->number;
        user->trail.begin_ns = clock_ns();
        user->trail.step_len = 0;
    }
    if (user->open_len < TRANSACTION_DEPTH_MAX) {
        user->open[user->open_len++] =
            (OpenTransaction){.number = step->number, .failure = FAIL_NONE};
    }
    user->at++;
    return GO_ON;
}

static Outcome choose_branch(User *user, const Step *step)
{
    Str rest = text_str(step->count, &user->actor), part;
    int64_t draw = rng_between(&user->actor.rng, 1, 100), sum = 0, weight = 0;
    size_t chosen = 0;

    for (size_t i = 0; i < step->target_len && str_next(&rest, '-', &part); i++) {
        sum += str_int64(str_trim(part), &weight) ? weight : 0;
        chosen = i;
        if (sum >= draw) {
            break;
        }
    }
    user->at = step->targets[chosen];
    return GO_ON;
}

static void loop_begin(User *user, const Step *step)
{
    int64_t count = text_int(step->count, &user->actor, 0);

    user->counters[step->counter] = count;
    user->at = count == 0 ? step->target : user->at + 1;
}

static void loop_next(User *user, const Step *step)
{
    int64_t *left = &user->counters[step->counter];

    *left -= *left > 0;
    user->at = *left != 0 ? step->target : user->at + 1;
}

// A list variable that holds one text is that text cut at "-", as FOLIO's plans give file lists.
static void each_begin(User *user, const Step *step)
{
    Vars *vars = user->actor.vars;
    Str rest, part;
    StrList parts = {0};

    if (!vars_has_list(vars, step->variable) && vars_get(vars, step->variable, &rest)) {
        while (str_next(&rest, '-', &part)) {
            str_list_add(&parts, part);
        }
        vars_set_list(vars, step->variable, parts.at, parts.len);
    }
    user->counters[step->counter] = text_int(step->from, &user->actor, 0);
    user->at++;
}

static void each_next(User *user, const Step *step)
{
    int64_t i = user->counters[step->counter]++;
    int64_t count = (int64_t)vars_list_len(user->actor.vars, step->variable);
    int64_t to = text_int(step->to, &user->actor, count);

    if (i < 0 || i >= count || i >= to) {
        user->at = step->target;
        return;
    }
    vars_set(user->actor.vars, step->number,
             vars_list_at(user->actor.vars, step->variable, (size_t)i));
    user->at++;
}

static Outcome run_data(User *user, const Step *step)
{
    if (!feed_take(step->feed, &user->actor, &user->feed_next[step->feed->number])) {
        const Feed *none = NULL;
        count_begin(user->loop)->exhausted++;
        count_end(user->loop);
        atomic_compare_exchange_strong(&user->loop->run->used_up, &none, step->feed);
        return end_user(user);
    }
    user->at++;
    return GO_ON;
}

// Steps that only move on.
static void run_plain(User *user, const Step *step)
{
    switch (step->op) {
    case OP_SETUP:
        user->at = user->needs_login ? user->at + 1 : step->target;
        break;
    case OP_SETUP_DONE:
        user->needs_login = false;
        user->at++;
        break;
    case OP_IF:
        user->at = condition_holds(step->condition, &user->actor) ? user->at + 1 : step->target;
        break;
    case OP_JUMP:
        user->at = step->target;
        break;
    case OP_LOOP:
        loop_begin(user, step);
        break;
    case OP_LOOP_NEXT:
        loop_next(user, step);
        break;
    case OP_EACH:
        each_begin(user, step);
        break;
    case OP_EACH_NEXT:
        each_next(user, step);
        break;
    case OP_SET:
        vars_set(user->actor.vars, step->number, text_str(step->count, &user->actor));
        user->at++;
        break;
    default:
        user->at++;
        break;
    }
}

static Outcome run_step(User *user)
{
    const Step *step = &user->group->program.at[user->at];

    switch (step->op) {
    case OP_ITERATION:
        return begin_pass(user);
    case OP_DATA:
        return run_data(user, step);
    case OP_REQUEST:
        return begin_request(user, step->request);
    case OP_BEGIN:
        return begin_transaction(user, step);
    case OP_COMMIT:
        if (user->open_len > 0) {
            close_transaction(user, true);
        }
        user->at++;
        return GO_ON;
    case OP_CHOOSE:
        return choose_branch(user, step);
    case OP_PAUSE:
        user->at++;
        return think(user, text_int(step->count, &user->actor, 0) * 1000000);
    default:
        run_plain(user, step);
        return GO_ON;
    }
}

void user_go_on(User *user)
{
    Outcome outcome = GO_ON;

    for (int i = 0; outcome == GO_ON; i++) {
        if (i == STEPS_AT_ONCE_MAX) {
            if (loop_is_over(user, clock_ns())) {
                end_user(user);
                return;
            }
            pause_user(user, BREATH_MS * (int64_t)1000000);
            return;
        }
        outcome = run_step(user);
    }
}

static Failure failure_of_code(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return FAIL_NONE;
    case CURLE_OPERATION_TIMEDOUT:
        return FAIL_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
        return FAIL_TLS;
    default:
        return FAIL_CONNECT;
    }
}

// Decides whether the answer is right, and takes values from it.
static Failure judge(User *user, CURLcode code, Str *why)
{
    const Request *request = user->request;
    long status = 0;
    Failure failure = failure_of_code(code);

    curl_easy_getinfo(user->easy, CURLINFO_RESPONSE_CODE, &status);
    Answer answer = {.status = code == CURLE_OK ? (int)status : 0,
                     .body = bytes_str(user->answer),
                     .headers = bytes_str(user->headers)};
    size_t missed = answer_extract(request, &user->actor, &answer);
    if (missed > 0 && request->meter != METER_NONE && !request->is_preflight) {
        count_begin(user->loop)->requests[request->meter].misses += missed;
        count_end(user->loop);
    }
    if (failure != FAIL_NONE) {
        *why = str_of(curl_easy_strerror(code));
        return failure;
    }
    // JMeter's rule: such a sample failed, whatever the checks say.
    if (status >= 400 || status < 100) {
        *why = str_fmt("status %ld", status);
        return FAIL_STATUS;
    }
    return answer_holds(request, &user->actor, &answer, why) ? FAIL_NONE : FAIL_ASSERTION;
}

static void abort_pass(User *user)
{
    while (user->open_len > 0) {
        close_transaction(user, false);
    }
    user->at = 0;
    user->needs_login = true;
    user->has_paused = false;
}

// False if the user ends.
static bool after_failure(User *user, OnError on_error)
{
    switch (on_error) {
    case ON_ERROR_CONTINUE:
        user->at++;
        return true;
    case ON_ERROR_NEXT_LOOP:
        abort_pass(user);
        return true;
    case ON_ERROR_STOP_TEST:
        atomic_store(&user->loop->run->is_aborted, true);
        atomic_store(&user->loop->run->stop, true);
        break;
    case ON_ERROR_STOP_THREAD:
        break;
    }
    abort_pass(user);
    end_user(user);
    return false;
}

// From the moment the connection was there: libcurl writes the request at once then. (Its own mark
// PRETRANSFER is set only when it turns to reading, too late for a fast answer.)
static int64_t time_of_request(const User *user)
{
    curl_off_t total = 0, connected = 0, secured = 0;

    curl_easy_getinfo(user->easy, CURLINFO_TOTAL_TIME_T, &total);
    curl_easy_getinfo(user->easy, CURLINFO_CONNECT_TIME_T, &connected);
    curl_easy_getinfo(user->easy, CURLINFO_APPCONNECT_TIME_T, &secured);
    return total - (secured > connected ? secured : connected);
}

static void add_to_transactions(User *user, int64_t time_us, Failure failure)
{
    Slow *trail = &user->trail;
    long status = 0;

    curl_easy_getinfo(user->easy, CURLINFO_RESPONSE_CODE, &status);
    for (size_t i = 0; i < user->open_len; i++) {
        OpenTransaction *open = &user->open[i];
        open->time_us += time_us;
        open->requests++;
        if (open->failure == FAIL_NONE) {
            open->failure = failure;
            open->status = status;
        }
    }
    if (user->open_len > 0 && trail->step_len < SLOW_STEPS_MAX) {
        trail->steps[trail->step_len++] = (SlowStep){.request = user->request,
                                                     .begin_ns = clock_ns() - time_us * 1000,
                                                     .time_us = time_us,
                                                     .status = status};
    }
}

void user_finish_request(User *user, CURLcode code)
{
    const Request *request = user->request;
    int64_t time_us = time_of_request(user);
    Str why = {"", 0};

    if (loop_is_over(user, clock_ns())) {
        // Cut by the end: neither an error nor a short time.
        Tallies *counts = count_begin(user->loop);
        counts->cut++;
        if (request->meter != METER_NONE) {
            counts->requests[request->meter].cut++;
        }
        count_end(user->loop);
        transfer_end(user);
        end_user(user);
        return;
    }
    Failure failure = judge(user, code, &why);
    count_request(user, request, time_us, failure);
    if (failure != FAIL_NONE) {
        count_failure(user, request, failure, why);
    }
    add_to_transactions(user, time_us, failure);
    if (user->open_len == 0 && !user->has_finished_one &&
        user->loop->run->plan->transactions.len == 0) {
        user->has_finished_one = true;
        atomic_fetch_add(&user->loop->run->finished_one, 1);
    }
    transfer_end(user);
    if (failure == FAIL_NONE) {
        user->at++;
    } else if (!after_failure(user, request->on_error)) {
        return;
    }
    if (failure == FAIL_CONNECT || failure == FAIL_TLS) {
        pause_user(user, CONNECT_RETRY_MS * (int64_t)1000000);
        return;
    }
    user_go_on(user);
}
