// Conditions of `if` and `while`.
#include "condition.h"

#include <ctype.h>

enum {
    CONDITION_NESTING_MAX = 32,
};

struct Condition {
    enum {
        NODE_OR,
        NODE_AND,
        NODE_NOT,
        NODE_EQ,
        NODE_NE,
        NODE_LT,
        NODE_LE,
        NODE_GT,
        NODE_GE,
        NODE_TEXT,
        NODE_GET,
        NODE_REMOVE,
        NODE_NULL,
    } kind;
    Condition *left, *right;
    Text *text;
    uint32_t variable;
};

typedef struct {
    Str text;
    bool is_null;
} Value;

typedef struct {
    const TextScope *scope;
    Str source;
    size_t at;
    int depth;
} Reader;

static Err *condition_error(const Reader *reader, const char *what)
{
    return err_text(400, STR_FMT ": condition, character %zu: %s", STR_ARG(reader->scope->where),
                    reader->at + 1, what);
}

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->source.len &&
           isspace((unsigned char)reader->source.at[reader->at])) {
        reader->at++;
    }
}

static bool take(Reader *reader, const char *token)
{
    Str word = str_of(token);

    skip_blanks(reader);
    if (!str_starts(str_sub(reader->source, reader->at, reader->source.len), word)) {
        return false;
    }
    reader->at += word.len;
    return true;
}

static Condition *node(int kind, Condition *left, Condition *right)
{
    Condition *condition = NEW(Condition);
    condition->kind = kind;
    condition->left = left;
    condition->right = right;
    return condition;
}

static Err *text_node(Reader *reader, Str text, Condition **out)
{
    *out = node(NODE_TEXT, NULL, NULL);
    return text_compile(reader->scope, text, &(*out)->text);
}

static Err *read_quoted(Reader *reader, Str *out)
{
    skip_blanks(reader);
    char quote = reader->at < reader->source.len ? reader->source.at[reader->at] : 0;
    ptrdiff_t end =
        quote == '"' || quote == '\'' ? str_find_char(reader->source, quote, reader->at + 1) : -1;
    if (end < 0) {
        return condition_error(reader, "expected a quoted text");
    }
    *out = str_sub(reader->source, reader->at + 1, (size_t)end);
    reader->at = (size_t)end + 1;
    return NULL;
}

// vars.get("x") and vars.remove("x"), behind the first bracket.
static Err *read_variable(Reader *reader, int kind, Condition **out)
{
    Str name;

    TRY(read_quoted(reader, &name));
    if (!take(reader, ")")) {
        return condition_error(reader, "expected )");
    }
    *out = node(kind, NULL, NULL);
    (*out)->variable = symbol_of(reader->scope->symbols, name);
    return NULL;
}

// ${name}, a number, true, false.
static Err *read_bare(Reader *reader, Condition **out)
{
    size_t begin = reader->at;
    int depth = 0;

    while (reader->at < reader->source.len) {
        char c = reader->source.at[reader->at];
        depth += (c == '{') - (c == '}');
        if (depth == 0 && c != '}' && !isalnum((unsigned char)c) &&
            !str_eq_z(str_sub(reader->source, reader->at, reader->at + 2), "${") && c != '_' &&
            c != '.' && c != '-') {
            break;
        }
        reader->at++;
    }
    if (reader->at == begin) {
        return condition_error(reader, "expected a value");
    }
    return text_node(reader, str_sub(reader->source, begin, reader->at), out);
}

static Err *read_or(Reader *reader, Condition **out);

static Err *read_value(Reader *reader, Condition **out)
{
    skip_blanks(reader);
    char c = reader->at < reader->source.len ? reader->source.at[reader->at] : 0;

    if (c == '"' || c == '\'') {
        Str quoted;
        TRY(read_quoted(reader, &quoted));
        return text_node(reader, quoted, out);
    }
    if (take(reader, "(")) {
        TRY(read_or(reader, out));
        return take(reader, ")") ? NULL : condition_error(reader, "expected )");
    }
    if (take(reader, "vars.get(")) {
        return read_variable(reader, NODE_GET, out);
    }
    if (take(reader, "vars.remove(")) {
        return read_variable(reader, NODE_REMOVE, out);
    }
    if (take(reader, "null")) {
        *out = node(NODE_NULL, NULL, NULL);
        return NULL;
    }
    return read_bare(reader, out);
}

// A value with its .equals(...) and .toInteger().
static Err *read_postfix(Reader *reader, Condition **out)
{
    TRY(read_value(reader, out));
    for (;;) {
        if (take(reader, ".toInteger()")) {
            continue;
        }
        if (!take(reader, ".equals(")) {
            return NULL;
        }
        Condition *other = NULL;
        TRY(read_or(reader, &other));
        if (!take(reader, ")")) {
            return condition_error(reader, "expected )");
        }
        *out = node(NODE_EQ, *out, other);
    }
}

