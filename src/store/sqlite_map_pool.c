// One map of each database file for all its connections.
//
// SQLite would map a file once per connection, up to 2 GB of it, and anew whenever another
// connection has committed: two system calls and all page faults again for each request that reads.
// Here the map stays as long as some connection is open. Its place is larger than the file, so that
// it grows with it; only pages that the file has are handed out. Nobody makes a file shorter while
// it is open: databases are vacuumed into other files.
#include "store/sqlite_map.h"

#include "base/die.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Of addresses, not of memory: a longer file has place for four times its size.
static const int64_t PLACE_MIN = (int64_t)16 << 30;

struct FileMap {
    char *path;
    int users; // guarded by maps_lock
    // Stays open with the map: closing it would drop the locks that SQLite has on the file.
    int file;
    const char *at;
    int64_t place;
    _Atomic int64_t size; // of the file, as far as it is known
    FileMap *next;
};

static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER; // guards the list
static FileMap *maps;

static FileMap *map_find(const char *path)
{
    FileMap *map = maps;

    while (map && strcmp(map->path, path) != 0) {
        map = map->next;
    }
    return map;
}

// Without a place in memory, or without the file, all is read by calls.
static void map_fill(FileMap *map)
{
    struct stat facts;

    map->file = open(map->path, O_RDONLY | O_CLOEXEC);
    if (map->file < 0 || fstat(map->file, &facts)) {
        return;
    }
    int64_t place = facts.st_size * 4 < PLACE_MIN ? PLACE_MIN : facts.st_size * 4;
    void *at = mmap(NULL, (size_t)place, PROT_READ, MAP_SHARED | MAP_NORESERVE, map->file, 0);
    if (at != MAP_FAILED) {
        map->at = at;
        map->place = place;
        map->size = facts.st_size;
    }
}

static FileMap *map_make(const char *path)
{
    FileMap *map = calloc(1, sizeof *map);
    char *copy = strdup(path);

    if (!map || !copy) {
        die("out of memory");
    }
    *map = (FileMap){.path = copy, .next = maps};
    map_fill(map);
    maps = map;
    return map;
}

FileMap *file_map_open(const char *path)
{
    pthread_mutex_lock(&maps_lock);
    FileMap *map = map_find(path);
    map = map ? map : map_make(path);
    map->users++;
    pthread_mutex_unlock(&maps_lock);
    return map;
}

static void map_end(FileMap *map)
{
    FileMap **at = &maps;

    while (*at != map) {
        at = &(*at)->next;
    }
    *at = map->next;
    if (map->at) {
        munmap((void *)(uintptr_t)map->at, (size_t)map->place);
    }
    if (map->file >= 0) {
        close(map->file);
    }
    free(map->path);
    free(map);
}

void file_map_close(FileMap *map)
{
    pthread_mutex_lock(&maps_lock);
    if (--map->users == 0) {
        map_end(map);
    }
    pthread_mutex_unlock(&maps_lock);
}

// The file may have grown since.
static bool file_reaches(FileMap *map, int64_t end)
{
    struct stat facts;

    if (end <= map->size) {
        return true;
    }
    if (fstat(map->file, &facts)) {
        return false;
    }
    map->size = facts.st_size;
    return end <= facts.st_size;
}

const void *file_map_at(FileMap *map, int64_t offset, int size)
{
    int64_t end = offset + size;

    return end <= map->place && file_reaches(map, end) ? map->at + offset : NULL;
}

void file_map_shortened(FileMap *map, int64_t size)
{
    map->size = size;
}
