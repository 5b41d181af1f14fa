// Folding: what counts as equal, and where words end.
#include "test.h"

#include "base/fold.h"

#include <string.h>

static void letters_lose_case_and_accents(void **state)
{
    (void)state;
    assert_str(fold(S("Harry POTTER 9")), "harry potter 9");
    assert_str(fold(S("Søvang")), "sovang");
    assert_str(fold(S("Straße")), "strasse");
    assert_str(fold(S("STRAẞE")), "strasse");
    assert_str(fold(S("Ærø")), "aero");
    assert_str(fold(S("Łódź")), "lodz");
    assert_str(fold(S("İstanbul ısı")), "istanbul isi");
    assert_str(fold(S("ﬁne Ǆ")), "fine dz");
    assert_str(fold(S("Ελλάδα")), "ελλαδα");
    assert_str(fold(S("Ёлка")), "елка");
    assert_str(fold(S("Việt Nam Ấ")), "viet nam a");
    assert_str(fold(S("e\xCC\x81"
                      "cole")),
               "ecole");
    assert_str(fold(S("O’Brien — “x” №½")), "o'brien - \"x\" no 1/2");
    assert_str(fold(S("")), "");
}

static void case_and_accents_fold_alone(void **state)
{
    (void)state;
    assert_str(fold_case(S("ÅSE Straße ΣΑΣ")), "åse straße σασ");
    assert_str(fold_accents(S("Åse Ærø Þ")), "Ase AEro TH");
}

static void what_unaccent_leaves_alone_stays(void **state)
{
    (void)state;
    // No rule of unaccent touches these, although Unicode decomposes them.
    assert_str(fold(S("й Ѝ ² ª ① 한국어 が")), "й ѝ ² ª ① 한국어 が");
}

static void invalid_bytes_pass_unchanged(void **state)
{
    (void)state;
    assert_str(fold(S("A\xFF\xC3(\xE2\x82")), "a\xFF\xC3(\xE2\x82");
}

static void long_text_fits(void **state)
{
    enum { N = 5000 };
    static char text[2 * N];

    (void)state;
    for (size_t i = 0; i < N; i++) {
        memcpy(text + 2 * i, "¼", 2);
    }
    assert_int_equal(fold((Str){text, sizeof text}).len, 4 * N);
}

static const char *words_of(const char *text)
{
    StrList words = {0};

    fold_words(str_of(text), &words);
    return str_z(str_join(words.at, words.len, S("|")));
}

static void words_are_runs_of_letters_digits_and_marks(void **state)
{
    (void)state;
    assert_string_equal(words_of("The Harry - . - Potter Story"), "the|harry|potter|story");
    assert_string_equal(words_of("foo-bar/baz_qux"), "foo|bar|baz|qux");
    assert_string_equal(words_of("AT&T O'Reilly's C++"), "at|t|o|reilly|s|c");
    assert_string_equal(words_of("jo@example.com 3.14"), "jo|example|com|3|14");
    assert_string_equal(words_of("中文 图书馆"), "中文|图书馆");
    assert_string_equal(words_of("हिन्दी x²"), "हिन्दी|x²");
    assert_string_equal(words_of(" .- "), "");
    assert_string_equal(words_of(""), "");
}

// Every line of PostgreSQL's own rules, where they are at hand.
static void folding_agrees_with_the_rules_of_unaccent(void **state)
{
    const char *name = SOURCE_DIR "/../shared/folio/reference/postgresql-unaccent/unaccent.rules";
    FILE *file = fopen(name, "r");
    char line[256];
    int count = 0;

    (void)state;
    if (!file) {
        skip_because("PostgreSQL's accent rules are not beside the repository");
    }
    while (fgets(line, sizeof line, file)) {
        Str rest = {line, strcspn(line, "\n")}, letter, plain = {"", 0};
        str_next(&rest, '\t', &letter);
        str_next(&rest, '\t', &plain);
        assert_string_equal(str_z(fold_accents(letter)), str_z(plain));
        assert_string_equal(str_z(fold(letter)), str_z(fold_case(plain)));
        count++;
    }
    fclose(file);
    print_message("%d rules of unaccent agree\n", count);
    assert_true(count > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_lose_case_and_accents),
        cmocka_unit_test(case_and_accents_fold_alone),
        cmocka_unit_test(what_unaccent_leaves_alone_stays),
        cmocka_unit_test(invalid_bytes_pass_unchanged),
        cmocka_unit_test(long_text_fits),
        cmocka_unit_test(words_are_runs_of_letters_digits_and_marks),
        cmocka_unit_test(folding_agrees_with_the_rules_of_unaccent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
