// Statistics of statements by shape and route. Values are never seen: statements carry them as $n.
//
// One table of fixed size for the process; when it is full the rest is counted together.
#include "store/tx.h"

#include "base/log.h"
#include "base/sort.h"

#include "cql/cql.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHAPES = 2048, // places, powers of two
    ENTRIES = 4096,
    SHAPES_MAX = SHAPES / 4 * 3,
    ENTRIES_MAX = ENTRIES / 4 * 3,
    NAME_MAX_BYTES = 64,
    TEXTS_MAX = 64 << 20, // longest shapes times their number
    LOGGED_TEXT_MAX = 200,
    LOGGED_MAX = 1 << 16,
};

// A line of the processor's cache.
typedef struct {
    _Alignas(64) const char *shape;
    const char *route; // of the work, compared as a pointer; shown is the copy
    const char *route_text, *cql;
    int64_t calls, total_ns, max_ns, rows;
    const Db *db; // of the last call
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
static Arena *shape_texts, *entry_texts;                 // the latter go with a reset
static const char *shapes[SHAPES];
static size_t shape_count;
static Entry entries[ENTRIES];
static size_t entry_count;
static Time since;

static const char other_shapes[] = "(other statements)";

// An arena is made when it is first needed.
static Arena *memory_of(Arena **arena)
{
    if (!*arena) {
        *arena = arena_new(TEXTS_MAX);
    }
    return *arena;
}

static const char *text_keep(Arena **arena, Str text)
{
    return str_copy(memory_of(arena), text).at;
}

Meter *store_meter(void)
{
    static Meter *_Atomic meter;

    if (!meter) {
        meter = meter_of("store");
    }
    return meter;
}

const char *statement_shape(Str sql)
{
    pthread_mutex_lock(&lock);
    size_t at = str_hash(sql) % SHAPES;
    while (shapes[at] && !str_eq_z(sql, shapes[at])) {
        at = (at + 1) % SHAPES;
    }
    if (!shapes[at] && shape_count < SHAPES_MAX) {
        shapes[at] = text_keep(&shape_texts, sql);
        shape_count++;
    }
    const char *shape = shapes[at] ? shapes[at] : other_shapes;
    pthread_mutex_unlock(&lock);
    return shape;
}

// ---------------------------------------------------------------------------------------------
// Counting, with the lock held

static size_t entry_place(const char *shape, const char *route)
{
    uint64_t hash = ((uintptr_t)shape >> 4) * 0x9e3779b97f4a7c15u ^ ((uintptr_t)route >> 3);

    return (hash * 0x9e3779b97f4a7c15u) >> 52;
}

static Entry *entry_find(const char *shape, const char *route)
{
    size_t at = entry_place(shape, route);

    while (entries[at].shape && (entries[at].shape != shape || entries[at].route != route)) {
        at = (at + 1) % ENTRIES;
    }
    return &entries[at];
}

static Entry *entry_for(const char *shape, const char *route, Str cql)
{
    Entry *entry = entry_find(shape, route);
    if (entry->shape) {
        return entry;
    }
    if (entry_count >= ENTRIES_MAX) {
        shape = other_shapes;
        route = NULL;
        entry = entry_find(shape, route);
    }
    if (!entry->shape) {
        since = since ? since : time_now();
        *entry = (Entry){.shape = shape, .route = route};
        entry->route_text = route ? text_keep(&entry_texts, str_of(route)) : NULL;
        entry->cql = cql.at ? text_keep(&entry_texts, cql_shape(cql)) : NULL;
        entry_count++;
    }
    return entry;
}

void statement_begins(const char *shape)
{
    const MeterWork *work = meter_work();

    // Memory that was last used some requests ago is far away: it comes while the statement runs.
    if (work) {
        __builtin_prefetch(&entries[entry_place(shape, work->route)], 1);
    }
}

void statement_ended(const Tx *tx, const char *shape, MeterMark begun, int64_t rows)
{
    int64_t ns = meter_statement(shape, begun, rows);

    if (!begun.ns) {
        return;
    }
    pthread_mutex_lock(&lock);
    Entry *entry = entry_for(shape, meter_work()->route, tx->cql);
    entry->calls++;
    entry->total_ns += ns;
    entry->max_ns = ns > entry->max_ns ? ns : entry->max_ns;
    entry->rows += rows;
    entry->db = tx->db;
    pthread_mutex_unlock(&lock);
}

void statement_figures_reset(void)
{
    pthread_mutex_lock(&lock);
    if (entry_texts) {
        arena_reset(entry_texts);
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        if (entries[i].shape) { // others are memory that was never touched
            entries[i] = (Entry){0};
        }
    }
    entry_count = 0;
    since = time_now();
    pthread_mutex_unlock(&lock);
}

// ---------------------------------------------------------------------------------------------
// Reading

Time statements_since(void)
{
    pthread_mutex_lock(&lock);
    Time time = since ? since : time_now();
    pthread_mutex_unlock(&lock);
    return time;
}

// Texts go with the next reset: copies.
static Str shown(const char *text)
{
    return text ? str_copy(arena_current(), str_of(text)) : S("");
}

static size_t entries_copy(StatementFigures **out)
{
    size_t n = 0;

    pthread_mutex_lock(&lock);
    *out = NEW_ARRAY(StatementFigures, entry_count + 1);
    for (size_t i = 0; i < ENTRIES; i++) {
        const Entry *entry = &entries[i];
        if (entry->shape) {
            (*out)[n++] = (StatementFigures){str_of(entry->shape), shown(entry->route_text),
                                             shown(entry->cql),    entry->calls,
                                             entry->total_ns,      entry->max_ns,
                                             entry->rows,          entry->db};
        }
    }
    pthread_mutex_unlock(&lock);
    return n;
}

static int by_number(int64_t a, int64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

static int by_total(const void *a, const void *b)
{
    return by_number(((const StatementFigures *)a)->total_ns,
                     ((const StatementFigures *)b)->total_ns);
}

static int by_mean(const void *a, const void *b)
{
    const StatementFigures *x = a, *y = b;

    return by_number(x->total_ns / x->calls, y->total_ns / y->calls);
}

static int by_max(const void *a, const void *b)
{
    return by_number(((const StatementFigures *)a)->max_ns, ((const StatementFigures *)b)->max_ns);
}

size_t statements_read(StatementOrder order, size_t limit, StatementFigures **out)
{
    static int (*const orders[])(const void *, const void *) = {by_total, by_mean, by_max};
    size_t n = entries_copy(out);

    sort_array(*out, n, sizeof **out, orders[order]);
    return n < limit ? n : limit;
}

// The figures may be older than the store.
static Db *db_of(Store *store, const Db *db)
{
    Db *found = NULL;

    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->db_count && !found; i++) {
        found = store->dbs[i] == db ? store->dbs[i] : NULL;
    }
    pthread_mutex_unlock(&store->lock);
    return found;
}

Str statement_plan(Store *store, const StatementFigures *of)
{
    Db *db = db_of(store, of->db);
    Tx *tx = NULL;
    Str plan = {"", 0};

    if (!db || !store->backend->plan || tx_begin(db, &(TxOptions){.kind = READ}, &tx)) {
        return plan;
    }
    if (store->backend->plan(tx, str_z(of->shape), &plan)) {
        plan = (Str){"", 0};
    }
    tx_rollback(tx);
    return plan;
}

// The verb, and the table behind "from", "into" or "update".
static Str shape_name(Str shape)
{
    Str rest = shape, word = {0}, verb = {0}, table = S("?");
    bool is_next = false;

    (void)str_next(&rest, ' ', &verb);
    is_next = str_eq(verb, S("update"));
    while (str_next(&rest, ' ', &word)) {
        if (is_next && word.len) {
            table = word;
            break;
        }
        is_next = str_eq(word, S("from")) || str_eq(word, S("into"));
    }
    Buf name = buf_new(arena_current(), NAME_MAX_BYTES);
    buf_add(&name, verb);
    buf_char(&name, ' ');
    for (size_t i = 0; i < table.len; i++) {
        if (table.at[i] != '"' && table.at[i] != '(') {
            buf_char(&name, table.at[i]);
        }
    }
    return buf_str(&name);
}

size_t statements_by_name(StatementFigures **out)
{
    StatementFigures *all = NULL;
    size_t n = entries_copy(&all), names = 0;

    for (size_t i = 0; i < n; i++) {
        Str name = shape_name(all[i].shape);
        size_t k = 0;
        while (k < names && !str_eq(all[k].shape, name)) {
            k++;
        }
        StatementFigures one = all[i];
        if (k == names) {
            all[names++] = (StatementFigures){.shape = name};
        }
        all[k].calls += one.calls;
        all[k].total_ns += one.total_ns;
        all[k].rows += one.rows;
        all[k].max_ns = one.max_ns > all[k].max_ns ? one.max_ns : all[k].max_ns;
    }
    *out = all;
    return names;
}

// ---------------------------------------------------------------------------------------------
// The log

#ifdef OCTAVO_HOOKS
// At level debug each statement with its values, documents by their size: where bench/floor.txt
// comes from (decision 61).
static void value_add(Buf *line, const Arg *arg)
{
    switch (arg->kind) {
    case ARG_NULL:
        buf_add_z(line, " null");
        return;
    case ARG_INT:
        buf_fmt(line, " %lld", (long long)arg->integer);
        return;
    case ARG_REAL:
        buf_fmt(line, " %g", arg->real);
        return;
    case ARG_TEXT:
    case ARG_BLOB:
        break;
    }
    if (arg->text.len > LOGGED_TEXT_MAX) {
        buf_fmt(line, " doc:%zu", arg->text.len);
    } else {
        buf_fmt(line, " '" STR_FMT "'", STR_ARG(arg->text));
    }
}

void statement_log(const char *sql, Args args)
{
    if (log_level() != LOG_DEBUG) {
        return;
    }
    Buf line = buf_new(arena_current(), LOGGED_MAX);
    for (size_t i = 0; i < args.len; i++) {
        value_add(&line, &args.at[i]);
    }
    log_line(LOG_DEBUG, "store", "statement: %s --" STR_FMT, sql, STR_ARG(buf_str(&line)));
}
#else
void statement_log(const char *sql, Args args)
{
    (void)sql, (void)args;
}
#endif
