// The store's share of memory (decision 52): how it is divided between pages and records, and how
// what is kept only to be faster goes back - of databases at rest after a while, of all when memory
// is short.
#include "store/tx.h"

static const int64_t REST_NS = 60 * (int64_t)1000000000;
static const int64_t PAGES_MAX = 32 * 1024 * 1024; // more does not help a writer

// Two parts of five, as long as they are of use.
int64_t store_page_bytes(const Store *store)
{
    int64_t pages = store->options.cache_bytes / 5 * 2;

    return pages > PAGES_MAX && !store->options.is_building ? PAGES_MAX : pages;
}

int64_t store_record_bytes(const Store *store)
{
    return store->options.cache_bytes - store_page_bytes(store);
}

static Db *db_at(Store *store, size_t i)
{
    pthread_mutex_lock(&store->lock);
    Db *db = i < store->db_count ? store->dbs[i] : NULL;
    pthread_mutex_unlock(&store->lock);
    return db;
}

static int64_t rest_ns(const Store *store)
{
    int idle_ms = store->options.idle_close_ms;

    return idle_ms ? idle_ms * (int64_t)1000000 : REST_NS;
}

bool store_give_back(Store *store, bool is_short)
{
    int64_t before_ns = clock_ns() - rest_ns(store);
    bool has_given = false;
    Db *db;

    for (size_t i = 0; (db = db_at(store, i)); i++) {
        bool rests = db->used_ns < before_ns;
        if (rests || is_short) {
            has_given = cache_give_back(db) || has_given;
        }
        if (rests) {
            has_given = table_states_give_back(db) || has_given;
        }
    }
    if (is_short) {
        extras_give_back();
        has_given = true;
    }
    if (is_short && store->backend->give_back) {
        store->backend->give_back(store);
    }
    return has_given;
}

Db *db_resting_longest(const Db *but)
{
    Db *found = NULL, *db;
    int64_t found_ns = INT64_MAX;

    for (size_t i = 0; (db = db_at(but->store, i)); i++) {
        if (db != but && db->cached_bytes && db->used_ns < found_ns) {
            found_ns = db->used_ns;
            found = db;
        }
    }
    return found;
}
