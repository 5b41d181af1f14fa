// Power cuts, full disks and I/O errors under writers: what was answered is there, nothing is there
// in part, and the store goes on when the disk does.
#include "test.h"

#include "store/faults.h"
#include "store_tx_world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#ifdef OCTAVO_HOOKS

enum {
    WRITERS = 4,
    IDS_MAX = 200000,
    CUTS = 240,
    CUTS_PER_DATABASE = 12,
};

// What the client of each record was told.
typedef enum { UNUSED, ATTEMPTED, STORED, REFUSED, DELETING, DELETED } Told;

static _Atomic int told[IDS_MAX];
static _Atomic int last_id, stored_count;

static const Field entry_fields[] = {{"words", "words", TEXT | WORDS}, {0}};
static const Collection entries = {.table = "entry", .fields = entry_fields};

static Err *make_tables(Tx *tx, void *context)
{
    static const char *const columns[] = {"words"};

    (void)context;
    TRY(tx_exec(tx,
                "create table if not exists entry(pk integer primary key, id int unique, t text)",
                NO_ARGS, NULL));
    TRY(tx_exec(tx, "create table if not exists twin(pk integer primary key, id int unique)",
                NO_ARGS, NULL));
    TRY(tx_exec(tx, "create table if not exists total(n int)", NO_ARGS, NULL));
    TRY(tx_exec(tx, "insert into total select 0 where not exists (select 1 from total)", NO_ARGS,
                NULL));
    return words_make(tx, &entries, columns, 1);
}

static Str words_of(int id)
{
    return str_fmt("entry w%d", id);
}

static Err *entry_insert(Tx *tx, int id)
{
    Str words = words_of(id);

    TRY(tx_exec(tx, "insert into entry(id, t) values ($1, hex(randomblob($2)))",
                ARGS(A_INT(id), A_INT(id % 3000)), NULL));
    TRY(words_write(tx, &entries, 0, NULL, &words, 1));
    TRY(tx_exec(tx, "insert into twin(id) values ($1)", ARGS(A_INT(id)), NULL));
    return tx_exec(tx, "update total set n = n + 1", NO_ARGS, NULL);
}

static Err *entry_delete(Tx *tx, int id)
{
    Str words = words_of(id);
    int64_t pk = 0;

    TRY(tx_rows(tx, "select pk from entry where id = $1", ARGS(A_INT(id)), take_int, &pk));
    TRY(words_write(tx, &entries, pk, &words, NULL, 1));
    TRY(tx_exec(tx, "delete from entry where id = $1", ARGS(A_INT(id)), NULL));
    TRY(tx_exec(tx, "delete from twin where id = $1", ARGS(A_INT(id)), NULL));
    return tx_exec(tx, "update total set n = n - 1", NO_ARGS, NULL);
}

// One transaction: a new record, or the end of an old one, or a change of mind. The answer goes
// into the model only after it came.
static Err *write_one(Db *db, int id, int deletes)
{
    Tx *tx = NULL;

    TRY(tx_begin(db, &(TxOptions){.kind = WRITE}, &tx));
    told[id] = ATTEMPTED;
    Err *err = entry_insert(tx, id);
    if (!err && deletes) {
        told[deletes] = DELETING;
        err = entry_delete(tx, deletes);
    }
    if (err || id % 7 == 0) {
        tx_rollback(tx);
        told[id] = REFUSED;
        told[deletes] = deletes ? STORED : UNUSED;
        return err;
    }
    TRY(tx_commit(tx));
    told[id] = STORED;
    told[deletes] = deletes ? DELETED : UNUSED;
    stored_count++;
    return NULL;
}

typedef struct {
    Db *db;
    int rounds; // 0: until an error
    int errors;
    pthread_t thread;
} Writer;

static void *write_on(void *argument)
{
    Writer *writer = argument;
    int mine = 0; // a stored record of this thread, to be deleted some day

    for (int i = 0; writer->rounds == 0 || i < writer->rounds; i++) {
        int id = ++last_id;
        if (id >= IDS_MAX) {
            break;
        }
        Err *err = write_one(writer->db, id, i % 5 == 4 ? mine : 0);
        mine = i % 5 == 4 ? 0 : mine;
        writer->errors += err != NULL;
        if (err && writer->rounds == 0) {
            break;
        }
        mine = told[id] == STORED ? id : mine;
        arena_reset(arena_current());
    }
    return NULL;
}

static int write_all(Db *db, int rounds)
{
    Writer writers[WRITERS];
    int errors = 0;

    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (Writer){.db = db, .rounds = rounds};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        errors += writers[i].errors;
    }
    return errors;
}

// ---------------------------------------------------------------------------------------------
// The reference model

typedef struct {
    bool *is_there;
    int count;
} Seen;

static Err *see(const Row *row, void *context)
{
    Seen *seen = context;
    int64_t id = row_int(row, 0);

    assert_in_range(id, 1, IDS_MAX - 1);
    seen->is_there[id] = true;
    seen->count++;
    return NULL;
}

