// What the collection engine asks of the database below it: statements, words, sorted sets, facts
// of tables; and what transactions, caches and the outbox tell each other.
//
// Nothing outside src/store includes it. collection.c, query.c and the rest build SQL through
// Dialect and run it through sql_rows and sql_exec; store.c and tx.c pass everything on to the
// backend (tx.h).
#pragma once

#include "base/buf.h"
#include "store/store.h"

typedef struct Conn Conn; // one connection with its prepared statements

// Named fragments in which the databases differ (decision 46). `n` is the number of the parameter.
typedef struct {
    void (*ids_in)(Buf *sql, const char *column, int n); // column is one of the texts in $n
    Str (*ids)(const Str *ids, size_t n);                // such texts as one value
    void (*like)(Buf *sql, const char *column, int n);   // LIKE with \ as escape, case-sensitive
    // pk in (rows of the collection whose words match $n); $n is built by words_query. Beside an
    // alternative it must be something that an index of pk can serve.
    void (*words)(Buf *sql, const char *table, const char *column, int n, bool has_alternative);
    // Operator "phrase", "all", "any" over folded words; a prefix word ends in '*'.
    Str (*words_query)(const char *column, int operator_, const Str *words, const bool *is_prefix,
                       size_t n);
    // A planner that does not look at the data is led by `walk_index`, behind a table's name: the
    // database walks this index and tests each row. `sorts`: it would sort for this statement.
    void (*walk_index)(Buf *sql, const char *index);
    Err *(*sorts)(Tx *tx, const char *sql, Args args, bool *out);
    // One that goes by statistics, by subqueries: this at the end of one makes it find the rows of
    // that one first. NULL: it is of the other kind.
    const char *fence;
    // Condition: the column holds a text that an index could not take whole, cut to
    // KEY_BYTES_MAX; NULL: indexes take texts of any length.
    void (*is_cut)(Buf *sql, const char *column);
    // Behind a select, "" where one writer has the database alone: locks rows that will be changed,
    // that will be deleted, that others must not delete.
    const char *lock_row, *lock_end, *lock_stay;
    const char *seldom;  // before a range in parentheses: few records are in it
    const char *analyze; // gathers statistics about the table named behind it; NULL: none needed
    const char *serial_key, *integer_type, *real_type, *text_type;
    const char *serial_key_once; // as serial_key, and a number never comes back
} Dialect;

enum { WORDS_PHRASE, WORDS_ALL, WORDS_ANY };

// Which rule of the database a statement broke.
typedef struct {
    bool is_reference; // a foreign key; else a unique key
    StrList columns;   // side columns of the broken key; "id" for the primary key; or
    Str index;         // name of its index or of the foreign key
    Str table;         // whose rule it is
} Violation;

// What a write says when it broke a rule. A backend that sends writes later keeps a copy and calls
// it when the database has answered; statements inside it read.
typedef struct OnViolation {
    Err *(*explain)(Tx *tx, const Violation *violation, const struct OnViolation *on);
    const void *of; // its collection, in whatever form `explain` wants
    Str doc;        // the record that was written, or the id of the one that was deleted
    bool is_insert;
} OnViolation;

// Runs one statement. A broken rule answers what `on` says (NULL when none can be broken); a full
// disk is 500 text "... disk is full ...". A write without `changed` may be sent later: its error
// then comes with the next read or the commit.
WARN_UNUSED Err *sql_rows(Tx *tx, const char *sql, Args args,
                          Err *(*each)(const Row *row, void *context), void *context);
// As sql_rows for a select of very many rows: they are never in memory all at once.
WARN_UNUSED Err *sql_walk(Tx *tx, const char *sql, Args args,
                          Err *(*each)(const Row *row, void *context), void *context);
WARN_UNUSED Err *sql_exec(Tx *tx, const char *sql, Args args, int64_t *changed,
                          const OnViolation *on);
// Loads the rows, all of one table, if the backend has a way of its own; else *is_done is false.
struct LoadedRow;
WARN_UNUSED Err *rows_load(Tx *tx, const struct LoadedRow *rows, size_t n, bool *is_done);
// A failed write ends the transaction: those that may fail come alone.
bool db_fails_whole(const Db *db);
// A reader whose snapshot is older than a second lets it go and takes a new one with its next
// statement (decision 42); at once: whatever its age. Nothing happens in a writer, inside of a
// statement, or among reads that go together.
WARN_UNUSED Err *tx_renew(Tx *tx, bool at_once);
// The database itself keeps references: a write that breaks one fails (OnViolation).
bool db_keeps_references(const Db *db);
bool tx_keeps_references(const Tx *tx);
const Dialect *tx_dialect(const Tx *tx);
bool tx_writes(const Tx *tx);
bool tx_locks_rows(const Tx *tx); // others may write beside it
// Whether the statements that come next are planned for their values each time, or may be once for
// all values: where one finds half of the table and another one nearly nothing.
void tx_plan_anew(Tx *tx, bool does);
// The query whose statements come next, for statistics; at == NULL: none.
void tx_note_query(Tx *tx, Str cql);
void tx_note_states(Tx *tx); // the transaction changed what octavo_table says
// This process knows tables as they are from now on: no replica answers that has older ones.
void db_note_shape(Db *db);

