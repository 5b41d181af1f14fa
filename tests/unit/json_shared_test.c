// The reader and writer over the whole data beside the repository, if it is there.
#include "test.h"

#include "json/json.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>

static size_t files, refused;

static Str file_content(const char *name, size_t size)
{
    FILE *file = fopen(name, "rb");
    char *text = arena_alloc(arena_current(), size + 1);

    assert_non_null(file);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return (Str){text, size};
}

static int read_and_write(const char *name, const struct stat *info, int kind, struct FTW *walk)
{
    Json *doc = NULL, *again = NULL;
    const char *end = strrchr(name, '.');

    (void)walk;
    if (kind != FTW_F || !end || strcmp(end, ".json") != 0) {
        return 0;
    }
    arena_reset(arena_current());
    files++;
    Err *err = json_parse(file_content(name, (size_t)info->st_size), &doc);
    if (err) {
        refused++;
        print_message("%s: " STR_FMT "\n", name, STR_ARG(err->message));
        return 0;
    }
    Str text = json_text(doc);
    assert_ok(json_parse(text, &again));
    assert_true(json_equal(doc, again));
    assert_str(json_text(again), str_z(text));
    assert_true(json_equal(json_copy(doc), json_parse_stored(json_text_indented(doc))));
    return 0;
}

static void every_file_comes_back_as_it_was_read(void **state)
{
    const char *folder = SOURCE_DIR "/../shared/folio";

    (void)state;
    if (nftw(folder, read_and_write, 20, FTW_PHYS) != 0 || files == 0) {
        skip_because("FOLIO's sample files are not beside the repository");
    }
    assert_int_equal(refused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_comes_back_as_it_was_read),
    };

    return cmocka_run_group_tests_name("json over shared data", tests, NULL, NULL);
}