static int64_t number(Tx *tx, const char *sql)
{
    int64_t n = -1;

    assert_ok(tx_rows(tx, sql, NO_ARGS, take_int, &n));
    return n;
}

static Err *must_be_ok(const Row *row, void *context)
{
    (void)context;
    assert_str(row_text(row, 0), "ok");
    return NULL;
}

static void compare_with_model(const bool *is_there)
{
    for (int id = 1; id <= last_id && id < IDS_MAX; id++) {
        if (told[id] == STORED && !is_there[id]) {
            fail_msg("record %d was answered and is lost", id);
        }
        if ((told[id] == REFUSED || told[id] == DELETED || told[id] == UNUSED) && is_there[id]) {
            fail_msg("record %d was rolled back or deleted and is there", id);
        }
        // What nobody was told counts as it is from here on.
        told[id] = is_there[id] ? STORED : told[id] == DELETING ? DELETED : told[id];
        told[id] = !is_there[id] && told[id] == ATTEMPTED ? REFUSED : told[id];
    }
}

static void check_database(Db *db)
{
    Seen seen = {.is_there = NEW_ARRAY(bool, IDS_MAX)};
    Tx *tx = NULL;

    assert_ok(tx_begin(db, &(TxOptions){.kind = READ}, &tx));
    assert_ok(tx_rows(tx, "pragma integrity_check", NO_ARGS, must_be_ok, NULL));
    assert_ok(tx_rows(tx, "select id from entry", NO_ARGS, see, &seen));
    // Every member of a transaction is there, or none.
    assert_int_equal(number(tx, "select count(*) from twin"), seen.count);
    assert_int_equal(number(tx, "select count(*) from twin where id in (select id from entry)"),
                     seen.count);
    assert_int_equal(number(tx, "select n from total"), seen.count);
    assert_int_equal(number(tx, "select count(*) from entry where pk in (select rowid from "
                                "entry_words where entry_words match 'entry')"),
                     seen.count);
    assert_ok(tx_commit(tx));
    compare_with_model(seen.is_there);
    arena_reset(arena_current());
}

// ---------------------------------------------------------------------------------------------
// Tests

static void model_reset(void)
{
    for (int i = 0; i < IDS_MAX; i++) {
        told[i] = UNUSED;
    }
    last_id = 0;
    stored_count = 0;
}

static void faulty_open(World *world)
{
    StoreOptions options = {.dir = str_of(world->dir), .readers_max = 4, .faults = true};

    assert_ok(store_open(&options, &world->store));
    assert_ok(db_open(world->store, S("diku"), true, &world->db));
    assert_ok(tx_run(world->db, &(TxOptions){.kind = WRITE}, make_tables, NULL));
}

// The disk is simulated, so its files may lie in memory.
static const char *faulty_dir(void)
{
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm/octavo-faults-XXXXXX"
                                         : "/tmp/octavo-faults-XXXXXX";
}

static int faulty_setup(void **state)
{
    World *world = calloc(1, sizeof *world);

    log_set(LOG_OFF, false);
    strcpy(world->dir, faulty_dir());
    assert_non_null(mkdtemp(world->dir));
    faults_reset(1);
    model_reset();
    faulty_open(world);
    *state = world;
    return 0;
}

static int faulty_teardown(void **state)
{
    int code = world_teardown(state);

    faults_reset(1);
    return code;
}

static void world_remove(World *world)
{
    nftw(world->dir, test_remove_one, 8, FTW_DEPTH | FTW_PHYS);
    strcpy(world->dir, faulty_dir());
    assert_non_null(mkdtemp(world->dir));
}

static void cut_and_check(World *world, Keep keep)
{
    write_all(world->db, 0);
    assert_true(faults_power_is_off());
    store_close(world->store);
    faults_reboot(keep);
    faulty_open(world);
    check_database(world->db);
}

static void random_power_cuts_lose_nothing_that_was_answered(void **state)
{
    World *world = *state;

    srand(4711);
    for (int i = 0; i < CUTS; i++) {
        if (i % CUTS_PER_DATABASE == 0) {
            store_close(world->store);
            world_remove(world);
            faults_reset((uint64_t)i + 1);
            model_reset();
            faulty_open(world);
        }
        faults_arm(&(Fault){.is_cut = true, .nth = 1 + rand() % 400});
        cut_and_check(world, (Keep)(i % 3));
    }
}

// Each place of the code, each kind of operation, with each thing a disk may make of it.
static void cuts_at_all_points_lose_nothing(void **state)
{
    static const Fault cuts[] = {
        {.point = "group-begins"},
        {.point = "member-begins"},
        {.point = "member-released"},
        {.point = "before-commit"},
        {.point = "after-commit"},
        {.point = "group-answered"},
        {.op = OP_WRITE, .file = FILE_LOG},
        {.op = OP_SYNC, .file = FILE_LOG},
        {.op = OP_CHANGE},
    };
    World *world = *state;

    for (int i = 0; i < 54; i++) {
        Fault cut = cuts[i % 9];
        cut.is_cut = true;
        cut.nth = 1 + i * 3 % 40;
        faults_arm(&cut);
        cut_and_check(world, (Keep)(i / 9 % 3));
    }
    assert_true(stored_count > 0);
}

