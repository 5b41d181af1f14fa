// Loading many records at speed: rows as they are, indexes when all are there.
#include "store/engine.h"

#include "base/uuid.h"

static Err *id_make(const Collection *of, Json *doc)
{
    Str id = json_str(doc, "id");

    if (!json_has(doc, "id")) {
        json_set_str(doc, "id", uuid_new());
        return NULL;
    }
    if (!uuid_is_uuid_shaped(id)) {
        return invalid_id(of, id);
    }
    json_set_str(doc, "id", str_lower(id));
    return NULL;
}

static void lacking_make(Tx *tx, const Shape *shape, Json *doc)
{
    if (shape->has_metadata && !json_has(doc, "metadata")) {
        json_set_time(doc, "metadata.createdDate", tx_now(tx));
        json_set_time(doc, "metadata.updatedDate", tx_now(tx));
    }
    if (shape->of->locking != LOCKING_OFF && !json_has(doc, "_version")) {
        json_set_int(doc, "_version", 1);
    }
}

Err *tx_restore(Tx *tx, const Collection *of, Json *doc)
{
    const Shape *shape = shape_of(of);
    Str words[COLUMNS_MAX];

    TRY(id_make(of, doc));
    lacking_make(tx, shape, doc);
    TRY(row_insert(tx, shape, doc, json_text(doc)));
    note_write(tx, shape);
    if (!shape->word_count) {
        return NULL;
    }
    words_of(shape, doc, words);
    return words_write(tx, of, 0, NULL, words, shape->word_count);
}

typedef struct {
    const Collection *const *collections;
    size_t n;
} Tables;

static bool is_index_of_ours(Str name)
{
    return !str_starts(name, S("sqlite_")) && !str_ends(name, S("_pkey")) &&
           !str_ends(name, S("_id_key"));
}

static Err *table_drop_indexes(Tx *tx, const Collection *of)
{
    StrList names = {0};

    TRY(db_index_names(tx, of->table, &names));
    for (size_t i = 0; i < names.len; i++) {
        if (is_index_of_ours(names.at[i])) {
            Str sql = str_fmt("drop index \"" STR_FMT "\"", STR_ARG(names.at[i]));
            TRY(sql_exec(tx, str_z(sql), NO_ARGS, NULL, NULL));
        }
    }
    // As after an upgrade that broke off: the next migration completes the table.
    return sql_exec(tx, "update " STATE_TABLE " set is_ready = 0, index_hash = 0 where name = $1",
                    ARGS(A_TEXT(str_of(of->table))), NULL, NULL);
}

static Err *drop_all(Tx *tx, void *context)
{
    const Tables *tables = context;

    for (size_t i = 0; i < tables->n; i++) {
        TRY(table_drop_indexes(tx, tables->collections[i]));
    }
    return table_states_load(tx);
}

Err *db_drop_indexes(Db *db, const Collection *const *collections, size_t n)
{
    Tables tables = {collections, n};
    Err *err = tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, drop_all, &tables);

    if (err) {
        table_states_forget(db);
    }
    return err;
}
