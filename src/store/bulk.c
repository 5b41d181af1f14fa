// Loading many records at speed: rows as they are, made by one thread and written by another,
// indexes when all are there.
#include "store/engine.h"

#include "base/uuid.h"

#include <string.h>

enum {
    BLOCKS = 3,
    BLOCK_ROWS = 1000,
    BLOCK_BYTES = 8 * 1024 * 1024,
    BLOCK_BYTES_MAX = 256 * 1024 * 1024, // with one record of any size
    TX_ROWS = 10000,
};

// ---------------------------------------------------------------------------------------------
// One record

static Err *id_make(const Collection *of, Json *doc)
{
    Str id = json_str(doc, "id");

    if (!json_has(doc, "id")) {
        json_set_str(doc, "id", uuid_new());
        return NULL;
    }
    if (!uuid_is_uuid_shaped(id)) {
        return invalid_id(of, id);
    }
    json_set_str(doc, "id", str_lower(id));
    return NULL;
}

static void lacking_make(const Shape *shape, Json *doc, Time now)
{
    if (shape->has_metadata && !json_has(doc, "metadata")) {
        json_set_time(doc, "metadata.createdDate", now);
        json_set_time(doc, "metadata.updatedDate", now);
    }
    if (shape->of->locking != LOCKING_OFF && !json_has(doc, "_version")) {
        json_set_int(doc, "_version", 1);
    }
}

// In the current arena, where the text is, with nothing left in the document's.
static void row_fill(const Shape *shape, const Json *doc, Str text, LoadedRow *out)
{
    size_t n = shape->column_count + 4;

    *out = (LoadedRow){.shape = shape, .values = NEW_ARRAY(Arg, n)};
    row_values(shape, doc, text, out->values);
    for (size_t i = 1; i < n; i++) {
        if (out->values[i].kind == ARG_TEXT) {
            out->values[i].text = str_copy(arena_current(), out->values[i].text);
        }
    }
    if (shape->word_count) {
        out->words = NEW_ARRAY(Str, shape->word_count);
        words_of(shape, doc, out->words);
    }
}

static Err *row_make(const Collection *of, Json *doc, Time now, LoadedRow *out)
{
    const Shape *shape = shape_of(of);

    TRY(id_make(of, doc));
    lacking_make(shape, doc, now);
    row_fill(shape, doc, json_text(doc), out);
    return NULL;
}

static Err *row_put(Tx *tx, const LoadedRow *row)
{
    TRY(row_insert(tx, row->shape, row->values));
    note_write(tx, row->shape);
    return row->words ? words_write(tx, row->shape->of, 0, NULL, row->words, row->shape->word_count)
                      : NULL;
}

// ---------------------------------------------------------------------------------------------
// Blocks of records on their way from the caller to the writing thread

typedef struct {
    Arena *arena;
    LoadedRow rows[BLOCK_ROWS];
    size_t len;
} Block;

struct Bulk {
    pthread_mutex_t lock; // guards made, written, is_ending, failed
    pthread_cond_t changed;
    Block *blocks[BLOCKS]; // number n of all is blocks[n % BLOCKS]
    int64_t made, written;
    bool is_ending; // no further block is made
    Str failed;     // why the writer stopped; at == NULL: it has not

    Db *db;
    BulkOptions options;
    Arena *arena;
    int64_t loaded, refused; // the writer's
    pthread_t writer;
};

// The next block to be written; NULL: there is none, or the caller gives up.
static Block *block_wait(Bulk *bulk)
{
    pthread_mutex_lock(&bulk->lock);
    while (bulk->written == bulk->made && !bulk->is_ending) {
        pthread_cond_wait(&bulk->changed, &bulk->lock);
    }
    bool has_one = bulk->written < bulk->made;
    pthread_mutex_unlock(&bulk->lock);
    return has_one ? bulk->blocks[bulk->written % BLOCKS] : NULL;
}

static void block_is_written(Bulk *bulk, Block *block)
{
    block->len = 0;
    arena_reset(block->arena);
    pthread_mutex_lock(&bulk->lock);
    bulk->written++;
    pthread_cond_signal(&bulk->changed);
    pthread_mutex_unlock(&bulk->lock);
}

static Err *one_write(Tx *tx, void *row)
{
    return row_put(tx, row);
}

static void row_count(Bulk *bulk, const LoadedRow *row, const Err *err)
{
    if (err) {
        bulk->options.refused(bulk->options.context, row->tag, err);
    }
    bulk->refused += err != NULL;
    bulk->loaded += err == NULL;
}

// Each record in a transaction of its own: one that is refused spoils no other.
static Err *block_write_singly(Bulk *bulk, Block *block)
{
    TxOptions options = {.kind = WRITE, .is_batch = true};

    for (size_t i = 0; i < block->len; i++) {
        ArenaMark mark = arena_mark(arena_current());
        Err *err = tx_run(bulk->db, &options, one_write, &block->rows[i]);
        if (err && err->status >= 500) {
            return err;
        }
        row_count(bulk, &block->rows[i], err);
        arena_release(arena_current(), mark);
    }
    return NULL;
}