// The opening itself: making the file, its tables, and recovering the log.
static void cuts_while_a_database_is_made_leave_it_usable(void **state)
{
    World *world = *state;

    for (int i = 1; i <= 60; i++) {
        store_close(world->store);
        world_remove(world);
        faults_reset((uint64_t)i);
        model_reset();
        faults_arm(&(Fault){.is_cut = true, .nth = i});
        StoreOptions options = {.dir = str_of(world->dir), .faults = true};
        assert_ok(store_open(&options, &world->store));
        Err *err = db_open(world->store, S("diku"), true, &world->db);
        err = err ? err : tx_run(world->db, &(TxOptions){.kind = WRITE}, make_tables, NULL);
        store_close(world->store);
        faults_reboot((Keep)(i % 3));
        faulty_open(world);
        assert_int_equal(write_all(world->db, 3), 0);
        check_database(world->db);
    }
}

static void cuts_around_checkpoints_lose_nothing(void **state)
{
    static const Fault cuts[] = {
        {.point = "before-copy"},
        {.point = "after-copy"},
        {.point = "before-restart"},
        {.point = "after-restart"},
        {.op = OP_WRITE, .file = FILE_DATABASE},
        {.op = OP_SYNC, .file = FILE_DATABASE},
    };
    World *world = *state;

    for (int i = 0; i < 18; i++) {
        Fault cut = cuts[i % 6];
        cut.is_cut = true;
        cut.nth = 1;
        faults_arm(&cut);
        cut_and_check(world, (Keep)(i / 6));
    }
    assert_true(store_figures(world->store).wal_bytes_max < 64 << 20);
}

static void a_full_disk_refuses_and_recovers(void **state)
{
    World *world = *state;
    Tx *tx = NULL;

    assert_int_equal(write_all(world->db, 5), 0);
    faults_disk_full(20000);
    assert_true(write_all(world->db, 40) > 0);
    faults_disk_full(0);
    Err *err = tx_begin(world->db, &(TxOptions){.kind = WRITE}, &tx);
    assert_null(err);
    err = tx_exec(tx, "insert into entry(id, t) values (199999, hex(zeroblob(3000000)))", NO_ARGS,
                  NULL);
    err = err ? (tx_rollback(tx), err) : tx_commit(tx);
    assert_non_null(err);
    assert_int_equal(err->status, 500);
    assert_str(err->message, "The disk is full; nothing was stored");
    check_database(world->db); // reading goes on

    faults_disk_full(-1);
    assert_int_equal(write_all(world->db, 5), 0);
    check_database(world->db);
    store_close(world->store);
    faults_reboot(LOSE_ALL);
    faulty_open(world);
    check_database(world->db);
}

static void failing_operations_refuse_and_recover(void **state)
{
    static const FaultOp ops[] = {OP_CHANGE, OP_READ, OP_WRITE, OP_SYNC};
    World *world = *state;

    for (int i = 1; i <= 60; i++) {
        faults_arm(&(Fault){.op = ops[i % 4],
                            .file = (FaultFileKind)(i / 4 % 3),
                            .nth = i * 3,
                            .count = 1 + i % 5});
        write_all(world->db, 12);
        faults_arm(NULL);
        assert_int_equal(write_all(world->db, 2), 0);
        check_database(world->db);
        if (i % 4 == 0) {
            store_close(world->store);
            faults_reboot((Keep)(i / 4 % 3));
            faulty_open(world);
            check_database(world->db);
        }
    }
}

static void a_fault_is_read_from_a_text(void **state)
{
    static const char *const good[] = {"cut:before-commit:3:all", "cut:write.log:1:some",
                                       "cut:change:7:first", "error:read.database:2:5",
                                       "full:4096"};
    static const char *const bad[] = {"",
                                      "cut",
                                      "cut:write:1",
                                      "cut::1:all",
                                      "error:here:1:1",
                                      "error:write.moon:1:1",
                                      "full:much",
                                      "cut:write:x:all"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(faults_arm_text(str_of(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_non_null(faults_arm_text(str_of(bad[i])));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, faulty_setup, faulty_teardown)

int main(void)
{
    if (!test_is_embedded()) {
        print_message("skipped: the fault layer stands under files of the embedded database\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        TEST(random_power_cuts_lose_nothing_that_was_answered),
        TEST(cuts_at_all_points_lose_nothing),
        TEST(cuts_while_a_database_is_made_leave_it_usable),
        TEST(cuts_around_checkpoints_lose_nothing),
        TEST(a_full_disk_refuses_and_recovers),
        TEST(failing_operations_refuse_and_recover),
        TEST(a_fault_is_read_from_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0; // the fault layer is not in this build
}

#endif
