// Tables, side columns and indexes as the descriptors want them; refilling of side columns.
//
// octavo_table says per table which descriptor its columns, words and indexes follow. A change
// raises `filled`; rows that carry an older number are filled again in batches, and a broken-off
// run goes on where it stopped (decision 53). A table that a newer program has changed is left as
// it is: an older one reads what it still understands there, and writes nothing.
#include "store/engine.h"

#include "base/log.h"

#include <string.h>

enum { REFILL_ROWS = 100 };

typedef struct {
    bool exists;
    int64_t column_hash, word_hash, index_hash, filled;
    bool is_ready;
    bool words_are_new; // words are written for every row that is filled
    int64_t program;    // number of the version whose descriptor it is
} Recorded;

static Err *take_recorded(const Row *row, void *context)
{
    *(Recorded *)context = (Recorded){true,
                                      row_int(row, 0),
                                      row_int(row, 1),
                                      row_int(row, 2),
                                      row_int(row, 3),
                                      row_int(row, 4) != 0,
                                      row_int(row, 5) != 0,
                                      row_int(row, 6)};
    return NULL;
}

static Err *recorded_read(Tx *tx, const Collection *of, Recorded *out)
{
    *out = (Recorded){0};
    return sql_rows(tx,
                    "select column_hash, word_hash, index_hash, filled, is_ready, words_are_new, "
                    "program from " STATE_TABLE " where name = $1",
                    ARGS(A_TEXT(str_of(of->table))), take_recorded, out);
}

static Err *recorded_write(Tx *tx, const Shape *shape, const Recorded *now)
{
    const Collection *of = shape->of;

    TRY(sql_exec(tx, "delete from " STATE_TABLE " where name = $1", ARGS(A_TEXT(str_of(of->table))),
                 NULL, NULL));
    return sql_exec(
        tx,
        "insert into " STATE_TABLE " (name, column_hash, word_hash, index_hash, filled, "
        "is_ready, words_are_new, program, fills) "
        "values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        ARGS(A_TEXT(str_of(of->table)), A_INT(now->column_hash), A_INT(now->word_hash),
             A_INT(now->index_hash), A_INT(now->filled), A_INT(now->is_ready),
             A_INT(now->words_are_new), A_INT(program_number()), A_TEXT(str_of(shape->fills))),
        NULL, NULL);
}

static Err *ddl(Tx *tx, const Buf *sql)
{
    return sql_exec(tx, str_z(buf_str(sql)), NO_ARGS, NULL, NULL);
}

// Came later than the rest.
static Err *state_table_complete(Tx *tx)
{
    const Dialect *dialect = tx_dialect(tx);
    StrList have = {0};
    Buf sql = buf_new(arena_current(), SQL_MAX);

    TRY(db_table_columns(tx, STATE_TABLE, &have));
    if (str_list_has(&have, S("fills"))) {
        return NULL;
    }
    buf_fmt(&sql, "alter table " STATE_TABLE " add column program %s not null default 0",
            dialect->integer_type);
    TRY(ddl(tx, &sql));
    buf_clear(&sql);
    buf_fmt(&sql, "alter table " STATE_TABLE " add column fills %s not null default ''",
            dialect->text_type);
    return ddl(tx, &sql);
}

static Err *own_tables_make(Tx *tx)
{
    const Dialect *dialect = tx_dialect(tx);
    const char *integer = dialect->integer_type, *text = dialect->text_type;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql,
            "create table if not exists " STATE_TABLE
            " (name %s primary key, column_hash %s not null, word_hash %s not null, "
            "index_hash %s not null, filled %s not null, is_ready %s not null, "
            "words_are_new %s not null)",
            text, integer, integer, integer, integer, integer, integer);
    TRY(ddl(tx, &sql));
    TRY(state_table_complete(tx));
    buf_clear(&sql);
    buf_fmt(&sql,
            "create table if not exists outbox (seq %s, topic %s not null, type %s not null, "
            "key %s not null, event_id %s not null, user_id %s not null, at %s not null, "
            "body %s not null)",
            dialect->serial_key_once, text, text, text, text, text, integer, text);
    TRY(ddl(tx, &sql));
    return turns_table_make(tx);
}

