// Records of the process-wide database: tenants, foreign module descriptors, environment, keys.
#include "gateway/internal.h"

// The gateway checks these itself; the store keeps what it is given.
static const Property open_properties[] = {
    {"id", ID},
    {0},
};

static const RecordType own_record = {"OwnRecord", .open = true, .properties = open_properties};

#define OWN(name_, table_, column_, path_)                                                         \
    static const Field name_##_fields[] = {                                                        \
        {column_, path_, TEXT | UNIQUE | KEEP_CASE | KEEP_ACCENTS},                                \
        {0},                                                                                       \
    };                                                                                             \
    const Collection name_ = {                                                                     \
        .table = table_, .record = &own_record, .fields = name_##_fields, .is_watched = true}

OWN(own_tenants, "okapi_tenant", "tenant_id", "tenantId");
OWN(own_descriptors, "okapi_module", "module_id", "moduleId");
OWN(own_env, "okapi_env", "name", "name");
OWN(own_keys, "okapi_key", "name", "name");
OWN(own_jobs, "okapi_install_job", "job_id", "jobId");
OWN(own_deployments, "okapi_deployment", "inst_id", "instId");

static const Collection *const own_collections[] = {
    &own_tenants, &own_descriptors, &own_env, &own_keys, &own_jobs, &own_deployments,
};

void own_register(void)
{
    store_register(own_collections, sizeof own_collections / sizeof *own_collections);
}

Err *own_open(App *app)
{
    if (!app->own) {
        TRY(db_open(app->store, S("octavo"), true, &app->own));
    }
    return db_migrate(app->own, own_collections, sizeof own_collections / sizeof *own_collections);
}

typedef struct {
    const Collection *of;
    const char *column, *property;
    Str value;
    Json *doc;
    Docs *docs;
    bool found;
} Work;

static Err *find_work(Tx *tx, void *context)
{
    Work *work = context;
    return tx_find(tx, work->of, work->column, work->value, &work->doc);
}

static Err *all_work(Tx *tx, void *context)
{
    Work *work = context;
    return tx_where(tx, work->of, "1 = 1", NO_ARGS, work->docs);
}

static Err *save_work(Tx *tx, void *context)
{
    Work *work = context;
    Json *old = NULL;
    TRY(tx_find(tx, work->of, work->column, json_str(work->doc, work->property), &old));
    if (!old) {
        return tx_insert(tx, work->of, work->doc);
    }
    json_set_str(work->doc, "id", json_str(old, "id"));
    return tx_change(tx, work->of, old, work->doc);
}

static Err *claim_work(Tx *tx, void *context)
{
    Work *work = context;
    Json *old = NULL;
    TRY(tx_find(tx, work->of, work->column, json_str(work->doc, work->property), &old));
    work->found = old != NULL;
    if (!old) {
        return tx_insert(tx, work->of, work->doc);
    }
    work->doc = old;
    return NULL;
}

static Err *delete_work(Tx *tx, void *context)
{
    Work *work = context;
    Json *old = NULL;
    TRY(tx_find(tx, work->of, work->column, work->value, &old));
    work->found = old != NULL;
    return old ? tx_delete(tx, work->of, json_str(old, "id")) : NULL;
}

static Err *run(App *app, TxKind kind, Err *(*step)(Tx *, void *), Work *work)
{
    return tx_run(app->own, &(TxOptions){.kind = kind}, step, work);
}

Err *own_find(App *app, const Collection *of, const char *column, Str value, Json **out)
{
    Work work = {.of = of, .column = column, .value = value};
    TRY(run(app, READ, find_work, &work));
    *out = work.doc;
    return NULL;
}

Err *own_all(App *app, const Collection *of, Docs *out)
{
    Work work = {.of = of, .docs = out};
    return run(app, READ, all_work, &work);
}

Err *own_save(App *app, const Collection *of, const char *column, const char *property, Json *doc)
{
    Work work = {.of = of, .column = column, .property = property, .doc = doc};
    return run(app, WRITE, save_work, &work);
}

Err *own_claim(App *app, const Collection *of, const char *column, const char *property, Json **doc,
               bool *was_there)
{
    Work work = {.of = of, .column = column, .property = property, .doc = *doc};
    TRY(run(app, WRITE, claim_work, &work));
    *doc = work.doc;
    *was_there = work.found;
    return NULL;
}

Err *own_delete(App *app, const Collection *of, const char *column, Str value, bool *found)
{
    Work work = {.of = of, .column = column, .value = value};
    TRY(run(app, WRITE, delete_work, &work));
    *found = work.found;
    return NULL;
}
