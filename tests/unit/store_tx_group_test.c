// Many writers at once: nothing is lost, groups share commits, a failing member harms nobody.
#include "test.h"

#include "store/sqlite.h"
#include "store_tx_world.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum {
    THREADS = 16,
    ROUNDS = 60,
};

typedef struct {
    World *world;
    int number;
    bool is_batch;
    bool fails_sometimes;
    _Atomic int *committed;
    pthread_t thread;
} Worker;

static void work_once(Worker *worker, int round)
{
    TxOptions options = {.kind = WRITE, .is_batch = worker->is_batch};
    Tx *tx = NULL;

    assert_ok(tx_begin(worker->world->db, &options, &tx));
    assert_ok(counter_add(tx, "a", 1));
    // Each member sees its predecessors' sums complete.
    assert_int_equal(counter_in(tx, "a"), counter_in(tx, "b") + 1);
    assert_ok(counter_add(tx, "b", 1));
    if (worker->fails_sometimes && (round + worker->number) % 3 == 0) {
        tx_rollback(tx);
        return;
    }
    assert_ok(tx_commit(tx));
    atomic_fetch_add(worker->committed, 1);
}

static void *work(void *argument)
{
    Worker *worker = argument;

    for (int i = 0; i < ROUNDS; i++) {
        work_once(worker, i);
        arena_reset(arena_current());
    }
    return NULL;
}

static int run_workers(World *world, bool fails_sometimes, bool with_batches)
{
    Worker workers[THREADS];
    _Atomic int committed = 0;

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){.world = world,
                              .number = i,
                              .is_batch = with_batches && i % 2,
                              .fails_sometimes = fails_sometimes,
                              .committed = &committed};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    return committed;
}

static void sums_are_right_and_groups_share_commits(void **state)
{
    World *world = *state;
    int committed = run_workers(world, false, false);
    StoreFigures figures = store_figures(world->store);

    assert_int_equal(committed, THREADS * ROUNDS);
    assert_int_equal(counter(world, "a"), committed);
    assert_int_equal(counter(world, "b"), committed);
    assert_int_equal(figures.commits, committed + 1); // one made the table
    if (!test_is_embedded()) {
        return; // the server shares its syncs itself
    }
    assert_true(figures.groups < figures.commits / 2);
    // One sync a group; some more for making the file and for checkpoints.
    assert_true(figures.syncs < figures.groups + 40);
}

static void a_member_that_rolls_back_takes_nobody_along(void **state)
{
    World *world = *state;
    int committed = run_workers(world, true, false);

    assert_int_equal(committed, THREADS * ROUNDS * 2 / 3);
    assert_int_equal(counter(world, "a"), committed);
    assert_int_equal(store_figures(world->store).rollbacks, THREADS * ROUNDS / 3);
}

static void batches_and_people_both_get_their_turn(void **state)
{
    World *world = *state;

    assert_int_equal(run_workers(world, true, true), THREADS * ROUNDS * 2 / 3);
}

static void *read_on(void *argument)
{
    Worker *worker = argument;

    for (int i = 0; i < ROUNDS * 3; i++) {
        Tx *tx = NULL;
        assert_ok(tx_begin(worker->world->db, &(TxOptions){.kind = READ}, &tx));
        assert_int_equal(counter_in(tx, "a"), counter_in(tx, "b"));
        assert_ok(tx_commit(tx));
        arena_reset(arena_current());
    }
    return NULL;
}

// More readers than connections: they wait for each other and see whole commits only.
static void readers_see_whole_commits(void **state)
{
    World *world = *state;
    Worker readers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        readers[i] = (Worker){.world = world};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_on, &readers[i]), 0);
    }
    run_workers(world, true, false);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
    }
    assert_true(!test_is_embedded() || store_figures(world->store).readers_open <= 4);
}

