// Loads in steps: how much a server takes is found by asking for more and more of it.
#include "experiment.h"

#include <string.h>

static const Load *stepped_load(const RunPlan *run)
{
    for (size_t i = 0; i < run->workload_len; i++) {
        const Load *load = run->workloads[i].load;
        if (load && load->steps.len > 0) {
            return load;
        }
    }
    return NULL;
}

Str experiment_step_name(Str run, double step)
{
    return str_fmt(STR_FMT "-%g", STR_ARG(run), step);
}

static const Load *load_at(const Load *load, double step)
{
    Load *one = NEW(Load);

    *one = *load;
    one->name = experiment_step_name(load->name, step);
    one->steps = (Numbers){0};
    if (load->is_open) {
        one->rate = step;
    } else {
        one->users = (int64_t)step;
    }
    return one;
}

static RunPlan run_at(const RunPlan *run, const Load *stepped, double step)
{
    const Load *load = load_at(stepped, step);
    RunPlan one = *run;

    one.name = experiment_step_name(run->name, step);
    one.workloads = NEW_ARRAY(RunWorkload, run->workload_len);
    memcpy(one.workloads, run->workloads, run->workload_len * sizeof *one.workloads);
    for (size_t i = 0; i < one.workload_len; i++) {
        one.workloads[i].load = one.workloads[i].load == stepped ? load : one.workloads[i].load;
    }
    return one;
}

void experiment_unfold_steps(Experiment *experiment)
{
    size_t most = 0, len = 0;

    for (size_t i = 0; i < experiment->run_len; i++) {
        const Load *stepped = stepped_load(&experiment->runs[i]);
        most += stepped ? stepped->steps.len : 1;
    }
    RunPlan *runs = NEW_ARRAY(RunPlan, most + 1);
    for (size_t i = 0; i < experiment->run_len; i++) {
        const RunPlan *run = &experiment->runs[i];
        const Load *stepped = stepped_load(run);
        if (!stepped) {
            runs[len++] = *run;
        }
        for (size_t k = 0; stepped && k < stepped->steps.len; k++) {
            runs[len++] = run_at(run, stepped, stepped->steps.at[k]);
        }
    }
    experiment->runs = runs;
    experiment->run_len = len;
}
