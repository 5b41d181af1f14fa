// Reads that do not depend on each other in one round trip.
//
// Each read is an ordinary function that wants its rows at once. Its first statement is sent, and
// it is told to give up; when all have sent theirs, the answers are taken and the functions are
// called again: what they ask now is answered already. A function with several statements goes on
// like that, in step with the others.
#include "store/postgres.h"

#include <string.h>

enum { WAITS = -1 }; // status of the error that makes a function give up

typedef struct Asked {
    const char *sql;
    Arg *args;
    size_t arg_count;
    PGresult *result; // NULL: not answered yet
    struct Asked *next;
} Asked;

struct Together {
    Arena *arena;
    Asked *asked;
    bool is_paused;
};

static bool waits(const Err *err)
{
    return err && err->status == WAITS;
}

static bool is_same(const Asked *asked, const char *sql, Args args)
{
    if (strcmp(asked->sql, sql) != 0 || asked->arg_count != args.len) {
        return false;
    }
    for (size_t i = 0; i < args.len; i++) {
        const Arg *a = &asked->args[i], *b = &args.at[i];
        if (a->kind != b->kind || a->integer != b->integer || a->real != b->real ||
            !str_eq(a->text, b->text)) {
            return false;
        }
    }
    return true;
}

static Asked *asked_new(struct Together *together, const char *sql, Args args)
{
    Asked *asked = arena_alloc(together->arena, sizeof *asked);

    asked->sql = str_copy(together->arena, str_of(sql)).at;
    asked->args = arena_alloc_array(together->arena, args.len + 1, sizeof(Arg));
    asked->arg_count = args.len;
    for (size_t i = 0; i < args.len; i++) {
        asked->args[i] = args.at[i];
        asked->args[i].text = str_copy(together->arena, args.at[i].text);
    }
    asked->next = together->asked;
    together->asked = asked;
    return asked;
}

Err *pg_ask(Tx *tx, const char *sql, Args args, const PGresult **answer)
{
    struct Together *together = tx->backend_reads;
    static Err give_up = {.status = WAITS};

    *answer = NULL;
    if (!together || together->is_paused) {
        return NULL;
    }
    for (Asked *asked = together->asked; asked; asked = asked->next) {
        if (is_same(asked, sql, args)) {
            tx->cost.statements--; // counted when it was sent
            *answer = asked->result;
            return asked->result ? NULL : &give_up;
        }
    }
    TRY(pg_tx_start(tx));
    pg_send_asked(tx->conn, sql, args, &asked_new(together, sql, args)->result);
    return &give_up;
}

// Calls all that are not done; true if one still waits.
static Err *reads_step(Tx *tx, const Read *reads, size_t n, bool *is_done, bool *has_waiting)
{
    *has_waiting = false;
    for (size_t i = 0; i < n; i++) {
        Err *err = is_done[i] ? NULL : reads[i].read(tx, reads[i].context);
        if (err && !waits(err)) {
            return err;
        }
        is_done[i] = !err;
        *has_waiting = *has_waiting || err;
    }
    return NULL;
}

static void together_end(Tx *tx, struct Together *together)
{
    // What was asked for nothing, because another read failed, must not answer into freed memory.
    if (tx->conn && ((PgConn *)tx->conn)->first_sent && together->asked) {
        Err *ignored = tx->has_ended ? NULL : pg_tx_receive(tx, NULL);
        (void)ignored; // the transaction has ended then, and says so
    }
    for (Asked *asked = together->asked; asked; asked = asked->next) {
        PQclear(asked->result);
    }
    tx->backend_reads = NULL;
}

Err *pg_together(Tx *tx, const Read *reads, size_t n)
{
    struct Together own = {.arena = arena_current()};
    bool *is_done = NEW_ARRAY(bool, n);
    bool is_outer = !tx->backend_reads, has_waiting = true;
    Err *err = NULL;

    if (!is_outer) {
        err = reads_step(tx, reads, n, is_done, &has_waiting);
        static Err give_up = {.status = WAITS};
        return err ? err : has_waiting ? &give_up : NULL;
    }
    tx->backend_reads = &own;
    while (!err && has_waiting) {
        err = reads_step(tx, reads, n, is_done, &has_waiting);
        if (!err && has_waiting) {
            err = pg_tx_receive(tx, NULL);
        }
    }
    together_end(tx, &own);
    return err;
}

bool pg_together_pause(Tx *tx, bool pauses)
{
    struct Together *together = tx->backend_reads;
    bool before = together && together->is_paused;

    if (together) {
        together->is_paused = pauses;
    }
    return before;
}
