// Read replicas: which of them may serve a READ, and how far each is.
//
// A thread asks the primary each second how far its log is on the disk, and each replica how far it
// has replayed. A replica that has come to a place of the log has all that was committed before the
// primary was asked about that place: a moment on our own clock, so neither the clocks of the
// servers nor an idle primary deceive (the time of the last replayed commit would).
//
// Requests never wait for a replica that is away: they ask only one that has just answered the
// thread, and when it falls silent its connections are cut, so that whoever waits goes to the
// primary. It is tried again by the thread, each time later.
#include "store/postgres.h"

#include "base/die.h"
#include "base/log.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LOOK_EVERY_MS = 1000,
    ANSWER_MS = 2000, // a server that does not answer the thread within this is away
    AGAIN_FIRST_MS = 250,
    AGAIN_MAX_MS = 15000,
    CALM_MS = 30000, // up for so long: the next failure is a first one
    PLACES = 1024,   // seconds of the primary's log that are remembered
    NAME_MAX_BYTES = 80,
    IDENTITY_MAX = 64,
};

#define MS_NS      ((int64_t)1000000)
#define LAG_MAX_NS ((int64_t)10 * 1000 * MS_NS) // decision 50

// All that was committed before `at_ns` is before this byte of the log.
typedef struct {
    int64_t at_ns;
    uint64_t log;
} Place;

typedef struct {
    PgPool pool;
    PgReplicas *all;
    char name[NAME_MAX_BYTES];
    _Atomic bool is_up;           // it answered last time, and follows the primary
    _Atomic bool is_suspect;      // a request could not be served
    _Atomic int64_t has_until_ns; // everything that was committed before; 0: not known
    _Atomic int64_t lag_ns;       // when it answered last
    _Atomic uint64_t reads, fallbacks;

    // The thread's own.
    PGconn *pg;
    char identity[IDENTITY_MAX];
    int64_t look_at_ns, up_since_ns, again_ms;
    const char *trouble; // that was told; NULL: none
} Replica;

struct PgReplicas {
    PostgresStore *store;
    pthread_t thread;
    int wake_fd;
    _Atomic bool stops;
    int count;
    Replica at[REPLICAS_MAX];

    // The thread's own.
    PGconn *pg;                  // to the primary
    char identity[IDENTITY_MAX]; // of the database: cluster and oid
    long timeline;               // 0: not known
    Place places[PLACES];
    uint64_t place_count; // ever noted
    int64_t look_at_ns;
};

// ---------------------------------------------------------------------------------------------
// For requests

void *pg_replica_find(const PostgresStore *store, const Tx *tx)
{
    PgReplicas *all = store->replicas;
    int64_t now = clock_ns();

    for (int i = 0; all && i < all->count; i++) {
        Replica *replica = &all->at[(tx->reader + (uint64_t)i) % (uint64_t)all->count];
        int64_t has_until = replica->has_until_ns;
        if (replica->is_up && has_until >= tx->not_before_ns && now - has_until < LAG_MAX_NS) {
            return replica;
        }
    }
    return NULL;
}

static void suspect(Replica *replica)
{
    uint64_t one = 1;

    replica->is_up = false;
    replica->is_suspect = true;
    (void)!write(replica->all->wake_fd, &one, sizeof one);
}

PgConn *pg_replica_take(const Tx *tx)
{
    Replica *replica = tx->replica;
    PgConn *conn = NULL;

    if (replica->is_up && pg_pool_take(&replica->pool, tx->db->state, &conn)) {
        suspect(replica);
    }
    *(conn ? &replica->reads : &replica->fallbacks) += 1;
    return conn;
}

void pg_replica_failed(const Tx *tx, bool is_lost)
{
    Replica *replica = tx->replica;

    replica->fallbacks++;
    if (is_lost) {
        suspect(replica);
    }
}

void pg_replica_figures(const PostgresStore *store, StoreFigures *figures)
{
    const PgReplicas *all = store->replicas;
    int64_t now = clock_ns();

    figures->replica_count = all ? all->count : 0;
    for (int i = 0; i < figures->replica_count; i++) {
        const Replica *replica = &all->at[i];
        int64_t has_until = replica->has_until_ns;
        figures->replicas[i].name = replica->name;
        figures->replicas[i].is_up = replica->is_up;
        figures->replicas[i].lag_ns = !has_until       ? -1
                                      : replica->is_up ? replica->lag_ns
                                                       : now - has_until;
        figures->replicas[i].is_late = figures->replicas[i].lag_ns >= LAG_MAX_NS;
        figures->replicas[i].reads = replica->reads;
        figures->replicas[i].fallbacks = replica->fallbacks;
    }
}

