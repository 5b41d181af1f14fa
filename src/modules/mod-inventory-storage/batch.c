// Synchronous batches: many instances, holdings records or items, all of them or none.
//
// What can be checked without the database is checked first. The records are written in turns, so
// that no desk waits for thousands of them; what those of a turn refer to is read in few statements
// at its beginning. Source: spec/inventory.md 1.7.
#include "modules/mod-inventory-storage/storage.h"

enum { BATCH_MAX = 10000 };

typedef struct {
    const Collection *of;
    HridKind hrid;
    const char *list_key;
    bool upserts;         // existing records are replaced
    bool ignores_version; // ... whatever their version
    Json **docs;
    size_t len;
} Batch;

// Those of one turn.
static Batch part_of(const Batch *all, size_t from, size_t to)
{
    Batch part = *all;

    part.docs += from;
    part.len = to - from;
    return part;
}

// ---------------------------------------------------------------------------------------------
// Before the transaction

static Err *docs_take(Batch *batch, const Json *list)
{
    batch->len = json_len(list);
    if (batch->len > BATCH_MAX) {
        return err_text(413,
                        "Expected a maximum of %d records to prevent out of memory but got %zu",
                        BATCH_MAX, batch->len);
    }
    batch->docs = NEW_ARRAY(Json *, batch->len + 1);
    size_t n = 0;
    JSON_EACH(doc, list)
    {
        if (!json_is_object(doc)) {
            return err_text(400, "Json content error: %s must hold objects", batch->list_key);
        }
        TRY(properties_check(batch->of->record, doc));
        if (!json_str(doc, "id").len) {
            json_set_str(doc, "id", uuid_new());
        }
        batch->docs[n++] = doc;
    }
    return NULL;
}

// FOLIO compares the versions in a suppressed batch only while an operator allows it.
static Err *suppression_is_allowed(const Req *req)
{
    Time until = 0;

    if (time_parse(app_option(req->app, "inventory.unsafe_batches_until", ""), &until) &&
        req->now < until) {
        return NULL;
    }
    return err_text(413, "DB_ALLOW_SUPPRESS_OPTIMISTIC_LOCKING environment variable doesn't allow "
                         "to disable optimistic locking");
}

// ---------------------------------------------------------------------------------------------
// In a turn

// Highest position given in this turn, per holdings record.
typedef struct {
    Str holdings_id;
    int64_t last;
} OrderSlot;

typedef struct {
    OrderSlot *at;
    size_t mask;
} Orders;

static Orders orders_new(size_t n)
{
    size_t size = 8;
    while (size < n * 2) {
        size *= 2;
    }
    return (Orders){NEW_ARRAY(OrderSlot, size), size - 1};
}

static Err *order_slot(Tx *tx, const Orders *orders, Str holdings_id, OrderSlot **out)
{
    size_t i = str_hash(holdings_id) & orders->mask;

    while (orders->at[i].holdings_id.len && !str_eq(orders->at[i].holdings_id, holdings_id)) {
        i = (i + 1) & orders->mask;
    }
    *out = &orders->at[i];
    if (!orders->at[i].holdings_id.len) {
        int64_t next = 1;
        TRY(item_order_next(tx, holdings_id, &next));
        orders->at[i] = (OrderSlot){holdings_id, next - 1};
    }
    return NULL;
}

// One statement per holdings record instead of one per item.
static Err *item_orders_set(Tx *tx, const Batch *batch, const bool *exists)
{
    Orders orders = orders_new(batch->len);

    for (size_t i = 0; i < batch->len; i++) {
        OrderSlot *slot = NULL;
        if (exists[i] || !json_str(batch->docs[i], "holdingsRecordId").len) {
            continue;
        }
        TRY(order_slot(tx, &orders, json_str(batch->docs[i], "holdingsRecordId"), &slot));
        int64_t order = json_int(batch->docs[i], "order", slot->last + 1);
        json_set_int(batch->docs[i], "order", order);
        slot->last = order > slot->last ? order : slot->last;
    }
    return NULL;
}

// Which records are there already; the store then knows their text.
static Err *existing_find(Tx *tx, const Batch *batch, bool *exists)
{
    Str *ids = NEW_ARRAY(Str, batch->len + 1);
    Docs found = {0};

    for (size_t i = 0; i < batch->len; i++) {
        ids[i] = str_lower(json_str(batch->docs[i], "id"));
    }
    TRY(tx_get_many(tx, batch->of, ids, batch->len, &found));
    for (size_t i = 0; i < batch->len; i++) {
        const Json *old = docs_find(&found, ids[i]);
        exists[i] = old != NULL;
        if (old && batch->ignores_version) {
            json_set_int(batch->docs[i], "_version", json_int(old, "_version", 0));
        }
    }
    return NULL;
}

