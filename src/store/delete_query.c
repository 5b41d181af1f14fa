// Deleting by query.
//
// The query is decided in a snapshot, where it is in nobody's way however long it takes. Then the
// writer's turn is asked for, as often as needed, each time for a few records that are asked once
// more whether they match. If they are more than fit into one turn, all are first asked whether
// they may go: a query with one that may not deletes nothing.
#include "store/query.h"
#include "store/tx.h"

#include <string.h>

enum {
    PIECE = 50, // records of one turn: some milliseconds
    PKS_MAX = 1024 * 1024 * 1024,
};

typedef struct {
    int64_t *at;
    size_t len, cap;
    Arena *arena;
} Pks;

typedef struct {
    const Collection *of;
    Str cql;
    Plan plan;
    Pks found;
} Deletion;

// Up to PIECE of the records that were found, and what is done to each that still matches.
typedef struct {
    const Deletion *deletion;
    const int64_t *pks;
    size_t len;
    Err *(*each)(Tx *tx, const Collection *of, const Known *record);
    Known records[PIECE];
    size_t count;
} Piece;

// ---------------------------------------------------------------------------------------------
// What matches

static Err *pk_take(int64_t pk, void *context)
{
    Pks *pks = context;

    pks->at = array_room(pks->arena, pks->at, pks->len, &pks->cap, sizeof *pks->at);
    pks->at[pks->len++] = pk;
    return NULL;
}

static Err *row_take(const Row *row, void *context)
{
    return pk_take(row_int(row, 0), context);
}

static Err *matches_find(Tx *tx, const Plan *plan, Pks *out)
{
    if (!plan->is_exact) {
        Scan scan = {.limit = INT64_MAX, .each = pk_take, .context = out};
        return query_scan(tx, plan, &scan);
    }
    Str sql = str_fmt("select pk from \"%s\"%s" STR_FMT, plan->of->table,
                      plan->where.at ? " where " : "", STR_ARG(plan->where));

    return sql_walk(tx, str_z(sql), plan->args, row_take, out);
}

static Err *find_step(Tx *tx, void *context)
{
    Deletion *deletion = context;
    ListRequest request = {.query = deletion->cql};

    TRY(query_plan(tx, deletion->of, &request, &deletion->plan));
    // The order is nobody's concern.
    deletion->plan.key_count = 0;
    tx_note_query(tx, deletion->cql);
    return matches_find(tx, &deletion->plan, &deletion->found);
}

// ---------------------------------------------------------------------------------------------
// Pieces

// "pk in ($5, $6 ...)" and its arguments, always as many: one text for all pieces.
static Str pks_condition(const Piece *piece, Arg *args, size_t before)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < PIECE; i++) {
        args[before + i] = A_INT(piece->pks[i < piece->len ? i : 0]);
        buf_fmt(&sql, "%s$%zu", i ? ", " : "pk in (", before + i + 1);
    }
    buf_char(&sql, ')');
    return buf_str(&sql);
}

// The query, of these records alone.
static Plan piece_plan(const Piece *piece)
{
    Plan plan = piece->deletion->plan;
    size_t n = plan.args.len;
    Arg *args = NEW_ARRAY(Arg, n + PIECE);

    if (n) {
        memcpy(args, plan.args.at, n * sizeof *args);
    }
    Str these = pks_condition(piece, args, n);
    plan.where = plan.where.at
                     ? str_fmt(STR_FMT " and (" STR_FMT ")", STR_ARG(these), STR_ARG(plan.where))
                     : these;
    plan.args = (Args){args, n + PIECE};
    return plan;
}

static Err *record_take(const Row *row, void *context)
{
    Piece *piece = context;

    piece->records[piece->count++] =
        (Known){row_int(row, 0), str_copy(arena_current(), row_text(row, 1))};
    return NULL;
}

static Err *records_read(Tx *tx, Piece *piece, const Pks *pks)
{
    const Piece matching = {.pks = pks->at, .len = pks->len};
    Arg args[PIECE];
    Str sql = str_fmt("select pk, doc from \"%s\" where " STR_FMT, piece->deletion->of->table,
                      STR_ARG(pks_condition(&matching, args, 0)));

    return sql_rows(tx, str_z(sql), (Args){args, PIECE}, record_take, piece);
}

static Err *piece_step(Tx *tx, void *context)
{
    Piece *piece = context;
    Plan plan = piece_plan(piece);
    Pks matching = {.arena = arena_current()};

    piece->count = 0;
    TRY(matches_find(tx, &plan, &matching));
    if (matching.len) {
        TRY(records_read(tx, piece, &matching));
    }
    for (size_t i = 0; i < piece->count; i++) {
        ArenaMark mark = arena_mark(arena_current());
        TRY(piece->each(tx, piece->deletion->of, &piece->records[i]));
        arena_release(arena_current(), mark);
    }
    return NULL;
}

static Err *pieces_run(Db *db, const TxOptions *options, Piece *piece, int64_t *n)
{
    const Pks *all = &piece->deletion->found;

    *n = 0;
    for (size_t i = 0; i < all->len; i += PIECE) {
        ArenaMark mark = arena_mark(arena_current());
        piece->pks = all->at + i;
        piece->len = all->len - i < PIECE ? all->len - i : PIECE;
        Err *err = tx_run(db, options, piece_step, piece);
        // Two transactions that met in the database: one is undone and may begin again.
        if (err && err->may_repeat) {
            err = tx_run(db, options, piece_step, piece);
        }
        TRY(err);
        *n += (int64_t)piece->count;
        arena_release(arena_current(), mark);
    }
    return NULL;
}

Err *db_delete_query(Db *db, const TxOptions *writer, const Collection *of, Str cql, int64_t *n)
{
    Deletion deletion = {.of = of, .cql = cql, .found.arena = arena_new(PKS_MAX)};
    Piece *piece = NEW(Piece);
    TxOptions reader = {.kind = READ, .now = writer->now};

    *n = 0;
    *piece = (Piece){.deletion = &deletion, .each = record_may_go};
    Err *err = tx_run(db, &reader, find_step, &deletion);
    if (!err && deletion.found.len > PIECE) {
        int64_t free_to_go = 0;
        err = pieces_run(db, &reader, piece, &free_to_go);
    }
    if (!err) {
        piece->each = record_delete;
        err = pieces_run(db, writer, piece, n);
    }
    arena_free(deletion.found.arena);
    return err;
}
