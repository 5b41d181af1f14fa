// What store.c, tx.c and the backends share: the structs behind Store, Db and Tx, and the functions
// of a backend. Nothing else includes it.
#pragma once

#include "base/meter.h"
#include "store/backend.h"

#include <pthread.h>
#include <stdatomic.h>

struct LoadedRow;

// One database system. `begin`, `commit` and `rollback` are called once per transaction, between
// db_hold and db_release; commit and rollback always end it, also when they fail. All errors are
// complete (status and text).
typedef struct Backend {
    const char *name;
    Err *(*open)(Store *store);
    void (*close)(Store *store);
    // Finds or makes the database and prepares db->state; the connections open when they are
    // needed.
    Err *(*db_open)(Db *db, bool create);
    // No transaction is open in it, and none begins.
    Err *(*db_drop)(Db *db);
    // Opens what is closed and keeps it open until the release; 404 text if it is gone.
    Err *(*db_hold)(Db *db);
    void (*db_release)(Db *db);
    // Between processes, see db_lock; NULL: there is one.
    Err *(*db_lock)(Db *db, DbLock **lock);
    void (*db_unlock)(DbLock *lock);
    Err *(*db_names)(Store *store, StrList *names);
    Err *(*db_backup)(Db *db, const char *file);
    Err *(*begin)(Tx *tx);
    Err *(*commit)(Tx *tx);
    void (*rollback)(Tx *tx);
    Err *(*renew)(Tx *tx); // of a READ transaction: its snapshot
    Err *(*rows)(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *),
                 void *context);
    // Rows piece by piece; NULL: `rows` does so.
    Err *(*walk)(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *),
                 void *context);
    // Many rows of one table at once, an error ends the transaction; NULL: one by one is as good.
    Err *(*load)(Tx *tx, const struct LoadedRow *rows, size_t n);
    Err *(*exec)(Tx *tx, const char *sql, Args args, int64_t *changed, const OnViolation *on);
    Err *(*flush)(Tx *tx); // NULL: every write waits for its answer
    // NULL: always. Else one process of several runs what runs once for all.
    bool (*leads)(const Store *store);
    bool has_many_writers;
    bool counts_round_trips; // itself; else tx.c counts those there would be
    // Sends what the reads ask before it waits; NULL: one after the other is as good.
    Err *(*together)(Tx *tx, const Read *reads, size_t n);
    // Reads that fill a cache are not asked together with others; the former state.
    bool (*together_pause)(Tx *tx, bool pauses);
    Str (*row_text)(const Row *row, int column);
    int64_t (*row_int)(const Row *row, int column);
    double (*row_real)(const Row *row, int column);
    bool (*row_is_null)(const Row *row, int column);
    // Writers of the open group before this transaction (its members are not committed yet).
    const Tx *(*group_members)(const Tx *tx);
    // As words_write, when something changed: NULL for who has no words.
    Err *(*words_write)(Tx *tx, const Collection *of, int64_t pk, const Str *old, const Str *now,
                        size_t n);
    Err *(*words_make)(Tx *tx, const Collection *of, const char *const *columns, size_t n);
    Err *(*words_drop)(Tx *tx, const char *table);
    Err *(*table_columns)(Tx *tx, const char *table, StrList *columns);
    Err *(*index_names)(Tx *tx, const char *table, StrList *names);
    // Memory is short: what connections at rest hold. NULL: that is little.
    void (*give_back)(Store *store);
    // NULL: its planner looks at the data.
    Err *(*note_coarse)(Tx *tx, const char *table, const StrList *indexes);
    // As db_foreign_keys; NULL: the engine looks after references.
    Err *(*foreign_keys)(Tx *tx, Err *(*each)(const Row *, void *), void *context);
    // What the database does for a statement, a step a line, each as deep as it lies in another;
    // nothing is run. NULL: this one tells elsewhere.
    Err *(*plan)(Tx *tx, const char *sql, Str *out);
    void (*figures)(const Store *store, StoreFigures *figures);
    void (*facts)(Store *store, StoreFacts *facts); // store NULL: none is open
    Dialect dialect;
} Backend;

