// Counting of a run.
#include "tally.h"

enum {
    DIGITS = 3,
};
#define LONGEST_US ((int64_t)3600 * 1000 * 1000)

const char *failure_name(Failure failure)
{
    static const char *const names[] = {"connect", "tls",       "timeout",
                                        "status",  "assertion", "extract"};
    return failure >= 0 && failure < FAIL_CLASSES ? names[failure] : "none";
}

void tally_add(Tally *tally, int64_t time_us, Failure failure)
{
    Hist **hist = failure == FAIL_NONE ? &tally->ok : &tally->failed;

    if (!*hist) {
        *hist = hist_new(DIGITS, LONGEST_US);
    }
    hist_record(*hist, time_us < 1 ? 1 : time_us);
    if (failure != FAIL_NONE) {
        tally->failures[failure]++;
    }
}

void tally_add_service(Tally *tally, int64_t time_us)
{
    if (!tally->service) {
        tally->service = hist_new(DIGITS, LONGEST_US);
    }
    hist_record(tally->service, time_us < 1 ? 1 : time_us);
}

void tally_add_status(Tally *tally, long status, uint64_t times)
{
    int i = 0;

    while (i < STATUSES_MAX - 1 && tally->statuses[i].times > 0 &&
           tally->statuses[i].status != status) {
        i++;
    }
    if (tally->statuses[i].times == 0) {
        tally->statuses[i].status = status;
    }
    tally->statuses[i].times += times;
}

static void merge_hist(Hist **into, const Hist *from)
{
    if (!from) {
        return;
    }
    if (!*into) {
        *into = hist_new(DIGITS, LONGEST_US);
    }
    hist_merge(*into, from);
}

void tally_merge(Tally *into, const Tally *from)
{
    merge_hist(&into->ok, from->ok);
    merge_hist(&into->failed, from->failed);
    merge_hist(&into->service, from->service);
    for (int i = 0; i < STATUSES_MAX && from->statuses[i].times > 0; i++) {
        tally_add_status(into, from->statuses[i].status, from->statuses[i].times);
    }
    into->cut += from->cut;
    for (int i = 0; i < FAIL_CLASSES; i++) {
        into->failures[i] += from->failures[i];
    }
    into->misses += from->misses;
    into->bytes_in += from->bytes_in;
    into->bytes_out += from->bytes_out;
}

void tally_reset(Tally *tally)
{
    Hist *kept[] = {tally->ok, tally->failed, tally->service};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (kept[i]) {
            hist_reset(kept[i]);
        }
    }
    *tally = (Tally){.ok = kept[0], .failed = kept[1], .service = kept[2]};
}

void tally_free(Tally *tally)
{
    hist_free(tally->ok);
    hist_free(tally->failed);
    hist_free(tally->service);
    *tally = (Tally){0};
}

uint64_t tally_failed(const Tally *tally)
{
    return tally->failed ? (uint64_t)hist_count(tally->failed) : 0;
}

uint64_t tally_count(const Tally *tally)
{
    return (tally->ok ? (uint64_t)hist_count(tally->ok) : 0) + tally_failed(tally);
}

void tallies_open(Tallies *tallies, const Plan *plan)
{
    *tallies =
        (Tallies){.request_len = plan->requests.len, .transaction_len = plan->transactions.len};
    tallies->requests = NEW_ARRAY(Tally, plan->requests.len + 1);
    tallies->transactions = NEW_ARRAY(Tally, plan->transactions.len + 1);
}

typedef void (*Each)(Tally *tally);

static void for_each(Tallies *tallies, Each each)
{
    for (size_t i = 0; i < tallies->request_len; i++) {
        each(&tallies->requests[i]);
    }
    for (size_t i = 0; i < tallies->transaction_len; i++) {
        each(&tallies->transactions[i]);
    }
    each(&tallies->all_requests);
    each(&tallies->all_transactions);
    each(&tallies->connects);
    each(&tallies->lag);
    each(&tallies->heartbeat);
}

void tallies_merge(Tallies *into, const Tallies *from)
{
    for (size_t i = 0; i < into->request_len; i++) {
        tally_merge(&into->requests[i], &from->requests[i]);
    }
    for (size_t i = 0; i < into->transaction_len; i++) {
        tally_merge(&into->transactions[i], &from->transactions[i]);
    }
    tally_merge(&into->all_requests, &from->all_requests);
    tally_merge(&into->all_transactions, &from->all_transactions);
    tally_merge(&into->connects, &from->connects);
    tally_merge(&into->lag, &from->lag);
    tally_merge(&into->heartbeat, &from->heartbeat);
    into->cut += from->cut;
    into->exhausted += from->exhausted;
    into->paused_s += from->paused_s;
    into->unserved += from->unserved;
}

void tallies_reset(Tallies *tallies)
{
    for_each(tallies, tally_reset);
    tallies->cut = tallies->exhausted = tallies->unserved = 0;
    tallies->paused_s = 0;
}

void tallies_close(Tallies *tallies)
{
    for_each(tallies, tally_free);
}
