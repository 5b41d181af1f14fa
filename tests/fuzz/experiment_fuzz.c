// Any text as an experiment: a plan of cells, or a 400 that names its problems. The first line is
// the profile.
#include "fuzz.h"

#include "bench/lab/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = {(const char *)data, size}, profile = line_take(&text);
    Experiment *experiment = NULL;
    int64_t bytes = 0;
    Err *err = experiment_read(text, profile, &experiment);

    HOLDS(!err || (err->status == 400 && err->message.len));
    if (!err) {
        HOLDS(experiment_baseline(experiment));
        CellPlan plan = experiment_cells(experiment);
        for (size_t i = 0; i < plan.len; i++) {
            HOLDS(plan.at[i].configuration && plan.at[i].run);
        }
    }
    if (experiment_bytes(profile, &bytes)) {
        HOLDS(bytes >= 0);
    }
    arena_reset(arena_current());
    return 0;
}
