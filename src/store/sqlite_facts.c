// What operators are told of the embedded database.
#include "store/sqlite.h"

#include <dirent.h>
#include <sys/stat.h>

// As conn_open sets them on the writer; the map is that of sqlite_map_pool.c.
static const char *const settings[][2] = {
    {"journal_mode", "wal"},
    {"synchronous", "full"},
    {"wal_autocheckpoint", "0"},
    {"temp_store", "file"},
    {"foreign_keys", "off"},
    {"secure_delete", "fast"},
    {"group_commit_max", "64"},
    {"group_commit_age_ms", "2"},
    {"file_map", "whole file, one for all connections"},
    {NULL, NULL},
};

// All files of all databases, logs included.
static int64_t size_of_files(Str folder)
{
    const char *path = str_z(folder);
    DIR *dir = opendir(path);
    int64_t size = 0;
    struct stat facts;

    if (!dir) {
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (str_find(str_of(entry->d_name), S(".db"), 0) > 0 &&
            fstatat(dirfd(dir), entry->d_name, &facts, 0) == 0) {
            size += facts.st_size;
        }
    }
    closedir(dir);
    return size;
}

void sqlite_facts(Store *store, StoreFacts *facts)
{
    facts->version = str_of(sqlite3_libversion());
    facts->settings = settings;
    facts->size_bytes = store ? size_of_files(store->options.dir) : 0;
}