static void a_transaction_knows_what_its_group_wrote(void **state)
{
    if (!test_is_embedded()) {
        skip_because("it is about the writer of the embedded database");
    }
    static const Collection items = {.table = "item"}, users = {.table = "users"};
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &(TxOptions){.kind = WRITE}, &tx));
    assert_false(tx_has_written(tx, &items));
    tx_note_write(tx, &items);
    assert_true(tx_has_written(tx, &items));
    assert_false(tx_has_written(tx, &users));
    assert_ok(counter_add(tx, "a", 1));
    uint64_t before = db_generation(world->db);
    assert_ok(tx_commit(tx));
    assert_int_equal(db_generation(world->db), before + 1);
    assert_ok(tx_begin(world->db, &(TxOptions){.kind = WRITE}, &tx));
    assert_false(tx_has_written(tx, &items));
    tx_rollback(tx);
    assert_int_equal(db_generation(world->db), before + 1); // nothing written: caches stay
}

typedef struct {
    World *world;
    _Atomic bool is_open, is_done;
    pthread_t thread;
} SlowReader;

static void *read_slowly(void *argument)
{
    SlowReader *reader = argument;
    Tx *tx = NULL;

    assert_ok(tx_begin(reader->world->db, &(TxOptions){.kind = READ}, &tx));
    int64_t n = counter_in(tx, "a");
    reader->is_open = true;
    while (!reader->is_done) {
        usleep(1000);
    }
    assert_int_equal(counter_in(tx, "a"), n);
    assert_ok(tx_commit(tx));
    return NULL;
}

static Err *write_much(Tx *tx, void *context)
{
    (void)context;
    return tx_exec(tx,
                   "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)"
                   "insert into bulk(t) select hex(randomblob(1500)) from n",
                   NO_ARGS, NULL);
}

static Err *make_bulk(Tx *tx, void *context)
{
    (void)context;
    return tx_exec(tx, "create table bulk(pk integer primary key, t text)", NO_ARGS, NULL);
}

