// News between nodes: what is kept in memory elsewhere is told when it changes; one node leads.
//
// A commit raises counters of what it changed in octavo_change, in its own transaction. A thread
// per process tells the others with NOTIFY, after the commit: inside of it NOTIFY would let only
// one commit at a time be written. All counters are looked at every five seconds too, so lost news
// delay a change, and nothing else. The thread's connection also holds the leader's lock: who has
// it runs relay, jobs and timers for all nodes.
#include "store/engine.h"
#include "store/postgres.h"

#include "base/die.h"
#include "base/log.h"
#include "base/uuid.h"
#include "base/sort.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LOOK_EVERY_MS = 5000,
    OPEN_AGAIN_MS = 250,
    ANSWER_MS = 5000,
    LEADER_KEY = 0x6f637461,
    NEWS_MAX = 256, // collections whose change is told at once
};

#define CHANNEL "octavo"

// ---------------------------------------------------------------------------------------------
// In a transaction: counters of what it changed

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

bool pg_changes_send(Tx *tx)
{
    Str names[NEWS_MAX];
    size_t n = 0;

    if (tx->has_new_states) {
        names[n++] = S(STATE_TABLE);
    }
    for (size_t i = 0; i < tx->written.len && n < NEWS_MAX; i++) {
        if (is_kept_elsewhere(tx->written.at[i])) {
            names[n++] = str_of(tx->written.at[i]->table);
        }
    }
    if (!n) {
        return false;
    }
    sort_array(names, n, sizeof *names, compare_names); // locks come in one order
    Arg list = A_TEXT(tx->backend->dialect.ids(names, n));
    pg_send_statement(tx->conn, SENT_WRITE,
                      "insert into octavo_change (name, n) "
                      "select name, 1 from unnest(cast($1 as text[])) as name "
                      "on conflict (name) do update set n = octavo_change.n + 1",
                      (Args){&list, 1}, NULL);
    return true;
}

static void wake(PgNews *news)
{
    uint64_t one = 1;

    (void)!write(news->wake_fd, &one, sizeof one);
}

void pg_news_tell(PostgresDb *db, bool has_changes, bool has_events)
{
    PgNews *news = &db->store->news;

    if (has_changes) {
        db->tells_changes = true;
    }
    if (has_events && !news->leads) {
        db->tells_events = true;
    }
    if (has_changes || (has_events && !news->leads)) {
        wake(news);
    }
}

// ---------------------------------------------------------------------------------------------
// The thread: what it hears

static void disconnect(PgNews *news)
{
    PQfinish(news->pg);
    news->pg = NULL;
    news->leads = false;
}

// Until the next answer is here; false if it does not come in time.
static bool answer_wait(PGconn *pg, int64_t until_ns)
{
    struct pollfd poll_for = {.fd = PQsocket(pg), .events = POLLIN};

    while (PQisBusy(pg)) {
        int64_t left_ms = (until_ns - clock_ns()) / 1000000;
        if (left_ms <= 0 || poll(&poll_for, 1, (int)left_ms) < 0 || !PQconsumeInput(pg)) {
            return false;
        }
    }
    return true;
}

// The last answer; NULL: none in time, and the connection is given up. libpq would wait for ever,
// and the node would lead no more, or for too long, and hear nothing.
static PGresult *run(PgNews *news, const char *sql)
{
    int64_t until_ns = clock_ns() + (int64_t)ANSWER_MS * 1000000;
    PGresult *last = NULL;
    bool is_sent = PQsendQuery(news->pg, sql);

    for (PGresult *next;
         is_sent && (is_sent = answer_wait(news->pg, until_ns)) && (next = PQgetResult(news->pg));
         last = next) {
        PQclear(last);
    }
    if (!is_sent) {
        PQclear(last);
        last = NULL;
        disconnect(news);
    }
    return last;
}

// With the lock of the store; the list lives in the thread's arena.
static Db **dbs_now(Store *store, size_t *n)
{
    pthread_mutex_lock(&store->lock);
    *n = store->db_count;
    Db **dbs = NEW_ARRAY(Db *, *n + 1);
    if (*n) {
        memcpy(dbs, store->dbs, *n * sizeof(Db *));
    }
    pthread_mutex_unlock(&store->lock);
    return dbs;
}

// The counter as it was seen last; a new one is 0.
static int64_t *seen_of(PostgresDb *db, const char *name)
{
    for (size_t i = 0; i < db->seen_count; i++) {
        if (strcmp(db->seen[i].name, name) == 0) {
            return &db->seen[i].n;
        }
    }
    db->seen = realloc(db->seen, (db->seen_count + 1) * sizeof *db->seen);
    char *copy = strdup(name);
    if (!db->seen || !copy) {
        die("out of memory");
    }
    db->seen[db->seen_count] = (PgSeen){copy, 0};
    return &db->seen[db->seen_count++].n;
}

static void changes_apply(PostgresDb *db, const PGresult *rows)
{
    const Collection *changed[NEWS_MAX];
    size_t n = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        const char *name = PQgetvalue(rows, i, 0);
        int64_t now = atoll(PQgetvalue(rows, i, 1)), *seen = seen_of(db, name);
        if (*seen == now) {
            continue;
        }
        *seen = now;
        const Collection *of = collection_of_table(str_of(name));
        if (strcmp(name, STATE_TABLE) == 0) {
            table_states_forget(db->db);
        } else if (of && n < NEWS_MAX) {
            changed[n++] = of;
        }
    }
    if (n) {
        db_changed_elsewhere(db->db, changed, n);
    }
}

