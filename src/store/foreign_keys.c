// Foreign keys of the database, where it keeps them: references of a record that another process
// cannot take away in between. Source: decision 48.
//
// They stand between tables that are complete, because a table that is loaded or filled anew may
// for a while refer to what is not there. What old data break is told in the log and kept.
#include "store/engine.h"

#include "base/log.h"

#include <string.h>

enum { NOT_KEPT = 409 }; // status of the error of a key that the data break

typedef struct {
    Str name, table, target;
    bool is_proved;
} ForeignKey;

typedef struct {
    ForeignKey *at;
    size_t len, cap;
    StrList complete; // tables
} ForeignKeys;

static Err *take_key(const Row *row, void *context)
{
    ForeignKeys *keys = context;
    Arena *arena = arena_current();

    keys->at = array_room(arena, keys->at, keys->len, &keys->cap, sizeof *keys->at);
    keys->at[keys->len++] =
        (ForeignKey){str_copy(arena, row_text(row, 0)), str_copy(arena, row_text(row, 1)),
                     str_copy(arena, row_text(row, 2)), row_int(row, 3) != 0};
    return NULL;
}

static Err *take_complete(const Row *row, void *context)
{
    ForeignKeys *keys = context;

    str_list_add(&keys->complete, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static Err *keys_read(Tx *tx, ForeignKeys *out)
{
    *out = (ForeignKeys){0};
    TRY(db_foreign_keys(tx, take_key, out));
    return sql_rows(tx, "select name from " STATE_TABLE " where is_ready <> 0", NO_ARGS,
                    take_complete, out);
}

static const ForeignKey *key_find(const ForeignKeys *keys, Str name)
{
    for (size_t i = 0; i < keys->len; i++) {
        if (str_eq(keys->at[i].name, name)) {
            return &keys->at[i];
        }
    }
    return NULL;
}

Str foreign_key_name(const Collection *of, const Field *field)
{
    return str_fmt("%s_%s_fkey", of->table, field->column);
}

// ---------------------------------------------------------------------------------------------
// Making and dropping

// What the collection refers to, then what refers to it.
static size_t references_of(const Shape *shape, Reference *out)
{
    size_t n = 0;

    for (size_t i = 0; i < shape->reference_count; i++) {
        if (field_has_column(shape->references[i])) {
            out[n++] = (Reference){shape->of, shape->references[i]};
        }
    }
    return n + references_to(shape->of, out + n, REFERENCES_MAX);
}

static bool is_missing(const ForeignKeys *keys, const Reference *reference)
{
    return str_list_has(&keys->complete, str_of(reference->of->table)) &&
           str_list_has(&keys->complete, str_of(reference->field->references->table)) &&
           !key_find(keys, foreign_key_name(reference->of, reference->field));
}

static Err *take_one(const Row *row, void *context)
{
    (void)row;
    *(bool *)context = true;
    return NULL;
}

// Records that are there already are looked through later, beside those who write.
static Err *key_make(Tx *tx, const Reference *reference)
{
    const char *table = reference->of->table;
    bool has_records = false;

    TRY(sql_rows(tx, str_fmt("select 1 from \"%s\" limit 1", table).at, NO_ARGS, take_one,
                 &has_records));
    Str sql = str_fmt("alter table \"%s\" add constraint \"" STR_FMT "\" foreign key (\"%s\") "
                      "references \"%s\" (id)%s",
                      table, STR_ARG(foreign_key_name(reference->of, reference->field)),
                      reference->field->column, reference->field->references->table,
                      has_records ? " not valid" : "");
    return sql_exec(tx, str_z(sql), NO_ARGS, NULL, NULL);
}

Err *foreign_keys_make(Tx *tx, const Shape *shape)
{
    Reference *references = NEW_ARRAY(Reference, COLUMNS_MAX + REFERENCES_MAX);
    size_t n = references_of(shape, references);
    ForeignKeys keys;

    if (!n || !tx_keeps_references(tx)) {
        return NULL;
    }
    TRY(keys_read(tx, &keys));
    for (size_t i = 0; i < n; i++) {
        if (is_missing(&keys, &references[i])) {
            TRY(key_make(tx, &references[i]));
        }
    }
    return NULL;
}

Err *foreign_keys_drop(Tx *tx, const Collection *of, bool drops_those_to_it)
{
    Str table = str_of(of->table);
    ForeignKeys keys = {0};

    if (!tx_keeps_references(tx)) {
        return NULL;
    }
    TRY(db_foreign_keys(tx, take_key, &keys));
    for (size_t i = 0; i < keys.len; i++) {
        const ForeignKey *key = &keys.at[i];
        if (str_eq(key->table, table) || (drops_those_to_it && str_eq(key->target, table))) {
            Str sql = str_fmt("alter table \"" STR_FMT "\" drop constraint \"" STR_FMT "\"",
                              STR_ARG(key->table), STR_ARG(key->name));
            TRY(sql_exec(tx, str_z(sql), NO_ARGS, NULL, NULL));
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// After a migration

typedef struct {
    const Collection *const *collections;
    size_t n;
    ForeignKeys keys;
    bool lacks_some;
    const ForeignKey *to_prove;
} Completion;

static Err *look_what_lacks(Tx *tx, void *context)
{
    Completion *completion = context;
    Reference *references = NEW_ARRAY(Reference, COLUMNS_MAX + REFERENCES_MAX);

    completion->lacks_some = false;
    TRY(keys_read(tx, &completion->keys));
    for (size_t i = 0; i < completion->n; i++) {
        size_t count = references_of(shape_of(completion->collections[i]), references);
        for (size_t j = 0; j < count && !completion->lacks_some; j++) {
            completion->lacks_some = is_missing(&completion->keys, &references[j]);
        }
    }
    return NULL;
}

static Err *make_what_lacks(Tx *tx, void *context)
{
    const Completion *completion = context;

    for (size_t i = 0; i < completion->n; i++) {
        TRY(foreign_keys_make(tx, shape_of(completion->collections[i])));
    }
    return NULL;
}

static Err *is_broken(Tx *tx, const Violation *violation, const OnViolation *on)
{
    (void)tx, (void)violation, (void)on;
    return err_text(NOT_KEPT, "broken");
}

static Err *key_prove(Tx *tx, void *context)
{
    const ForeignKey *key = ((const Completion *)context)->to_prove;
    OnViolation on = {.explain = is_broken};
    int64_t ignored = 0;
    Str sql = str_fmt("alter table \"" STR_FMT "\" validate constraint \"" STR_FMT "\"",
                      STR_ARG(key->table), STR_ARG(key->name));

    return sql_exec(tx, str_z(sql), NO_ARGS, &ignored, &on);
}

// Those who write rows go on meanwhile.
static Err *keys_prove(Db *db, Completion *completion)
{
    TxOptions beside_others = {
        .kind = WRITE, .is_batch = true, .takes_long = true, .locks_rows = true};

    for (size_t i = 0; i < completion->keys.len; i++) {
        completion->to_prove = &completion->keys.at[i];
        if (completion->to_prove->is_proved) {
            continue;
        }
        Err *err = tx_run(db, &beside_others, key_prove, completion);
        if (err && err->status != NOT_KEPT) {
            return err;
        }
        if (err) {
            log_line(LOG_WARN, "store",
                     "records of " STR_FMT " in " STR_FMT " refer to " STR_FMT
                     " that are not there (" STR_FMT "); new ones cannot",
                     STR_ARG(completion->to_prove->table), STR_ARG(db_name(db)),
                     STR_ARG(completion->to_prove->target), STR_ARG(completion->to_prove->name));
        }
    }
    return NULL;
}

Err *foreign_keys_complete(Db *db, const Collection *const *collections, size_t n)
{
    Completion completion = {.collections = collections, .n = n};

    if (!db_keeps_references(db)) {
        return NULL;
    }
    TRY(tx_run(db, &(TxOptions){.kind = READ}, look_what_lacks, &completion));
    if (completion.lacks_some) {
        TRY(tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true, .takes_long = true},
                   make_what_lacks, &completion));
        TRY(tx_run(db, &(TxOptions){.kind = READ}, look_what_lacks, &completion));
    }
    return keys_prove(db, &completion);
}
