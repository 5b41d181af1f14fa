// The map of database files: one for all connections, as long as the file, without harm to locks.
#include "library.h"

#include "store/sqlite_map.h"

#include <fcntl.h>
#include <sys/wait.h>

static int file_make(const char *path, int64_t size)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);

    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, size), 0);
    return file;
}

static void a_map_reaches_as_far_as_the_file(void **state)
{
    const Library *lib = *state;
    const char *path = str_z(str_fmt("%s/numbers", lib->dir));
    int64_t far = (int64_t)3 << 30; // beyond what SQLite maps; the file has no blocks there
    int file = file_make(path, 8192);
    FileMap *map = file_map_open(path), *same = file_map_open(path);

    assert_ptr_equal(map, same);
    assert_non_null(file_map_at(map, 4096, 4096));
    assert_null(file_map_at(map, 4096, 4097));
    assert_null(file_map_at(map, far, 4096));
    assert_int_equal(ftruncate(file, far + 4096), 0);
    assert_int_equal(pwrite(file, "grown", 5, far), 5);
    const char *grown = file_map_at(map, far, 4096);
    assert_non_null(grown);
    assert_memory_equal(grown, "grown", 5);
    file_map_shortened(map, 8192);
    assert_int_equal(ftruncate(file, 8192), 0);
    assert_null(file_map_at(map, far, 4096));
    file_map_close(same);
    assert_non_null(file_map_at(map, 0, 100));
    file_map_close(map);
    close(file);
    unlink(path);
}

static void a_file_that_cannot_be_mapped_is_read_by_calls(void **state)
{
    (void)state;
    FileMap *map = file_map_open("/nowhere/at/all");

    assert_null(file_map_at(map, 0, 1));
    file_map_close(map);
}

// True if another process sees a lock on the file.
static bool is_locked(const char *path)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(path, O_RDWR);
        _exit(file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status) == 1;
}

// Whoever opens a database that nobody has locked believes to be alone with its log.
static void readers_come_and_go_and_the_lock_stays(void **state)
{
    Library *lib = *state;
    Db *other = NULL;
    const char *path = str_z(str_fmt("%s/town.db", lib->dir));

    if (!test_is_embedded()) {
        skip_because("there is no file");
    }
    for (int i = 0; i < 3; i++) {
        Tx *tx = begin(lib, i == 1 ? WRITE : READ);
        Docs none = {0};
        assert_ok(tx_list(tx, &books, S("cql.allRecords=1"), 10, &none));
        commit(lib);
        assert_true(is_locked(path));
    }
    assert_ok(db_open(lib->store, S("village"), true, &other));
    assert_ok(db_drop(lib->store, S("village")));
    assert_true(is_locked(path));
}

// What is written into a grown file by the copier of the log is what readers see.
static void readers_see_what_was_copied_from_the_log(void **state)
{
    Library *lib = *state;

    for (int round = 0; round < 3; round++) {
        Tx *tx = begin(lib, WRITE);
        for (int i = 0; i < 300; i++) {
            int n = round * 300 + i;
            insert(tx, &books, n, str_fmt("\"title\":\"t%d\",\"barcode\":\"b%d\"", n, n).at);
        }
        commit(lib);
        store_close(lib->store); // copies the log
        library_open(lib);
        int64_t count = 0;
        assert_ok(tx_count(begin(lib, READ), &books, S("title==t*"), &count));
        assert_int_equal(count, (round + 1) * 300);
        commit(lib);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(a_map_reaches_as_far_as_the_file),
        TEST(a_file_that_cannot_be_mapped_is_read_by_calls),
        TEST(readers_come_and_go_and_the_lock_stays),
        TEST(readers_see_what_was_copied_from_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
