// The measured query vectors, where they are at hand: the answers of FOLIO's database, with the
// words of decision 23 (a superset) for word search.
#include "test.h"

#include "cql/cql.h"
#include "json/json.h"

#include <string.h>

static int wider; // word searches where we find more than FOLIO does

// The text of a stored value as clauses see it; no text for a missing or null one.
static Str value_text(const Json *value)
{
    if (!value || json_is_null(value)) {
        return (Str){0};
    }
    return json_is_string(value) ? json_str(value, "") : json_pg_text(value);
}

static Str member_text(const Json *doc, const char *path)
{
    const Json *value = json_get(doc, path);

    return value && json_is_string(value) ? json_str(doc, path) : value_text(value);
}

static CqlTruth truth_of(const Json *vector, const char *member)
{
    const Json *value = json_get(vector, member);

    if (!value || json_is_null(value)) {
        return CQL_UNKNOWN;
    }
    return json_flag(vector, member, false) ? CQL_TRUE : CQL_FALSE;
}

// The terms of word searches were measured behind the parser: a question mark among them is plain.
static Str cql_term(const Json *vector)
{
    Str term = json_str(vector, "term");
    ptrdiff_t mark = str_find_char(term, '?', 0);

    if (!str_eq(json_str(vector, "kind"), S("fulltext")) || mark < 0) {
        return term;
    }
    Str before = str_sub(term, 0, (size_t)mark), after = str_sub(term, (size_t)mark, term.len);
    return str_fmt(STR_FMT "\\" STR_FMT, STR_ARG(before), STR_ARG(after));
}

static CqlTruth match(const Json *vector, unsigned folding, bool is_raw)
{
    CqlTruth truth = CQL_FALSE;
    Cql clause = {.kind = CQL_CLAUSE, .index = S("f")};
    CqlQuery query;

    clause.term = cql_term(vector);
    clause.relation_text = json_str(vector, "relation");
    // The relation as the parser reads it.
    assert_ok(cql_parse(str_fmt("f " STR_FMT " x", STR_ARG(clause.relation_text)), &query));
    clause.relation = query.root->relation;
    assert_ok(cql_clause_matches(&clause, member_text(vector, "value"), folding, is_raw, &truth));
    return truth;
}

static void check_fulltext(const Json *vector)
{
    CqlTruth ours = match(vector, 0, false);
    bool ours_is_wider = ours == CQL_TRUE && !json_flag(vector, "rmb", false);

    assert_int_equal(ours == CQL_TRUE, json_flag(vector, "fts5_after_unaccent", false));
    wider += ours_is_wider;
}

static void check_order(const Json *vector)
{
    assert_int_equal(match(vector, 0, true), truth_of(vector, "rmb_without_index"));
    assert_int_equal(match(vector, 0, false),
                     truth_of(vector, "rmb_with_index_ignoring_case_accents"));
}

static CqlTruth clause_truth(const Cql *clause, const Json *doc)
{
    CqlTruth truth = CQL_FALSE;

    if (str_eq(clause->index, S("id"))) {
        assert_ok(cql_uuid_matches(clause, json_key(doc), true, &truth));
        return truth;
    }
    assert_ok(cql_clause_matches(clause, member_text(doc, str_z(clause->index)), 0, false, &truth));
    return truth;
}

static CqlTruth node_truth(const Cql *node, const Json *doc)
{
    if (node->kind == CQL_ALL) {
        return CQL_TRUE;
    }
    if (node->kind == CQL_CLAUSE) {
        return clause_truth(node, doc);
    }
    CqlTruth left = node_truth(node->operands[0], doc);
    CqlTruth right = node_truth(node->operands[1], doc);
    assert_int_equal(node->operand_count, 2);
    if (node->kind == CQL_NOT) {
        return right == CQL_TRUE ? CQL_FALSE : left;
    }
    bool is_true = node->kind == CQL_AND ? left == CQL_TRUE && right == CQL_TRUE
                                         : left == CQL_TRUE || right == CQL_TRUE;
    return is_true ? CQL_TRUE : CQL_FALSE; // unknown and false do not differ at the top
}

static void check_query(const Json *vector)
{
    CqlQuery query;
    StrList expected = {0}, found = {0};

    JSON_EACH(name, json_get(vector, "match"))
    {
        str_list_add(&expected, value_text(name));
    }
    assert_ok(cql_parse(json_str(vector, "query"), &query));
    JSON_EACH(doc, json_get(vector, "docs"))
    {
        bool is_found = node_truth(query.root, doc) == CQL_TRUE;
        assert_int_equal(is_found, str_list_has(&expected, json_key(doc)));
        if (is_found) {
            str_list_add(&found, json_key(doc));
        }
    }
    assert_int_equal(found.len, expected.len);
}

static void check_vector(const Json *vector)
{
    Str kind = json_str(vector, "kind");

    if (str_eq(kind, S("fulltext"))) {
        check_fulltext(vector);
    } else if (str_eq(kind, S("exact"))) {
        assert_int_equal(match(vector, 0, false), truth_of(vector, "rmb"));
    } else if (str_eq(kind, S("order"))) {
        check_order(vector);
    } else {
        assert_string_equal(str_z(kind), "query");
        check_query(vector);
    }
}

static Str file_text(const char *name)
{
    static char text[1 << 17];
    FILE *file = fopen(name, "r");

    if (!file) {
        return (Str){0};
    }
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    return (Str){text, len};
}

// PostgreSQL keeps 5.0 as written, our documents do not: the vector's number becomes its text.
static Str numbers_as_text(Str text)
{
    Buf out = buf_new(arena_current(), text.len + 100);
    Str line;

    while (str_next(&text, '\n', &line)) {
        buf_add(&out, str_eq(line, S("\"value\": 5.0,")) ? S("\"value\": \"5.0\",") : line);
        buf_char(&out, '\n');
    }
    return buf_str(&out);
}

static void all_measured_vectors_match(void **state)
{
    Str text = file_text(SOURCE_DIR "/../shared/folio/reference/cql/cases.json");
    Json *vectors = NULL;
    int count = 0;

    (void)state;
    if (!text.at) {
        skip_because("the measured query vectors are not beside the repository");
    }
    assert_ok(json_parse(numbers_as_text(text), &vectors));
    JSON_EACH(vector, vectors)
    {
        check_vector(vector);
        count++;
    }
    print_message("%d vectors, %d word searches find more than FOLIO's\n", count, wider);
    assert_int_equal(count, 182);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_measured_vectors_match),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
