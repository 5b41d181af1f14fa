// The file layer under all databases: counts syncs, maps files once for all connections, and writes
// the log in large pieces.
//
// SQLite writes each page of its log as 24 bytes and 4,096 bytes, so that every page of the file
// cache is touched three times. Here such writes are joined and go out at the sync that a commit
// waits for (or before anything else is done with the file). That is safe because the only
// connection that writes the log has synchronous=FULL: other connections learn of pages after that
// sync only, and its own reads pass the buffer out first.
//
// It is a copy of the layer below with some functions of each file replaced; what a file needs in
// addition lies behind the lower layer's part of its memory.
#include "store/sqlite.h"

#include "base/die.h"
#include "store/sqlite_map.h"
#include "store/sqlite_page_cache.h"

#include <string.h>

enum {
    TABLES_MAX = 18, // the system's layer has one table of functions per way of locking
    LAYERS_MAX = 3,  // over the system's files, without syncs, and over the fault layer
    LOG_BUFFER = 64 * 1024,
    // What of a savepoint stays in memory: the 40 pages that a check-out changes, three times over.
    // Beyond, SQLite writes all of it to a file at once.
    SAVEPOINT_BYTES = 512 * 1024,
    // SQLite's system layer cuts the size of one write to 17 bits and takes what remains of 128 KB
    // and more for a full disk.
    WRITE_MAX = 64 * 1024,
};

typedef struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    bool syncs;
} Layer;

typedef enum { PLAIN, LOG, MAPPED } FileKind;

typedef struct {
    sqlite3_io_methods own;
    const sqlite3_io_methods *below;
    Layer *layer;
    FileKind kind;
} Table;

// Writes that follow each other, not passed on yet.
typedef struct {
    char *bytes; // LOG_BUFFER of them, or NULL
    size_t len;
    sqlite3_int64 offset;
} LogBuffer;