// What the records hang on, so that each finds it in memory.
static Err *parents_read(Tx *tx, const Batch *batch)
{
    const Collection *above = batch->of == &items ? &holdings : &instances;
    const char *path = batch->of == &items ? "holdingsRecordId" : "instanceId";
    Docs found = {0};

    if (batch->of == &instances) {
        return NULL;
    }
    return tx_get_named(tx, above, &(Docs){batch->docs, batch->len}, path, &found);
}

static Err *hrids_set(Tx *tx, const Batch *batch, const bool *exists)
{
    Json **fresh = NEW_ARRAY(Json *, batch->len + 1);
    size_t n = 0;

    for (size_t i = 0; i < batch->len; i++) {
        if (!exists[i]) {
            fresh[n++] = batch->docs[i];
        }
    }
    return hrids_assign(tx, batch->hrid, fresh, n);
}

// "... already exists in table ..." of routes for single records is text; batches answer errors[].
static Err *as_errors(Err *err)
{
    ptrdiff_t at = err->is_json ? -1 : str_find(err->message, S(" value already exists"), 0);

    if (err->is_json || err->status != 400) {
        return err;
    }
    Str key = at < 0 ? (Str){0} : str_sub(err->message, 0, (size_t)at);
    ptrdiff_t colon = str_find(err->message, S(": "), 0);
    Str value = colon < 0 ? (Str){0} : str_sub(err->message, (size_t)colon + 2, SIZE_MAX);
    ErrParam param = {.key = key, .value = value};
    Err *out = err_json(422, S("-1"), err->message, &param, 1);
    out->type = S("1");
    return out;
}

static Err *part_write(Tx *tx, const Batch *batch)
{
    bool *exists = NEW_ARRAY(bool, batch->len + 1);

    if (batch->upserts) {
        TRY(existing_find(tx, batch, exists));
    }
    TRY(parents_read(tx, batch));
    TRY(hrids_set(tx, batch, exists));
    if (batch->of == &items) {
        TRY(item_orders_set(tx, batch, exists));
    }
    for (size_t i = 0; i < batch->len; i++) {
        // What a record needed on its way is given back: nobody looks at it afterwards.
        ArenaMark mark = arena_mark(arena_current());
        Err *err = exists[i] ? tx_update(tx, batch->of, batch->docs[i])
                             : tx_insert(tx, batch->of, batch->docs[i]);
        if (err) {
            return as_errors(err);
        }
        arena_release(arena_current(), mark);
    }
    Err *err = tx_flush(tx);
    return err ? as_errors(err) : NULL;
}

static Err *batch_write(Tx *tx, size_t from, size_t to, void *context)
{
    Batch part = part_of(context, from, to);

    return part_write(tx, &part);
}

static Err *batch_run(Req *req, Batch *batch)
{
    Json *body = NULL;
    TxOptions options = {.kind = WRITE, .is_batch = true, .now = req->now, .user_id = req->user_id};

    batch->of = req->route->collection;
    batch->hrid = batch->of == &items      ? HRID_ITEMS
                  : batch->of == &holdings ? HRID_HOLDINGS
                                           : HRID_INSTANCES;
    batch->list_key = batch->of->list_key;
    TRY(req_body_object(req, &body));
    TRY(docs_take(batch, json_get(body, batch->list_key)));
    TRY(db_write_in_turns(tenant_db(req->tenant), &options, batch->len, batch_write, batch));
    return reply_empty(req, 201);
}

Err *batch_create(Req *req)
{
    Batch batch = {.upserts = req_query_flag(req, "upsert")};

    return batch_run(req, &batch);
}

Err *batch_create_unsafe(Req *req)
{
    Batch batch = {.upserts = true, .ignores_version = true};

    TRY(suppression_is_allowed(req));
    return batch_run(req, &batch);
}

// ---------------------------------------------------------------------------------------------
// The older batch: each instance in a transaction of its own, so that one that is wrong spoils no
// other. Source: decision 1.

static Err *instance_insert(Tx *tx, void *context)
{
    return tx_insert(tx, &instances, context);
}

Err *instances_batch_create(Req *req)
{
    Json *body = NULL, *answer = json_object(), *created = json_array(), *errors = json_array();
    TxOptions options = {.kind = WRITE, .is_batch = true, .now = req->now, .user_id = req->user_id};

    TRY(req_body_object(req, &body));
    JSON_EACH(one, json_get(body, "instances"))
    {
        Json *doc = json_copy(one);
        Err *err = tx_run(tenant_db(req->tenant), &options, instance_insert, doc);
        if (err) {
            json_add(errors, json_string(err->message));
        } else {
            json_add(created, doc);
        }
    }
    bool is_spoilt = json_len(errors) && !json_len(created);
    json_set_int(answer, "totalRecords", (int64_t)json_len(created));
    json_set(answer, "instances", created);
    json_set(answer, "errorMessages", errors);
    return reply_json(req, is_spoilt ? 500 : 201, answer);
}
