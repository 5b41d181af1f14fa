// Enabling and disabling modules for a tenant: the plan with its dependencies, and carrying it out.
//
// A plan is made first and changes nothing (`simulate` stops there). Each step is complete by
// itself: tables, reference data, permissions, then the module appears in the tenant's list.
// Source: spec/platform.md 1.5 "Install", 1.8, 1.9; spec/storage-and-cql.md 1.7.
#include "gateway/internal.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNITS_MAX = 512,
    DEPTH_MAX = 64,
};

// One module as the plan sees it: built in (place) or a descriptor.
typedef struct {
    Str id, product;
    size_t place;           // SIZE_MAX = foreign
    const Module *module;   // NULL = foreign
    const Json *descriptor; // of a foreign one
    bool is_enabled;
    bool is_planned; // a step of the plan enables it
    bool is_leaving; // a step of the plan disables it
} Unit;

typedef enum { STEP_ENABLE, STEP_DISABLE, STEP_UPTODATE } StepAction;

typedef struct {
    Unit *unit;
    StepAction action;
    Str from; // module id it replaces
} Step;

typedef struct {
    Tenant *tenant;
    const InstallOptions *options;
    Unit *units; // every known module
    size_t unit_count;
    Step steps[UNITS_MAX];
    size_t step_count;
} Plan;

// ---------------------------------------------------------------------------------------------
// What is known and enabled

static bool is_enabled_foreign(const TenantState *state, Str id)
{
    return str_list_has(&state->foreign, id);
}

static Err *load_units(Plan *plan)
{
    App *app = plan->tenant->app;
    const Gateway *gateway = app->gateway;
    const TenantState *state = tenant_state(plan->tenant);
    Docs stored = {0};
    Str version;

    TRY(own_all(app, &own_descriptors, &stored));
    plan->units = NEW_ARRAY(Unit, gateway->module_count + stored.len);
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Module *module = gateway->modules[i];
        plan->units[plan->unit_count++] = (Unit){.id = module_id(module),
                                                 .product = str_of(module->name),
                                                 .place = i,
                                                 .module = module,
                                                 .is_enabled = module_set_has(&state->modules, i)};
    }
    for (size_t i = 0; i < stored.len; i++) {
        Unit unit = {.id = json_str(stored.at[i], "moduleId"), .place = SIZE_MAX};
        module_id_split(unit.id, &unit.product, &version);
        unit.descriptor = json_get(stored.at[i], "descriptor");
        unit.is_enabled = is_enabled_foreign(state, unit.id);
        plan->units[plan->unit_count++] = unit;
    }
    return NULL;
}

// An id, or a product name: then the newest.
static Unit *unit_of(Plan *plan, Str id)
{
    Unit *best = NULL;
    for (size_t i = 0; i < plan->unit_count; i++) {
        Unit *unit = &plan->units[i];
        if (str_eq(unit->id, id)) {
            return unit;
        }
        if (str_eq(unit->product, id) && (!best || module_id_cmp(unit->id, best->id) > 0)) {
            best = unit;
        }
    }
    return best;
}

static Err *wanted_unit(Plan *plan, Str id, Unit **out)
{
    *out = unit_of(plan, id);
    return *out ? NULL : err_text(404, "Module " STR_FMT " not found", STR_ARG(id));
}

// ---------------------------------------------------------------------------------------------
// Interfaces

// True if the unit provides the interface at all; *fits: in a version that meets the requirement.
static bool provides(const Unit *unit, Str interface, Str required, bool *fits, Str *have)
{
    *fits = false;
    if (unit->module) {
        for (const Interface *one = unit->module->provides; one && one->id; one++) {
            if (!str_eq_z(interface, one->id)) {
                continue;
            }
            *have = str_of(one->version);
            *fits = interface_fits(*have, required) ||
                    (one->latest && interface_fits(str_of(one->latest), required));
            return true;
        }
        return false;
    }
    JSON_EACH(one, json_get(unit->descriptor, "provides"))
    {
        if (str_eq(json_str(one, "id"), interface)) {
            *have = json_str(one, "version");
            *fits = interface_fits(*have, required);
            return true;
        }
    }
    return false;
}

typedef struct {
    Str interface, version;
} Requirement;

static size_t requirements_of(const Unit *unit, Requirement **out)
{
    size_t n = 0, i = 0;
    if (unit->module) {
        while (unit->module->requires && unit->module->requires[n]) {
            n++;
        }
    } else {
        n = json_len(json_get(unit->descriptor, "requires"));
    }
    *out = NEW_ARRAY(Requirement, n ? n : 1);
    for (; unit->module && i < n; i++) {
        (*out)[i].version = str_of(unit->module->requires[i]);
        (void)str_next(&(*out)[i].version, ' ', &(*out)[i].interface);
    }
    JSON_EACH(one, unit->module ? NULL : json_get(unit->descriptor, "requires"))
    {
        (*out)[i++] = (Requirement){json_str(one, "id"), json_str(one, "version")};
    }
    return n;
}

