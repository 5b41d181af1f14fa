// The open model: arrivals come at a rate, whether or not earlier ones are done.
//
// A pass that begins late because no user was free carries its delay into the time of its first
// transaction: response time counts from the planned arrival. Source: spec/perf-lab.md 4.2.
#include "loop.h"

#include "base/date.h"
#include "base/die.h"

#include <math.h>
#include <stdlib.h>

enum {
    WAITING_MAX = 1 << 16, // more arrivals than that are counted as lost
};

static int64_t gap_ns(Loop *loop)
{
    const DriverOptions *options = loop->run->options;
    double mean = 1e9 / (options->rate / options->threads);

    return (int64_t)(options->is_poisson ? -log(1.0 - rng_unit(&loop->rng)) * mean : mean);
}

void arrival_open(Loop *loop)
{
    if (loop->run->options->rate <= 0 || loop->run->is_setup) {
        loop->next_arrival_ns = INT64_MAX;
        return;
    }
    loop->late_arrivals = calloc(WAITING_MAX, sizeof *loop->late_arrivals);
    if (!loop->late_arrivals) {
        die("out of memory");
    }
    loop->next_arrival_ns = loop->run->begin_ns + gap_ns(loop);
}

void arrival_close(Loop *loop)
{
    count_begin(loop)->unserved += loop->late_len;
    count_end(loop);
    free(loop->late_arrivals);
}

static void hand_over(User *user, int64_t planned_ns, int64_t now_ns)
{
    user->has_arrival = true;
    user->late_us = (now_ns - planned_ns) / 1000;
}

void arrival_go_on(Loop *loop, int64_t now_ns)
{
    while (loop->next_arrival_ns <= now_ns && !atomic_load(&loop->run->stop)) {
        int64_t planned = loop->next_arrival_ns;
        loop->next_arrival_ns += gap_ns(loop);
        User *user = loop->idle;
        if (user) {
            loop->idle = user->next_idle;
            hand_over(user, planned, now_ns);
            user_go_on(user);
        } else if (loop->late_len == WAITING_MAX) {
            count_begin(loop)->unserved++;
            count_end(loop);
        } else {
            loop->late_arrivals[(loop->late_from + loop->late_len++) % WAITING_MAX] = planned;
        }
    }
}

bool arrival_take(User *user)
{
    Loop *loop = user->loop;

    if (loop->late_len > 0) {
        hand_over(user, loop->late_arrivals[loop->late_from], clock_ns());
        loop->late_from = (loop->late_from + 1) % WAITING_MAX;
        loop->late_len--;
        return true;
    }
    user->next_idle = loop->idle;
    loop->idle = user;
    return false;
}