// ---------------------------------------------------------------------------------------------
// Table, columns, words

static const char *column_type(const Dialect *dialect, const Field *field)
{
    if (field->flags & NUMBER) {
        return dialect->real_type;
    }
    return field->flags & (TIME | FLAG) ? dialect->integer_type : dialect->text_type;
}

// The document is the last column: reading side columns of many rows then never follows a row's
// overflow pages.
static Err *table_make(Tx *tx, const Shape *shape)
{
    const Dialect *dialect = tx_dialect(tx);
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql,
            "create table \"%s\" (pk %s, id %s not null, filled %s not null, "
            "version %s not null",
            shape->of->table, dialect->serial_key, dialect->text_type, dialect->integer_type,
            dialect->integer_type);
    for (size_t i = 0; i < shape->column_count; i++) {
        buf_fmt(&sql, ", \"%s\" %s", shape->columns[i]->column,
                column_type(dialect, shape->columns[i]));
    }
    buf_fmt(&sql, ", doc %s not null)", dialect->text_type);
    return ddl(tx, &sql);
}

static Err *columns_add(Tx *tx, const Shape *shape, const StrList *have)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < shape->column_count; i++) {
        const Field *field = shape->columns[i];
        if (str_list_has(have, str_of(field->column))) {
            continue;
        }
        buf_clear(&sql);
        buf_fmt(&sql, "alter table \"%s\" add column \"%s\" %s", shape->of->table, field->column,
                column_type(tx_dialect(tx), field));
        TRY(ddl(tx, &sql));
    }
    return NULL;
}

// What is there already is left alone.
static Err *words_complete(Tx *tx, const Shape *shape)
{
    const char *columns[COLUMNS_MAX];

    for (size_t i = 0; i < shape->word_count; i++) {
        columns[i] = shape->words[i]->column;
    }
    return shape->word_count ? words_make(tx, shape->of, columns, shape->word_count) : NULL;
}

static Err *words_remake(Tx *tx, const Shape *shape)
{
    TRY(words_drop(tx, shape->of->table));
    return words_complete(tx, shape);
}

// ---------------------------------------------------------------------------------------------
// Indexes

typedef struct {
    Str name;
    Str sql;
    bool is_coarse;
} Index;

static void index_add(Index *out, size_t *n, Str name, Str sql)
{
    out[*n] = (Index){name, sql, false};
    *n += 1;
}

// An index for queries holds the id too: rows of one value come in order of id, so that a page of
// them is read without sorting. Nobody sorts by ids of other records or by flags, so that absent
// ones need no place in it. A reference without INDEX serves the check of deletes only.
static size_t indexes_wanted(const Shape *shape, Index *out)
{
    const char *table = shape->of->table;
    Str of_id = str_fmt("%s_id_key", table);
    size_t n = 0;

    index_add(out, &n, of_id,
              str_fmt("create unique index if not exists \"" STR_FMT "\" on \"%s\" (id)",
                      STR_ARG(of_id), table));
    for (size_t i = 0; i < shape->column_count; i++) {
        const char *column = shape->columns[i]->column;
        unsigned flags = shape->columns[i]->flags;
        if (flags & UNIQUE) {
            Str name = unique_field_name(shape->of, shape->columns[i]);
            index_add(out, &n, name,
                      str_fmt("create unique index \"" STR_FMT "\" on \"%s\" (\"%s\")",
                              STR_ARG(name), table, column));
        } else if (flags & INDEX) {
            Str name = str_fmt("%s_%s_%s", table, column, flags & SPARSE ? "some" : "idx");
            index_add(out, &n, name,
                      str_fmt("create index \"" STR_FMT "\" on \"%s\" (\"%s\", id)%s",
                              STR_ARG(name), table, column,
                              flags & (UUID | FLAG | SPARSE)
                                  ? str_z(str_fmt(" where \"%s\" is not null", column))
                                  : ""));
            out[n - 1].is_coarse = field_is_coarse(shape->columns[i]);
        } else if (shape->columns[i]->references) {
            Str name = str_fmt("%s_%s_ref", table, column);
            index_add(out, &n, name,
                      str_fmt("create index \"" STR_FMT "\" on \"%s\" (\"%s\") "
                              "where \"%s\" is not null",
                              STR_ARG(name), table, column, column));
        }
    }
    for (const UniqueKey *key = shape->of->uniques; key && key->columns; key++) {
        Str name = unique_key_name(shape->of, key);
        index_add(out, &n, name,
                  str_fmt("create unique index \"" STR_FMT "\" on \"%s\" (%s)%s%s", STR_ARG(name),
                          table, key->columns, key->where ? " where " : "",
                          key->where ? key->where : ""));
    }
    return n;
}