static bool will_be_enabled(const Unit *unit)
{
    return (unit->is_enabled || unit->is_planned) && !unit->is_leaving;
}

// ---------------------------------------------------------------------------------------------
// Planning

static Err *plan_enable(Plan *plan, Unit *unit, int depth);

static Err *add_step(Plan *plan, Unit *unit, StepAction action, Str from)
{
    if (plan->step_count == UNITS_MAX) {
        return err_text(400, "Too many modules in one call");
    }
    plan->steps[plan->step_count++] = (Step){unit, action, from};
    return NULL;
}

// Another version of the same product gives way to the new one.
static Str replaced_by(Plan *plan, const Unit *unit)
{
    for (size_t i = 0; i < plan->unit_count; i++) {
        Unit *other = &plan->units[i];
        if (other != unit && str_eq(other->product, unit->product) && will_be_enabled(other)) {
            other->is_leaving = true;
            return other->id;
        }
    }
    return (Str){"", 0};
}

static Err *missing(const Unit *unit, const Requirement *need, Str have)
{
    if (have.len) {
        return err_text(400,
                        "Incompatible version for module " STR_FMT " interface " STR_FMT
                        ". Need " STR_FMT ". Have " STR_FMT,
                        STR_ARG(unit->id), STR_ARG(need->interface), STR_ARG(need->version),
                        STR_ARG(have));
    }
    return err_text(400, "Missing dependency: " STR_FMT " requires " STR_FMT ": " STR_FMT,
                    STR_ARG(unit->id), STR_ARG(need->interface), STR_ARG(need->version));
}

static Err *satisfy(Plan *plan, const Unit *unit, const Requirement *need, int depth)
{
    Unit *candidate = NULL;
    Str have = {"", 0};
    bool fits = false;

    for (size_t i = 0; i < plan->unit_count; i++) {
        Unit *other = &plan->units[i];
        if (!provides(other, need->interface, need->version, &fits, &have) || !fits) {
            continue;
        }
        if (will_be_enabled(other)) {
            return NULL;
        }
        if (!candidate || module_id_cmp(other->id, candidate->id) > 0) {
            candidate = other;
        }
    }
    if (candidate) {
        return plan_enable(plan, candidate, depth + 1);
    }
    // A built-in module works without what the program does not have.
    return unit->module || !plan->options->dep_check ? NULL : missing(unit, need, have);
}

static Err *plan_enable(Plan *plan, Unit *unit, int depth)
{
    if (unit->is_enabled && !unit->is_leaving && !plan->options->reinstall) {
        return NULL;
    }
    if (unit->is_planned || depth > DEPTH_MAX) {
        return NULL;
    }
    unit->is_planned = true; // before its requirements: they may form a circle
    Str from = replaced_by(plan, unit);
    Requirement *needs = NULL;
    size_t n = requirements_of(unit, &needs);
    for (size_t i = 0; i < n; i++) {
        TRY(satisfy(plan, unit, &needs[i], depth));
    }
    return add_step(plan, unit, STEP_ENABLE, from);
}

// True if `user` needs an interface that only `unit` still provides.
static bool depends_on(const Plan *plan, const Unit *user, const Unit *unit)
{
    Requirement *needs = NULL;
    size_t n = requirements_of(user, &needs);
    Str have;
    bool fits = false;
    for (size_t i = 0; i < n; i++) {
        if (!provides(unit, needs[i].interface, needs[i].version, &fits, &have) || !fits) {
            continue;
        }
        bool has_other = false;
        for (size_t k = 0; k < plan->unit_count && !has_other; k++) {
            const Unit *other = &plan->units[k];
            has_other = other != unit && will_be_enabled(other) &&
                        provides(other, needs[i].interface, needs[i].version, &fits, &have) && fits;
        }
        if (!has_other) {
            return true;
        }
    }
    return false;
}

static Err *plan_disable(Plan *plan, Unit *unit, int depth)
{
    if (!unit->is_enabled || unit->is_leaving || depth > DEPTH_MAX) {
        return NULL;
    }
    unit->is_leaving = true;
    for (size_t i = 0; i < plan->unit_count; i++) {
        Unit *other = &plan->units[i];
        if (other != unit && will_be_enabled(other) && depends_on(plan, other, unit)) {
            TRY(plan_disable(plan, other, depth + 1));
        }
    }
    return add_step(plan, unit, STEP_DISABLE, (Str){"", 0});
}

