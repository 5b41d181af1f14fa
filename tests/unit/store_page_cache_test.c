// The page cache between SQLite and its own one: what is passed on when a transaction ends.
#include "test.h"

#include "store/sqlite_page_cache.h"

enum { FAR = 262145 }; // the number by way of which pages get new ones

// The cache below remembers only from where on pages were thrown away.
static int thrown_count;
static unsigned thrown_from;
static int below_itself;

static sqlite3_pcache *below_create(int page_bytes, int extra_bytes, int may_purge)
{
    (void)page_bytes, (void)extra_bytes, (void)may_purge;
    return (sqlite3_pcache *)&below_itself;
}

static sqlite3_pcache_page *below_fetch(sqlite3_pcache *cache, unsigned number, int creates)
{
    static sqlite3_pcache_page page;

    assert_ptr_equal(cache, &below_itself);
    (void)number, (void)creates;
    return &page;
}

static void below_renumber(sqlite3_pcache *cache, sqlite3_pcache_page *page, unsigned from,
                           unsigned to)
{
    assert_ptr_equal(cache, &below_itself);
    (void)page, (void)from, (void)to;
}

static void below_truncate(sqlite3_pcache *cache, unsigned first)
{
    assert_ptr_equal(cache, &below_itself);
    thrown_count++;
    thrown_from = first;
}

static void below_destroy(sqlite3_pcache *cache)
{
    assert_ptr_equal(cache, &below_itself);
}

static sqlite3_pcache_methods2 ours;
static sqlite3_pcache *cache;

// A cache with the pages 1 to 10.
static int cache_make(void **state)
{
    const sqlite3_pcache_methods2 below = {.iVersion = 1,
                                           .xCreate = below_create,
                                           .xFetch = below_fetch,
                                           .xRekey = below_renumber,
                                           .xTruncate = below_truncate,
                                           .xDestroy = below_destroy};

    (void)state;
    ours = page_cache_over(&below);
    cache = ours.xCreate(4096, 0, 1);
    for (unsigned number = 1; number <= 10; number++) {
        assert_non_null(ours.xFetch(cache, number, 1));
    }
    thrown_count = 0;
    return 0;
}

static int cache_drop(void **state)
{
    (void)state;
    ours.xDestroy(cache);
    return 0;
}

static void nothing_is_looked_for_behind_the_last_page(void **state)
{
    (void)state;
    ours.xTruncate(cache, 11);
    assert_int_equal(thrown_count, 0);
    (void)ours.xFetch(cache, 500, 0); // asked for, not put there
    ours.xTruncate(cache, 11);
    assert_int_equal(thrown_count, 0);
}

static void pages_that_swap_their_numbers_let_nothing_be_looked_for(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ours.xRekey(cache, NULL, 3, FAR);
        ours.xRekey(cache, NULL, 4, 3);
        ours.xRekey(cache, NULL, FAR, 4);
    }
    ours.xTruncate(cache, 11);
    assert_int_equal(thrown_count, 0);
}

static void pages_behind_the_end_are_thrown_away_once(void **state)
{
    (void)state;
    ours.xTruncate(cache, 6);
    assert_int_equal(thrown_count, 1);
    assert_int_equal(thrown_from, 6);
    ours.xTruncate(cache, 6);
    assert_int_equal(thrown_count, 1);
    assert_non_null(ours.xFetch(cache, 6, 2));
    ours.xTruncate(cache, 6);
    assert_int_equal(thrown_count, 2);
}

static void a_page_that_stays_at_a_far_number_is_thrown_away(void **state)
{
    (void)state;
    ours.xRekey(cache, NULL, 3, FAR);
    ours.xTruncate(cache, 11);
    assert_int_equal(thrown_count, 1);
    ours.xRekey(cache, NULL, 4, FAR);
    ours.xRekey(cache, NULL, 5, 20);
    ours.xRekey(cache, NULL, FAR, 4);
    ours.xTruncate(cache, 11);
    assert_int_equal(thrown_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_looked_for_behind_the_last_page, cache_make,
                                        cache_drop),
        cmocka_unit_test_setup_teardown(pages_that_swap_their_numbers_let_nothing_be_looked_for,
                                        cache_make, cache_drop),
        cmocka_unit_test_setup_teardown(pages_behind_the_end_are_thrown_away_once, cache_make,
                                        cache_drop),
        cmocka_unit_test_setup_teardown(a_page_that_stays_at_a_far_number_is_thrown_away,
                                        cache_make, cache_drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