// Finds the few rows that hold a cut text; searches for a part of a text ask for them.
static void index_of_cut(Tx *tx, const Shape *shape, Index *out, size_t *n)
{
    const char *table = shape->of->table;
    Str name = str_fmt("%s_cut", table);
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql, "create index \"" STR_FMT "\" on \"%s\" (pk) where ", STR_ARG(name), table);
    if (keys_are_cut_sql(tx, shape, &sql)) {
        index_add(out, n, name, buf_str(&sql));
    }
}

static bool is_wanted(const Index *wanted, size_t n, Str name)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(wanted[i].name, name)) {
            return true;
        }
    }
    return false;
}

static Err *coarse_note(Tx *tx, const Shape *shape, const Index *indexes, size_t n)
{
    StrList coarse = {0};

    for (size_t i = 0; i < n; i++) {
        if (indexes[i].is_coarse) {
            str_list_add(&coarse, indexes[i].name);
        }
    }
    return db_note_coarse(tx, shape->of->table, &coarse);
}

// Drops what is not wanted and makes what is missing, at most so many; is_more: perhaps not all.
static Err *indexes_make_some(Tx *tx, const Shape *shape, size_t at_most, bool *is_more)
{
    size_t keys = 0;
    StrList have = {0};

    for (const UniqueKey *key = shape->of->uniques; key && key->columns; key++) {
        keys++;
    }
    Index *wanted = NEW_ARRAY(Index, 2 + COLUMNS_MAX + keys);
    size_t n = indexes_wanted(shape, wanted);
    index_of_cut(tx, shape, wanted, &n);
    TRY(db_index_names(tx, shape->of->table, &have));
    for (size_t i = 0; i < have.len; i++) {
        if (!is_wanted(wanted, n, have.at[i])) {
            Buf sql = buf_new(arena_current(), SQL_MAX);
            buf_fmt(&sql, "drop index \"" STR_FMT "\"", STR_ARG(have.at[i]));
            TRY(ddl(tx, &sql));
        }
    }
    size_t made = 0;
    for (size_t i = 0; i < n && made < at_most; i++) {
        if (!str_list_has(&have, wanted[i].name)) {
            TRY(sql_exec(tx, str_z(wanted[i].sql), NO_ARGS, NULL, NULL));
            made++;
        }
    }
    *is_more = made == at_most;
    return *is_more ? NULL : coarse_note(tx, shape, wanted, n);
}

static Err *indexes_make(Tx *tx, const Shape *shape)
{
    bool is_more = false;
    return indexes_make_some(tx, shape, SIZE_MAX, &is_more);
}

// ---------------------------------------------------------------------------------------------
// Refilling

typedef struct {
    const Shape *shape;
    Recorded recorded;
    int64_t last_pk;
    bool is_filled; // no row is left
    Known rows[REFILL_ROWS];
    size_t len;
} Refill;

static Err *take_unfilled(const Row *row, void *context)
{
    Refill *refill = context;

    refill->rows[refill->len++] =
        (Known){row_int(row, 0), str_copy(arena_current(), row_text(row, 1))};
    return NULL;
}

