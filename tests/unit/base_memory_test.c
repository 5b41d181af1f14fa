// The memory of the process: its figures, and who is asked to give some back.
#include "test.h"

#include "base/memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { KEPT_BYTES = 32 << 20 };

// Pages that go back to the kernel at once.
static char *pages_new(void)
{
    char *at = mmap(NULL, KEPT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(at != MAP_FAILED);
    return memset(at, 1, KEPT_BYTES);
}

// Something that keeps memory until it is asked for it.
typedef struct {
    pthread_mutex_t lock; // guards the rest
    pthread_cond_t asked;
    char *kept;
    int times_short;
} Keeper;

static bool give(void *context, bool is_short)
{
    Keeper *keeper = context;

    pthread_mutex_lock(&keeper->lock);
    bool had_some = is_short && keeper->kept;
    if (is_short) {
        if (keeper->kept) {
            munmap(keeper->kept, KEPT_BYTES);
            keeper->kept = NULL;
        }
        keeper->times_short++;
        pthread_cond_signal(&keeper->asked);
    }
    pthread_mutex_unlock(&keeper->lock);
    return had_some;
}

static void what_the_process_uses_grows_with_what_it_touches(void **state)
{
    (void)state;
    int64_t before = memory_used();
    char *more = pages_new();

    assert_true(before > 0);
    assert_true(memory_used() - before > KEPT_BYTES / 2);
    munmap(more, KEPT_BYTES);
    assert_true(memory_of_machine() > memory_used());
    assert_true(memory_group_limit() >= 0 && memory_group_limit() < memory_of_machine());
}

static void who_keeps_memory_is_asked_for_it_when_it_gets_short(void **state)
{
    (void)state;
    Keeper keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER};
    MemoryGiver giver = {give, &keeper};
    uint64_t before = memory_figures().sheds;

    keeper.kept = pages_new();
    assert_ok(memory_watch(memory_used(), &giver, 1));
    pthread_mutex_lock(&keeper.lock);
    while (!keeper.times_short) {
        pthread_cond_wait(&keeper.asked, &keeper.lock);
    }
    pthread_mutex_unlock(&keeper.lock);
    memory_watch_end();
    assert_null(keeper.kept);
    assert_int_equal(memory_figures().sheds, before + (uint64_t)keeper.times_short);
    assert_true(memory_figures().shed_bytes > KEPT_BYTES / 2);
}

static void nobody_is_asked_while_there_is_enough(void **state)
{
    (void)state;
    Keeper keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER};
    MemoryGiver giver = {give, &keeper};

    assert_ok(memory_watch(memory_of_machine(), &giver, 1));
    assert_int_equal(memory_figures().limit_bytes, memory_of_machine());
    memory_watch_end();
    assert_int_equal(keeper.times_short, 0);
    assert_int_equal(memory_figures().limit_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_process_uses_grows_with_what_it_touches),
        cmocka_unit_test(who_keeps_memory_is_asked_for_it_when_it_gets_short),
        cmocka_unit_test(nobody_is_asked_while_there_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