static Err *read_comparison(Reader *reader, Condition **out)
{
    static const struct {
        const char *token;
        int kind;
    } operators[] = {{"==", NODE_EQ}, {"!=", NODE_NE}, {"<=", NODE_LE},
                     {">=", NODE_GE}, {"<", NODE_LT},  {">", NODE_GT}};

    if (++reader->depth > CONDITION_NESTING_MAX) {
        return condition_error(reader, "nested too deeply");
    }
    if (take(reader, "!")) {
        Condition *inner = NULL;
        TRY(read_comparison(reader, &inner));
        *out = node(NODE_NOT, inner, NULL);
        reader->depth--;
        return NULL;
    }
    TRY(read_postfix(reader, out));
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (take(reader, operators[i].token)) {
            Condition *right = NULL;
            TRY(read_postfix(reader, &right));
            *out = node(operators[i].kind, *out, right);
            break;
        }
    }
    reader->depth--;
    return NULL;
}

static Err *read_and(Reader *reader, Condition **out)
{
    TRY(read_comparison(reader, out));
    while (take(reader, "&&")) {
        Condition *right = NULL;
        TRY(read_comparison(reader, &right));
        *out = node(NODE_AND, *out, right);
    }
    return NULL;
}

static Err *read_or(Reader *reader, Condition **out)
{
    TRY(read_and(reader, out));
    while (take(reader, "||")) {
        Condition *right = NULL;
        TRY(read_and(reader, &right));
        *out = node(NODE_OR, *out, right);
    }
    return NULL;
}

// Takes ${__groovy( ... ;)} off.
static Str unwrap(Str source)
{
    static const char *const wrappers[] = {"${__groovy(", "${__jexl3(", "${__jexl2("};

    source = str_trim(source);
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        Str head = str_of(wrappers[i]);
        if (str_starts(source, head) && str_ends(source, S(")}"))) {
            source = str_trim(str_sub(source, head.len, source.len - 2));
            while (str_ends(source, S(";")) || str_ends(source, S(","))) {
                source = str_trim(str_sub(source, 0, source.len - 1));
            }
        }
    }
    return source;
}

Err *condition_compile(const TextScope *scope, Str source, Condition **out)
{
    Reader reader = {.scope = scope, .source = unwrap(source)};

    TRY(read_or(&reader, out));
    skip_blanks(&reader);
    if (reader.at < reader.source.len) {
        return condition_error(&reader, "expected the end, && or ||");
    }
    return NULL;
}

static Value value_of(const Condition *condition, Actor *actor)
{
    Value value = {0};

    switch (condition->kind) {
    case NODE_TEXT:
        value.text = text_str(condition->text, actor);
        break;
    case NODE_GET:
        value.is_null = !vars_get(actor->vars, condition->variable, &value.text);
        break;
    case NODE_REMOVE:
        value.is_null = !vars_get(actor->vars, condition->variable, &value.text);
        value.text = str_copy(arena_current(), value.text);
        vars_unset(actor->vars, condition->variable);
        break;
    case NODE_NULL:
        value.is_null = true;
        break;
    default:
        value.text = condition_holds(condition, actor) ? S("true") : S("false");
        break;
    }
    return value;
}

static bool compares(const Condition *condition, Actor *actor)
{
    Value a = value_of(condition->left, actor), b = value_of(condition->right, actor);
    double x = 0, y = 0;
    int order = 0;

    if (a.is_null || b.is_null) {
        bool equal = a.is_null && b.is_null;
        return condition->kind == NODE_EQ ? equal : condition->kind == NODE_NE && !equal;
    }
    if (str_double(str_trim(a.text), &x) && str_double(str_trim(b.text), &y)) {
        order = (x > y) - (x < y);
    } else {
        order = str_cmp(a.text, b.text);
    }
    switch (condition->kind) {
    case NODE_EQ:
        return order == 0;
    case NODE_NE:
        return order != 0;
    case NODE_LT:
        return order < 0;
    case NODE_LE:
        return order <= 0;
    case NODE_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

bool condition_holds(const Condition *condition, Actor *actor)
{
    switch (condition->kind) {
    case NODE_OR:
        return condition_holds(condition->left, actor) || condition_holds(condition->right, actor);
    case NODE_AND:
        return condition_holds(condition->left, actor) && condition_holds(condition->right, actor);
    case NODE_NOT:
        return !condition_holds(condition->left, actor);
    case NODE_TEXT:
    case NODE_GET:
    case NODE_REMOVE:
    case NODE_NULL: {
        Value value = value_of(condition, actor);
        return !value.is_null && value.text.len > 0 && !str_eq_z(value.text, "false");
    }
    default:
        return compares(condition, actor);
    }
}
