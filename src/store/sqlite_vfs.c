// Counts syncs: the system's own file layer with one function of each file replaced.
#include "store/sqlite.h"

#include "base/die.h"

#include <string.h>

enum {
    TABLES_MAX = 4, // the system layer has one table of functions per way of locking
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    struct {
        const sqlite3_io_methods *real;
        sqlite3_io_methods own;
    } tables[TABLES_MAX];
    _Atomic int table_count;
    pthread_mutex_t lock; // guards adding a table
    _Atomic uint64_t syncs;
} counting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static const sqlite3_io_methods *real_of(const sqlite3_io_methods *own)
{
    for (int i = 0; i < counting.table_count; i++) {
        if (&counting.tables[i].own == own) {
            return counting.tables[i].real;
        }
    }
    die("a file of another layer");
}

static int sync_counted(sqlite3_file *file, int flags)
{
    counting.syncs++;
    return real_of(file->pMethods)->xSync(file, flags);
}

static const sqlite3_io_methods *own_of(const sqlite3_io_methods *real)
{
    const sqlite3_io_methods *own = NULL;

    pthread_mutex_lock(&counting.lock);
    for (int i = 0; i < counting.table_count && !own; i++) {
        own = counting.tables[i].real == real ? &counting.tables[i].own : NULL;
    }
    if (!own) {
        int i = counting.table_count;
        if (i == TABLES_MAX) {
            die("more than %d kinds of database files", TABLES_MAX);
        }
        counting.tables[i].real = real;
        counting.tables[i].own = *real;
        counting.tables[i].own.xSync = sync_counted;
        counting.table_count = i + 1;
        own = &counting.tables[i].own;
    }
    pthread_mutex_unlock(&counting.lock);
    return own;
}

static int open_counted(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    int code = counting.real->xOpen(counting.real, name, file, flags, out);
    if (code == SQLITE_OK && file->pMethods) {
        file->pMethods = own_of(file->pMethods);
    }
    return code;
}

static void vfs_make(void)
{
    // Statistics of the allocator would take a global lock at each call; savepoints of small
    // members stay in memory.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 1024 * 1024);
    if (sqlite3_initialize() != SQLITE_OK) {
        die("SQLite does not start");
    }
    counting.real = sqlite3_vfs_find(NULL);
    counting.vfs = *counting.real;
    counting.vfs.pNext = NULL;
    counting.vfs.zName = "octavo";
    counting.vfs.xOpen = open_counted;
    if (sqlite3_vfs_register(&counting.vfs, 0) != SQLITE_OK) {
        die("the file layer cannot be registered");
    }
}

const char *vfs_counting(void)
{
    pthread_once(&once, vfs_make);
    return counting.vfs.zName;
}

void vfs_count_sync(void)
{
    counting.syncs++;
}

uint64_t vfs_syncs(void)
{
    return counting.syncs;
}
