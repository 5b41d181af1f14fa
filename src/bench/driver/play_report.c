// Printing a run: the live line and the tables.
#include "play_report.h"

#include <inttypes.h>

enum {
    LABEL_WIDTH = 58,
    NAME_WIDTH = 40, // of a list
    QUIET_EVERY_S = 10,
    FAILURES_SHOWN = 5,
    P99_MIN = 500, // fewer values say nothing about the 99th percentile
};

void report_progress(const Progress *progress, void *context)
{
    LiveView *view = context;
    double span = progress->span_s > 0 ? progress->span_s : 1;
    char line[320], used_up[96] = "";

    if (view->timeline) {
        fprintf(view->timeline, "%.1f,%d,%" PRIu64 ",%.1f,%.1f,%.3f,%.3f,%" PRIu64 "\n",
                progress->at_s, progress->is_steady, progress->users,
                (double)progress->transactions / span, (double)progress->requests / span,
                (double)progress->p50_us / 1000, (double)progress->p95_us / 1000, progress->errors);
        fflush(view->timeline);
    }
    if (progress->used_up) {
        Str file = str_sub(progress->used_up->file, 0, NAME_WIDTH);
        snprintf(used_up, sizeof used_up, "  USED UP: " STR_FMT, STR_ARG(file));
    }
    snprintf(line, sizeof line,
             "%6.0f s%s  %4" PRIu64 " users  %8.1f tx/s  %9.1f req/s  p50 %8.2f ms  p95 %8.2f ms  "
             "errors %" PRIu64 "%s",
             progress->at_s, progress->is_steady ? " " : "*", progress->users,
             (double)progress->transactions / span, (double)progress->requests / span,
             (double)progress->p50_us / 1000, (double)progress->p95_us / 1000, progress->errors,
             used_up);
    if (view->is_terminal) {
        fprintf(view->out, "\r\033[K%s", line);
    } else if ((int64_t)progress->at_s % QUIET_EVERY_S == 0) {
        fprintf(view->out, "%s\n", line);
    }
    fflush(view->out);
}

// 12 characters of milliseconds, or blank.
static const char *ms(const Hist *hist, double percent, int64_t least)
{
    if (!hist || hist_count(hist) < least || hist_count(hist) == 0) {
        return str_z(str_fmt("%10s", ""));
    }
    return str_z(str_fmt("%10.2f", (double)hist_percentile(hist, percent) / 1000));
}

static void print_row(FILE *out, Str label, const Tally *tally, double window_s)
{
    const Hist *ok = tally->ok;
    int64_t n = ok ? hist_count(ok) : 0;
    Str shown = str_sub(label, 0, LABEL_WIDTH);

    fprintf(out, "%-*.*s %9" PRIu64 " %7" PRIu64 " %10.2f", LABEL_WIDTH, (int)shown.len, shown.at,
            tally_count(tally), tally_failed(tally), (double)tally_count(tally) / window_s);
    if (n == 0) {
        fprintf(out, "\n");
        return;
    }
    fprintf(out, " %10.2f%s%s%s %10.2f\n", hist_mean(ok) / 1000, ms(ok, 50, 1), ms(ok, 95, 1),
            ms(ok, 99, P99_MIN), (double)hist_max(ok) / 1000);
}

static void print_head(FILE *out, const char *what)
{
    fprintf(out, "\n%-*s %9s %7s %10s %10s%10s%10s%10s %10s\n", LABEL_WIDTH, what, "count",
            "errors", "per s", "mean ms", "p50 ms", "p95 ms", "p99 ms", "max ms");
}

static void print_tables(FILE *out, const Plan *plan, const RunResult *result)
{
    const Tallies *steady = &result->steady;

    if (steady->transaction_len > 0) {
        print_head(out, "TRANSACTION");
    }
    for (size_t i = 0; i < steady->transaction_len; i++) {
        if (tally_count(&steady->transactions[i]) > 0) {
            print_row(out, plan->transactions.at[i], &steady->transactions[i], result->window_s);
        }
    }
    if (steady->transaction_len > 1) {
        print_row(out, S("all transactions"), &steady->all_transactions, result->window_s);
    }
    print_head(out, "REQUEST");
    for (size_t i = 0; i < steady->request_len; i++) {
        if (tally_count(&steady->requests[i]) > 0) {
            print_row(out, plan->requests.at[i], &steady->requests[i], result->window_s);
        }
    }
    print_row(out, S("all requests"), &steady->all_requests, result->window_s);
    fprintf(out, "\nTimes are those of answers that were right. From the first byte sent to the "
                 "last byte read.\n");
}

static double late_ms(const Tally *tally)
{
    return tally->ok && hist_count(tally->ok) > 0 ? (double)hist_percentile(tally->ok, 99) / 1000
                                                  : 0;
}

