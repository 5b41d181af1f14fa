// Fuzz target: a text of a load plan and a condition from the same bytes, filled in and decided.
#include "bench/plan/condition.h"
#include "bench/plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str source = {(const char *)data, size};
    ArenaMark mark = arena_mark(arena_current());
    Plan *plan = NEW(Plan);
    TextScope scope = {.symbols = &plan->symbols, .where = S("fuzz")};
    Text *text = NULL;
    Condition *condition = NULL;

    plan_open_files(plan, S("/none"));
    Err *bad_text = text_compile(&scope, source, &text);
    Err *bad_condition = condition_compile(&scope, source, &condition);
    Actor actor = {.plan = plan, .vars = vars_new(&plan->symbols)};
    rng_seed(&actor.rng, 1, 0);
    if (!bad_text) {
        (void)text_str(text, &actor);
    }
    if (!bad_condition) {
        (void)condition_holds(condition, &actor);
    }
    vars_free(actor.vars);
    plan_close_files(plan);
    arena_release(arena_current(), mark);
    return 0;
}
