// What the files of the collection engine share: compiled descriptors, side values, caches.
//
// Nothing outside src/store includes it.
#pragma once

#include "base/meter.h"
#include "store/backend.h"

#include <pthread.h>
#include <stdatomic.h>

enum { COLUMNS_MAX = 64 };

// A descriptor with everything that is worked out of it once. Lives as long as the process.
typedef struct Shape {
    const Collection *of;
    const Collection *main;            // the first known collection of the same table
    const Field *columns[COLUMNS_MAX]; // fields with a side column
    bool is_key[COLUMNS_MAX];          // an index holds this column
    size_t column_count;
    const Field *words[COLUMNS_MAX]; // fields with word search
    size_t word_count;
    const Field *references[COLUMNS_MAX]; // fields with a foreign key
    size_t reference_count;
    bool has_metadata;
    int64_t column_hash; // of what the side columns hold; the same in every process
    int64_t word_hash;
    int64_t index_hash;     // of the indexes and unique keys
    const char *fills;      // each side column and all words, with a hash of what they hold
    const char *sql_get;    // pk, doc by id
    const char *sql_insert; // doc, id, filled, version, side columns in order
    const char *sql_delete; // by id
    Meter *_Atomic meter;   // of the module that writes of its records are charged to, or NULL
    Derived count;          // an int64_t: how many records there are, see table_count
    const Collection *count_from[2];
} Shape;

const Shape *shape_of(const Collection *of);
// The i-th (collection, field) that references `target`, over all registered collections; false
// behind the last.
typedef struct {
    const Collection *of;
    const Field *field;
} Reference;
size_t references_to(const Collection *target, Reference *out, size_t max);
enum { REFERENCES_MAX = 256 }; // to one collection

const Field *field_by_column(const Collection *of, Str column);
// The field a query means by this name, or NULL.
const Field *field_by_cql_name(const Collection *of, Str name);
bool field_has_column(const Field *field);
// Each value stands in many records.
bool field_is_coarse(const Field *field);
bool same_table(const Collection *a, const Collection *b);
// Other processes may keep it, or what is made of it, in memory.
bool is_kept_elsewhere(const Collection *of);
// The known collection of a table, or NULL.
const Collection *collection_of_table(Str table);

// ---------------------------------------------------------------------------------------------
// Side values

// Text of the value under a dotted path as CQL sees it; at == NULL when absent or null.
Str path_text(const Json *doc, Str path);
// Text of a field: path, several paths, or computed.
Str field_text(const Field *field, const Json *doc);
// False if no record of the type can have a value there.
bool path_may_exist(const RecordType *record, Str path);
// Folds as the field compares.
Str field_fold(const Field *field, Str text);
// What the side column holds.
Arg field_value(const Field *field, const Json *doc);
// A text of the outside (look-up value) as the side column would hold it.
Arg field_arg(const Field *field, Str text);
bool arg_equal(const Arg *a, const Arg *b);
// Longer texts of columns with an index stand in them cut, with a hash of the whole, on a database
// whose indexes ask for that: equal texts stay equal, others different. Four of them fit into one
// key.
enum { KEY_BYTES_MAX = 600 };
bool key_may_be_cut(Tx *tx, const Collection *of, const Field *field);
// True if the column of the field holds this text cut.
bool key_is_cut(Tx *tx, const Collection *of, const Field *field, Str text);
// The text as the column holds it.
Str key_text(Tx *tx, const Collection *of, const Field *field, Str text);
Arg key_arg(Tx *tx, const Collection *of, const Field *field, Arg value);
// Condition: some column of the row holds a cut text. False: none of the table ever does.
bool keys_are_cut_sql(Tx *tx, const Shape *shape, Buf *sql);
// For the values of all side columns.
void keys_cut(Tx *tx, const Shape *shape, Arg *columns);
// Folded words of the WORDS fields, joined by blanks; NULL entries for absent ones.
void words_of(const Shape *shape, const Json *doc, Str *out);

// Counts a table of up to 100,000 records; a larger one is -1.
WARN_UNUSED Err *table_count(Tx *tx, const Collection *of, int64_t *out);

// ---------------------------------------------------------------------------------------------
// State of a tenant's tables

typedef struct {
    bool exists;
    bool is_ready;  // every row is filled with this descriptor
    int64_t filled; // number that rows filled now carry
    bool serves;    // its side columns answer queries
} TableState;

// For who reads: 503 if another version of the program changed what the side columns hold.
WARN_UNUSED Err *table_state(Tx *tx, const Collection *of, TableState *out);
// For who writes: 503 if it changed anything, because the row would lack what is new.
WARN_UNUSED Err *table_state_to_write(Tx *tx, const Collection *of, TableState *out);
// Versions of the program in their order.
int64_t program_number(void);
// Reads the states of all tables again: tx changed them.
WARN_UNUSED Err *table_states_load(Tx *tx);
void table_states_forget(Db *db);
#define STATE_TABLE "octavo_table"
// Name of the index behind a unique key of several columns.
Str unique_key_name(const Collection *of, const UniqueKey *key);

// ---------------------------------------------------------------------------------------------
// Records a transaction has read or written

typedef struct {
    int64_t pk; // 0: not known
    Str text;
} Known;