// What the caller notes of how far it came stands and falls with the records.
static Err *stored_tell(Tx *tx, const Bulk *bulk, const Block *block)
{
    bool asks = bulk->options.stored && block->len;

    return asks ? bulk->options.stored(tx, bulk->options.context, block->rows[block->len - 1].tag)
                : NULL;
}

typedef struct {
    const Bulk *bulk;
    Block *block;
} Loading;

// All rows, those of one table that follow each other at once.
static Err *block_load(Tx *tx, void *context)
{
    const Loading *loading = context;
    Block *block = loading->block;
    bool is_done = true;

    for (size_t from = 0, to; from < block->len; from = to) {
        const Shape *shape = block->rows[from].shape;
        TableState state;
        TRY(table_state_to_write(tx, shape->of, &state));
        for (to = from; to < block->len && block->rows[to].shape == shape; to++) {
            block->rows[to].values[2] = A_INT(state.filled);
            keys_cut(tx, shape, block->rows[to].values + 4);
        }
        TRY(rows_load(tx, &block->rows[from], to - from, &is_done));
        note_write(tx, shape);
    }
    return stored_tell(tx, loading->bulk, block);
}

// Where a failed write ends the transaction: a block whole, or, if something in it is refused, one
// by one.
static Err *block_store(Bulk *bulk, Block *block)
{
    Err *err = tx_run(bulk->db, &(TxOptions){.kind = WRITE, .is_batch = true, .takes_long = true},
                      block_load, &(Loading){bulk, block});

    if (!err) {
        bulk->loaded += (int64_t)block->len;
        return NULL;
    }
    return err->status == 503 || !bulk->options.refused ? err : block_write_singly(bulk, block);
}

// A refused record leaves no trace: it is one statement.
static Err *block_write(Tx *tx, Bulk *bulk, const Block *block)
{
    for (size_t i = 0; i < block->len; i++) {
        ArenaMark mark = arena_mark(arena_current());
        Err *err = row_put(tx, &block->rows[i]);
        if (err && (err->status >= 500 || !bulk->options.refused)) {
            return err;
        }
        row_count(bulk, &block->rows[i], err);
        arena_release(arena_current(), mark);
    }
    return stored_tell(tx, bulk, block);
}

static Err *blocks_write(Tx *tx, void *context)
{
    Bulk *bulk = context;
    Block *block = NULL;

    for (size_t rows = 0; rows < TX_ROWS && (block = block_wait(bulk));) {
        TRY(block_write(tx, bulk, block));
        rows += block->len;
        block_is_written(bulk, block);
    }
    return NULL;
}

static void writer_failed(Bulk *bulk, const Err *err)
{
    pthread_mutex_lock(&bulk->lock);
    bulk->failed = str_copy(bulk->arena, err->message);
    pthread_cond_signal(&bulk->changed);
    pthread_mutex_unlock(&bulk->lock);
}

static void *writer_main(void *argument)
{
    Bulk *bulk = argument;
    TxOptions options = {.kind = WRITE, .is_batch = true, .takes_long = true};
    Err *err = NULL;

    for (Block *block; !err && (block = block_wait(bulk));) {
        if (db_fails_whole(bulk->db)) {
            err = block_store(bulk, block);
            block_is_written(bulk, block);
        } else {
            err = tx_run(bulk->db, &options, blocks_write, bulk);
        }
        if (err) {
            writer_failed(bulk, err);
        }
        arena_reset(arena_current());
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The caller's side

static void bulk_free(Bulk *bulk)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        arena_free(bulk->blocks[i]->arena);
    }
    pthread_cond_destroy(&bulk->changed);
    pthread_mutex_destroy(&bulk->lock);
    arena_free(bulk->arena);
}

Err *bulk_begin(Db *db, const BulkOptions *options, Bulk **out)
{
    Arena *arena = arena_new(BLOCK_BYTES);
    Bulk *bulk = arena_alloc(arena, sizeof *bulk);

    bulk->db = db;
    bulk->options = *options;
    bulk->options.now = options->now ? options->now : time_now();
    bulk->arena = arena;
    pthread_mutex_init(&bulk->lock, NULL);
    pthread_cond_init(&bulk->changed, NULL);
    for (size_t i = 0; i < BLOCKS; i++) {
        bulk->blocks[i] = arena_alloc(arena, sizeof *bulk->blocks[i]);
        bulk->blocks[i]->arena = arena_new(BLOCK_BYTES_MAX);
    }
    if (pthread_create(&bulk->writer, NULL, writer_main, bulk)) {
        bulk_free(bulk);
        return err_text(500, "Cannot start a thread for loading");
    }
    *out = bulk;
    return NULL;
}

// Waits for a block with room.
static Err *block_open(Bulk *bulk, Block **out)
{
    pthread_mutex_lock(&bulk->lock);
    while (bulk->made - bulk->written == BLOCKS && !bulk->failed.at) {
        pthread_cond_wait(&bulk->changed, &bulk->lock);
    }
    Str failed = bulk->failed;
    pthread_mutex_unlock(&bulk->lock);
    *out = bulk->blocks[bulk->made % BLOCKS];
    return failed.at ? err_text(500, STR_FMT, STR_ARG(failed)) : NULL;
}