// ---------------------------------------------------------------------------------------------
// Asking a server

// The one row that it answers in time; NULL: no answer, or an error.
static PGresult *ask(PGconn *pg, const char *sql)
{
    int64_t until = clock_ns() + ANSWER_MS * MS_NS;
    PGresult *row = NULL;

    if (!PQsendQuery(pg, sql)) {
        return NULL;
    }
    for (;;) {
        while (!PQisBusy(pg)) {
            PGresult *result = PQgetResult(pg);
            if (!result) {
                return row;
            }
            bool is_row = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
            PQclear(is_row ? row : result);
            row = is_row ? result : row;
        }
        struct pollfd answer = {.fd = PQsocket(pg), .events = POLLIN};
        int64_t left_ms = (until - clock_ns()) / MS_NS;
        if (left_ms <= 0 || poll(&answer, 1, (int)left_ms) <= 0 || !PQconsumeInput(pg)) {
            PQclear(row);
            return NULL;
        }
    }
}

static void disconnect(PGconn **pg)
{
    PQfinish(*pg);
    *pg = NULL;
}

// Which database of which cluster it is: the same on the primary and on its copies.
static bool identity_read(PGconn *pg, char identity[IDENTITY_MAX])
{
    PGresult *row = ask(pg, "select system_identifier || '/' || d.oid from pg_control_system(), "
                            "pg_database d where d.datname = current_database()");

    snprintf(identity, IDENTITY_MAX, "%s", row ? PQgetvalue(row, 0, 0) : "");
    PQclear(row);
    return identity[0] != '\0';
}

// Connected, and the database's identity is known.
static bool connected(PGconn **pg, Str url, const PgPatience *patience, char identity[IDENTITY_MAX])
{
    if (*pg && PQstatus(*pg) == CONNECTION_OK) {
        return true;
    }
    disconnect(pg);
    *pg = pg_connect(url, patience);
    if (PQstatus(*pg) == CONNECTION_OK && identity_read(*pg, identity)) {
        return true;
    }
    disconnect(pg);
    return false;
}

// ---------------------------------------------------------------------------------------------
// The primary

// Whoever has this row follows the primary's timeline: places on other ones mean nothing.
static bool timeline_mark(PgReplicas *all, long timeline)
{
    PGresult *row = ask(all->pg, str_fmt("insert into octavo.octavo_change as c (name, n) "
                                         "values ('timeline', %ld) on conflict (name) do update "
                                         "set n = excluded.n where c.n <> excluded.n",
                                         timeline)
                                     .at);

    PQclear(row);
    row = ask(all->pg, "select n from octavo.octavo_change where name = 'timeline'");
    bool is_marked = row && atol(PQgetvalue(row, 0, 0)) == timeline;
    PQclear(row);
    return is_marked;
}

static void places_forget(PgReplicas *all)
{
    all->place_count = 0;
    all->timeline = 0;
    for (int i = 0; i < all->count; i++) {
        all->at[i].has_until_ns = 0;
    }
}

static void place_note(PgReplicas *all, int64_t at_ns, uint64_t log)
{
    all->places[all->place_count++ % PLACES] = (Place){at_ns, log};
}

// Only what is on the disk: a replica gets no more, and nobody was told about more.
static const char primary_sql[] =
    "select pg_wal_lsn_diff(l, '0/0'), ('x' || left(pg_walfile_name(l), 8))::bit(32)::int "
    "from pg_current_wal_flush_lsn() l";

static void primary_look(PgReplicas *all)
{
    char former[IDENTITY_MAX];

    memcpy(former, all->identity, sizeof former);
    if (!connected(&all->pg, all->store->store->options.url, &pg_patience, all->identity)) {
        memcpy(all->identity, former, sizeof former);
        return;
    }
    int64_t at_ns = clock_ns();
    PGresult *row = ask(all->pg, primary_sql);
    if (!row) {
        disconnect(&all->pg);
        return;
    }
    long timeline = atol(PQgetvalue(row, 0, 1));
    if (timeline != all->timeline || strcmp(former, all->identity) != 0) {
        places_forget(all);
        all->timeline = timeline_mark(all, timeline) ? timeline : 0;
    }
    if (all->timeline) {
        place_note(all, at_ns, strtoull(PQgetvalue(row, 0, 0), NULL, 10));
    }
    PQclear(row);
}

