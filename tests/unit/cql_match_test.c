// Clauses against values: tests/data/cql_match.t, and the interfaces the store uses.
#include "test.h"

#include "cql/cql.h"

#include <string.h>

typedef struct {
    unsigned folding;
    bool is_raw, is_uuid;
} HowToCompare;

static HowToCompare how_of(Str line)
{
    HowToCompare how = {0};

    how.folding |= str_find(line, S("keep case"), 0) >= 0 ? CQL_KEEP_CASE : 0;
    how.folding |= str_find(line, S("keep accents"), 0) >= 0 ? CQL_KEEP_ACCENTS : 0;
    how.folding |= str_find(line, S("time"), 0) >= 0 ? CQL_AS_TIME : 0;
    how.is_raw = str_find(line, S("raw"), 0) >= 0;
    how.is_uuid = str_find(line, S("uuid"), 0) >= 0;
    return how;
}

static Str answer(Str query, Str value, HowToCompare how)
{
    static const char *const names[] = {
        [CQL_FALSE] = "no", [CQL_TRUE] = "yes", [CQL_UNKNOWN] = "unknown"};
    CqlQuery parsed;
    CqlTruth truth = CQL_FALSE;

    assert_ok(cql_parse(query, &parsed));
    assert_int_equal(parsed.root->kind, CQL_CLAUSE);
    Err *err = how.is_uuid
                   ? cql_uuid_matches(parsed.root, value, false, &truth)
                   : cql_clause_matches(parsed.root, value, how.folding, how.is_raw, &truth);
    if (err) {
        return str_fmt("%d " STR_FMT, err->status, STR_ARG(err->message));
    }
    return str_of(names[truth]);
}

// "query | value | answer" or "query || answer".
static void check_line(Str line, HowToCompare how)
{
    ptrdiff_t bar = str_find(line, S(" |"), 0);
    assert_true(bar >= 0);
    Str query = str_sub(line, 0, (size_t)bar);
    Str rest = str_sub(line, (size_t)bar + 2, line.len), value = {NULL, 0};

    if (rest.at[0] != '|') {
        ptrdiff_t end = str_find(rest, S(" | "), 0);
        assert_true(end >= 0);
        value = end > 0 ? str_sub(rest, 1, (size_t)end) : S("");
        rest = str_sub(rest, (size_t)end + 1, rest.len);
    }
    Str expected = str_sub(rest, 2, rest.len), got = answer(query, value, how);
    if (!str_eq(got, expected)) {
        print_message(STR_FMT "\n", STR_ARG(line));
    }
    assert_str(got, str_z(expected));
}

static void clauses_of_the_file_match_as_it_says(void **state)
{
    FILE *file = fopen(TESTS_DIR "/data/cql_match.t", "r");
    char text[1000];
    HowToCompare how = {0};
    int count = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(text, sizeof text, file)) {
        Str line = {text, strcspn(text, "\n")};
        if (str_starts(line, S("how:"))) {
            how = how_of(line);
        } else if (line.len && line.at[0] != '#') {
            check_line(line, how);
            count++;
        }
    }
    fclose(file);
    print_message("%d clauses\n", count);
    assert_true(count > 150);
}

static const Cql *clause_of(const char *query)
{
    CqlQuery parsed;

    assert_ok(cql_parse(str_of(query), &parsed));
    return parsed.root;
}

static void a_key_is_always_set(void **state)
{
    CqlTruth truth = CQL_FALSE;

    (void)state;
    assert_ok(cql_uuid_matches(clause_of("id=*"), (Str){0}, true, &truth));
    assert_int_equal(truth, CQL_TRUE);
}

static void a_pattern_has_its_escapes_resolved(void **state)
{
    (void)state;
    CqlPattern plain = cql_pattern(S("a\\*b\\\\c\\"));
    assert_false(plain.has_wildcards);
    assert_str(plain.literal, "a*b\\c\\");
    assert_int_equal(plain.count, 1);

    CqlPattern pattern = cql_pattern(S("ab\\?*c?"));
    assert_true(pattern.has_wildcards);
    assert_int_equal(pattern.count, 4);
    assert_str(pattern.pieces[0].text, "ab?");
    assert_int_equal(pattern.pieces[1].kind, CQL_ANY_RUN);
    assert_str(pattern.pieces[2].text, "c");
    assert_int_equal(pattern.pieces[3].kind, CQL_ANY_CHAR);

    assert_int_equal(cql_pattern(S("")).count, 0);
    assert_str(cql_pattern(S("")).literal, "");
}

static void words_are_folded_and_know_their_truncation(void **state)
{
    CqlWords words;

    (void)state;
    assert_ok(cql_words(clause_of("t=\"Ärö-Bar* x\""), &words));
    assert_int_equal(words.count, 3);
    assert_str(words.words[0].word, "aro");
    assert_false(words.words[0].is_prefix);
    assert_str(words.words[1].word, "bar");
    assert_true(words.words[1].is_prefix);
    assert_false(words.words[2].is_prefix);

    assert_ok(cql_words(clause_of("t=*"), &words));
    assert_true(words.matches_all);
    assert_ok(cql_words(clause_of("t=\"\""), &words));
    assert_true(words.is_defined);
    assert_ok(cql_words(clause_of("t=..."), &words));
    assert_true(!words.matches_all && !words.is_defined && words.count == 0);
}

static void what_a_clause_asks_of_a_uuid_is_told(void **state)
{
    CqlUuid uuid;

    (void)state;
    assert_ok(cql_uuid(clause_of("id==2B94C631-FCA9-4892-A730-03EE529FFE2A"), &uuid));
    assert_int_equal(uuid.kind, CQL_UUID_EQUAL);
    assert_str(uuid.text, "2b94c631-fca9-4892-a730-03ee529ffe2a");
    assert_ok(cql_uuid(clause_of("id<>2B*"), &uuid));
    assert_int_equal(uuid.kind, CQL_UUID_NOT_PREFIX);
    assert_str(uuid.text, "2b");
    assert_ok(cql_uuid(clause_of("id==x"), &uuid));
    assert_int_equal(uuid.kind, CQL_UUID_NONE);
}

static void a_test_leaves_nothing_in_the_arena(void **state)
{
    CqlMatcher *matcher = NULL;

    (void)state;
    assert_ok(cql_matcher(clause_of("t=\"Harry Potter\""), 0, false, &matcher));
    size_t used = arena_used(arena_current());
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(cql_matcher_test(matcher, S("Höre: Harry Potter!")), CQL_TRUE);
    }
    assert_int_equal(arena_used(arena_current()), used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clauses_of_the_file_match_as_it_says),
        cmocka_unit_test(a_key_is_always_set),
        cmocka_unit_test(a_pattern_has_its_escapes_resolved),
        cmocka_unit_test(words_are_folded_and_know_their_truncation),
        cmocka_unit_test(what_a_clause_asks_of_a_uuid_is_told),
        cmocka_unit_test(a_test_leaves_nothing_in_the_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
