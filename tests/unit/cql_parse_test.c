// Queries to trees: tests/data/cql.t, and what does not fit into a line.
#include "test.h"

#include "base/buf.h"
#include "cql/cql.h"

#include <string.h>

static Buf *out;

static void show_clause(const Cql *clause)
{
    buf_fmt(out, "[" STR_FMT " " STR_FMT, STR_ARG(clause->index), STR_ARG(clause->relation_text));
    for (size_t i = 0; i < clause->modifier_count; i++) {
        const CqlModifier *m = &clause->modifiers[i];
        buf_fmt(out, "/%s" STR_FMT "%s" STR_FMT, m->is_array ? "@" : "", STR_ARG(m->name),
                m->has_value ? "=" : "", STR_ARG(m->value));
    }
    buf_fmt(out, " '" STR_FMT "']", STR_ARG(clause->term));
}

static void show(const Cql *node)
{
    static const char *const names[] = {"and", "or", "not"};

    if (node->kind == CQL_ALL) {
        buf_add_z(out, "all");
        return;
    }
    if (node->kind == CQL_CLAUSE) {
        show_clause(node);
        return;
    }
    buf_fmt(out, "(%s", names[node->kind]);
    for (size_t i = 0; i < node->operand_count; i++) {
        buf_char(out, ' ');
        show(node->operands[i]);
    }
    buf_char(out, ')');
}

static Str shown(Str text)
{
    CqlQuery query = {0};
    Buf buf = buf_new(arena_current(), 100000);
    Err *err = cql_parse(text, &query);

    out = &buf;
    if (err) {
        buf_fmt(out, "error %d " STR_FMT, err->status, STR_ARG(err->message));
        return buf_str(out);
    }
    show(query.root);
    for (size_t i = 0; i < query.sort_count; i++) {
        const CqlSortKey *key = &query.sort[i];
        buf_fmt(out, " sort " STR_FMT "%s%s%s%s", STR_ARG(key->index),
                key->is_descending ? "/descending" : "", key->is_number ? "/number" : "",
                key->respects_case ? "/case" : "", key->respects_accents ? "/accents" : "");
    }
    return buf_str(out);
}

static Str file_text(const char *name)
{
    FILE *file = fopen(name, "r");
    static char text[1 << 17];

    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    return (Str){text, len};
}

static void queries_of_the_file_give_their_trees(void **state)
{
    Str rest = file_text(TESTS_DIR "/data/cql.t"), line;
    Str query = {0};
    int count = 0;

    (void)state;
    while (str_next(&rest, '\n', &line)) {
        if (str_is_empty(line) || line.at[0] == '#') {
            query = (Str){0};
        } else if (!query.at) {
            query = line;
        } else {
            Str tree = shown(query);
            if (!str_eq(tree, line)) {
                print_message("query:    " STR_FMT "\n", STR_ARG(query));
            }
            assert_str(tree, str_z(line));
            count++;
        }
    }
    print_message("%d queries\n", count);
    assert_true(count > 60);
}

static void an_absent_query_matches_all_and_an_empty_one_is_refused(void **state)
{
    (void)state;
    assert_str(shown((Str){0}), "all");
    assert_str(shown(S("")), "error 400 CQL: expected index or term, got EOF, at position 1: ");
    assert_str(shown(S("  ")), "error 400 CQL: expected index or term, got EOF, at position 3:   ");
}

static void line_ends_and_tabs_are_blanks_outside_quotes(void **state)
{
    (void)state;
    assert_str(shown(S("a\n==\tb\r\nor\tc=d")), "(or [a == 'b'] [c = 'd'])");
    assert_str(shown(S("a==b\n\n")), "[a == 'b']");
    assert_str(shown(S("a==\"b\nc\" or d=e")), "(or [a == 'b\nc'] [d = 'e'])");
    assert_str(shown(S("a==b\\\nc")), "[a == 'b\\\nc']");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    (void)state;
    assert_str(shown(S("a==\xFF")), "error 400 CQL: the query is no valid UTF-8 text");
    assert_str(shown(S("a==b\0c")), "error 400 CQL: the query is no valid UTF-8 text");
}

// operand(0) between operand(n-1), each "x<i>".
static Str chain(size_t n, const char *begin, const char *between, const char *end)
{
    Buf text = buf_new(arena_current(), n * 40);

    buf_add_z(&text, begin);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&text, "%sx%zu", i ? between : "", i);
    }
    buf_add_z(&text, end);
    return buf_str(&text);
}

static void a_chain_of_ten_thousand_terms_is_one_node(void **state)
{
    CqlQuery query;

    (void)state;
    assert_ok(cql_parse(chain(10000, "id==(", " or ", ")"), &query));
    assert_int_equal(query.root->kind, CQL_OR);
    assert_int_equal(query.root->operand_count, 10000);
    assert_str(query.root->operands[9999]->term, "x9999");
    assert_ptr_equal(query.root->operands[0]->index.at, query.root->operands[9999]->index.at);

    assert_ok(cql_parse(chain(10000, "id==", " or id==", ""), &query));
    assert_int_equal(query.root->operand_count, 10000);

    assert_ok(cql_parse(chain(1000, "a=b or (id==", " or id==", ") or c=d"), &query));
    assert_int_equal(query.root->operand_count, 1002);
}