extern const Backend backend_sqlite, backend_postgres;

enum {
    SLOTS_MAX = 8,
};

typedef void (*SlotFree)(void *);

// Values that other files hang on a store or a database, told apart by the function that frees
// them.
typedef struct {
    pthread_mutex_t lock; // guards the giving out of slots; the values are their owners' business
    struct Slot {
        _Atomic(SlotFree) free_slot; // set once
        void *value;
    } at[SLOTS_MAX];
} Slots;

void slots_init(Slots *slots);
// The slots stay given out, empty.
void slots_clear(Slots *slots);

struct Store {
    pthread_mutex_t lock; // guards dbs, db_count, db_cap, arena
    Arena *arena;         // databases, as long as the store lives
    Db **dbs;
    size_t db_count, db_cap;
    const Backend *backend;
    StoreOptions options;
    void *state; // the backend's
    Slots slots;
};

struct Db {
    Store *store;
    Str name;
    void *state;                 // the backend's
    _Atomic uint64_t generation; // raised by every commit that wrote
    _Atomic bool is_gone;        // dropped; made again by db_open with `create`
    _Atomic int64_t used_ns;     // when its last transaction ended
    atomic_size_t cached_bytes;  // of the values made of its records
    pthread_mutex_t turns_lock;  // of turns.c: one change of many records at a time
    _Atomic int64_t shaped_ns;   // when this process heard last that tables changed
    Slots slots;
};

typedef struct {
    const Collection **at;
    size_t len, cap;
} Written;

struct Row {
    const Backend *backend;
    void *cursor;
};

struct Tx {
    Db *db;
    const Backend *backend;
    TxKind kind;
    bool is_batch, takes_long, locks_rows, is_scattered;
    bool has_ended;   // by itself, after a failure; only commit or rollback may follow
    bool has_changed; // a statement changed something
    bool has_events;
    bool has_new_states; // of tables
    bool tells_changes;  // to other processes
    bool lags;           // a replica serves it, as long as no other failed to
    bool has_pending;    // writes that a backend with round trips has not sent yet
    bool plans_anew;     // see tx_plan_anew
    int together;        // depth of tx_together
    bool has_together_read;
    Time now;
    Str user_id;
    int64_t begun_ns;
    uint64_t snapshot_generation;
    int64_t not_before_ns; // see TxOptions
    uint64_t reader;
    TxCost cost;
    Str cql; // the query whose statements run; at == NULL: none
    TxExtra *extra;
    Written written;
    int64_t last_pk; // of the last inserted row
    int walks;       // that are open, one inside the other
    int statements;  // the same of all whose rows are looked at

    // The backend's: its connection, what it reads together, and its place in the group.
    void *conn, *backend_reads, *replica;
    Tx *next_member;
    bool is_done;       // the group's commit is over (guarded by the backend)
    const char *failed; // why it failed, or NULL
};

// What the transaction read and wrote is no longer so: called by a backend that rolled it back
// early.
void tx_forget(Tx *tx);
// Called by a backend after a commit that wrote, before any member is answered: raises the
// generation and tells caches and outbox. `members` is the list of transactions in it.
void db_committed(Db *db, const Tx *members);
// Another process changed these collections.
void db_changed_elsewhere(Db *db, const Collection *const *changed, size_t n);
// NULL if this process has not opened it.
Db *db_if_open(Store *store, Str name);
// The budget's parts: page caches of all writers together; records, and values made of them.
int64_t store_page_bytes(const Store *store);
// The database that was not used for longest, of those with cached values; NULL if there is none.
Db *db_resting_longest(const Db *but);

// ---------------------------------------------------------------------------------------------
// statements.c: for backends

// The pseudo-module of commits and checkpoints.
Meter *store_meter(void);
// A text of SQL as statistics know it; lives as long as the process.
const char *statement_shape(Str sql);
// In debug builds at level debug: the statement with its values.
void statement_log(const char *sql, Args args);
// A statement of the transaction is over.
void statement_ended(const Tx *tx, const char *shape, MeterMark begun, int64_t rows);
// What will be counted then, so that it is at hand.
void statement_begins(const char *shape);
