// The cells of an experiment and their order.
#include "experiment.h"

#include "bench/plan/actor.h"

#include <math.h>

// What a cell costs beside its load: reset, start, snapshots. A guess for `plan`.
#define RESTART_S 0.8
#define RESET_S   0.3

static bool takes_part(const RunPlan *run, const Configuration *configuration)
{
    return run->configurations.len == 0 || str_list_has(&run->configurations, configuration->name);
}

static double expected(const Experiment *experiment, const RunPlan *run)
{
    double ramp = 0;

    for (size_t i = 0; i < run->workload_len; i++) {
        ramp = fmax(ramp, run->workloads[i].load->ramp_s);
    }
    double restart = experiment->design.restart == EVERY_RUN && !experiment->target.url.len;
    double reset = experiment->data.reset == EVERY_RUN && !experiment->target.url.len;
    return fmax(ramp, run->warmup_s) + run->steady_s + fmin(run->cooldown_s, 1) +
           restart * RESTART_S + reset * RESET_S;
}

// The order of the configurations in a block: as they stand, every second block backwards, or
// drawn.
static void order_block(const Experiment *experiment, int64_t block, size_t *order)
{
    size_t n = experiment->configuration_len;

    for (size_t i = 0; i < n; i++) {
        bool is_backwards = experiment->design.order == ORDER_INTERLEAVED && block % 2 == 0;
        order[i] = is_backwards ? n - 1 - i : i;
    }
    if (experiment->design.order != ORDER_RANDOM) {
        return;
    }
    Rng rng;
    rng_seed(&rng, experiment->seed, (uint64_t)block);
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)rng_between(&rng, 0, (int64_t)i - 1);
        size_t former = order[i - 1];
        order[i - 1] = order[k];
        order[k] = former;
    }
}

CellPlan experiment_cells(const Experiment *experiment)
{
    size_t per_block = experiment->run_len * experiment->configuration_len;
    size_t *order = NEW_ARRAY(size_t, experiment->configuration_len + 1);
    CellPlan plan = {.at =
                         NEW_ARRAY(PlannedCell, (size_t)experiment->design.blocks * per_block + 1)};

    for (int64_t block = 1; block <= experiment->design.blocks; block++) {
        int64_t place = 0;
        order_block(experiment, block, order);
        for (size_t k = 0; k < per_block; k++) {
            const Configuration *configuration =
                &experiment->configurations[order[k / experiment->run_len]];
            const RunPlan *run = &experiment->runs[k % experiment->run_len];
            if (!takes_part(run, configuration)) {
                continue;
            }
            PlannedCell *cell = &plan.at[plan.len++];
            *cell = (PlannedCell){.id = str_fmt(STR_FMT "/block%lld/" STR_FMT "/" STR_FMT,
                                                STR_ARG(experiment->id), (long long)block,
                                                STR_ARG(configuration->name), STR_ARG(run->name)),
                                  .block = block,
                                  .place = ++place,
                                  .configuration = configuration,
                                  .run = run,
                                  .expected_s = expected(experiment, run)};
            plan.expected_s += cell->expected_s;
        }
    }
    return plan;
}