static void all_sort_keys_are_kept_in_order(void **state)
{
    (void)state;
    static const char *const names[] = {"personal.lastName", "b c", "name", "=x", "last"};
    static const bool descending[] = {false, true, false, false, true};
    CqlQuery query;

    assert_ok(cql_parse(S("a=b sortby personal.lastName \"b c\"/sort.descending/respectCase  name\n"
                          "\"=x\"/number last / sort.descending"),
                        &query));
    assert_int_equal(query.sort_count, 5);
    for (size_t i = 0; i < query.sort_count; i++) {
        assert_str(query.sort[i].index, names[i]);
        assert_int_equal(query.sort[i].is_descending, descending[i]);
    }
    assert_true(query.sort[1].respects_case && query.sort[3].is_number);
}

static Str many(size_t n, const char *piece)
{
    Buf text = buf_new(arena_current(), 1 << 20);

    for (size_t i = 0; i < n; i++) {
        buf_add_z(&text, piece);
    }
    return buf_str(&text);
}

// What would cost the thread its stack, or the database its parser's, is refused.
static void monsters_are_refused_and_what_people_ask_is_not(void **state)
{
    (void)state;
    const struct {
        Str query;
        bool is_good;
    } cases[] = {
        {str_fmt("a=b" STR_FMT, STR_ARG(many(15, " or a=b and a=b"))), true},
        {str_fmt("a=b" STR_FMT, STR_ARG(many(16, " or a=b and a=b"))), false},
        {str_fmt("a=b" STR_FMT, STR_ARG(many(300, " not a=b"))), true},
        {str_fmt("a=b" STR_FMT, STR_ARG(many(301, " not a=b"))), false},
        {str_fmt("a=b" STR_FMT, STR_ARG(many(10001, " or a=b"))), false},
        {str_fmt("a=b" STR_FMT, STR_ARG(many(30000, " or a=b"))), false},
        {str_fmt("a==" STR_FMT " b", STR_ARG(many(1001, "/x"))), false},
        {str_fmt("a=b sortby" STR_FMT, STR_ARG(many(50, " a/sort.descending"))), true},
        {str_fmt("a=b sortby" STR_FMT, STR_ARG(many(51, " a"))), false},
        {str_fmt("a==\"" STR_FMT "\"", STR_ARG(many(200000, "x"))), true},
        {str_fmt("a==\"" STR_FMT "\"", STR_ARG(many(262144, "x"))), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CqlQuery query;
        Err *err = cql_parse(cases[i].query, &query);
        if (!err != cases[i].is_good) {
            fail_msg("case %zu", i);
        }
        assert_true(!err || err->status == 400);
    }
    Cql clause = {.kind = CQL_CLAUSE, .relation = CQL_ANY_WORD, .term = many(1001, "a ")};
    CqlWords words;
    assert_non_null(cql_words(&clause, &words));
    clause.term = many(1000, "a ");
    assert_ok(cql_words(&clause, &words));
    assert_int_equal(words.count, 1000);
}

static void parentheses_nest_up_to_500(void **state)
{
    enum { DEPTH = 500 };
    char text[2 * DEPTH + 8];
    CqlQuery query;

    (void)state;
    memset(text, '(', DEPTH + 1);
    memcpy(text + DEPTH, "a=b", 3);
    memset(text + DEPTH + 3, ')', DEPTH + 1);
    assert_ok(cql_parse((Str){text, 2 * DEPTH + 3}, &query));
    assert_str(query.root->index, "a");

    memset(text, '(', DEPTH + 1);
    Err *err = cql_parse((Str){text, DEPTH + 1}, &query);
    assert_non_null(err);
    assert_true(
        str_starts(err->message, S("CQL: more than 500 nested parentheses, at position 501: ((")));
}

static void nesting_without_parentheses_is_no_danger(void **state)
{
    CqlQuery query;

    (void)state;
    // "a = b = c" takes the last clause; at some length the parser gives up in good order.
    Err *err = cql_parse(chain(100000, "a=", "=", ""), &query);
    assert_true(!err || err->status == 400);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_of_the_file_give_their_trees),
        cmocka_unit_test(an_absent_query_matches_all_and_an_empty_one_is_refused),
        cmocka_unit_test(line_ends_and_tabs_are_blanks_outside_quotes),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(a_chain_of_ten_thousand_terms_is_one_node),
        cmocka_unit_test(all_sort_keys_are_kept_in_order),
        cmocka_unit_test(monsters_are_refused_and_what_people_ask_is_not),
        cmocka_unit_test(parentheses_nest_up_to_500),
        cmocka_unit_test(nesting_without_parentheses_is_no_danger),
    };

    // With a query as argument: prints its tree, to write new cases by.
    if (argc > 1) {
        Str tree = shown(str_of(argv[1]));
        printf(STR_FMT "\n", STR_ARG(tree));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
