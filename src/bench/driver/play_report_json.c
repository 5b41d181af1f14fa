// A run as JSON.
#include "play_report.h"

static const double percents[] = {50, 75, 90, 95, 99, 99.9};
static const char *const percent_names[] = {"p50", "p75", "p90", "p95", "p99", "p99.9"};
static const int64_t percent_least[] = {1, 1, 1, 1, 500, 5000};

static void set_ms(Json *object, const char *name, double us)
{
    json_put(object, str_of(name), json_number_of(us / 1000));
}

// count, mean, deviation, percentiles in milliseconds; null where there are too few values.
static Json *hist_json(const Hist *hist)
{
    Json *object = json_object();
    int64_t count = hist ? hist_count(hist) : 0;

    json_set_int(object, "count", count);
    if (count == 0) {
        return object;
    }
    set_ms(object, "mean", hist_mean(hist));
    set_ms(object, "deviation", hist_deviation(hist));
    set_ms(object, "min", (double)hist_min(hist));
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        if (count >= percent_least[i]) {
            set_ms(object, percent_names[i], (double)hist_percentile(hist, percents[i]));
        } else {
            json_put(object, str_of(percent_names[i]), json_null());
        }
    }
    set_ms(object, "max", (double)hist_max(hist));
    return object;
}

static Json *tally_json(Str name, const Tally *tally, double window_s)
{
    Json *object = json_object(), *failures = json_object();

    json_set_str(object, "name", name);
    json_set_int(object, "count", (int64_t)tally_count(tally));
    json_set_int(object, "errors", (int64_t)tally_failed(tally));
    json_set_number(object, "perSecond", (double)tally_count(tally) / window_s);
    json_set(object, "ok", hist_json(tally->ok));
    json_set(object, "failed", hist_json(tally->failed));
    for (int i = 0; i < FAIL_CLASSES; i++) {
        if (tally->failures[i] > 0) {
            json_set_int(failures, failure_name((Failure)i), (int64_t)tally->failures[i]);
        }
    }
    json_set(object, "failures", failures);
    json_set_int(object, "extractMisses", (int64_t)tally->misses);
    json_set_int(object, "bytesIn", (int64_t)tally->bytes_in);
    json_set_int(object, "bytesOut", (int64_t)tally->bytes_out);
    return object;
}

static Json *list_json(const StrList *names, const Tally *tallies, double window_s)
{
    Json *list = json_array();

    for (size_t i = 0; i < names->len; i++) {
        if (tally_count(&tallies[i]) > 0) {
            json_add(list, tally_json(names->at[i], &tallies[i], window_s));
        }
    }
    return list;
}

static Json *samples_json(const RunResult *result)
{
    Json *list = json_array();

    for (size_t i = 0; i < result->sample_len; i++) {
        const FailureSample *sample = &result->samples[i];
        Json *object = json_object();
        json_set_str(object, "class", str_of(failure_name(sample->failure)));
        json_set_str(object, "request", sample->request);
        json_set_str(object, "why", sample->why);
        json_set_int(object, "times", (int64_t)sample->times);
        json_set_str(object, "sent", sample->sent);
        json_set_str(object, "answer", sample->answer);
        json_set_number(object, "atS", sample->at_s);
        json_add(list, object);
    }
    return list;
}

static Json *lists_json(const Plan *plan, const RunResult *result)
{
    Json *lists = json_array();

    for (const Feed *feed = plan->feeds; feed; feed = feed->following) {
        Json *one = json_object();
        if (feed->is_given) {
            continue;
        }
        json_set_str(one, "file", feed->file);
        json_set_str_if(one, "group", feed->group);
        json_set_int(one, "lines", (int64_t)feed->line_len);
        json_set_int(one, "taken", (int64_t)feed_taken(feed));
        json_set_bool(one, "servesOnce", feed->is_single_use);
        json_set_number(one, "passes", feed_passes(feed));
        if (feed->ended_ns) {
            json_set_number(one, "usedUpAtS", (double)(feed->ended_ns - result->begin_ns) / 1e9);
        }
        json_add(lists, one);
    }
    return lists;
}

static Json *driver_json(const RunResult *result)
{
    Json *driver = json_object();

    json_set_number(driver, "cpuS", result->cpu_s);
    json_set_number(driver, "busiestLoop", result->busiest);
    json_set_bool(driver, "isLimited", result->is_limited);
    json_set(driver, "lateness", hist_json(result->steady.heartbeat.ok));
    json_set(driver, "beginLag", hist_json(result->steady.lag.ok));
    json_set(driver, "connects", hist_json(result->steady.connects.ok));
    return driver;
}

Str report_json(const Plan *plan, const DriverOptions *options, const RunResult *result)
{
    static const char *const models[] = {"effective", "written", "none"};
    Json *root = json_object();

    json_set_int(root, "schemaVersion", 1);
    json_set_str(root, "plan", plan->name);
    json_set_str(root, "url", options->url);
    json_set_int(root, "seed", (int64_t)options->seed);
    json_set_str(root, "thinkModel", str_of(models[options->think]));
    json_set_number(root, "thinkScale", options->think_scale);
    json_set_int(root, "users", (int64_t)result->users);
    json_set_number(root, "runS", result->run_s);
    json_set_bool(root, "window.isSteady", result->is_steady);
    json_set_number(root, "window.fromS", result->window_from_s);
    json_set_number(root, "window.lengthS", result->window_s);
    json_set(root, "transactions",
             list_json(&plan->transactions, result->steady.transactions, result->window_s));
    json_set(root, "requests",
             list_json(&plan->requests, result->steady.requests, result->window_s));
    json_set(root, "allTransactions",
             tally_json(S("all transactions"), &result->steady.all_transactions, result->window_s));
    json_set(root, "allRequests",
             tally_json(S("all requests"), &result->steady.all_requests, result->window_s));
    json_set_int(root, "wholeRun.requests", (int64_t)tally_count(&result->whole.all_requests));
    json_set_int(root, "wholeRun.errors", (int64_t)tally_failed(&result->whole.all_requests));
    json_set_int(root, "wholeRun.cutByEnd", (int64_t)result->whole.cut);
    json_set_int(root, "wholeRun.dataExhausted", (int64_t)result->whole.exhausted);
    json_set_int(root, "wholeRun.unservedArrivals", (int64_t)result->whole.unserved);
    json_set(root, "lists", lists_json(plan, result));
    if (result->used_up) {
        json_set_str(root, "usedUp.file", result->used_up->file);
        json_set_number(root, "usedUp.atS", result->used_up_s);
        json_set_bool(root, "usedUp.endedTheRun", result->has_ended_early);
    }
    json_set(root, "driver", driver_json(result));
    json_set(root, "failures", samples_json(result));
    return json_text_indented(root);
}