static Err *plan_one(Plan *plan, const Json *wanted)
{
    Unit *unit = NULL;
    Str action = json_str(wanted, "action"), id = json_str(wanted, "id");
    if (!id.len) {
        return err_text(400, "Missing id for an entry of the install request");
    }
    TRY(wanted_unit(plan, id, &unit));
    if (str_eq(action, S("disable"))) {
        if (!unit->is_enabled) {
            return err_text(400, "Module " STR_FMT " is not enabled for tenant " STR_FMT,
                            STR_ARG(unit->id), STR_ARG(plan->tenant->id));
        }
        return plan_disable(plan, unit, 0);
    }
    if (!str_eq(action, S("enable")) && !str_eq(action, S("uptodate"))) {
        return err_text(400, "Not supported: action '" STR_FMT "'", STR_ARG(action));
    }
    if (will_be_enabled(unit) && !plan->options->reinstall) {
        return unit->is_planned ? NULL : add_step(plan, unit, STEP_UPTODATE, (Str){"", 0});
    }
    return plan_enable(plan, unit, 0);
}

// ---------------------------------------------------------------------------------------------
// Carrying out

typedef struct {
    const Module *module;
    const PermissionDefinitions *definitions;
} StepWork;

static Err *define_work(Tx *tx, void *context)
{
    const StepWork *work = context;
    return work->module->permissions_define(tx, work->definitions);
}

static Err *init_work(Tx *tx, void *context)
{
    const StepWork *work = context;
    return work->module->tenant_init(tx);
}

static Err *in_tx(Db *db, Err *(*step)(Tx *, void *), StepWork *work)
{
    return tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, step, work);
}

static Err *define(Tenant *tenant, Db *db, const Unit *unit)
{
    App *app = tenant->app;
    PermissionDefinitions definitions;
    const Json *descriptor = unit->module ? descriptor_of(app, unit->module) : unit->descriptor;
    definitions_of(descriptor, &definitions);
    StepWork work = {.module = app->gateway->permissions, .definitions = &definitions};
    return definitions.len ? in_tx(db, define_work, &work) : NULL;
}

// The permissions of this module; when it is the one that keeps them, of all that came before it.
static Err *define_permissions(Plan *plan, Db *db, const Unit *unit)
{
    const Gateway *gateway = plan->tenant->app->gateway;
    const TenantState *state = tenant_state(plan->tenant);
    if (gateway->permissions_place == SIZE_MAX) {
        return NULL;
    }
    if (unit->module == gateway->permissions) {
        for (size_t i = 0; i < plan->unit_count; i++) {
            const Unit *other = &plan->units[i];
            bool is_enabled = other->module ? module_set_has(&state->modules, other->place)
                                            : is_enabled_foreign(state, other->id);
            if (is_enabled || other == unit) {
                TRY(define(plan->tenant, db, other));
            }
        }
        return NULL;
    }
    return module_set_has(&state->modules, gateway->permissions_place)
               ? define(plan->tenant, db, unit)
               : NULL;
}

static Err *prepare_module(Plan *plan, Db *db, const Step *step)
{
    const Module *module = step->unit->module;
    const InstallOptions *options = plan->options;
    const Collection *const *tables = NULL;
    size_t n = module_tables(module, &tables);

    if (n) {
        TRY(db_migrate(db, tables, n));
    }
    if (!step->from.len) {
        TRY(refdata_load(db, module, "always"));
    }
    if (options->reference) {
        TRY(refdata_load(db, module, "reference"));
    }
    if (options->sample) {
        TRY(refdata_load(db, module, "sample"));
    }
    StepWork work = {.module = module};
    return module->tenant_init ? in_tx(db, init_work, &work) : NULL;
}

static void foreign_remove(StrList *list, Str id)
{
    StrList kept = {0};
    for (size_t i = 0; i < list->len; i++) {
        if (!str_eq(list->at[i], id)) {
            str_list_add(&kept, list->at[i]);
        }
    }
    *list = kept;
}

static Err *enable(Plan *plan, Db *db, const Step *step)
{
    TenantState state = *tenant_state(plan->tenant);
    if (step->unit->module) {
        TRY(prepare_module(plan, db, step));
        module_set_add(&state.modules, step->unit->place);
    }
    TRY(define_permissions(plan, db, step->unit));
    if (!step->unit->module) {
        foreign_remove(&state.foreign, step->from);
        foreign_remove(&state.foreign, step->unit->id);
        str_list_add(&state.foreign, step->unit->id);
    }
    return tenant_change(plan->tenant, &state);
}

static Err *withdraw_permissions(Plan *plan, Db *db, const Unit *unit)
{
    const Gateway *gateway = plan->tenant->app->gateway;
    PermissionDefinitions none = {0};
    if (gateway->permissions_place == SIZE_MAX || unit->module == gateway->permissions ||
        !module_set_has(&tenant_state(plan->tenant)->modules, gateway->permissions_place)) {
        return NULL;
    }
    module_id_split(unit->id, &none.module_name, &none.module_version);
    StepWork work = {.module = gateway->permissions, .definitions = &none};
    return in_tx(db, define_work, &work);
}

