// Filters of JSON paths: [?(@.status != 'Paid' && @.id == "x")].
#include "jsonpath_filter.h"

enum {
    FILTER_NESTING_MAX = 16,
};

typedef enum { TEST_EXISTS, TEST_EQ, TEST_NE, TEST_LT, TEST_LE, TEST_GT, TEST_GE } Test;

struct Filter {
    enum { FILTER_AND, FILTER_OR, FILTER_NOT, FILTER_TEST } kind;
    Filter *left, *right;
    Test test;
    JsonPath path; // of the left side
    Str literal;   // as in a JSON text, strings with double quotes
};

typedef struct {
    Str text;
    size_t at;
    int depth;
} Reader;

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->text.len && reader->text.at[reader->at] == ' ') {
        reader->at++;
    }
}

static bool take(Reader *reader, const char *token)
{
    Str word = str_of(token);

    skip_blanks(reader);
    if (!str_starts(str_sub(reader->text, reader->at, reader->text.len), word)) {
        return false;
    }
    reader->at += word.len;
    return true;
}

static Err *filter_error(const Reader *reader, const char *what)
{
    return err_text(400, "JSON path \"" STR_FMT "\", character %zu: %s", STR_ARG(reader->text),
                    reader->at + 1, what);
}

static Err *read_literal(Reader *reader, Str *out)
{
    skip_blanks(reader);
    char c = reader->at < reader->text.len ? reader->text.at[reader->at] : 0;

    if (c == '\'' || c == '"') {
        ptrdiff_t end = str_find_char(reader->text, c, reader->at + 1);
        if (end < 0) {
            return filter_error(reader, "the quote is not closed");
        }
        Str inside = str_sub(reader->text, reader->at + 1, (size_t)end);
        *out = str_fmt("\"" STR_FMT "\"", STR_ARG(inside));
        reader->at = (size_t)end + 1;
        return NULL;
    }
    size_t begin = reader->at;
    while (reader->at < reader->text.len &&
           str_find_char(S(" )&|]"), reader->text.at[reader->at], 0) < 0) {
        reader->at++;
    }
    if (reader->at == begin) {
        return filter_error(reader, "expected a value");
    }
    *out = str_copy(arena_current(), str_sub(reader->text, begin, reader->at));
    return NULL;
}

static Err *read_test(Reader *reader, Filter **out)
{
    static const struct {
        const char *token;
        Test test;
    } tests[] = {{"==", TEST_EQ}, {"!=", TEST_NE}, {"<=", TEST_LE},
                 {">=", TEST_GE}, {"<", TEST_LT},  {">", TEST_GT}};
    Filter *filter = NEW(Filter);

    skip_blanks(reader);
    if (reader->at >= reader->text.len || reader->text.at[reader->at] != '@') {
        return filter_error(reader, "expected @");
    }
    filter->kind = FILTER_TEST;
    TRY(path_compile_at(reader->text, &reader->at, &filter->path));
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (take(reader, tests[i].token)) {
            filter->test = tests[i].test;
            TRY(read_literal(reader, &filter->literal));
            break;
        }
    }
    *out = filter;
    return NULL;
}

static Err *read_or(Reader *reader, Filter **out);

static Err *read_primary(Reader *reader, Filter **out)
{
    if (++reader->depth > FILTER_NESTING_MAX) {
        return filter_error(reader, "nested too deeply");
    }
    if (take(reader, "!")) {
        Filter *filter = NEW(Filter);
        filter->kind = FILTER_NOT;
        TRY(read_primary(reader, &filter->left));
        *out = filter;
    } else if (take(reader, "(")) {
        TRY(read_or(reader, out));
        if (!take(reader, ")")) {
            return filter_error(reader, "expected )");
        }
    } else {
        TRY(read_test(reader, out));
    }
    reader->depth--;
    return NULL;
}

static Filter *joined(int kind, Filter *left, Filter *right)
{
    Filter *filter = NEW(Filter);
    filter->kind = kind;
    filter->left = left;
    filter->right = right;
    return filter;
}

static Err *read_and(Reader *reader, Filter **out)
{
    Filter *left = NULL, *right = NULL;

    TRY(read_primary(reader, &left));
    while (take(reader, "&&")) {
        TRY(read_primary(reader, &right));
        left = joined(FILTER_AND, left, right);
    }
    *out = left;
    return NULL;
}

static Err *read_or(Reader *reader, Filter **out)
{
    Filter *left = NULL, *right = NULL;

    TRY(read_and(reader, &left));
    while (take(reader, "||")) {
        TRY(read_and(reader, &right));
        left = joined(FILTER_OR, left, right);
    }
    *out = left;
    return NULL;
}

Err *filter_compile(Str text, size_t *at, Filter **out)
{
    Reader reader = {.text = text, .at = *at};

    if (!take(&reader, "(")) {
        return filter_error(&reader, "expected (");
    }
    TRY(read_or(&reader, out));
    if (!take(&reader, ")")) {
        return filter_error(&reader, "expected )");
    }
    *at = reader.at;
    return NULL;
}

static bool is_string(Str value)
{
    return value.len >= 2 && value.at[0] == '"';
}

// -2 if the two cannot be compared.
static int compare(Str value, Str literal)
{
    double a = 0, b = 0;

    if (str_double(value, &a) && str_double(literal, &b)) {
        return (a > b) - (a < b);
    }
    if (is_string(value) != is_string(literal)) {
        return -2;
    }
    int order = str_cmp(jsonpath_text(value),
                        is_string(literal) ? str_sub(literal, 1, literal.len - 1) : literal);
    return (order > 0) - (order < 0);
}

static bool test_holds(const Filter *filter, Str value)
{
    StrList found = {0};

    if (jsonpath_find(&filter->path, value, 1, &found)) {
        return false;
    }
    if (filter->test == TEST_EXISTS) {
        return found.len > 0;
    }
    int order = found.len > 0 ? compare(found.at[0], filter->literal) : -2;
    switch (filter->test) {
    case TEST_EQ:
        return order == 0;
    case TEST_NE:
        // A missing member differs from every value but null.
        return found.len > 0 ? order != 0 : !str_eq_z(filter->literal, "null");
    case TEST_LT:
        return order == -1;
    case TEST_LE:
        return order == -1 || order == 0;
    case TEST_GT:
        return order == 1;
    default:
        return order == 1 || order == 0;
    }
}

bool filter_accepts(const Filter *filter, Str value)
{
    switch (filter->kind) {
    case FILTER_AND:
        return filter_accepts(filter->left, value) && filter_accepts(filter->right, value);
    case FILTER_OR:
        return filter_accepts(filter->left, value) || filter_accepts(filter->right, value);
    case FILTER_NOT:
        return !filter_accepts(filter->left, value);
    case FILTER_TEST:
        return test_holds(filter, value);
    }
    return false;
}