// The log may not shrink below what the reader needs, but no writer waits for it (decision 42).
static void a_slow_reader_stops_no_writer(void **state)
{
    if (!test_is_embedded()) {
        skip_because("it is about the writer of the embedded database");
    }
    World *world = *state;
    SlowReader reader = {.world = world};
    TxOptions options = {.kind = WRITE};
    int64_t longest_ns = 0;

    assert_ok(tx_run(world->db, &options, make_bulk, NULL));
    pthread_create(&reader.thread, NULL, read_slowly, &reader);
    while (!reader.is_open) {
        usleep(1000);
    }
    for (int i = 0; i < 150; i++) { // about 9,000 frames
        int64_t begin_ns = clock_ns();
        assert_ok(tx_run(world->db, &options, write_much, NULL));
        int64_t took_ns = clock_ns() - begin_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    assert_true(store_figures(world->store).wal_bytes_max > 4000 * 4096);
    assert_true(longest_ns < 4000000000); // who waits gives up after five seconds
    reader.is_done = true;
    pthread_join(reader.thread, NULL);
}

typedef struct {
    World *world;
    _Atomic bool *is_done;
    pthread_t thread;
} Busy;

// Reads again and again, each time for some milliseconds: with four of these somebody always reads.
static void *read_without_pause(void *argument)
{
    Busy *busy = argument;

    while (!*busy->is_done) {
        Tx *tx = NULL;
        assert_ok(tx_begin(busy->world->db, &(TxOptions){.kind = READ}, &tx));
        counter_in(tx, "a");
        usleep(4000);
        assert_int_equal(counter_in(tx, "a"), counter_in(tx, "b"));
        assert_ok(tx_commit(tx));
        arena_reset(arena_current());
    }
    return NULL;
}

static void the_log_stays_small_while_readers_are_short(void **state)
{
    if (!test_is_embedded()) {
        skip_because("it is about the writer of the embedded database");
    }
    only_embedded();
    World *world = *state;
    TxOptions options = {.kind = WRITE};
    _Atomic bool is_done = false;
    Busy readers[4];

    assert_ok(tx_run(world->db, &options, make_bulk, NULL));
    for (int i = 0; i < 4; i++) {
        readers[i] = (Busy){.world = world, .is_done = &is_done};
        pthread_create(&readers[i].thread, NULL, read_without_pause, &readers[i]);
    }
    for (int i = 0; i < 500; i++) { // about 120 MB of pages
        assert_ok(tx_run(world->db, &options, write_much, NULL));
        arena_reset(arena_current());
    }
    is_done = true;
    for (int i = 0; i < 4; i++) {
        pthread_join(readers[i].thread, NULL);
    }
    StoreFigures figures = store_figures(world->store);
    assert_true(figures.wal_bytes_max < 64 << 20);
    assert_true(figures.checkpoints > 0);
}

static void idle_databases_close_their_files(void **state)
{
    if (!test_is_embedded()) {
        skip_because("it is about the writer of the embedded database");
    }
    only_embedded();
    World *world = *state;
    StoreOptions options = {.dir = str_of(world->dir), .idle_close_ms = 1};
    Db *db = NULL;

    store_close(world->store);
    assert_ok(store_open(&options, &world->store));
    for (int i = 0; i < 100; i++) {
        Tx *tx = NULL;
        assert_ok(db_open(world->store, str_fmt("t%d", i), true, &db));
        assert_ok(tx_begin(db, &(TxOptions){.kind = READ}, &tx));
        assert_ok(tx_commit(tx));
    }
    for (int i = 0; i < 2000 && store_figures(world->store).databases_open; i++) {
        usleep(5000);
    }
    assert_int_equal(store_figures(world->store).databases_open, 0);
    assert_int_equal(store_figures(world->store).readers_open, 0);
    assert_ok(db_open(world->store, S("diku"), false, &world->db));
    assert_int_equal(counter(world, "a"), 0);
}

typedef struct {
    World *world;
    bool is_batch;
    pthread_t thread;
    int *order, *count; // written by who has the writer
    int number;
} Queued;

static void *queue_up(void *argument)
{
    Queued *queued = argument;
    Tx *tx = NULL;

    assert_ok(tx_begin(queued->world->db, &(TxOptions){.kind = WRITE, .is_batch = queued->is_batch},
                       &tx));
    queued->order[(*queued->count)++] = queued->number;
    assert_ok(counter_add(tx, "a", 1));
    assert_ok(tx_commit(tx));
    return NULL;
}

static int waiting(const World *world)
{
    SqliteDb *db = world->db->state;
    int count = 0;

    pthread_mutex_lock(&db->baton.lock);
    for (int queue = 0; queue < QUEUES; queue++) {
        for (const Waiter *one = db->baton.first[queue]; one; one = one->next) {
            count++;
        }
    }
    pthread_mutex_unlock(&db->baton.lock);
    return count;
}

// Three batches and then a person stand in the queue before the writer is free. How long the first
// batch stood there, at most.
static int64_t queue_of_four_ns(World *world, int order[4])
{
    Queued queued[4];
    int count = 0;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &(TxOptions){.kind = WRITE}, &tx));
    int64_t begun_ns = clock_ns();
    for (int i = 0; i < 4; i++) {
        queued[i] = (Queued){
            .world = world, .is_batch = i < 3, .order = order, .count = &count, .number = i};
        pthread_create(&queued[i].thread, NULL, queue_up, &queued[i]);
        while (waiting(world) <= i) {
            sched_yield();
        }
    }
    assert_ok(counter_add(tx, "a", 1));
    assert_ok(tx_commit(tx));
    int64_t took_ns = clock_ns() - begun_ns;
    for (int i = 0; i < 4; i++) {
        pthread_join(queued[i].thread, NULL);
    }
    assert_int_equal(count, 4);
    return took_ns;
}

