// Jobs that tell subscribers about every instance: reindexing and iteration.
//
// A step emits the ids of 100 instances; the record of the job tells clients how far it is.
// Source: spec/inventory.md 8.
#include "modules/mod-inventory-storage/storage.h"

#include "modules/mod-inventory-storage/properties.h"

enum { AT_ONCE = 100 };

typedef struct {
    const Collection *of;
    const char *kind;    // of the durable job
    const char *counter; // member with the number of messages
    const char *running, *done, *cancelling, *cancelled;
} IdJob;

static const IdJob reindexing = {
    &reindex_jobs,    "inventory-reindex",      "published", "In progress", "Ids published",
    "Pending cancel", "Id publishing cancelled"};
static const IdJob iterating = {&iteration_jobs, "inventory-iteration", "messagesPublished",
                                "In progress",   "Completed",           "Cancellation pending",
                                "Cancelled"};

// ---------------------------------------------------------------------------------------------
// Running

static Err *take_id(const Row *row, void *context)
{
    str_list_add(context, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static Err *status_set(Tx *tx, const IdJob *kind, const Json *old, Json *record, const char *status)
{
    json_set_str(record, "jobStatus", str_of(status));
    return tx_change(tx, kind->of, old, record);
}

static Err *ids_emit(Tx *tx, const Job *job, const StrList *ids)
{
    const char *topic = str_z(json_str(job->doc, "topic"));
    const char *type = str_z(json_str(job->doc, "type"));

    for (size_t i = 0; i < ids->len; i++) {
        TRY(tx_emit(tx, topic, type, ids->at[i], NULL, NULL));
    }
    return NULL;
}

static Err *step(Tx *tx, Job *job, bool *done, const IdJob *kind)
{
    Json *record = NULL;
    StrList ids = {0};

    *done = true;
    TRY(tx_get(tx, kind->of, json_str(job->doc, "recordId"), &record));
    if (!record) {
        return NULL;
    }
    Json *old = json_copy(record);
    if (str_eq_z(json_str(record, "jobStatus"), kind->cancelling)) {
        return status_set(tx, kind, old, record, kind->cancelled);
    }
    TRY(tx_rows(tx, "select id from instance where id > $1 order by id limit 100",
                ARGS(A_TEXT(json_str(job->doc, "last"))), take_id, &ids));
    TRY(ids_emit(tx, job, &ids));
    json_set_int(record, kind->counter, json_int(record, kind->counter, 0) + (int64_t)ids.len);
    if (ids.len) {
        json_set_str(job->doc, "last", ids.at[ids.len - 1]);
    }
    *done = ids.len < AT_ONCE;
    return status_set(tx, kind, old, record, *done ? kind->done : kind->running);
}

Err *reindex_step(Tx *tx, Job *job, bool *done)
{
    return step(tx, job, done, &reindexing);
}

Err *iteration_step(Tx *tx, Job *job, bool *done)
{
    return step(tx, job, done, &iterating);
}

// ---------------------------------------------------------------------------------------------
// Starting, cancelling

static Err *job_start(Req *req, const IdJob *kind, Json *record, Json *doc)
{
    json_set_str(record, "jobStatus", str_of(kind->running));
    json_set_time(record, "submittedDate", req->now);
    TRY(tx_insert(req->tx, kind->of, record));
    json_set_str(doc, "recordId", json_str(record, "id"));
    json_set_str(doc, "last", S(""));
    TRY(job_enqueue_at(req->tx, kind->kind, req->now, doc));
    return NULL;
}

Err *reindex_start(Req *req)
{
    Json *record = json_object(), *doc = json_object();

    json_set_str(record, "resourceName", S("Instance"));
    json_set_str(doc, "topic", S("inventory.instance"));
    json_set_str(doc, "type", S("REINDEX"));
    TRY(job_start(req, &reindexing, record, doc));
    return reply_json(req, 200, record);
}

Err *iteration_start(Req *req)
{
    Json *body = NULL, *record = json_object(), *doc = json_object();

    TRY(req_body_object(req, &body));
    TRY(properties_check(&iteration_params_record, body));
    json_take(doc, "topic", body, "topicName");
    json_take(doc, "type", body, "eventType");
    json_set(record, "jobParams", json_copy(body));
    TRY(job_start(req, &iterating, record, doc));
    return reply_json(req, 201, record);
}

static Err *job_find(Req *req, const IdJob *kind, Json **out)
{
    *out = NULL;
    if (uuid_is_uuid_shaped(req_param(req, 0))) {
        TRY(tx_get(req->tx, kind->of, str_lower(req_param(req, 0)), out));
    }
    return *out ? NULL : err_text(404, "Not found");
}

static Err *job_cancel(Req *req, const IdJob *kind)
{
    Json *record = NULL;

    TRY(job_find(req, kind, &record));
    if (str_eq_z(json_str(record, "jobStatus"), kind->running)) {
        Json *old = json_copy(record);
        TRY(status_set(req->tx, kind, old, record, kind->cancelling));
    }
    return reply_empty(req, 204);
}

Err *reindex_cancel(Req *req)
{
    return job_cancel(req, &reindexing);
}

Err *iteration_cancel(Req *req)
{
    return job_cancel(req, &iterating);
}

Err *iteration_get(Req *req)
{
    Json *record = NULL;

    TRY(job_find(req, &iterating, &record));
    return reply_json(req, 200, record);
}
