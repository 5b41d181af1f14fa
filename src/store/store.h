// The store: collections of JSON documents in one database per tenant, and transactions over them.
//
// Vocabulary: a Store is the process's access to all databases; a Db is one tenant's database; a Tx
// is one unit of work in it; a Collection describes a kind of record. SQL here is the same on every
// backend: tables and side columns named by collections, $n parameters.
#pragma once

#include "base/date.h"
#include "base/err.h"
#include "json/json.h"
#include "json/properties.h"

typedef struct Store Store;
typedef struct Db Db;
typedef struct Tx Tx;
typedef struct Collection Collection;

// ---------------------------------------------------------------------------------------------
// Collections

// Type of a side column, one per field.
enum {
    TEXT = 1 << 0,
    UUID = 1 << 1,   // lower-case text; CQL by the rules for ids and foreign keys
    TIME = 1 << 2,   // integer milliseconds; CQL compares instants
    NUMBER = 1 << 3, // integer or real; CQL < > and sorting go by value
    FLAG = 1 << 4,   // 0 or 1; CQL by its text "true", "false"
    TREE = 1 << 5,   // array or object: PostgreSQL's text of it (storage-and-cql.md 2.6)
    // What it is good for.
    INDEX = 1 << 6,  // has an index: CQL < > compare folded text, sorting and == use it
    UNIQUE = 1 << 7, // no two records may have the same (folded) value; absent never collides
    WORDS = 1 << 8,  // CQL = adj all any search words in it
    // How text compares. Default: case and accents ignored (the column holds fold(value)).
    KEEP_CASE = 1 << 9,
    KEEP_ACCENTS = 1 << 10,
    // Only for word search or error text, no column of its own.
    NO_COLUMN = 1 << 11,
    // Beside INDEX, where most records have no value: then they have no entry either, as with UUID
    // and FLAG. Lists sorted by it are sorted when they are read.
    SPARSE = 1 << 12,
    // Beside INDEX: few values, each in many records (a status). Another condition finds them
    // sooner. Flags, and references to small collections, are so by themselves.
    COARSE = 1 << 13,
};

typedef struct Field {
    const char *column; // side column: snake_case
    // Dotted path of the property. Several separated by commas: one text of all, joined by a blank
    // (RMB's multiFieldNames); "arr[*].x" takes that member of each element.
    const char *path;
    unsigned flags;
    const Collection *references; // foreign key; always has an index
    const char *cql_name;         // name in queries when it is not `path` (computed fields)
    // Text of a computed field (the ISBNs of an instance): made from the whole record instead of
    // read at `path`. The query's term goes through `compute_term`, if there is one, before it is
    // compared.
    Str (*compute)(const Json *doc);
    Str (*compute_term)(Str term);
    // Array of objects: the member that "/@" queries search, then the members they may name:
    // "value identifierTypeId" (RMB's arraySubfield, arrayModifiers).
    const char *elements;
} Field;

// A unique key over several columns, or over some records only.
typedef struct {
    const char *columns; // "item_id, position": side columns; text columns hold folded values
    const char *where;   // SQL over side columns, or NULL
    const char *text;    // expression text of FOLIO's message; NULL = made from the fields' paths
} UniqueKey;

// A related collection that queries may name: item: {"holdingsRecords"...}.
// Child tables reach a parent ("instance.title") through one of their own foreign key columns;
// parent tables reach children ("item.barcode") through the child's foreign key column.
typedef struct {
    const char *alias;
    const Collection *collection;
    const char *own_column;   // to a parent: this collection's foreign key column; else NULL
    const char *child_column; // to children: their foreign key column; else NULL
    // Two steps, item to instance by way of its holdings: the collection between and its foreign
    // key column to the upper one. own_column or child_column then is the lower one's key to `via`.
    const Collection *via;
    const char *via_column;
    // Lists may be sorted by the parent's columns. FOLIO's framework ignores such keys; only its
    // view of users with their groups knows them.
    bool sorts;
} Join;

typedef enum { LOCKING_OFF, FAIL_ON_CONFLICT } Locking;

// What made a write fail, for collections with their own wording.
typedef enum { CONFLICT_UNIQUE, CONFLICT_ID, CONFLICT_MISSING_REFERENCE, CONFLICT_IN_USE } Conflict;

