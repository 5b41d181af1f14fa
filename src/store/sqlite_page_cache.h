// The page cache under all connections; sqlite_page_cache.c says why.
#pragma once

#include <sqlite3.h>

// The methods of a page cache that leaves its work to another one. There is one for the process.
sqlite3_pcache_methods2 page_cache_over(const sqlite3_pcache_methods2 *methods);