// ---------------------------------------------------------------------------------------------
// A replica

static void trouble_tell(Replica *replica, const char *trouble)
{
    if (trouble && (!replica->trouble || strcmp(trouble, replica->trouble) != 0)) {
        log_line(LOG_WARN, "store", "the replica %s serves no reads: it %s", replica->name,
                 trouble);
    } else if (!trouble && replica->trouble) {
        log_line(LOG_INFO, "store", "the replica %s serves reads", replica->name);
    }
    replica->trouble = trouble;
}

static void progress_note(Replica *replica, uint64_t replayed)
{
    const PgReplicas *all = replica->all;
    uint64_t oldest = all->place_count > PLACES ? all->place_count - PLACES : 0;

    for (uint64_t i = all->place_count; i > oldest; i--) {
        const Place *place = &all->places[(i - 1) % PLACES];
        if (place->log <= replayed) {
            replica->has_until_ns = place->at_ns;
            break;
        }
    }
    if (all->place_count) {
        replica->lag_ns =
            all->places[(all->place_count - 1) % PLACES].at_ns - replica->has_until_ns;
    }
}

static const char replica_sql[] =
    "select pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), "
    "coalesce((select n from octavo.octavo_change where name = 'timeline'), 0)";

// What keeps it from serving; NULL: nothing.
static const char *replica_ask(Replica *replica)
{
    const PgReplicas *all = replica->all;
    const char *trouble = NULL;

    if (!all->timeline) {
        return "cannot be compared with the primary";
    }
    if (!connected(&replica->pg, replica->pool.url, &pg_impatience, replica->identity)) {
        return "cannot be reached";
    }
    if (strcmp(replica->identity, all->identity) != 0) {
        return "is no copy of this database";
    }
    PGresult *row = ask(replica->pg, replica_sql);
    if (!row) {
        return "does not answer";
    }
    if (PQgetvalue(row, 0, 0)[0] != 't') {
        trouble = "is no standby";
    } else if (atol(PQgetvalue(row, 0, 2)) != all->timeline) {
        trouble = "does not follow the primary";
    } else {
        progress_note(replica, strtoull(PQgetvalue(row, 0, 1), NULL, 10));
    }
    PQclear(row);
    return trouble;
}

static void replica_up(Replica *replica, int64_t now)
{
    bool is_late = now - replica->has_until_ns >= LAG_MAX_NS;

    if (!replica->is_up) {
        replica->up_since_ns = now;
    } else if (now - replica->up_since_ns > CALM_MS * MS_NS) {
        replica->again_ms = 0;
    }
    replica->look_at_ns = now + LOOK_EVERY_MS * MS_NS;
    trouble_tell(replica, is_late ? "is ten seconds behind, or more" : NULL);
    replica->is_up = true;
}

// What lasts is told; a new replica may just not have heard of the primary's timeline.
static void replica_away(Replica *replica, const char *trouble, int64_t now)
{
    bool lasts = replica->up_since_ns || replica->again_ms;

    replica->is_up = false;
    disconnect(&replica->pg);
    pg_pool_cut(&replica->pool);
    replica->again_ms = replica->again_ms ? 2 * replica->again_ms : AGAIN_FIRST_MS;
    replica->again_ms = replica->again_ms > AGAIN_MAX_MS ? AGAIN_MAX_MS : replica->again_ms;
    replica->look_at_ns = now + replica->again_ms * MS_NS;
    if (lasts) {
        trouble_tell(replica, trouble);
    }
}

static void replica_look(Replica *replica)
{
    const char *trouble = replica_ask(replica);

    if (trouble) {
        replica_away(replica, trouble, clock_ns());
    } else {
        replica_up(replica, clock_ns());
    }
}

// ---------------------------------------------------------------------------------------------
// The thread

static void wait_for_work(PgReplicas *all)
{
    struct pollfd wake = {.fd = all->wake_fd, .events = POLLIN};
    int64_t next_ns = all->look_at_ns;
    uint64_t count;

    for (int i = 0; i < all->count; i++) {
        next_ns = all->at[i].look_at_ns < next_ns ? all->at[i].look_at_ns : next_ns;
    }
    int64_t left_ms = (next_ns - clock_ns()) / MS_NS + 1;
    if (poll(&wake, 1, left_ms > 0 ? (int)left_ms : 0) > 0) {
        (void)!read(all->wake_fd, &count, sizeof count);
    }
}