static void block_is_made(Bulk *bulk, bool is_last)
{
    pthread_mutex_lock(&bulk->lock);
    bulk->made++;
    bulk->is_ending = is_last;
    pthread_cond_signal(&bulk->changed);
    pthread_mutex_unlock(&bulk->lock);
}

static void row_is_made(Bulk *bulk, Block *block, int64_t tag)
{
    block->rows[block->len++].tag = tag;
    if (block->len == BLOCK_ROWS || arena_used(block->arena) > BLOCK_BYTES) {
        block_is_made(bulk, false);
    }
}

Err *bulk_put(Bulk *bulk, const Collection *of, Json *doc, int64_t tag)
{
    Block *block = NULL;

    TRY(block_open(bulk, &block));
    Arena *former = arena_use(block->arena);
    Err *err = row_make(of, doc, bulk->options.now, &block->rows[block->len]);
    arena_use(former);
    if (err) {
        return err_text(err->status, STR_FMT, STR_ARG(err->message));
    }
    row_is_made(bulk, block, tag);
    return NULL;
}

Err *bulk_put_stored(Bulk *bulk, const Collection *of, Str text, int64_t tag)
{
    Block *block = NULL;

    TRY(block_open(bulk, &block));
    const Json *doc = json_parse_stored(text);
    Arena *former = arena_use(block->arena);
    row_fill(shape_of(of), doc, str_copy(block->arena, text), &block->rows[block->len]);
    arena_use(former);
    row_is_made(bulk, block, tag);
    return NULL;
}

Err *bulk_end(Bulk *bulk, int64_t *loaded, int64_t *refused)
{
    Block *last = NULL;
    Err *err = block_open(bulk, &last);

    block_is_made(bulk, true);
    pthread_join(bulk->writer, NULL);
    if (!err && bulk->failed.at) {
        err = err_text(500, STR_FMT, STR_ARG(bulk->failed));
    }
    *loaded = bulk->loaded;
    *refused = bulk->refused;
    bulk_free(bulk);
    return err;
}

// ---------------------------------------------------------------------------------------------
// Indexes

typedef struct {
    const Collection *const *collections;
    size_t n;
    bool drops_keys;
} Tables;

static bool may_go(Str name, bool drops_keys)
{
    bool is_for_queries = str_ends(name, S("_idx")) || str_ends(name, S("_some")) ||
                          str_ends(name, S("_ref")) || str_ends(name, S("_cut")) ||
                          str_ends(name, S("_words_gin"));

    return is_for_queries || drops_keys;
}

// As after an upgrade that broke off: the next migration completes the table.
static Err *table_is_incomplete(Tx *tx, const Collection *of, Str set)
{
    Str sql =
        str_fmt("update " STATE_TABLE " set is_ready = 0" STR_FMT " where name = $1", STR_ARG(set));

    return sql_exec(tx, str_z(sql), ARGS(A_TEXT(str_of(of->table))), NULL, NULL);
}

static Err *table_drop_indexes(Tx *tx, const Collection *of, bool drops_keys)
{
    StrList names = {0};

    TRY(foreign_keys_drop(tx, of, drops_keys));
    TRY(db_index_names(tx, of->table, &names));
    TRY(db_index_names(tx, str_fmt("%s_words", of->table).at, &names));
    for (size_t i = 0; i < names.len; i++) {
        if (may_go(names.at[i], drops_keys)) {
            Str sql = str_fmt("drop index \"" STR_FMT "\"", STR_ARG(names.at[i]));
            TRY(sql_exec(tx, str_z(sql), NO_ARGS, NULL, NULL));
        }
    }
    return table_is_incomplete(tx, of, S(", index_hash = 0"));
}

static Err *drop_all(Tx *tx, void *context)
{
    const Tables *tables = context;

    for (size_t i = 0; i < tables->n; i++) {
        TRY(table_drop_indexes(tx, tables->collections[i], tables->drops_keys));
    }
    return table_states_load(tx);
}

Err *db_drop_indexes(Db *db, const Collection *const *collections, size_t n, bool drops_keys)
{
    Tables tables = {collections, n, drops_keys};
    Err *err = tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true, .takes_long = true},
                      drop_all, &tables);

    if (err) {
        table_states_forget(db);
    }
    return err;
}

static Err *drop_keys(Tx *tx, void *context)
{
    const Tables *tables = context;

    for (size_t i = 0; i < tables->n; i++) {
        TRY(foreign_keys_drop(tx, tables->collections[i], false));
        TRY(table_is_incomplete(tx, tables->collections[i], (Str){0}));
    }
    return table_states_load(tx);
}

Err *db_drop_foreign_keys(Db *db, const Collection *const *collections, size_t n)
{
    Tables tables = {.collections = collections, .n = n};
    TxOptions options = {.kind = WRITE, .is_batch = true, .takes_long = true};
    Err *err = db_keeps_references(db) ? tx_run(db, &options, drop_keys, &tables) : NULL;

    if (err) {
        table_states_forget(db);
    }
    return err;
}
