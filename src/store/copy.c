// Copying a database into another, of any backend: documents as they are, side columns made anew.
//
// Records are loaded in bulk into tables without indexes, which are made when all are there. Each
// transaction of the target also notes how far it came, so that a copy that was killed goes on
// where it stopped. Afterwards both sides are read whole and compared.
#include "store/engine.h"

#include <string.h>

#define PROGRESS_TABLE "octavo_copy"
#define OUTBOX         "outbox"
#define SEQUENCES      "octavo_sequence"
#define TABLES         STATE_TABLE // noted when they stand there, ready to be filled

enum {
    ROWS_AT_ONCE = 500,
    BYTES_AT_ONCE = 4 << 20,
};

typedef struct {
    Tx *tx; // of the database that is read or written
    DbCopy *copy;
    const Shape *shape;
    const char *name; // of the table
    int64_t after;    // pk of the source
    Known *rows;
    Event *events;
    size_t len, bytes;
} Step;

static const TxOptions reading = {.kind = READ}, writing = {.kind = WRITE, .is_batch = true};

// ---------------------------------------------------------------------------------------------
// How far an earlier run came

static Err *take_int(const Row *row, void *out)
{
    *(int64_t *)out = row_int(row, 0);
    return NULL;
}

static Err *table_exists(Tx *tx, const char *table, bool *out)
{
    StrList columns = {0};

    TRY(db_table_columns(tx, table, &columns));
    *out = columns.len > 0;
    return NULL;
}

static Err *progress_begin(Tx *tx, void *context)
{
    DbCopy *copy = context;
    const Dialect *dialect = tx_dialect(tx);
    bool has_tables = false;

    TRY(table_exists(tx, STATE_TABLE, &has_tables));
    TRY(table_exists(tx, PROGRESS_TABLE, &copy->goes_on));
    copy->is_complete = has_tables && !copy->goes_on && copy->may_be_complete;
    if (copy->is_complete) {
        return NULL;
    }
    if (has_tables && !copy->goes_on) {
        return err_text(400, "the target has data of " STR_FMT " already",
                        STR_ARG(db_name(tx_db(tx))));
    }
    Str sql = str_fmt("create table if not exists " PROGRESS_TABLE
                      " (name %s primary key, source_pk %s not null)",
                      dialect->text_type, dialect->integer_type);
    return sql_exec(tx, str_z(sql), NO_ARGS, NULL, NULL);
}

static Err *progress_read(Tx *tx, const char *name, int64_t *out)
{
    *out = 0;
    return sql_rows(tx, "select source_pk from " PROGRESS_TABLE " where name = $1",
                    ARGS(A_TEXT(str_of(name))), take_int, out);
}

static Err *progress_write(Tx *tx, const char *name, int64_t source_pk)
{
    return sql_exec(tx,
                    "insert into " PROGRESS_TABLE " as p (name, source_pk) values ($1, $2) "
                    "on conflict (name) do update set source_pk = $2",
                    ARGS(A_TEXT(str_of(name)), A_INT(source_pk)), NULL, NULL);
}

static Err *progress_drop(Tx *tx, void *context)
{
    (void)context;
    return sql_exec(tx, "drop table if exists " PROGRESS_TABLE, NO_ARGS, NULL, NULL);
}

Err *db_copy_end(Db *to)
{
    return tx_run(to, &writing, progress_drop, NULL);
}

static void show(const DbCopy *copy, const char *what, int64_t n)
{
    if (copy->progress) {
        copy->progress(copy->context, what, n);
    }
}

static void show_step(Step *step)
{
    step->copy->records += (int64_t)step->len;
    show(step->copy, step->name, step->copy->records);
}

// ---------------------------------------------------------------------------------------------
// Records

// What does not fit into memory at once is the next step's.
static bool is_full(const Step *step)
{
    return step->bytes > BYTES_AT_ONCE;
}

static Err *take_record(const Row *row, void *context)
{
    Step *step = context;

    if (!is_full(step)) {
        Str text = str_copy(arena_current(), row_text(row, 1));
        step->bytes += text.len;
        step->rows[step->len++] = (Known){row_int(row, 0), text};
    }
    return NULL;
}

static Err *records_read(Tx *tx, void *context)
{
    Step *step = context;
    Str sql = str_fmt("select pk, doc from \"%s\" where pk > $1 order by pk limit $2", step->name);

    step->rows = NEW_ARRAY(Known, ROWS_AT_ONCE);
    step->len = step->bytes = 0;
    return sql_rows(tx, str_z(sql), ARGS(A_INT(step->after), A_INT(ROWS_AT_ONCE)), take_record,
                    step);
}

