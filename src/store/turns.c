// A change of many records in turns, so that nobody waits for more than one of them; and yet all of
// it stays, or nothing.
//
// Each turn is a transaction. It notes in octavo_turn how its records were before; the last one
// deletes the notes. What fails is taken back by them, the last change first. What a crash broke
// off is taken back when the database is opened again, or when somebody who lives looks (db_mend);
// who turns out to be alive after that finds its notes gone and ends. A record that somebody else
// has changed or built on meanwhile stays: an answer that was given is never undone.
#include "store/engine.h"
#include "store/tx.h"

#include "base/log.h"
#include "base/uuid.h"

enum { RECORDS = 50 }; // of a turn: some milliseconds

static const TxOptions mending = {.kind = WRITE, .is_batch = true};

struct Change {
    const Shape *shape;
    Str id, before;  // its text; at == NULL: there was none
    int64_t version; // since then; -1: it is gone
    struct Change *earlier;
};

// ---------------------------------------------------------------------------------------------
// Notes

Err *turns_table_make(Tx *tx)
{
    const Dialect *dialect = tx_dialect(tx);
    Str sql =
        str_fmt("create table if not exists " TURNS_TABLE " (work %s not null, turn %s not null, "
                "changes %s not null, primary key (work, turn))",
                dialect->text_type, dialect->integer_type, dialect->text_type);

    return sql_exec(tx, str_z(sql), NO_ARGS, NULL, NULL);
}

void change_note(Tx *tx, const Shape *shape, const Json *before, const Json *now)
{
    TxExtra *extra = extra_of(tx);

    if (!extra->notes_changes) {
        return;
    }
    struct Change *change = arena_alloc(extra->arena, sizeof *change);
    *change = (struct Change){.shape = shape,
                              .id = str_copy(extra->arena, json_str(now ? now : before, "id")),
                              .version = now ? json_int(now, "_version", 0) : -1,
                              .earlier = extra->changes};
    if (before) {
        change->before = str_copy(extra->arena, json_text(before));
    }
    extra->changes = change;
}

// The last change first.
static Str changes_text(const struct Change *change)
{
    Json *all = json_array();

    for (; change; change = change->earlier) {
        Json *one = json_object();
        json_set_str(one, "table", str_of(change->shape->of->table));
        json_set_str(one, "id", change->id);
        json_set_int(one, "version", change->version);
        if (change->before.at) {
            json_set_str(one, "before", change->before);
        }
        json_add(all, one);
    }
    return json_text(all);
}

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Turns

typedef struct {
    Str work;
    int64_t number; // of the turn
    size_t from, to, n;
    Err *(*write)(Tx *tx, size_t from, size_t to, void *context);
    void *context;
} Turn;

static Err *still_mine(Tx *tx, const Turn *turn)
{
    int64_t n = 0;

    if (turn->number == 0) {
        return NULL;
    }
    TRY(sql_rows(tx, "select count(*) from " TURNS_TABLE " where work = $1 and turn = $2",
                 ARGS(A_TEXT(turn->work), A_INT(turn->number - 1)), take_count, &n));
    return n ? NULL : err_text(503, "The change took too long and was taken back");
}

static Err *turn_step(Tx *tx, void *context)
{
    const Turn *turn = context;
    bool is_last = turn->to == turn->n;

    TRY(still_mine(tx, turn));
    extra_of(tx)->notes_changes = !is_last;
    TRY(turn->write(tx, turn->from, turn->to, turn->context));
    if (!is_last) {
        return sql_exec(tx, "insert into " TURNS_TABLE " (work, turn, changes) values ($1, $2, $3)",
                        ARGS(A_TEXT(turn->work), A_INT(turn->number),
                             A_TEXT(changes_text(extra_of(tx)->changes))),
                        NULL, NULL);
    }
    return turn->number ? sql_exec(tx, "delete from " TURNS_TABLE " where work = $1",
                                   ARGS(A_TEXT(turn->work)), NULL, NULL)
                        : NULL;
}

