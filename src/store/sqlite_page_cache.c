// SQLite's own page cache, but for one thing: a commit does not look through all of it.
//
// Whoever splits pages of a tree gives them new numbers by way of a number far behind the end of
// the file. SQLite's cache keeps that as its highest one, so that the end of the transaction, which
// throws away what lies behind the end of the file, goes through every page in memory: nearly every
// second check-out did. Here the highest number is known without those that were given up again.
#include "store/sqlite_page_cache.h"

#include "base/die.h"

#include <stdlib.h>

typedef struct {
    sqlite3_pcache *below;
    unsigned highest; // of all pages that may be in it, but for
    unsigned aside;   // the number that a page has on its way to another one; 0: none has
} Pages;

static sqlite3_pcache_methods2 below; // written once, before SQLite starts

static Pages *pages_of(sqlite3_pcache *cache)
{
    return (Pages *)cache;
}

static sqlite3_pcache *pages_create(int page_bytes, int extra_bytes, int may_purge)
{
    Pages *pages = calloc(1, sizeof *pages);

    if (!pages) {
        die("out of memory");
    }
    pages->below = below.xCreate(page_bytes, extra_bytes, may_purge);
    if (!pages->below) {
        free(pages);
        return NULL;
    }
    return (sqlite3_pcache *)pages;
}

static void pages_destroy(sqlite3_pcache *cache)
{
    below.xDestroy(pages_of(cache)->below);
    free(pages_of(cache));
}

static void pages_limit(sqlite3_pcache *cache, int count)
{
    below.xCachesize(pages_of(cache)->below, count);
}

static int pages_count(sqlite3_pcache *cache)
{
    return below.xPagecount(pages_of(cache)->below);
}

static sqlite3_pcache_page *pages_fetch(sqlite3_pcache *cache, unsigned number, int creates)
{
    Pages *pages = pages_of(cache);

    if (creates && number > pages->highest) {
        pages->highest = number;
    }
    return below.xFetch(pages->below, number, creates);
}

static void pages_unpin(sqlite3_pcache *cache, sqlite3_pcache_page *page, int discards)
{
    below.xUnpin(pages_of(cache)->below, page, discards);
}

static void pages_renumber(sqlite3_pcache *cache, sqlite3_pcache_page *page, unsigned from,
                           unsigned to)
{
    Pages *pages = pages_of(cache);

    if (from == pages->aside) {
        pages->aside = 0;
    }
    if (to > pages->highest && !pages->aside) {
        pages->aside = to;
    } else if (to > pages->highest) {
        pages->highest = to;
    }
    below.xRekey(pages->below, page, from, to);
}

static void pages_truncate(sqlite3_pcache *cache, unsigned first)
{
    Pages *pages = pages_of(cache);

    if (first > pages->highest && first > pages->aside) {
        return; // nothing lies there
    }
    below.xTruncate(pages->below, first);
    pages->highest = first - 1;
    pages->aside = 0;
}

static void pages_shrink(sqlite3_pcache *cache)
{
    below.xShrink(pages_of(cache)->below);
}

sqlite3_pcache_methods2 page_cache_over(const sqlite3_pcache_methods2 *methods)
{
    below = *methods;
    sqlite3_pcache_methods2 ours = below;
    ours.xCreate = pages_create;
    ours.xDestroy = pages_destroy;
    ours.xCachesize = pages_limit;
    ours.xPagecount = pages_count;
    ours.xFetch = pages_fetch;
    ours.xUnpin = pages_unpin;
    ours.xRekey = pages_renumber;
    ours.xTruncate = pages_truncate;
    ours.xShrink = pages_shrink;
    return ours;
}