static Err *step_begin(Tx *tx, void *context)
{
    Step *step = context;
    return progress_read(tx, step->name, &step->after);
}

static Err *note_stored(Tx *tx, void *context, int64_t source_pk)
{
    return progress_write(tx, ((const Step *)context)->name, source_pk);
}

static Err *records_put(Step *step, Bulk *bulk)
{
    for (size_t i = 0; i < step->len; i++) {
        ArenaMark mark = arena_mark(arena_current());
        TRY(bulk_put_stored(bulk, step->shape->of, step->rows[i].text, step->rows[i].pk));
        arena_release(arena_current(), mark);
        step->after = step->rows[i].pk;
    }
    return NULL;
}

static Err *piece_copy(Db *from, Step *step, Bulk *bulk)
{
    ArenaMark mark = arena_mark(arena_current());

    TRY(tx_run(from, &reading, records_read, step));
    TRY(records_put(step, bulk));
    arena_release(arena_current(), mark);
    show_step(step);
    return NULL;
}

static Err *records_copy(Db *from, Db *to, Step *step)
{
    BulkOptions options = {.stored = note_stored, .context = step};
    Bulk *bulk = NULL;
    int64_t loaded = 0, refused = 0;
    Err *err = NULL;

    TRY(tx_run(to, &reading, step_begin, step));
    TRY(bulk_begin(to, &options, &bulk));
    do {
        err = piece_copy(from, step, bulk);
    } while (!err && step->len);
    Err *ended = bulk_end(bulk, &loaded, &refused);
    return err ? err : ended;
}

// ---------------------------------------------------------------------------------------------
// Events: the target numbers them anew

static Err *events_read(Tx *tx, void *context)
{
    Step *step = context;
    return outbox_read(tx, step->after, ROWS_AT_ONCE, &step->events, &step->len);
}

static Err *events_write(Tx *tx, void *context)
{
    Step *step = context;

    TRY(outbox_restore(tx, step->events, step->len));
    step->after = step->events[step->len - 1].seq;
    return progress_write(tx, OUTBOX, step->after);
}

// Steps until one finds nothing.
static Err *events_copy(Db *from, Db *to, DbCopy *copy)
{
    Step step = {.copy = copy, .name = OUTBOX};

    TRY(tx_run(to, &reading, step_begin, &step));
    do {
        ArenaMark mark = arena_mark(arena_current());
        TRY(tx_run(from, &reading, events_read, &step));
        if (step.len) {
            TRY(tx_run(to, &writing, events_write, &step));
        }
        arena_release(arena_current(), mark);
        show_step(&step);
    } while (step.len);
    return NULL;
}

typedef struct {
    const Collection *of;
    Docs docs;
    int64_t seq, count;
} Positions;

static Err *positions_read(Tx *tx, void *context)
{
    Positions *positions = context;
    return tx_where(tx, positions->of, "1 = 1", NO_ARGS, &positions->docs);
}

static Err *position_count(Tx *tx, void *context)
{
    Positions *positions = context;
    return sql_rows(tx, "select count(*) from " OUTBOX " where seq <= $1",
                    ARGS(A_INT(positions->seq)), take_int, &positions->count);
}

// The target's number of what is the n-th event on both sides.
static Err *position_find(Tx *tx, void *context)
{
    Positions *positions = context;

    positions->seq = 0;
    if (!positions->count) {
        return NULL;
    }
    return sql_rows(tx, "select seq from " OUTBOX " order by seq limit 1 offset $1",
                    ARGS(A_INT(positions->count - 1)), take_int, &positions->seq);
}

static Err *position_write(Tx *tx, void *context)
{
    Positions *positions = context;
    const Shape *shape = shape_of(positions->of);
    Json *doc = positions->docs.at[0];
    Arg values[ROW_VALUES_MAX];

    json_set_int(doc, "seq", positions->seq);
    TRY(sql_exec(tx, shape->sql_delete, ARGS(A_TEXT(json_str(doc, "id"))), NULL, NULL));
    row_values(shape, doc, json_text(doc), values);
    return row_insert(tx, shape, values);
}