static Err *disable(Plan *plan, Db *db, const Step *step)
{
    TenantState state = *tenant_state(plan->tenant);
    const Unit *unit = step->unit;
    if (unit->module) {
        module_set_remove(&state.modules, unit->place);
    } else {
        foreign_remove(&state.foreign, unit->id);
    }
    // First out of the list, so that no request meets tables that are being dropped.
    TRY(tenant_change(plan->tenant, &state));
    if (!plan->options->purge) {
        return NULL;
    }
    TRY(withdraw_permissions(plan, db, unit));
    if (unit->module) {
        const Collection *const *tables = NULL;
        size_t n = module_tables(unit->module, &tables);
        return n ? db_purge(db, tables, n) : NULL;
    }
    return NULL;
}

static Err *carry_out(Plan *plan)
{
    Db *db = tenant_db(plan->tenant);
    Err *err = NULL;
    for (size_t i = 0; i < plan->step_count && !err; i++) {
        const Step *step = &plan->steps[i];
        if (step->action == STEP_ENABLE) {
            err = enable(plan, db, step);
        } else if (step->action == STEP_DISABLE) {
            err = disable(plan, db, step);
        }
        if (err && plan->options->ignore_errors) {
            log_line(LOG_WARN, "okapi", STR_FMT ": " STR_FMT, STR_ARG(step->unit->id),
                     STR_ARG(err->message));
            err = NULL;
        }
    }
    tenant_timers_start(plan->tenant);
    return err;
}

static Json *report(const Plan *plan)
{
    static const char *const names[] = {"enable", "disable", "uptodate"};
    Json *array = json_array();
    for (size_t i = 0; i < plan->step_count; i++) {
        const Step *step = &plan->steps[i];
        Json *one = json_object();
        json_set_str(one, "id", step->unit->id);
        json_set_str_if(one, "from", step->from);
        json_set_str(one, "action", str_of(names[step->action]));
        json_add(array, one);
    }
    return array;
}

static Err *run_locked(Plan *plan, const Json *wanted)
{
    TRY(load_units(plan));
    JSON_EACH(one, wanted)
    {
        TRY(plan_one(plan, one));
    }
    return plan->options->simulate ? NULL : carry_out(plan);
}

// One process of several at a time, with what the others have done before.
static Err *run_alone(Plan *plan, Db *db, const Json *wanted)
{
    DbLock *lock = NULL;

    TRY(db_lock(db, &lock));
    Err *err = lock ? tenants_reload(plan->tenant->app) : NULL;
    err = err ? err : run_locked(plan, wanted);
    db_unlock(db, lock);
    return err;
}

Err *install_run(Tenant *tenant, const Json *wanted, const InstallOptions *options, Json **done)
{
    Plan *plan = NEW(Plan);
    Db *db = NULL;
    plan->tenant = tenant;
    plan->options = options;
    TRY(tenant_ready(tenant, &db));
    pthread_mutex_lock(&tenant->lock);
    Err *err = run_alone(plan, db, wanted);
    pthread_mutex_unlock(&tenant->lock);
    *done = report(plan);
    return err;
}

void tenant_module_ids(const Tenant *tenant, StrList *ids)
{
    const Gateway *gateway = tenant->app->gateway;
    const TenantState *state = tenant_state(tenant);
    for (size_t i = 0; i < gateway->module_count; i++) {
        if (module_set_has(&state->modules, i)) {
            str_list_add(ids, module_id(gateway->modules[i]));
        }
    }
    for (size_t i = 0; i < state->foreign.len; i++) {
        str_list_add(ids, state->foreign.at[i]);
    }
    // Insertion sort: at most a few hundred, nearly in order.
    for (size_t i = 1; i < ids->len; i++) {
        Str id = ids->at[i];
        size_t k = i;
        for (; k > 0 && module_id_cmp(ids->at[k - 1], id) > 0; k--) {
            ids->at[k] = ids->at[k - 1];
        }
        ids->at[k] = id;
    }
}

Err *tenant_enable(App *app, Str tenant_id, const char *const *modules, bool reference, bool sample)
{
    const Gateway *gateway = app->gateway;
    InstallOptions options = {.reference = reference, .sample = sample};
    Json *wanted = json_array(), *done = NULL;
    Tenant *tenant = NULL;

    TRY(tenant_find(app, tenant_id, &tenant));
    for (size_t i = 0; modules ? modules[i] != NULL : i < gateway->module_count; i++) {
        Json *one = json_object();
        json_set_str(one, "id", str_of(modules ? modules[i] : gateway->modules[i]->name));
        json_set_str(one, "action", S("enable"));
        json_add(wanted, one);
    }
    return install_run(tenant, wanted, &options, &done);
}
