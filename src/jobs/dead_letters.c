// Dead letters: events that nobody could take, kept with the reason until somebody looks.
#include "jobs/internal.h"

static const Property dead_properties[] = {
    {"id", ID},
    {"seq", INTEGER, REQUIRED},
    {"topic", STRING, REQUIRED},
    {"type", STRING},
    {"key", STRING},
    {"body", STRING},
    {"userId", STRING},
    {"at", INTEGER},
    {"reader", STRING, REQUIRED},
    {"error", STRING},
    {"failedAt", INTEGER},
    {0},
};

static const RecordType dead_record = {"DeadLetter", .properties = dead_properties};

static const Field dead_fields[] = {
    {"seq", "seq", NUMBER | INDEX},
    {0},
};

const Collection dead_letters = {
    .table = "octavo_dead_letter",
    .record = &dead_record,
    .fields = dead_fields,
};

const Collection *const jobs_collections[] = {&jobs_table, &relay_positions, &dead_letters, NULL};

Err *dead_letter_add(Tx *tx, const Event *event, const char *reader, Str error)
{
    Json *row = json_object(), *former = NULL;

    // A letter that was tried again and failed again replaces itself.
    TRY(tx_get(tx, &dead_letters, event->event_id, &former));
    json_set_str(row, "id", event->event_id);
    json_set_int(row, "seq", event->seq);
    json_set_str(row, "topic", event->topic);
    json_set_str(row, "type", event->type);
    json_set_str(row, "key", event->key);
    json_set_str(row, "body", event->body);
    json_set_str(row, "userId", event->user_id);
    json_set_int(row, "at", event->at);
    json_set_str(row, "reader", str_of(reader));
    json_set_str(row, "error", error);
    json_set_int(row, "failedAt", tx_now(tx));
    return former ? tx_change(tx, &dead_letters, former, row) : tx_insert(tx, &dead_letters, row);
}

static Err *letter_of(Tx *tx, int64_t seq, Json **out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &dead_letters, "seq = $1", ARGS(A_INT(seq)), &docs));
    if (!docs.len) {
        return err_text(404, "no dead letter %lld", (long long)seq);
    }
    *out = docs.at[0];
    return NULL;
}

Err *dead_letters_list(Tx *tx, int64_t limit, Docs *out)
{
    return tx_where(tx, &dead_letters, "1 = 1 order by seq limit $1", ARGS(A_INT(limit)), out);
}

Err *dead_letter_delete(Tx *tx, int64_t seq)
{
    Json *letter = NULL;

    TRY(letter_of(tx, seq, &letter));
    return tx_delete(tx, &dead_letters, json_str(letter, "id"));
}

Err *dead_letter_retry(Tx *tx, int64_t seq)
{
    Json *letter = NULL;

    TRY(letter_of(tx, seq, &letter));
    Str id = json_str(letter, "id");
    TRY(tx_exec(tx,
                "insert into outbox (topic, type, key, body, event_id, user_id, at) "
                "values ($1, $2, $3, $4, $5, $6, $7)",
                ARGS(A_TEXT(json_str(letter, "topic")), A_TEXT(json_str(letter, "type")),
                     A_TEXT(json_str(letter, "key")), A_TEXT(json_str(letter, "body")), A_TEXT(id),
                     A_TEXT(json_str(letter, "userId")), A_INT(json_int(letter, "at", 0))),
                NULL));
    // An event of our own wakes the relay after the commit.
    TRY(tx_emit(tx, JOB_TOPIC, "CREATED", S("0"), NULL, NULL));
    return tx_delete(tx, &dead_letters, id);
}