static void *watch(void *context)
{
    PgReplicas *all = context;

    while (!all->stops) {
        if (clock_ns() >= all->look_at_ns) {
            primary_look(all);
            all->look_at_ns = clock_ns() + LOOK_EVERY_MS * MS_NS;
        }
        for (int i = 0; i < all->count && !all->stops; i++) {
            Replica *replica = &all->at[i];
            bool is_suspect = atomic_exchange(&replica->is_suspect, false);
            if (is_suspect) {
                disconnect(&replica->pg); // a new connection tells
            }
            if (is_suspect || clock_ns() >= replica->look_at_ns) {
                replica_look(replica);
            }
        }
        arena_reset(arena_current());
        wait_for_work(all);
    }
    disconnect(&all->pg);
    for (int i = 0; i < all->count; i++) {
        disconnect(&all->at[i].pg);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Start and stop

// "host:port", which is all of a URL that may be shown.
static Err *name_read(Str url, char name[NAME_MAX_BYTES])
{
    char *problem = NULL;
    PQconninfoOption *options = PQconninfoParse(str_z(url), &problem);
    const char *host = "", *port = "";

    if (!options) {
        Err *err = err_text(400, "database.replica: %s", problem ? problem : "no URL");
        PQfreemem(problem);
        return err;
    }
    for (PQconninfoOption *one = options; one->keyword; one++) {
        host = strcmp(one->keyword, "host") == 0 && one->val ? one->val : host;
        port = strcmp(one->keyword, "port") == 0 && one->val ? one->val : port;
    }
    snprintf(name, NAME_MAX_BYTES, "%s:%s", host, *port ? port : "5432");
    PQconninfoFree(options);
    return NULL;
}

// URLs by commas; behind a comma inside of one is the next host.
static bool url_next(Str *rest, Str *url)
{
    ptrdiff_t comma = str_find_char(*rest, ',', 0);

    while (comma >= 0 &&
           !str_starts(str_trim(str_sub(*rest, (size_t)comma + 1, SIZE_MAX)), S("postgres"))) {
        comma = str_find_char(*rest, ',', (size_t)comma + 1);
    }
    size_t end = comma < 0 ? rest->len : (size_t)comma;
    *url = str_trim(str_sub(*rest, 0, end));
    *rest = str_sub(*rest, end + 1, SIZE_MAX);
    return url->len > 0;
}

static Err *replicas_read(PgReplicas *all)
{
    Store *store = all->store->store;
    Str rest = store->options.replicas, url;

    while (url_next(&rest, &url)) {
        if (all->count == REPLICAS_MAX) {
            return err_text(400, "database.replica: more than %d", REPLICAS_MAX);
        }
        Replica *replica = &all->at[all->count];
        TRY(name_read(url, replica->name));
        replica->all = all;
        all->count++;
        pg_pool_init(&replica->pool, all->store, str_copy(store->arena, url), &pg_impatience);
        replica->pool.wait_s = 0;
    }
    return NULL;
}

static void replicas_free(PgReplicas *all)
{
    for (int i = 0; i < all->count; i++) {
        pg_pool_end(&all->at[i].pool);
    }
    if (all->wake_fd >= 0) {
        close(all->wake_fd);
    }
    free(all);
}

Err *pg_replicas_start(PostgresStore *store)
{
    if (!str_trim(store->store->options.replicas).len) {
        return NULL;
    }
    PgReplicas *all = calloc(1, sizeof *all);
    if (!all) {
        die("out of memory");
    }
    all->store = store;
    all->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    Err *err = replicas_read(all);
    if (!err && (all->wake_fd < 0 || pthread_create(&all->thread, NULL, watch, all))) {
        err = err_text(500, "No thread for replicas");
    }
    if (err) {
        replicas_free(all);
        return err;
    }
    store->replicas = all;
    return NULL;
}

void pg_replicas_stop(PostgresStore *store)
{
    PgReplicas *all = store->replicas;
    uint64_t one = 1;

    if (!all) {
        return;
    }
    all->stops = true;
    (void)!write(all->wake_fd, &one, sizeof one);
    pthread_join(all->thread, NULL);
    store->replicas = NULL;
    replicas_free(all);
}