static void people_go_before_batches_that_came_first(void **state)
{
    if (!test_is_embedded()) {
        skip_because("it is about the writer of the embedded database");
    }
    enum { PATIENCE_NS = 100 * 1000000, ATTEMPTS = 200 }; // of a batch; a busy machine exhausts it
    World *world = *state;
    int order[4] = {0}, attempts = 1;

    while (queue_of_four_ns(world, order) >= PATIENCE_NS) {
        assert_true(++attempts <= ATTEMPTS);
    }
    assert_int_equal(order[0], 3);
    assert_int_equal(order[1], 0);
    assert_int_equal(order[2], 1);
    assert_int_equal(order[3], 2);
    assert_int_equal(counter(world, "a"), attempts * 5);
}

static Err *write_nine(Tx *tx, void *context)
{
    (void)context;
    return counter_add(tx, "a", 9);
}

static void a_second_process_may_read_and_copy_beside_the_server(void **state)
{
    only_embedded();
    World *world = *state;
    StoreOptions options = {.dir = str_of(world->dir), .readers_max = 2, .beside_server = true};
    World beside = {0};
    Tx *tx = NULL;

    assert_ok(store_open(&options, &beside.store));
    assert_ok(db_open(beside.store, S("diku"), true, &beside.db));
    assert_int_equal(counter(&beside, "a"), 0);
    assert_ok(tx_run(world->db, &(TxOptions){.kind = WRITE}, write_nine, NULL));
    assert_int_equal(counter(&beside, "a"), 9);
    assert_non_null(tx_begin(beside.db, &(TxOptions){.kind = WRITE}, &tx));
    assert_ok(db_backup(beside.db, str_z(str_fmt("%s/copy.db", world->dir))));
    assert_non_null(db_open(beside.store, S("nobody"), true, &beside.db));
    store_close(beside.store);
    assert_ok(db_open(world->store, S("copy"), false, &world->db));
    assert_int_equal(counter(world, "a"), 9);
}

static Err *count_one(Tx *tx, void *context)
{
    TRY(counter_add(tx, "a", 1));
    *(int64_t *)context = counter_in(tx, "a");
    return counter_add(tx, "b", 1);
}

static _Noreturn void count_until_killed(World *world, int answers)
{
    world_open(world);
    assert_ok(db_open(world->store, S("diku"), false, &world->db));
    for (;;) {
        int64_t n = 0;
        assert_ok(tx_run(world->db, &(TxOptions){.kind = WRITE}, count_one, &n));
        if (write(answers, &n, sizeof n) != sizeof n) {
            _exit(1);
        }
    }
}

// The system keeps what a killed process wrote; what its own buffers held is lost.
static void a_killed_process_loses_nothing_that_was_answered(void **state)
{
    if (!test_is_embedded()) {
        skip_because("it is about the writer of the embedded database");
    }
    World *world = *state;

    store_close(world->store);
    for (int i = 0; i < 10; i++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            count_until_killed(world, pipes[1]);
        }
        close(pipes[1]);
        usleep((useconds_t)(20000 + i * 3000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        int64_t answered = 0, last = 0;
        while (read(pipes[0], &last, sizeof last) == sizeof last) {
            answered = last;
        }
        close(pipes[0]);
        world_open(world);
        assert_ok(db_open(world->store, S("diku"), false, &world->db));
        assert_true(counter(world, "a") >= answered);
        assert_int_equal(counter(world, "a"), counter(world, "b"));
        store_close(world->store);
    }
    world_open(world);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sums_are_right_and_groups_share_commits),
        TEST(a_member_that_rolls_back_takes_nobody_along),
        TEST(batches_and_people_both_get_their_turn),
        TEST(readers_see_whole_commits),
        TEST(a_transaction_knows_what_its_group_wrote),
        TEST(people_go_before_batches_that_came_first),
        TEST(a_second_process_may_read_and_copy_beside_the_server),
        TEST(a_killed_process_loses_nothing_that_was_answered),
        TEST(a_slow_reader_stops_no_writer),
        TEST(the_log_stays_small_while_readers_are_short),
        TEST(idle_databases_close_their_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