static void db_look(PgNews *news, Db *db)
{
    PostgresDb *state = db->state;

    if (!state || db->is_gone) {
        return;
    }
    PGresult *rows =
        run(news, str_fmt("select name, n from \"%s\".octavo_change", state->schema).at);
    const char *code = PQresultErrorField(rows, PG_DIAG_SQLSTATE);
    if (PQresultStatus(rows) == PGRES_TUPLES_OK) {
        changes_apply(state, rows);
    } else if (code && strcmp(code, "42P01") == 0) {
        db->is_gone = true; // another node dropped it
    }
    PQclear(rows);
}

static void look_at_all(PgNews *news)
{
    size_t n = 0;
    Db **dbs = dbs_now(news->store->store, &n);

    for (size_t i = 0; i < n && PQstatus(news->pg) == CONNECTION_OK; i++) {
        db_look(news, dbs[i]);
    }
}

static void lead_if_free(PgNews *news)
{
    if (news->leads || news->store->store->options.beside_server) {
        return;
    }
    PGresult *rows = run(news, str_fmt("select pg_try_advisory_lock(%d)", LEADER_KEY).at);
    if (PQresultStatus(rows) == PGRES_TUPLES_OK && PQgetvalue(rows, 0, 0)[0] == 't') {
        log_line(LOG_INFO, "store", "this node runs relay, jobs and timers");
        news->leads = true;
    }
    PQclear(rows);
}

// "<node> <c|e> <database>"
static void hear(PgNews *news, const char *text)
{
    Str rest = str_of(text), node, kind;
    Db *db = NULL;

    if (!str_next(&rest, ' ', &node) || str_eq_z(node, news->node) ||
        !str_next(&rest, ' ', &kind)) {
        return;
    }
    if (str_eq(kind, S("c"))) {
        db = db_if_open(news->store->store, rest);
        if (db) {
            db_look(news, db);
        }
    } else if (news->leads && !db_open(news->store->store, rest, false, &db)) {
        outbox_committed(db);
    }
}

static void hear_all(PgNews *news)
{
    for (PGnotify *one; (one = PQnotifies(news->pg)); PQfreemem(one)) {
        hear(news, one->extra);
    }
}

// ---------------------------------------------------------------------------------------------
// What it tells

static void tell(PgNews *news, char kind, Str name)
{
    PQclear(run(
        news,
        str_fmt("notify " CHANNEL ", '%s %c " STR_FMT "'", news->node, kind, STR_ARG(name)).at));
}

static void tell_all(PgNews *news)
{
    size_t n = 0;
    Db **dbs = dbs_now(news->store->store, &n);

    for (size_t i = 0; i < n; i++) {
        PostgresDb *db = dbs[i]->state;
        if (!db) {
            continue;
        }
        if (atomic_exchange(&db->tells_changes, false)) {
            tell(news, 'c', dbs[i]->name);
        }
        if (atomic_exchange(&db->tells_events, false)) {
            tell(news, 'e', dbs[i]->name);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Life of the thread

static bool connect_again(PgNews *news)
{
    if (news->pg && PQstatus(news->pg) == CONNECTION_OK) {
        return true;
    }
    disconnect(news);
    news->pg = pg_connect(news->store->store->options.url, &pg_patience);
    if (PQstatus(news->pg) != CONNECTION_OK) {
        disconnect(news);
        return false;
    }
    PQclear(run(news, "listen " CHANNEL));
    news->look_at_ns = 0; // news may have been missed
    return news->pg != NULL;
}

static void wait_for_news(PgNews *news)
{
    struct pollfd for_what[] = {{.fd = news->wake_fd, .events = POLLIN},
                                {.fd = news->pg ? PQsocket(news->pg) : -1, .events = POLLIN}};
    int64_t left_ms = (news->look_at_ns - clock_ns()) / 1000000;
    uint64_t count;

    left_ms = news->pg ? left_ms : OPEN_AGAIN_MS;
    poll(for_what, 2, left_ms > 0 ? (int)left_ms : 0);
    if (for_what[0].revents) {
        (void)!read(news->wake_fd, &count, sizeof count);
    }
}

static void *news_run(void *context)
{
    PgNews *news = context;

    while (!news->stops) {
        bool is_there = connect_again(news);
        news->store->pool.is_away = !is_there;
        if (is_there) {
            tell_all(news);
            PQconsumeInput(news->pg);
            hear_all(news);
            if (clock_ns() >= news->look_at_ns) {
                look_at_all(news);
                lead_if_free(news);
                news->look_at_ns = clock_ns() + (int64_t)LOOK_EVERY_MS * 1000000;
            }
        }
        arena_reset(arena_current());
        wait_for_news(news);
    }
    disconnect(news);
    return NULL;
}

Err *pg_news_start(PostgresStore *store)
{
    PgNews *news = &store->news;

    news->store = store;
    memcpy(news->node, uuid_new().at, sizeof news->node - 1);
    news->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // Who starts alone leads from its first moment.
    if (connect_again(news)) {
        lead_if_free(news);
    }
    if (news->wake_fd < 0 || pthread_create(&news->thread, NULL, news_run, news)) {
        return err_text(500, "No thread for news between nodes");
    }
    return NULL;
}

void pg_news_wake(PostgresStore *store)
{
    wake(&store->news);
}

void pg_news_stop(PostgresStore *store)
{
    PgNews *news = &store->news;

    news->stops = true;
    wake(news);
    pthread_join(news->thread, NULL);
    close(news->wake_fd);
}

bool pg_leads(const Store *store)
{
    return ((const PostgresStore *)store->state)->news.leads;
}