const Known *known_get(Tx *tx, const Collection *of, Str id);
// Copies the text; keeps nothing beyond the bound.
void known_put(Tx *tx, const Collection *of, Str id, int64_t pk, Str text);
void known_drop(Tx *tx, const Collection *of, Str id);
// Reads pk and text by id, from memory or by one statement; text.at == NULL if there is none.
WARN_UNUSED Err *record_read(Tx *tx, const Collection *of, Str id, Known *out);
// As record_read, to change the record or to delete it (`ends`): where others write beside this
// transaction it waits for those who have the record, and has it then.
WARN_UNUSED Err *record_acquire(Tx *tx, const Collection *of, Str id, bool ends, Known *out);

// ---------------------------------------------------------------------------------------------
// Caches

// The cached collection as this transaction may see it; NULL if it must read the table.
typedef struct RecordSet RecordSet;
WARN_UNUSED Err *record_set(Tx *tx, const Collection *of, const RecordSet **out);
const Json *record_set_get(const RecordSet *set, Str id);
const Known *record_set_record(const RecordSet *set, Str id);

// The engine's notes about a transaction. They live in an arena of their own, so that callers may
// release theirs step by step.
struct TxExtra {
    Arena *arena;
    struct KnownSlot *known;
    size_t known_cap, known_count, known_bytes;
    struct Pin *pins;
    struct OwnDerived *own_derived;
    struct PendingEvent *first_event, *last_event;
    size_t write_count;
    bool notes_changes;     // of records, for who may have to take them back
    struct Change *changes; // the last one first
    bool has_used_cache;    // and then: as of this generation
    uint64_t used_generation;
    TxExtra *next_free;
};

TxExtra *extra_of(Tx *tx);
// The transaction wrote to the collection.
void note_write(Tx *tx, const Shape *shape);
bool has_written(const Tx *tx, const Collection *of);

// ---------------------------------------------------------------------------------------------
// Parts of writing

// A record as its table takes it, for loading.
typedef struct LoadedRow {
    const Shape *shape;
    Arg *values; // doc, id, filled, version, side columns
    Str *words;  // one for each field with word search, or NULL
    int64_t tag;
} LoadedRow;

// 422 for the first reference that does not exist. `old` NULL: all are looked at; else changed
// ones.
WARN_UNUSED Err *references_check(Tx *tx, const Shape *shape, const Json *old, const Json *doc);
// 400 or 422 if another record references this one. Unless it is deleted next, which a database
// that keeps references refuses itself, all of them are looked for.
WARN_UNUSED Err *references_in_use(Tx *tx, const Shape *shape, Str id, bool is_deleted_next);
// The error for a broken unique constraint.
Err *conflict_unique(Tx *tx, const Shape *shape, const Violation *violation, const Json *doc);
// Name of the index of a unique field.
Str unique_field_name(const Collection *of, const Field *field);
Err *conflict_reference(Tx *tx, const Collection *of, const Field *field, Str value,
                        const Json *doc);
Err *conflict_in_use(Tx *tx, const Collection *of, Str id, const Reference *by);
// The errors for a broken foreign key: of a record that was written, of one that was deleted.
Err *conflict_foreign_key(Tx *tx, const Shape *shape, const Violation *violation, const Json *doc);
Err *conflict_foreign_key_to(Tx *tx, const Shape *shape, const Violation *violation, Str id);
Err *not_found(const Collection *of, Str id);
Err *invalid_id(const Collection *of, Str id);
// The row of a new record, side columns included: its values, and writing them.
enum { ROW_VALUES_MAX = COLUMNS_MAX + 4 };
void row_values(const Shape *shape, const Json *doc, Str text, Arg *out);
WARN_UNUSED Err *row_insert(Tx *tx, const Shape *shape, Arg *values);
// Stores the record as it was once, `now` being what it is; NULL: it is gone.
WARN_UNUSED Err *record_put_back(Tx *tx, const Collection *of, const Json *now, Json *before);
// After each change of a record, for the notes of turns.c.
void change_note(Tx *tx, const Shape *shape, const Json *before, const Json *now);
#define TURNS_TABLE "octavo_turn" // the notes of changes that are under way
WARN_UNUSED Err *turns_table_make(Tx *tx);
// The error that deleting the record would give.
WARN_UNUSED Err *record_may_go(Tx *tx, const Collection *of, const Known *record);
// Deletes the record with this text.
WARN_UNUSED Err *record_delete(Tx *tx, const Collection *of, const Known *record);

// Foreign keys, where the database keeps them (foreign_keys.c). Those of the collection and to it,
// as far as both tables are complete.
WARN_UNUSED Err *foreign_keys_make(Tx *tx, const Shape *shape);
WARN_UNUSED Err *foreign_keys_drop(Tx *tx, const Collection *of, bool drops_those_to_it);
// After a migration of these: makes what lacks, looks through what is not proved.
WARN_UNUSED Err *foreign_keys_complete(Db *db, const Collection *const *collections, size_t n);
Str foreign_key_name(const Collection *of, const Field *field);

// Appends events as they are; only their numbers are new.
WARN_UNUSED Err *outbox_restore(Tx *tx, const Event *events, size_t n);

enum { SQL_MAX = 16 * 1024 * 1024 };
