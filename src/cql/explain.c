// Messages for queries that do not parse: the library only says that something is wrong, here is
// said what and where. A walk over the parts of the query with one state, no tree.
// Source: spec/storage-and-cql.md 2.9, 2.11.
#include "cql/parse.h"

bool part_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool ends_word(char c)
{
    switch (c) {
    case '(':
    case ')':
    case '=':
    case '<':
    case '>':
    case '/':
    case '"':
        return true;
    default:
        return part_is_blank(c);
    }
}

static size_t relation_end(Str text, size_t at)
{
    char first = text.at[at++], second = at < text.len ? text.at[at] : '\0';
    bool is_pair = second == '=' || (first == '<' && second == '>');

    return is_pair ? at + 1 : at;
}

static size_t quoted_end(Str text, size_t at)
{
    for (at++; at < text.len && text.at[at] != '"'; at++) {
        if (text.at[at] == '\\' && at + 1 < text.len) {
            at++;
        }
    }
    return at < text.len ? at + 1 : at;
}

static size_t word_end(Str text, size_t at)
{
    for (; at < text.len && !ends_word(text.at[at]); at++) {
        if (text.at[at] == '\\' && at + 1 < text.len) {
            at++;
        }
    }
    return at;
}

Part part_next(Str text, size_t from)
{
    while (from < text.len && part_is_blank(text.at[from])) {
        from++;
    }
    if (from >= text.len) {
        return (Part){PART_END, text.len, text.len};
    }
    switch (text.at[from]) {
    case '(':
        return (Part){PART_OPEN, from, from + 1};
    case ')':
        return (Part){PART_CLOSE, from, from + 1};
    case '/':
        return (Part){PART_SLASH, from, from + 1};
    case '=':
    case '<':
    case '>':
        return (Part){PART_RELATION, from, relation_end(text, from)};
    case '"':
        return (Part){PART_QUOTED, from, quoted_end(text, from)};
    default:
        return (Part){PART_WORD, from, word_end(text, from)};
    }
}

bool part_is(Str text, Part part, const char *keyword)
{
    return part.kind == PART_WORD &&
           str_eq_nocase(str_sub(text, part.start, part.end), str_of(keyword));
}

Err *cql_error_at(Str text, size_t at, const char *what)
{
    size_t position = 1;

    for (size_t i = 0; i < at && i < text.len; i++) {
        position += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    }
    return err_text(400, "CQL: %s, at position %zu: " STR_FMT, what, position, STR_ARG(text));
}

typedef enum {
    CLAUSE,         // an index, a term or a parenthesis must follow
    NAME,           // one word read: the index of a clause or a term
    RELATION,       // relation read: modifiers, then a term or a clause
    TERM,           // several words read: certainly a term
    CLOSED,         // behind a closing parenthesis
    BOOLEAN,        // boolean read: modifiers, then a clause
    SORT,           // sortBy read: a key must follow
    SORT_KEY,       // a key read: modifiers, further keys
    MODIFIER,       // "/" read: a name must follow
    MODIFIER_NAME,  // name of a modifier read
    MODIFIER_VALUE, // comparison of a modifier read
    DONE,
} State;

typedef struct {
    Str text;
    State state;
    State owner; // whose modifiers are being read
    size_t depth;
} Walk;

static Err *unexpected(const Walk *walk, Part part, const char *expected)
{
    Str found = str_sub(walk->text, part.start, part.end);

    if (part.kind == PART_END) {
        found = S("EOF");
    }
    const char *what = str_z(str_fmt("expected %s, got " STR_FMT, expected, STR_ARG(found)));
    return cql_error_at(walk->text, part.start, what);
}

bool part_is_boolean(Str text, Part part)
{
    return part_is(text, part, "and") || part_is(text, part, "or") || part_is(text, part, "not") ||
           part_is(text, part, "prox");
}

static bool is_named_relation(Str text, Part part)
{
    Str word = str_sub(text, part.start, part.end);

    return part_is(text, part, "all") || part_is(text, part, "any") || part_is(text, part, "adj") ||
           (part.kind == PART_WORD && str_find_char(word, '.', 0) >= 0);
}