static struct {
    pthread_mutex_t lock; // guards making layers and tables; both stay once they are made
    Layer layers[LAYERS_MAX];
    int layer_count;
    Table tables[TABLES_MAX];
    int table_count;
    _Atomic uint64_t syncs;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

// `own` is the table's first member.
static const Table *table_of(sqlite3_file *file)
{
    return (const Table *)file->pMethods;
}

static size_t buffer_place(const Layer *layer)
{
    return ((size_t)layer->below->szOsFile + 15) & ~(size_t)15;
}

static void *own_part(sqlite3_file *file)
{
    return (char *)file + buffer_place(table_of(file)->layer);
}

static LogBuffer *log_buffer(sqlite3_file *file)
{
    return own_part(file);
}

static FileMap **map_of(sqlite3_file *file)
{
    return own_part(file);
}

// ---------------------------------------------------------------------------------------------
// Functions of a file

static int count_and_sync(sqlite3_file *file, int flags)
{
    const Table *table = table_of(file);

    if (!table->layer->syncs) {
        return SQLITE_OK;
    }
    files.syncs++;
    return table->below->xSync(file, flags);
}

static int write_in_pieces(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    const char *at = from;
    int code = SQLITE_OK;

    for (int n; size > 0 && code == SQLITE_OK; at += n, offset += n, size -= n) {
        n = size < WRITE_MAX ? size : WRITE_MAX;
        code = table_of(file)->below->xWrite(file, at, n, offset);
    }
    return code;
}

// On an error what was not written is forgotten: SQLite takes the transaction back.
static int log_flush(sqlite3_file *file)
{
    LogBuffer *buffer = log_buffer(file);
    size_t len = buffer->len;

    buffer->len = 0;
    return len ? table_of(file)->below->xWrite(file, buffer->bytes, (int)len, buffer->offset)
               : SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
    LogBuffer *buffer = log_buffer(file);
    size_t n = (size_t)size;

    if (buffer->len &&
        (offset != buffer->offset + (sqlite3_int64)buffer->len || buffer->len + n > LOG_BUFFER)) {
        int code = log_flush(file);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    if (!buffer->bytes) {
        buffer->bytes = sqlite3_malloc(LOG_BUFFER);
    }
    if (!buffer->bytes || n > LOG_BUFFER) {
        return table_of(file)->below->xWrite(file, from, size, offset);
    }
    if (buffer->len == 0) {
        buffer->offset = offset;
    }
    memcpy(buffer->bytes + buffer->len, from, n);
    buffer->len += n;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    int code = log_flush(file);

    return code ? code : table_of(file)->below->xRead(file, to, size, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int code = log_flush(file);

    return code ? code : table_of(file)->below->xTruncate(file, size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    int code = log_flush(file);

    return code ? code : count_and_sync(file, flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int code = log_flush(file);

    return code ? code : table_of(file)->below->xFileSize(file, size);
}

static int log_close(sqlite3_file *file)
{
    LogBuffer *buffer = log_buffer(file);
    int code = log_flush(file);

    sqlite3_free(buffer->bytes);
    buffer->bytes = NULL;
    int closed = table_of(file)->below->xClose(file);
    return code ? code : closed;
}

// ---------------------------------------------------------------------------------------------
// Functions of a database

static int map_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **out)
{
    *out = (void *)(uintptr_t)file_map_at(*map_of(file), offset, size);
    return SQLITE_OK;
}

// The map stays.
static int map_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page)
{
    (void)file, (void)offset, (void)page;
    return SQLITE_OK;
}

static int map_read(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
    const void *from = file_map_at(*map_of(file), offset, size);

    if (!from) {
        return table_of(file)->below->xRead(file, to, size, offset);
    }
    memcpy(to, from, (size_t)size);
    return SQLITE_OK;
}

static int map_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    file_map_shortened(*map_of(file), size);
    return table_of(file)->below->xTruncate(file, size);
}

static int map_close(sqlite3_file *file)
{
    FileMap *map = *map_of(file);
    int code = table_of(file)->below->xClose(file);

    file_map_close(map);
    return code;
}

// ---------------------------------------------------------------------------------------------
// Layers

static Table *table_make(Layer *layer, const sqlite3_io_methods *below, FileKind kind)
{
    if (files.table_count == TABLES_MAX) {
        die("more than %d kinds of database files", TABLES_MAX);
    }
    Table *table = &files.tables[files.table_count++];
    *table = (Table){.own = *below, .below = below, .layer = layer, .kind = kind};
    table->own.xSync = count_and_sync;
    table->own.xWrite = write_in_pieces;
    if (kind == LOG) {
        table->own.xWrite = log_write;
        table->own.xRead = log_read;
        table->own.xTruncate = log_truncate;
        table->own.xSync = log_sync;
        table->own.xFileSize = log_size;
        table->own.xClose = log_close;
    } else if (kind == MAPPED) {
        table->own.xFetch = map_fetch;
        table->own.xUnfetch = map_unfetch;
        table->own.xRead = map_read;
        table->own.xTruncate = map_truncate;
        table->own.xClose = map_close;
    }
    return table;
}

static const Table *table_for(Layer *layer, const sqlite3_io_methods *below, FileKind kind)
{
    Table *found = NULL;

    pthread_mutex_lock(&files.lock);
    for (int i = 0; i < files.table_count && !found; i++) {
        Table *table = &files.tables[i];
        bool is_it = table->layer == layer && table->below == below && table->kind == kind;
        found = is_it ? table : NULL;
    }
    found = found ? found : table_make(layer, below, kind);
    pthread_mutex_unlock(&files.lock);
    return found;
}

// A database that is being built is written more than read; one under the fault layer is read.
static FileKind kind_of(const Layer *layer, const sqlite3_io_methods *below, int flags)
{
    if (flags & SQLITE_OPEN_WAL) {
        return LOG;
    }
    return flags & SQLITE_OPEN_MAIN_DB && layer->syncs && below->iVersion >= 3 ? MAPPED : PLAIN;
}

static int layer_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    Layer *layer = (Layer *)vfs; // its first member

    int code = layer->below->xOpen(layer->below, name, file, flags, out);
    if (code != SQLITE_OK || !file->pMethods) {
        return code;
    }
    FileKind kind = kind_of(layer, file->pMethods, flags);
    file->pMethods = &table_for(layer, file->pMethods, kind)->own;
    if (kind == MAPPED) {
        *map_of(file) = file_map_open(name);
    } else {
        *log_buffer(file) = (LogBuffer){0};
    }
    return SQLITE_OK;
}

static void library_start(void)
{
    sqlite3_pcache_methods2 pages;

    // Statistics of the allocator would take a global lock at each call; savepoints of small
    // members stay in memory.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, SAVEPOINT_BYTES);
    if (sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &pages) == SQLITE_OK) {
        pages = page_cache_over(&pages);
        sqlite3_config(SQLITE_CONFIG_PCACHE2, &pages);
    }
    if (sqlite3_initialize() != SQLITE_OK) {
        die("SQLite does not start");
    }
}

void sqlite_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, library_start);
}

static Layer *layer_make(const char *below, const char *name, bool syncs)
{
    if (files.layer_count == LAYERS_MAX) {
        die("more than %d file layers", LAYERS_MAX);
    }
    Layer *layer = &files.layers[files.layer_count++];
    layer->syncs = syncs;
    layer->below = sqlite3_vfs_find(below);
    if (!layer->below) {
        die("no file layer %s", below ? below : "of the system");
    }
    layer->vfs = *layer->below;
    layer->vfs.pNext = NULL;
    layer->vfs.zName = name;
    layer->vfs.xOpen = layer_open;
    layer->vfs.szOsFile = (int)(buffer_place(layer) + sizeof(LogBuffer));
    if (sqlite3_vfs_register(&layer->vfs, 0) != SQLITE_OK) {
        die("the file layer %s cannot be registered", name);
    }
    return layer;
}

const char *vfs_over(const char *below, const char *name, bool syncs)
{
    Layer *found = NULL;

    sqlite_start();
    pthread_mutex_lock(&files.lock);
    for (int i = 0; i < files.layer_count && !found; i++) {
        found = strcmp(files.layers[i].vfs.zName, name) == 0 ? &files.layers[i] : NULL;
    }
    found = found ? found : layer_make(below, name, syncs);
    pthread_mutex_unlock(&files.lock);
    return found->vfs.zName;
}

uint64_t vfs_syncs(void)
{
    return files.syncs;
}