static Err *positions_copy(Db *from, Db *to, const Collection *of)
{
    Positions positions = {.of = of};

    TRY(tx_run(from, &reading, positions_read, &positions));
    for (; positions.docs.len; positions.docs.at++, positions.docs.len--) {
        positions.seq = json_int(positions.docs.at[0], "seq", 0);
        TRY(tx_run(from, &reading, position_count, &positions));
        TRY(tx_run(to, &reading, position_find, &positions));
        TRY(tx_run(to, &writing, position_write, &positions));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Sequences

typedef struct {
    StrList names;
    int64_t next[1000];
} Sequences;

static Err *take_sequence(const Row *row, void *context)
{
    Sequences *sequences = context;

    if (sequences->names.len == sizeof sequences->next / sizeof *sequences->next) {
        return err_text(500, "more sequences than expected");
    }
    sequences->next[sequences->names.len] = row_int(row, 1);
    str_list_add(&sequences->names, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static Err *sequences_read(Tx *tx, void *context)
{
    return sql_rows(tx, "select name, next from " SEQUENCES " order by name", NO_ARGS,
                    take_sequence, context);
}

static Err *sequences_write(Tx *tx, void *context)
{
    const Sequences *sequences = context;

    for (size_t i = 0; i < sequences->names.len; i++) {
        TRY(sql_exec(tx,
                     "insert into " SEQUENCES " as s (name, next) values ($1, $2) "
                     "on conflict (name) do update set next = $2",
                     ARGS(A_TEXT(sequences->names.at[i]), A_INT(sequences->next[i])), NULL, NULL));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// All of it

typedef struct {
    const Collection **at;
    size_t len, cap;
} Tables;

static Err *take_table(const Row *row, void *context)
{
    Tables *tables = context;
    Str name = row_text(row, 0);
    const Collection *of = collection_of_table(name);

    if (!of) {
        return err_text(400,
                        "table " STR_FMT " is of another version of the program: bring the "
                        "source up to this one first (octavo migrate)",
                        STR_ARG(name));
    }
    if (tables->len == tables->cap) {
        return err_text(500, "more tables than expected");
    }
    tables->at[tables->len++] = of;
    return NULL;
}

// A batch that broke off would be there in part for good: its notes are not copied.
static Err *no_batch_is_half_done(Tx *tx)
{
    bool has_notes = false;
    int64_t n = 0;

    TRY(table_exists(tx, TURNS_TABLE, &has_notes));
    if (has_notes) {
        TRY(sql_rows(tx, "select count(*) from " TURNS_TABLE, NO_ARGS, take_int, &n));
    }
    return n ? err_text(400,
                        "a batch of " STR_FMT " broke off: bring the source up to date first "
                        "(octavo migrate), which takes it back",
                        STR_ARG(db_name(tx_db(tx))))
             : NULL;
}

static Err *tables_read(Tx *tx, void *context)
{
    Tables *tables = context;

    TRY(no_batch_is_half_done(tx));
    tables->at = NEW_ARRAY(const Collection *, 1000);
    tables->cap = 1000;
    return sql_rows(tx, "select name from " STATE_TABLE " order by name", NO_ARGS, take_table,
                    tables);
}

Err *db_copy_begin(Db *to, DbCopy *copy)
{
    return tx_run(to, &writing, progress_begin, copy);
}

// One by one, so that it can be seen how far it is.
static Err *indexes_make(Db *to, const Tables *tables, const DbCopy *copy)
{
    for (size_t i = 0; i < tables->len; i++) {
        show(copy, str_fmt("%s: indexes", tables->at[i]->table).at, copy->records);
        TRY(db_migrate(to, &tables->at[i], 1));
    }
    return db_migrate(to, tables->at, tables->len);
}

static Err *tables_note(Tx *tx, void *context)
{
    (void)context;
    return progress_write(tx, TABLES, 1);
}

// Once: a copy that goes on finds them as they were left.
static Err *tables_prepare(Db *to, const Tables *tables)
{
    Step step = {.name = TABLES};

    store_register(tables->at, tables->len);
    TRY(tx_run(to, &reading, step_begin, &step));
    if (step.after) {
        return NULL;
    }
    TRY(db_migrate(to, tables->at, tables->len));
    TRY(db_drop_indexes(to, tables->at, tables->len, true));
    return tx_run(to, &writing, tables_note, NULL);
}

Err *db_copy(Db *from, Db *to, DbCopy *copy)
{
    Tables tables = {0};
    Sequences *sequences = NEW(Sequences);

    TRY(db_copy_begin(to, copy));
    if (copy->is_complete) {
        return NULL;
    }
    TRY(tx_run(from, &reading, tables_read, &tables));
    TRY(tables_prepare(to, &tables));
    for (size_t i = 0; i < tables.len; i++) {
        Step step = {.copy = copy, .name = tables.at[i]->table, .shape = shape_of(tables.at[i])};
        if (tables.at[i] != copy->positions) {
            TRY(records_copy(from, to, &step));
        }
    }
    TRY(events_copy(from, to, copy));
    for (size_t i = 0; i < tables.len; i++) {
        if (tables.at[i] == copy->positions) {
            TRY(positions_copy(from, to, copy->positions));
        }
    }
    TRY(tx_run(from, &reading, sequences_read, sequences));
    TRY(tx_run(to, &writing, sequences_write, sequences));
    return indexes_make(to, &tables, copy);
}

// ---------------------------------------------------------------------------------------------
// Comparing

typedef struct {
    const DbCopy *copy;
    const char *shown;
    const char *sql; // key, two texts; behind $1 in order of the key, at most $2
    int64_t after, count, seen;
    uint64_t checksum; // of the rows in any order
} Sum;

static uint64_t hash_text(uint64_t hash, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.at[i]) * 1099511628211u;
    }
    return (hash ^ text.len) * 1099511628211u;
}

static Err *take_sum(const Row *row, void *context)
{
    Sum *sum = context;
    uint64_t hash = hash_text(14695981039346656037u, row_text(row, 1));

    sum->after = row_int(row, 0);
    sum->checksum += hash_text(hash, row_text(row, 2));
    sum->count++;
    return NULL;
}

static Err *sum_some(Tx *tx, void *context)
{
    Sum *sum = context;

    sum->seen = sum->count;
    return sql_rows(tx, sum->sql, ARGS(A_INT(sum->after), A_INT(ROWS_AT_ONCE)), take_sum, sum);
}

static Err *sum_all(Db *db, Sum *sum)
{
    do {
        ArenaMark mark = arena_mark(arena_current());
        TRY(tx_run(db, &reading, sum_some, sum));
        arena_release(arena_current(), mark);
        show(sum->copy, sum->shown, sum->count);
    } while (sum->count > sum->seen);
    return NULL;
}

static Err *compare(Db *from, Db *to, const DbCopy *copy, const char *name, const char *sql,
                    StrList *differences)
{
    Sum ours = {.copy = copy, .shown = str_fmt("%s: reading again", name).at, .sql = sql};
    Sum theirs = ours;

    TRY(sum_all(from, &ours));
    TRY(sum_all(to, &theirs));
    if (ours.count != theirs.count) {
        str_list_add(differences, str_fmt("%s: %lld in the source, %lld in the target", name,
                                          (long long)ours.count, (long long)theirs.count));
    } else if (ours.checksum != theirs.checksum) {
        str_list_add(differences, str_fmt("%s: the contents differ", name));
    }
    return NULL;
}

static Err *sequences_compare(Db *from, Db *to, StrList *differences)
{
    Sequences *ours = NEW(Sequences), *theirs = NEW(Sequences);

    TRY(tx_run(from, &reading, sequences_read, ours));
    TRY(tx_run(to, &reading, sequences_read, theirs));
    bool differ = ours->names.len != theirs->names.len;
    for (size_t i = 0; !differ && i < ours->names.len; i++) {
        differ =
            !str_eq(ours->names.at[i], theirs->names.at[i]) || ours->next[i] != theirs->next[i];
    }
    if (differ) {
        str_list_add(differences, S("the numbers given so far differ"));
    }
    return NULL;
}

Err *db_compare(Db *from, Db *to, const DbCopy *copy, StrList *differences)
{
    Tables tables = {0};

    TRY(tx_run(from, &reading, tables_read, &tables));
    for (size_t i = 0; i < tables.len; i++) {
        const char *name = tables.at[i]->table;
        if (tables.at[i] != copy->positions) {
            Str sql =
                str_fmt("select pk, id, doc from \"%s\" where pk > $1 order by pk limit $2", name);
            TRY(compare(from, to, copy, name, str_z(sql), differences));
        }
    }
    TRY(compare(from, to, copy, OUTBOX,
                "select seq, event_id, body from " OUTBOX " where seq > $1 order by seq limit $2",
                differences));
    return sequences_compare(from, to, differences);
}