struct Collection {
    const char *table;    // table name as FOLIO's messages show it: "loan_type"
    const char *path;     // "/loan-types"; NULL: no HTTP interface
    const char *list_key; // "loantypes"
    const char *ops;      // L list, C create, D delete by query, r get, u put, d delete one
    const char
        *permission; // stem: <stem>.collection.get, .collection.delete, .item.get|post|put|delete
    // Names that do not follow the stem (space-separated if several are needed); NULL = by the
    // stem.
    struct {
        const char *list, *create, *delete_all, *get, *put, *delete_one;
    } permissions;
    const RecordType *record;
    const Field *fields;      // {0} at the end
    const UniqueKey *uniques; // {0} at the end, or NULL
    const Join *joins;        // {0} at the end, or NULL
    Locking locking;
    bool is_cached;           // small reference data: whole records are kept in memory per tenant
    bool is_watched;          // who keeps something made of it has store_on_change
    int default_limit;        // 0 = 10
    const char *default_sort; // CQL sort keys without "sortby"; NULL = id
    const char *event;        // outbox topic of its changes ("inventory.item"), or NULL
    // Message key of its events (decision 21); NULL = the record's id.
    Err *(*event_key)(Tx *tx, const Json *doc, Str *key);
    // What events show of a record where that is more than the record; called only if somebody
    // wants the topic.
    Err *(*event_view)(Tx *tx, const Json *doc, const Json **out);
    // FOLIO answers 200 with the record (or 201 ...) instead of 204 to PUT; 0 = 204.
    int put_status;
    int delete_status; // 0 = 204
    int in_use_status; // DELETE of a referenced record: 0 = 400 text; 422 = errors[]
    bool put_creates;  // PUT of an unknown id stores it (loans)
    // Broken database rules (unique, references) answer 400 text instead of 422 errors[].
    bool post_errors_are_text;
    bool put_errors_are_text;
    bool delete_needs_query; // DELETE on the collection without a query is 400
    bool is_spring;          // speaks as FOLIO's modules built on Spring do (gateway/spring.h)
    bool has_result_info;    // list answers repeat totalRecords in resultInfo
    const char *not_found;   // text of 404; NULL = "Not found"; one %s = the id