// The words of a record's word-search columns (decision 47): replace `old` by `new` for row pk;
// each array has one folded text per WORDS field in the order of the fields; NULL = none. pk 0 =
// the row that this transaction inserted last.
WARN_UNUSED Err *words_write(Tx *tx, const Collection *of, int64_t pk, const Str *old,
                             const Str *now, size_t n);
// Makes the word table of a collection if it lacks; drops it if it exists.
WARN_UNUSED Err *words_make(Tx *tx, const Collection *of, const char *const *columns, size_t n);
WARN_UNUSED Err *words_drop(Tx *tx, const char *table);

// A sorted set of (key, pk) outside any transaction, on disk beyond a small size: sorting by fields
// without a side column.
typedef struct Spool Spool;
WARN_UNUSED Err *spool_new(Spool **out);
WARN_UNUSED Err *spool_add(Spool *spool, Str key, bool key_is_null, int64_t pk);
// Walks in order of key (nulls last ascending, first descending; pk breaks ties).
WARN_UNUSED Err *spool_read(Spool *spool, bool descending, int64_t offset, int64_t limit,
                            Err *(*each)(int64_t pk, void *context), void *context);
void spool_free(Spool *spool);

// DDL facts of the live database, for migrate.c.
WARN_UNUSED Err *db_table_columns(Tx *tx, const char *table, StrList *columns); // empty: no table
// Foreign keys of such a database: name, table, table it refers to, whether all rows keep it.
WARN_UNUSED Err *db_foreign_keys(Tx *tx, Err *(*each)(const Row *row, void *context),
                                 void *context);
// Those that may be dropped, made by "create index".
WARN_UNUSED Err *db_index_names(Tx *tx, const char *table, StrList *names);
// Tells a planner that does not look at the data in which indexes of the table each value stands
// many times.
WARN_UNUSED Err *db_note_coarse(Tx *tx, const char *table, const StrList *indexes);

// Group state a cache must know: true if this transaction, or an earlier member of its uncommitted
// group, wrote to the collection.
bool tx_has_written(const Tx *tx, const Collection *of);
void tx_note_write(Tx *tx, const Collection *of);
// Called by tx.c after a commit with every collection the group wrote, when db_generation is raised
// already and before any member is answered.
void cache_committed(Db *db, const Collection *const *written, size_t n);
// Per-database and per-transaction slots for the caches and the list code; freed by the given
// functions.
void **db_slot(Db *db, void (*free_slot)(void *));
typedef struct TxExtra TxExtra; // engine.h: pinned entries, records read so far
TxExtra **tx_extra(Tx *tx);
void cache_tx_end(Tx *tx); // called by tx.c when a transaction ended, before its memory goes
// What is kept of a database goes, values in use when their transactions end. True if there was
// something.
bool cache_give_back(Db *db);
bool table_states_give_back(Db *db);
void extras_give_back(void);
int64_t cache_bytes(void);                      // over all databases
int64_t store_record_bytes(const Store *store); // what they may be
// Around reads that fill a cache inside of tx_together: they wait for their rows. Returns the
// former state, for the call behind them.
bool tx_together_pause(Tx *tx, bool pauses);
uint64_t tx_snapshot_generation(const Tx *tx); // db generation read before the snapshot was taken
uint64_t db_generation(const Db *db);          // raised after every commit that wrote

// Outbox: tx.c calls outbox_flush as the last act before a writing transaction ends well (its
// insert may fail like any statement), and outbox_committed after a commit of a group that wrote
// events.
WARN_UNUSED Err *outbox_flush(Tx *tx);
void outbox_committed(Db *db);
void changes_tell(Db *db, const Collection *const *changed, size_t n);
void tx_count_events(Tx *tx, int n); // tx.c: adds to TxCost.events, marks the group
Store *db_store(const Db *db);
void **store_slot(Store *store, void (*free_slot)(void *)); // for the wanted topics