static Err *row_refill(Tx *tx, const Refill *refill, const Known *row)
{
    const Shape *shape = refill->shape;
    Json *doc = json_parse_stored(row->text);
    Arg args[COLUMNS_MAX + 2];
    Str words[COLUMNS_MAX];
    size_t n = 0;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    args[n++] = A_INT(row->pk);
    args[n++] = A_INT(refill->recorded.filled);
    buf_fmt(&sql, "update \"%s\" set filled = $2", shape->of->table);
    for (size_t i = 0; i < shape->column_count; i++) {
        args[n++] = key_arg(tx, shape->of, shape->columns[i], field_value(shape->columns[i], doc));
        buf_fmt(&sql, ", \"%s\" = $%zu", shape->columns[i]->column, n);
    }
    buf_add_z(&sql, " where pk = $1");
    TRY(sql_exec(tx, str_z(buf_str(&sql)), (Args){args, n}, NULL, NULL));
    if (!refill->recorded.words_are_new || !shape->word_count) {
        return NULL;
    }
    words_of(shape, doc, words);
    return words_write(tx, shape->of, row->pk, NULL, words, shape->word_count);
}

// Queries come at once, statistics made by the database itself a while later.
static Err *table_analyze(Tx *tx, const Shape *shape)
{
    const char *analyze = tx_dialect(tx)->analyze, *table = shape->of->table;

    if (!analyze) {
        return NULL;
    }
    TRY(sql_exec(tx, str_fmt("%s \"%s\"", analyze, table).at, NO_ARGS, NULL, NULL));
    return shape->word_count
               ? sql_exec(tx, str_fmt("%s \"%s_words\"", analyze, table).at, NO_ARGS, NULL, NULL)
               : NULL;
}

// When all rows are filled: the indexes, each in a transaction of its own, because the log of all
// of them would be as large as the table; then the columns serve queries.
static Err *refill_finish(Tx *tx, Refill *refill)
{
    bool is_more = false;

    TRY(indexes_make_some(tx, refill->shape, 1, &is_more));
    if (is_more) {
        return NULL;
    }
    TRY(words_complete(tx, refill->shape));
    TRY(table_analyze(tx, refill->shape));
    refill->recorded.is_ready = true;
    refill->recorded.words_are_new = false;
    refill->recorded.index_hash = refill->shape->index_hash;
    TRY(recorded_write(tx, refill->shape, &refill->recorded));
    TRY(foreign_keys_make(tx, refill->shape));
    return table_states_load(tx);
}

static Err *refill_batch(Tx *tx, void *context)
{
    Refill *refill = context;
    Str sql = str_fmt("select pk, doc from \"%s\" where pk > $1 and filled <> $2 order by pk "
                      "limit $3",
                      refill->shape->of->table);

    refill->len = 0;
    if (refill->is_filled) {
        return refill_finish(tx, refill);
    }
    TRY(sql_rows(tx, str_z(sql),
                 ARGS(A_INT(refill->last_pk), A_INT(refill->recorded.filled), A_INT(REFILL_ROWS)),
                 take_unfilled, refill));
    if (refill->len && !refill->last_pk) {
        log_line(LOG_INFO, "store", "filling the side columns of %s", refill->shape->of->table);
    }
    for (size_t i = 0; i < refill->len; i++) {
        TRY(row_refill(tx, refill, &refill->rows[i]));
        refill->last_pk = refill->rows[i].pk;
    }
    if (refill->len) {
        tx_note_write(tx, refill->shape->main);
        return NULL;
    }
    refill->is_filled = true;
    return NULL;
}

