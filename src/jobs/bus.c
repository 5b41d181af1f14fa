// Who wants which events: subscribers by topic, job kinds by name. Filled at start, then only read.
#include "jobs/internal.h"

#include "base/die.h"

#include <string.h>

enum {
    SUBSCRIBERS_MAX = 64,
    KINDS_MAX = 64,
};

static struct {
    const char *topic;
    Subscriber subscriber;
    const void *owner;
} subscribers[SUBSCRIBERS_MAX];
static size_t subscriber_count;

static struct {
    const char *kind;
    JobStep step;
} kinds[KINDS_MAX];
static size_t kind_count;

void bus_subscribe(const char *topic, Subscriber subscriber, const void *owner)
{
    for (size_t i = 0; i < subscriber_count; i++) {
        if (strcmp(subscribers[i].topic, topic) == 0 && subscribers[i].subscriber == subscriber) {
            return;
        }
    }
    if (subscriber_count == SUBSCRIBERS_MAX) {
        die("more than %d subscribers", SUBSCRIBERS_MAX);
    }
    subscribers[subscriber_count].topic = topic;
    subscribers[subscriber_count].owner = owner;
    subscribers[subscriber_count++].subscriber = subscriber;
}

void job_kind(const char *kind, JobStep step)
{
    if (job_step_of(str_of(kind))) {
        return;
    }
    if (kind_count == KINDS_MAX) {
        die("more than %d kinds of jobs", KINDS_MAX);
    }
    kinds[kind_count].kind = kind;
    kinds[kind_count++].step = step;
}

JobStep job_step_of(Str kind)
{
    for (size_t i = 0; i < kind_count; i++) {
        if (str_eq_z(kind, kinds[i].kind)) {
            return kinds[i].step;
        }
    }
    return NULL;
}

bool bus_has(Str topic)
{
    for (size_t i = 0; i < subscriber_count; i++) {
        if (str_eq_z(topic, subscribers[i].topic)) {
            return true;
        }
    }
    return false;
}

// A module that the tenant does not have has no tables there either.
static bool is_enabled(const TenantAccess *access, const Tx *tx, const void *owner)
{
    return !owner || !access->has || access->has(access->context, db_name(tx_db(tx)), owner);
}

Err *bus_deliver(Tx *tx, const TenantAccess *access, const Event *events, size_t n)
{
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && str_eq(events[to].topic, events[from].topic)) {
            to++;
        }
        for (size_t i = 0; i < subscriber_count; i++) {
            if (str_eq_z(events[from].topic, subscribers[i].topic) &&
                is_enabled(access, tx, subscribers[i].owner)) {
                TRY(subscribers[i].subscriber(tx, events + from, to - from));
            }
        }
    }
    return NULL;
}