// What may stand behind a complete clause.
static Err *behind_clause(Walk *walk, Part part)
{
    if (part.kind == PART_END) {
        walk->state = DONE;
        return walk->depth ? unexpected(walk, part, ")") : NULL;
    }
    if (part.kind == PART_CLOSE && walk->depth) {
        walk->depth--;
        walk->state = CLOSED;
        return NULL;
    }
    if (part.kind == PART_CLOSE) {
        return cql_error_at(walk->text, part.start, "junk after end: )");
    }
    if (part_is_boolean(walk->text, part)) {
        walk->state = BOOLEAN;
        return NULL;
    }
    if (part_is(walk->text, part, "sortby")) {
        walk->state = SORT;
        return walk->depth ? unexpected(walk, part, ")") : NULL;
    }
    return unexpected(walk, part, "boolean");
}

static Err *in_clause(Walk *walk, Part part)
{
    switch (part.kind) {
    case PART_OPEN:
        walk->depth++;
        walk->state = CLAUSE;
        return NULL;
    case PART_WORD:
    case PART_QUOTED:
        walk->state = NAME;
        return NULL;
    default:
        return unexpected(walk, part, "index or term");
    }
}

static Err *in_words(Walk *walk, Part part)
{
    bool is_word = part.kind == PART_WORD || part.kind == PART_QUOTED;
    bool is_keyword = part_is_boolean(walk->text, part) || part_is(walk->text, part, "sortby");

    if (part.kind == PART_RELATION && walk->state == TERM) {
        Str found = str_sub(walk->text, part.start, part.end);
        return cql_error_at(walk->text, part.start,
                            str_z(str_fmt("unexpected relation '" STR_FMT "'", STR_ARG(found))));
    }
    if (part.kind == PART_RELATION ||
        (walk->state == NAME && is_named_relation(walk->text, part))) {
        walk->state = RELATION;
        return NULL;
    }
    if (is_word && !is_keyword) {
        walk->state = TERM;
        return NULL;
    }
    return behind_clause(walk, part);
}

static Err *in_modifier(Walk *walk, Part part)
{
    bool is_word = part.kind == PART_WORD || part.kind == PART_QUOTED;

    if (!is_word) {
        return unexpected(walk, part, walk->state == MODIFIER ? "modifier" : "modifier value");
    }
    walk->state = walk->state == MODIFIER ? MODIFIER_NAME : walk->owner;
    return NULL;
}

static Err *in_sort(Walk *walk, Part part)
{
    if (part.kind == PART_WORD || part.kind == PART_QUOTED) {
        walk->state = SORT_KEY;
        return NULL;
    }
    if (walk->state == SORT) {
        return cql_error_at(walk->text, part.start, "no sort keys");
    }
    if (part.kind == PART_END) {
        walk->state = DONE;
        return NULL;
    }
    Str found = str_sub(walk->text, part.start, part.end);
    return cql_error_at(walk->text, part.start,
                        str_z(str_fmt("junk after end: " STR_FMT, STR_ARG(found))));
}

static Err *step(Walk *walk, Part part)
{
    if (walk->state == MODIFIER_NAME) {
        if (part.kind == PART_RELATION) {
            walk->state = MODIFIER_VALUE;
            return NULL;
        }
        walk->state = walk->owner;
    }
    bool takes_modifiers =
        walk->state == RELATION || walk->state == BOOLEAN || walk->state == SORT_KEY;
    if (part.kind == PART_SLASH && takes_modifiers) {
        walk->owner = walk->state;
        walk->state = MODIFIER;
        return NULL;
    }
    switch (walk->state) {
    case NAME:
    case TERM:
        return in_words(walk, part);
    case CLOSED:
        return behind_clause(walk, part);
    case SORT:
    case SORT_KEY:
        return in_sort(walk, part);
    case MODIFIER:
    case MODIFIER_VALUE:
        return in_modifier(walk, part);
    default:
        return in_clause(walk, part);
    }
}

Err *cql_check(Str text)
{
    Walk walk = {.text = text, .state = CLAUSE};

    for (size_t at = 0; walk.state != DONE;) {
        Part part = part_next(text, at);
        TRY(step(&walk, part));
        at = part.end;
    }
    return NULL;
}

Err *cql_explain(Str text)
{
    TRY(cql_check(text));
    // The library is stricter here and there: where words could be read as a relation.
    return cql_error_at(text, 0, "no valid query");
}