static Err *turns_run(Db *db, const TxOptions *options, Turn *turn)
{
    for (; turn->from < turn->n; turn->from = turn->to, turn->number++) {
        ArenaMark mark = arena_mark(arena_current());
        turn->to = turn->n - turn->from > RECORDS ? turn->from + RECORDS : turn->n;
        TRY(tx_run(db, options, turn_step, turn));
        arena_release(arena_current(), mark);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Taking back

typedef struct {
    Str work; // "": whatever there is
    int64_t number;
    Str changes; // of a turn; at == NULL: there is none left
    int64_t records, kept;
} TakingBack;

static bool is_as_written(const Json *change, const Json *now)
{
    int64_t version = json_int(change, "version", -1);

    return now ? json_int(now, "_version", 0) == version : version == -1;
}

static Err *change_take_back(Tx *tx, const Json *change, TakingBack *back)
{
    const Collection *of = collection_of_table(json_str(change, "table"));
    Str id = json_str(change, "id"), before = json_str(change, "before");
    Known record = {0};

    if (!of) {
        return NULL; // its module was purged
    }
    TRY(record_acquire(tx, of, id, !before.len, &record));
    const Json *now = record.text.at ? json_parse_stored(record.text) : NULL;
    bool stays = !is_as_written(change, now) || (!before.len && record_may_go(tx, of, &record));
    if (stays) {
        back->kept++;
        log_line(LOG_WARN, "store",
                 "%s " STR_FMT " stays though its batch failed: it is in use meanwhile", of->table,
                 STR_ARG(id));
        return NULL;
    }
    back->records++;
    return before.len ? record_put_back(tx, of, now, json_parse_stored(before))
                      : record_delete(tx, of, &record);
}

static Err *take_turn(const Row *row, void *context)
{
    TakingBack *back = context;

    back->work = str_copy(arena_current(), row_text(row, 0));
    back->number = row_int(row, 1);
    back->changes = str_copy(arena_current(), row_text(row, 2));
    return NULL;
}

static Err *take_back_step(Tx *tx, void *context)
{
    TakingBack *back = context;

    back->changes = (Str){0};
    TRY(sql_rows(tx,
                 "select work, turn, changes from " TURNS_TABLE " where $1 in ('', work) "
                 "order by turn desc limit 1",
                 ARGS(A_TEXT(back->work)), take_turn, back));
    if (!back->changes.at) {
        return NULL;
    }
    JSON_EACH(change, json_parse_stored(back->changes))
    {
        ArenaMark mark = arena_mark(arena_current());
        TRY(change_take_back(tx, change, back));
        arena_release(arena_current(), mark);
    }
    return sql_exec(tx, "delete from " TURNS_TABLE " where work = $1 and turn = $2",
                    ARGS(A_TEXT(back->work), A_INT(back->number)), NULL, NULL);
}

static Err *take_back(Db *db, Str work)
{
    TakingBack back;
    int64_t records = 0, kept = 0;

    do {
        ArenaMark mark = arena_mark(arena_current());
        back = (TakingBack){.work = work};
        TRY(tx_run(db, &mending, take_back_step, &back));
        records += back.records;
        kept += back.kept;
        arena_release(arena_current(), mark);
    } while (back.changes.at);
    if (records || kept) {
        log_line(LOG_WARN, "store",
                 "a batch that broke off was taken back: %lld records as before, %lld in use stay",
                 (long long)records, (long long)kept);
    }
    return NULL;
}

// One at a time: of two that name the same records in opposite order one comes through, and who
// finds notes knows that nobody works by them any more.
static Err *alone(Db *db, Err *(*work)(Db *db, void *context), void *context)
{
    DbLock *lock = NULL;

    pthread_mutex_lock(&db->turns_lock);
    Err *err = db_lock(db, &lock);
    if (!err) {
        err = work(db, context);
        db_unlock(db, lock);
    }
    pthread_mutex_unlock(&db->turns_lock);
    return err;
}

// ---------------------------------------------------------------------------------------------
// For others

typedef struct {
    const TxOptions *options;
    Turn turn;
} Change;

static Err *change_run(Db *db, void *context)
{
    Change *change = context;

    TRY(take_back(db, S("")));
    Err *err = turns_run(db, change->options, &change->turn);
    if (!err || !change->turn.number) {
        return err;
    }
    Err *broken = take_back(db, change->turn.work);
    if (!broken) {
        return err;
    }
    log_line(LOG_ERROR, "store", "a batch is not taken back yet: " STR_FMT,
             STR_ARG(broken->message));
    return err_text(503, "Some records are stored and will be taken back: " STR_FMT,
                    STR_ARG(err->message));
}

Err *db_write_in_turns(Db *db, const TxOptions *options, size_t n,
                       Err *(*write)(Tx *tx, size_t from, size_t to, void *context), void *context)
{
    Change change = {options, {.work = uuid_new(), .n = n, .write = write, .context = context}};

    return n > RECORDS ? alone(db, change_run, &change) : turns_run(db, options, &change.turn);
}

static Err *notes_count(Tx *tx, void *context)
{
    return sql_rows(tx, "select count(*) from " TURNS_TABLE, NO_ARGS, take_count, context);
}

static Err *mend(Db *db, void *context)
{
    (void)context;
    return take_back(db, S(""));
}

Err *db_mend(Db *db)
{
    int64_t n = 0;

    TRY(tx_run(db, &(TxOptions){.kind = READ}, notes_count, &n));
    return n ? alone(db, mend, NULL) : NULL;
}