    // Hooks. `old` is NULL on insert. Called inside the transaction, after defaults, checks of
    // shape and metadata, before references and side columns; may change `doc`.
    Err *(*before_write)(Tx *tx, const Json *old, Json *doc);
    // After the row is written; `doc` is NULL on delete.
    Err *(*after_write)(Tx *tx, const Json *old, const Json *doc);
    Err *(*before_delete)(Tx *tx, const Json *doc);
    // Decorates a record on its way out (computed members): called by list_next and by who answers
    // GET of one record, not by tx_get or tx_list. Makes lists parse every record: rare.
    Err *(*on_read)(Tx *tx, Json *doc);
    // Own error for a conflict; NULL result = the engine's text. `field` is the violated field or
    // NULL; value as stored or sent.
    Err *(*explain)(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
};

// ---------------------------------------------------------------------------------------------
// Store and databases

typedef struct {
    Str dir;               // data directory of the embedded backend; or
    Str url;               // postgres://... of the other one
    int64_t cache_bytes;   // page caches of writers and record caches together
    int readers_max;       // reader connections for all tenants together
    int connections;       // to each server of the other backend, for all tenants; 0 = 20
    Str replicas;          // URLs of its read replicas, by commas
    int statement_limit_s; // of one statement there, and
    int lock_limit_s;      // of its waiting for a lock: 503; 0 = no end
    bool faults;           // debug build: the fault layer stands under the database files
    int read_limit_ms;     // what a snapshot may be read, or one query of a writer: 503; 0 = no end
    int idle_close_ms;     // a database not used for so long closes its files; 0 = 60,000
    bool beside_server;    // reads and backups only, while another process serves the directory
    bool is_building;      // worth nothing until it is complete: nothing is synced, memory is used
} StoreOptions;

// True: a READ may lag (TxOptions).
bool store_has_replicas(const Store *store);
WARN_UNUSED Err *store_open(const StoreOptions *options, Store **out);
// Checkpoints and closes; no transaction may be open.
void store_close(Store *store);

// A tenant's database, opened on first use and kept; made if it does not exist and `create`. The
// process's own database has the name "octavo". Errors: 404 text if absent.
WARN_UNUSED Err *db_open(Store *store, Str name, bool create, Db **out);
WARN_UNUSED Err *db_drop(Store *store, Str name);
// For work of several transactions that only one process may do at a time. Waits; those of this
// process need a lock of their own. NULL in *lock: there is no other process.
typedef struct DbLock DbLock;
WARN_UNUSED Err *db_lock(Db *db, DbLock **lock);
void db_unlock(Db *db, DbLock *lock);
// Names of all tenant databases.
WARN_UNUSED Err *db_names(Store *store, StrList *names);
Str db_name(const Db *db);
// A number that a committed change of the database alters; opens nothing. False where other
// processes may change it too.
bool db_change(const Db *db, uint64_t *out);
// Adds tables, columns and indexes that the collections need and lacks; refills side columns whose
// descriptor changed. Idempotent.
WARN_UNUSED Err *db_migrate(Db *db, const Collection *const *collections, size_t n);
#ifdef OCTAVO_HOOKS
// From now on the program is its own next version, whose descriptor has one side column more:
// "table:column:path". Before anything else.
void store_plays_next_version(Str text);
#endif
// Makes collections known to the process, so that deleting a record finds what references it.
// db_migrate does it too. Two collections with one table must share their `fields`.
void store_register(const Collection *const *collections, size_t n);
// Whoever writes records of these collections: their checks and hooks are that module's work
// (base/meter.h).
void store_charge(const Collection *const *collections, size_t n, const char *module);
// Drops the tables of the collections (disable with purge).
WARN_UNUSED Err *db_purge(Db *db, const Collection *const *collections, size_t n);
// A consistent copy of the database as a file.
WARN_UNUSED Err *db_backup(Db *db, const char *file);

// Copying into a database of another store and backend. Nobody else may use the two meanwhile.
typedef struct {
    // Records {"id","seq"} that say how far readers of the outbox are: the target numbers its
    // events anew.
    const Collection *positions;
    void (*progress)(void *context, const char *what, int64_t records); // or NULL
    void *context;
    bool may_be_complete; // data without notes of a copy are complete: nothing is copied
    int64_t records;      // filled: copied by this run
    bool goes_on;         // filled: an earlier run had begun
    bool is_complete;     // filled: and had ended, see may_be_complete
} DbCopy;

// Copies everything; the target is empty (400 else), or filled by a copy that broke off: it goes on
// where that stopped. Every table of the source must be known (store_register).
WARN_UNUSED Err *db_copy_begin(Db *to, DbCopy *copy); // only marks the target; db_copy does it too
WARN_UNUSED Err *db_copy(Db *from, Db *to, DbCopy *copy);
// Compares both sides by counts and checksums of all contents; a sentence for each difference.
WARN_UNUSED Err *db_compare(Db *from, Db *to, const DbCopy *copy, StrList *differences);
// The target is complete: it is no longer taken for a copy that broke off.
WARN_UNUSED Err *db_copy_end(Db *to);

// ---------------------------------------------------------------------------------------------
// Transactions

typedef enum { READ, WRITE, NONE } TxKind;

typedef struct {
    TxKind kind;
    bool is_batch; // waits behind interactive writers; at most ~100 documents per transaction
    Time now;      // 0 = the clock; stamps metadata
    Str user_id;   // acting user for metadata; "" = none
    // Tables are made, filled or loaded: its statements may take as long as they need.
    bool takes_long;
    // WRITE that locks the rows its decisions hang on (tx_lock, tx_locking): where several may
    // write at once it runs beside others of that kind. Without it nobody else writes meanwhile.
    bool locks_rows;
    // READ that a replica may serve: its snapshot has all that was committed before this moment
    // (clock_ns); 0: the newest.
    int64_t not_before_ns;
    uint64_t reader;   // who asks: the same replica answers each time
    bool is_scattered; // READ of records all over a large table
} TxOptions;

// READ sees one snapshot. WRITE has the writer's baton until it commits or rolls back: at most 5
// ms, no I/O. Every tx_begin is followed by exactly one tx_commit or tx_rollback.
WARN_UNUSED Err *tx_begin(Db *db, const TxOptions *options, Tx **out);
// Returns after the data are on the disk (group commit). On an error everything is rolled back.
WARN_UNUSED Err *tx_commit(Tx *tx);
void tx_rollback(Tx *tx);
// How often this thread has stored something, or may have.
uint64_t tx_commits_of_thread(void);
// Begins, works, commits; rolls back if work fails.
WARN_UNUSED Err *tx_run(Db *db, const TxOptions *options, Err *(*work)(Tx *tx, void *context),
                        void *context);

// Waits for the answers to all writes so far, for who has own words for their errors. Else an error
// of a write may come with a later read or with the commit.
WARN_UNUSED Err *tx_flush(Tx *tx);

Db *tx_db(const Tx *tx);
// True: it reads from a replica, what it sees may be some seconds old. A failure there has
// may_repeat set: done again without not_before_ns the same work may succeed.
bool tx_lags(const Tx *tx);
// What begins another READ that may be as old as this one.
TxOptions tx_reading(const Tx *tx);
// Does the work with the newest data, in a READ of its own if this one lags: for what is kept in
// memory beyond the transaction.
WARN_UNUSED Err *tx_newest(Tx *tx, Err *(*work)(Tx *tx, void *context), void *context);
Time tx_now(const Tx *tx);
Str tx_user_id(const Tx *tx);

// What a transaction has cost so far (decision 45). Transaction control is not counted.
typedef struct {
    int statements;
    int round_trips;
    int events;
    int rows_read;
    int64_t steps; // of the database's machine, where it tells: how much it looked at
} TxCost;

TxCost tx_cost(const Tx *tx);

// ---------------------------------------------------------------------------------------------
// Reading records. *out is NULL when there is none (no error). Documents are private copies that
// may be changed, unless the function says "shared".

WARN_UNUSED Err *tx_get(Tx *tx, const Collection *of, Str id, Json **out);
// Locks the row until the end of the transaction (nothing to do where there is one writer).
WARN_UNUSED Err *tx_get_locked(Tx *tx, const Collection *of, Str id, Json **out);
// Only the lock; nothing where there is one writer or the transaction reads.
WARN_UNUSED Err *tx_lock(Tx *tx, const Collection *of, Str id);
// References that stand in lists are no foreign keys: the first of the ids that no record has, at
// == NULL if all are there. They stay then until the transaction ends.
WARN_UNUSED Err *tx_hold(Tx *tx, const Collection *of, const StrList *ids, Str *missing);
// Shared, read only: cached collections answer from memory without a statement. Valid until the
// transaction ends.
WARN_UNUSED Err *tx_ref(Tx *tx, const Collection *of, Str id, const Json **out);
// The stored text without parsing; "" (at == NULL) when there is none.
WARN_UNUSED Err *tx_get_text(Tx *tx, const Collection *of, Str id, Str *out);

// The record with that value in that side column (folded like the column); the first by id if
// several.
WARN_UNUSED Err *tx_find(Tx *tx, const Collection *of, const char *column, Str value, Json **out);

// Values for $1, $2 ... of SQL fragments.
typedef enum { ARG_NULL, ARG_TEXT, ARG_INT, ARG_REAL, ARG_BLOB } ArgKind;

typedef struct {
    ArgKind kind;
    Str text;
    int64_t integer;
    double real;
} Arg;

typedef struct {
    const Arg *at;
    size_t len;
} Args;

#define A_TEXT(s) ((Arg){.kind = ARG_TEXT, .text = (s)})
#define A_INT(i)  ((Arg){.kind = ARG_INT, .integer = (i)})
#define A_REAL(r) ((Arg){.kind = ARG_REAL, .real = (r)})
#define A_NULL    ((Arg){.kind = ARG_NULL})
#define ARGS(...)                                                                                  \
    ((Args){(const Arg[]){__VA_ARGS__}, sizeof((const Arg[]){__VA_ARGS__}) / sizeof(Arg)})
#define NO_ARGS ((Args){NULL, 0})

typedef struct {
    Json **at;
    size_t len;
} Docs;

// All records for which the SQL condition over side columns holds ("user_id = $1 and is_open = 1");
// may end in "order by ..." and "limit n". Text columns hold folded values: fold what you compare.
// `where` must be a string constant: prepared statements are kept by it.
WARN_UNUSED Err *tx_where(Tx *tx, const Collection *of, const char *where, Args args, Docs *out);
WARN_UNUSED Err *tx_count_where(Tx *tx, const Collection *of, const char *where, Args args,
                                int64_t *out);

// All records whose side column holds one of the values (folded by the caller) and for which
// `where` holds; NULL = no further condition. Both are string constants. One statement per 500
// values.
typedef struct {
    const char *column;
    const Str *values;
    size_t n;
    const char *where;
} WhereIn;

WARN_UNUSED Err *tx_where_in(Tx *tx, const Collection *of, const WhereIn *in, Docs *out);

// Reads that do not depend on each other go in one round trip where the backend has round trips. A
// function may be called several times, from its beginning: it only reads, and sets its result
// anew.
typedef struct {
    Err *(*read)(Tx *tx, void *context);
    void *context;
} Read;

WARN_UNUSED Err *tx_together(Tx *tx, const Read *reads, size_t n);

// Many records by id in few statements, each once, in order of their ids; unknown ids are left out.
WARN_UNUSED Err *tx_get_many(Tx *tx, const Collection *of, const Str *ids, size_t n, Docs *out);
// The same for the ids that documents hold at a path ("holdingsRecordId"); what is no id names
// nothing. Documents may be NULL.
WARN_UNUSED Err *tx_get_named(Tx *tx, const Collection *of, const Docs *by, const char *path,
                              Docs *out);
// The one of that id (in any case) among documents in order of their ids; NULL if it is not there.
Json *docs_find(const Docs *docs, Str id);
void docs_sort(Docs *docs); // puts them in that order

// ---------------------------------------------------------------------------------------------
// Lists by CQL

typedef enum { TOTALS_AUTO, TOTALS_EXACT, TOTALS_NONE } Totals;

typedef struct {
    Str query; // CQL; at == NULL: all records. "" is the client's empty query: 400
    int64_t offset, limit;
    Totals totals;
    // Further condition over side columns that the caller must not see past (joined with AND), or
    // NULL.
    const char *where;
    Args args;
} ListRequest;

typedef struct List List;

// Plans and runs the query; the first chunk of at most 1,000 records is read in `tx`.
WARN_UNUSED Err *list_open(Tx *tx, const Collection *of, const ListRequest *request, List **out);
// The next record's stored text, at == NULL behind the last. While `tx` is open it reads in it;
// after the transaction ended each further chunk is read in a short transaction of its own, so that
// a slow client holds nothing (decision 42). The text is valid until the next call.
WARN_UNUSED Err *list_next(List *list, Str *doc);
// True when everything that is left is in memory already.
bool list_is_whole(const List *list);
// totalRecords as decision 7 says; -1 with TOTALS_NONE. Final once the last record was read.
int64_t list_total(const List *list);
// Tells the list that its transaction ends; call before the handler returns if it streams.
void list_detach(List *list);

// All records that match, parsed; for module code. Errors as list_open.
WARN_UNUSED Err *tx_list(Tx *tx, const Collection *of, Str cql, int64_t limit, Docs *out);
WARN_UNUSED Err *tx_count(Tx *tx, const Collection *of, Str cql, int64_t *out);

// ---------------------------------------------------------------------------------------------
// Writing records

// Checks shape, fills defaults, id, metadata and _version in `doc` (it becomes the stored record),
// runs hooks, checks references and unique keys, writes row, side columns and words, emits the
// event. Errors: 422 / 400 / 409 in FOLIO's wording.
WARN_UNUSED Err *tx_insert(Tx *tx, const Collection *of, Json *doc);
// Replaces the record with doc.id. 404 if absent; 409 if the collection locks optimistically and
// _version differs. `doc` becomes the stored record.
WARN_UNUSED Err *tx_update(Tx *tx, const Collection *of, Json *doc);
// As tx_update for a change of ours, not of a client: no shape check, no version compare (the
// version still rises). `old` is the record as read in this transaction (saves reading it again).
WARN_UNUSED Err *tx_change(Tx *tx, const Collection *of, const Json *old, Json *doc);
// 404 if absent; 400/422 if referenced.
WARN_UNUSED Err *tx_delete(Tx *tx, const Collection *of, Str id);
// Deletes all that match, outside of a transaction: the query is decided in a snapshot, the records
// go by turns of the writer, each checked once more. One that may not go keeps all others. *n: how
// many went, also with an error in between. Errors: those of list_open and tx_delete.
WARN_UNUSED Err *db_delete_query(Db *db, const TxOptions *writer, const Collection *of, Str cql,
                                 int64_t *n);

// Writes records 0 to n - 1 in turns, each a transaction in which `write` writes those from `from`
// to `to` - 1; others write in between. All stays or nothing: an error takes back what the turns
// before have written, but for records that others have changed or refer to meanwhile. While it
// runs others may see a part of it. Up to 50 records are one transaction.
WARN_UNUSED Err *db_write_in_turns(Db *db, const TxOptions *options, size_t n,
                                   Err *(*write)(Tx *tx, size_t from, size_t to, void *context),
                                   void *context);
// Takes back what a process that is gone broke off. After db_migrate, and from time to time where
// other processes may have died.
WARN_UNUSED Err *db_mend(Db *db);

// Many records as they are, for loading: no hooks, no checks of shape and references, no event.
// What they bring of metadata and _version is kept, what they lack is made. The caller makes them,
// a thread of ours writes them.
typedef struct Bulk Bulk;

typedef struct {
    Time now; // 0 = the clock; stamps metadata
    // Told (by the writing thread) of each record that is taken already, with the number that came
    // with it. NULL: the first one ends the loading.
    void (*refused)(void *context, int64_t tag, const Err *err);
    // Called in the transaction that stores records, with the number of the last one; or NULL.
    Err *(*stored)(Tx *tx, void *context, int64_t tag);
    void *context;
} BulkOptions;

WARN_UNUSED Err *bulk_begin(Db *db, const BulkOptions *options, Bulk **out);
// The document may go when it returns. 422 for what is no id; 500 after the writer failed.
WARN_UNUSED Err *bulk_put(Bulk *bulk, const Collection *of, Json *doc, int64_t tag);
// The same with a record that a store of ours gave: not a byte of it is changed.
WARN_UNUSED Err *bulk_put_stored(Bulk *bulk, const Collection *of, Str text, int64_t tag);
// Returns when all is written; always called once.
WARN_UNUSED Err *bulk_end(Bulk *bulk, int64_t *loaded, int64_t *refused);

// Before many of them: drops the indexes of the tables. db_migrate makes them again, also after a
// crash; until then queries scan. Unique keys stay, unless the records are known to break none.
WARN_UNUSED Err *db_drop_indexes(Db *db, const Collection *const *collections, size_t n,
                                 bool drops_keys);
// The same where there are records already: only what would refuse records for their order.
WARN_UNUSED Err *db_drop_foreign_keys(Db *db, const Collection *const *collections, size_t n);

// Appends an event in this transaction if somebody wants its topic (decision 56). type: "CREATED",
// "UPDATED", "DELETED" or a name of its own; key: the message key (decision 21).
WARN_UNUSED Err *tx_emit(Tx *tx, const char *topic, const char *type, Str key, const Json *old,
                         const Json *now);

// n consecutive numbers of a named sequence of the tenant, beginning with *first.
WARN_UNUSED Err *tx_sequence(Tx *tx, const char *name, int64_t n, int64_t *first);
// The last number given, 0 if none was.
WARN_UNUSED Err *tx_sequence_last(Tx *tx, const char *name, int64_t *last);
// The next number is 1 again.
WARN_UNUSED Err *tx_sequence_restart(Tx *tx, const char *name);

// ---------------------------------------------------------------------------------------------
// SQL for what the engine has no word for: joins and counters over the same tables and side
// columns.

typedef struct Row Row;

Str row_text(const Row *row, int column); // valid until the callback returns
int64_t row_int(const Row *row, int column);
double row_real(const Row *row, int column);
bool row_is_null(const Row *row, int column);

// Behind a select of a writing transaction: locks its rows in the tables with these aliases, "i,
// n";
// "" where there is nothing to lock.
Str tx_locking(const Tx *tx, const char *aliases);

// Calls `each` per row until it returns an error. `sql` must be a string constant.
WARN_UNUSED Err *tx_rows(Tx *tx, const char *sql, Args args,
                         Err *(*each)(const Row *row, void *context), void *context);
WARN_UNUSED Err *tx_exec(Tx *tx, const char *sql, Args args, int64_t *changed);

// ---------------------------------------------------------------------------------------------
// Values computed from records and kept in memory: compiled rules, settings, expanded permissions.

typedef struct {
    const char *name;
    const Collection *const *from; // NULL at the end: a committed change of one drops the value
    // Builds the value in the current arena (the cache's; its limit is 16 MiB). NULL: the engine's
    // own count of the records of from[0].
    Err *(*build)(Tx *tx, void **value);
} Derived;

// Of every such value, so that processes tell each other when a source changes.
#define DERIVED_IS_KNOWN(name)                                                                     \
    __attribute__((constructor)) static void name##_known(void)                                    \
    {                                                                                              \
        store_know_derived(&(name));                                                               \
    }
void store_know_derived(const Derived *of);

// Shared, read only, valid until the transaction ends. A transaction that wrote to one of the
// collections computes its own.
WARN_UNUSED Err *tx_derived(Tx *tx, const Derived *of, const void **out);

// ---------------------------------------------------------------------------------------------
// Outbox, for the relay

typedef struct {
    int64_t seq;
    Str topic, type, key, body; // body: {"id","type","tenant","timestamp","data":{"old","new"}}
    Str event_id, user_id;
    Time at;
} Event;

// Topics that somebody wants; others are not written. Set at start, before tenants open.
void store_want_topic(Store *store, const char *topic);
bool store_wants_topic(const Store *store, const char *topic);
// What a transaction must be to see all events up to the last it reads: numbers are given before
// others that are smaller are visible, where several write at once.
TxKind outbox_reader(const Db *db);
// The next events behind `after`, at most n; fewer if they are large (16 MiB).
WARN_UNUSED Err *outbox_read(Tx *tx, int64_t after, int n, Event **events, size_t *count);
WARN_UNUSED Err *outbox_delete(Tx *tx, int64_t up_to_seq);
// Called after each commit that wrote events; must not block.
void store_on_events(Store *store, void (*wake)(void *context, Db *db), void *context);

// Called when another process changed a collection that is cached, watched or a source of a
// Derived. A moment later than its commit, at most five seconds; must not block and not call back.
void store_on_change(Store *store, void (*changed)(void *context, Db *db, const Collection *of),
                     void *context);
// True in the one process of several that runs relay, jobs and timers.
bool store_leads(const Store *store);

// Figures for /metrics and the lab.
enum { REPLICAS_MAX = 8 };
typedef struct {
    uint64_t commits, groups, syncs, rollbacks, checkpoints;
    uint64_t wal_bytes_max;
    int readers_open, readers_in_use, databases_open;
    int64_t page_bytes_max, record_bytes_max; // what the budget of caches allows
    int64_t record_bytes;                     // cached records, and values made of them
    uint64_t reads;                           // READ transactions, those of replicas not counted
    struct {
        const char *name;          // "host:port"
        bool is_up;                // it answers, and follows the database
        bool is_late;              // so far behind that it is not asked
        int64_t lag_ns;            // since it had everything; -1: not known
        uint64_t reads, fallbacks; // begun there, done again without it
    } replicas[REPLICAS_MAX];
    int replica_count;
} StoreFigures;

StoreFigures store_figures(const Store *store);
// Gives memory back that only makes things faster: of databases that nobody used for a while, of
// all when memory is short. What is in use stays. True if there was something.
bool store_give_back(Store *store, bool is_short);

// What the store is, for operators.
typedef struct {
    const char *kind; // "sqlite"
    Str version;
    int64_t size_bytes;
    const char *const (*settings)[2]; // name, value; {NULL} at the end
} StoreFacts;

// Without a store: of the embedded backend.
StoreFacts store_facts(Store *store);

// ---------------------------------------------------------------------------------------------
// Statistics of statements, of the whole process. Kept while something is measured (base/meter.h).

typedef enum { BY_TOTAL, BY_MEAN, BY_MAX } StatementOrder;

typedef struct {
    Str shape; // SQL with $n for values
    Str route; // on whose behalf, "" = none
    Str cql;   // shape of the query it was made of, "" = none
    int64_t calls, total_ns, max_ns, rows;
    const Db *db; // that it ran on last
} StatementFigures;

// The first ones in that order, in the current arena; returns how many.
size_t statements_read(StatementOrder order, size_t limit, StatementFigures **out);
// How that database runs it now, a step a line; "" if it does not tell, or is gone.
Str statement_plan(Store *store, const StatementFigures *of);
// Sums by verb and table: shape is "select item".
size_t statements_by_name(StatementFigures **out);
void statement_figures_reset(void);
Time statements_since(void); // the start or the last reset