static Err *table_refill(Db *db, const Shape *shape, const Recorded *recorded)
{
    Refill *refill = NEW(Refill);
    TxOptions options = {.kind = WRITE, .is_batch = true, .takes_long = true};

    *refill = (Refill){.shape = shape, .recorded = *recorded};
    while (!refill->recorded.is_ready) {
        ArenaMark mark = arena_mark(arena_current());
        TRY(tx_run(db, &options, refill_batch, refill));
        arena_release(arena_current(), mark);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// All of it

typedef struct {
    const Collection *const *collections;
    size_t n;
    const Shape **to_refill;
    Recorded *recorded;
    size_t refill_count;
} Migration;

static Err *table_change(Tx *tx, const Shape *shape, Recorded *now)
{
    StrList have = {0};

    TRY(db_table_columns(tx, shape->of->table, &have));
    if (!have.len) {
        TRY(table_make(tx, shape));
        TRY(words_remake(tx, shape));
        TRY(indexes_make(tx, shape));
        *now = (Recorded){.exists = true, .filled = now->filled + 1, .is_ready = true};
    } else {
        bool columns_differ = now->column_hash != shape->column_hash;
        bool words_differ = now->word_hash != shape->word_hash;
        if (columns_differ || words_differ) {
            TRY(columns_add(tx, shape, &have));
            TRY(foreign_keys_drop(tx, shape->of, false));
            now->filled++;
            now->is_ready = false;
        }
        if (words_differ) {
            TRY(words_remake(tx, shape));
            now->words_are_new = true;
        }
        if (now->is_ready) {
            TRY(indexes_make(tx, shape));
        }
    }
    now->column_hash = shape->column_hash;
    now->word_hash = shape->word_hash;
    now->index_hash = shape->index_hash;
    return recorded_write(tx, shape, now);
}

static Err *table_migrate(Tx *tx, Migration *migration, const Shape *shape)
{
    Recorded now;

    TRY(recorded_read(tx, shape->of, &now));
    if (now.program > program_number()) {
        log_line(LOG_WARN, "store", "table %s belongs to a newer version of the program",
                 shape->of->table);
        return NULL;
    }
    if (!now.exists || now.column_hash != shape->column_hash || now.word_hash != shape->word_hash ||
        now.index_hash != shape->index_hash) {
        TRY(table_change(tx, shape, &now));
    }
    if (!now.is_ready) {
        migration->to_refill[migration->refill_count] = shape;
        migration->recorded[migration->refill_count++] = now;
    }
    return NULL;
}

static Err *migrate_tables(Tx *tx, void *context)
{
    Migration *migration = context;

    TRY(own_tables_make(tx));
    for (size_t i = 0; i < migration->n; i++) {
        TRY(table_migrate(tx, migration, shape_of(migration->collections[i])));
    }
    return table_states_load(tx);
}

Err *db_migrate(Db *db, const Collection *const *collections, size_t n)
{
    Migration migration = {collections, n, NEW_ARRAY(const Shape *, n), NEW_ARRAY(Recorded, n), 0};
    TxOptions options = {.kind = WRITE, .is_batch = true, .takes_long = true};

    store_register(collections, n);
    Err *err = tx_run(db, &options, migrate_tables, &migration);
    for (size_t i = 0; i < migration.refill_count && !err; i++) {
        err = table_refill(db, migration.to_refill[i], &migration.recorded[i]);
    }
    err = err ? err : foreign_keys_complete(db, collections, n);
    if (err) {
        table_states_forget(db);
    }
    return err;
}

static Err *purge_tables(Tx *tx, void *context)
{
    Migration *migration = context;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < migration->n; i++) {
        const Shape *shape = shape_of(migration->collections[i]);
        TRY(words_drop(tx, shape->of->table));
        TRY(foreign_keys_drop(tx, shape->of, true));
        buf_clear(&sql);
        buf_fmt(&sql, "drop table if exists \"%s\"", shape->of->table);
        TRY(ddl(tx, &sql));
        TRY(sql_exec(tx, "delete from " STATE_TABLE " where name = $1",
                     ARGS(A_TEXT(str_of(shape->of->table))), NULL, NULL));
        tx_note_write(tx, shape->main);
    }
    return table_states_load(tx);
}

Err *db_purge(Db *db, const Collection *const *collections, size_t n)
{
    Migration migration = {.collections = collections, .n = n};
    TxOptions options = {.kind = WRITE, .is_batch = true, .takes_long = true};
    Err *err = tx_run(db, &options, purge_tables, &migration);

    if (err) {
        table_states_forget(db);
    }
    return err;
}
