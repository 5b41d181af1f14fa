// A database file in memory, shared by all its connections.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct FileMap FileMap;

// Called after SQLite opened the file, and ended after SQLite closed it.
FileMap *file_map_open(const char *path);
void file_map_close(FileMap *map);
// Its bytes; NULL if the file does not reach so far, or the map: they are to be read. Valid until
// the end of the map.
const void *file_map_at(FileMap *map, int64_t offset, int size);
// The file was cut to this size.
void file_map_shortened(FileMap *map, int64_t size);