static void print_driver(FILE *out, const RunResult *result)
{
    const Tallies *steady = &result->steady;
    uint64_t requests = tally_count(&steady->all_requests);

    fprintf(out, "Window: %s, %.1f s from second %.1f of %.1f.\n",
            result->is_steady ? "steady" : "whole run (it was too short for a steady window)",
            result->window_s, result->window_from_s, result->run_s);
    fprintf(out, "Bytes: %.1f MB received, %.1f MB sent. Connections made: %" PRIu64 ".\n",
            (double)steady->all_requests.bytes_in / 1e6,
            (double)steady->all_requests.bytes_out / 1e6, tally_count(&steady->connects));
    fprintf(out,
            "Driver: %.2f s CPU (%.1f us per request), busiest loop %.0f %% of a core, late by "
            "%.2f ms (p99), begins after pauses late by %.2f ms (p99).\n",
            result->cpu_s, requests ? result->cpu_s * 1e6 / (double)requests : 0,
            result->busiest * 100, late_ms(&steady->heartbeat), late_ms(&steady->lag));
    if (result->is_limited) {
        fprintf(out, "DRIVER-LIMITED: these figures describe the driver's machine, not the "
                     "server.\n");
    }
    if (result->whole.cut > 0) {
        fprintf(out, "Cut by the end and not counted: %" PRIu64 ".\n", result->whole.cut);
    }
    if (result->whole.unserved > 0) {
        fprintf(out, "Arrivals for which no user was free until the end: %" PRIu64 ".\n",
                result->whole.unserved);
    }
    uint64_t misses = 0;
    for (size_t i = 0; i < result->whole.request_len; i++) {
        misses += result->whole.requests[i].misses;
    }
    if (misses > 0) {
        fprintf(out,
                "Values that answers should have held and did not (no default): %" PRIu64 ".\n",
                misses);
    }
}

// "34,842"
static Str count_text(size_t count)
{
    Str digits = str_fmt("%zu", count);
    Buf buf = buf_new(arena_current(), digits.len * 2);

    for (size_t i = 0; i < digits.len; i++) {
        if (i > 0 && (digits.len - i) % 3 == 0) {
            buf_char(&buf, ',');
        }
        buf_char(&buf, digits.at[i]);
    }
    return buf_str(&buf);
}

static Str list_text(const Feed *feed)
{
    return str_fmt(STR_FMT " (" STR_FMT " lines)", STR_ARG(feed->file),
                   STR_ARG(count_text(feed->line_len)));
}

void report_lists(FILE *out, const Plan *plan)
{
    for (const Feed *feed = plan->feeds; feed; feed = feed->following) {
        if (!feed->is_given) {
            Str list = list_text(feed);
            fprintf(out, "  " STR_FMT "%s\n", STR_ARG(list),
                    feed->is_single_use ? ", each serves once" : "");
        }
    }
}

// A list that was gone over again, if that means anything: service points may be used for ever.
static void print_list(FILE *out, const Feed *feed, int64_t begin_ns)
{
    Str list = list_text(feed);
    double at_s = (double)(feed->ended_ns - begin_ns) / 1e9;
    double passes = feed_passes(feed);

    if (!feed->ended_ns || !feed->recycles || !feed->stops) {
        return;
    }
    if (!feed->is_single_use) {
        fprintf(out, STR_FMT " was begun again in second %.1f: %.1f passes.\n", STR_ARG(list), at_s,
                passes);
        return;
    }
    fprintf(out,
            "LIST USED UP: " STR_FMT
            " in second %.1f. From then on its lines were used again (%.1f "
            "passes), which a server refuses or does other work for: what was counted later says "
            "little. Take more data (octavo bench data make --recipe ...), a shorter run, or "
            "--stop-at-end.\n",
            STR_ARG(list), at_s, passes);
}

static void print_data(FILE *out, const Plan *plan, const RunResult *result)
{
    for (const Feed *feed = plan->feeds; feed; feed = feed->following) {
        print_list(out, feed, result->begin_ns);
    }
    if (result->used_up) {
        Str lines = count_text(result->used_up->line_len);
        fprintf(out, "%s after %.0f s: " STR_FMT " is used up (" STR_FMT " lines).\n",
                result->has_ended_early ? "Ended" : "Fewer users", result->used_up_s,
                STR_ARG(result->used_up->file), STR_ARG(lines));
    }
}

static void print_indented(FILE *out, const char *title, Str text)
{
    fprintf(out, "    %s", title);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '\n' && i + 1 < text.len) {
            fprintf(out, "\n             ");
        } else if (c >= ' ' && c != 0x7F) {
            fputc(c, out);
        }
    }
    fputc('\n', out);
}

static void print_failures(FILE *out, const RunResult *result)
{
    const Tally *all = &result->whole.all_requests;

    if (result->sample_len == 0) {
        return;
    }
    fprintf(out, "\nERRORS in the whole run:");
    for (int i = 0; i < FAIL_CLASSES; i++) {
        if (all->failures[i] > 0) {
            fprintf(out, " %s %" PRIu64, failure_name((Failure)i), all->failures[i]);
        }
    }
    fprintf(out, "\n");
    for (size_t i = 0; i < result->sample_len && i < FAILURES_SHOWN; i++) {
        const FailureSample *sample = &result->samples[i];
        fprintf(out,
                "%zu. " STR_FMT " (%s, %" PRIu64 " times, first in second %.1f): " STR_FMT "\n",
                i + 1, STR_ARG(sample->request), failure_name(sample->failure), sample->times,
                sample->at_s, STR_ARG(sample->why));
        print_indented(out, "sent     ", sample->sent);
        print_indented(out, "answered ", sample->answer);
    }
}

void report_print(FILE *out, const Plan *plan, const DriverOptions *options,
                  const RunResult *result)
{
    static const char *const models[] = {"effective", "written", "none"};

    fprintf(out,
            "\n" STR_FMT " (" STR_FMT ") at " STR_FMT ": %" PRIu64
            " users, think times %s, seed %" PRIu64 "\n",
            STR_ARG(plan->name), STR_ARG(plan->title), STR_ARG(options->url), result->users,
            models[options->think], options->seed);
    if (result->run_s > 0) {
        print_tables(out, plan, result);
        print_driver(out, result);
        print_data(out, plan, result);
    }
    print_failures(out, result);
    if (result->was_stopped) {
        fprintf(out, "The plan stopped the run after a failure.\n");
    }
}
