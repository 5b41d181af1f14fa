// Queries to trees: YAZ parses, here its result becomes FOLIO's dialect in the arena, and what YAZ
// lets pass (open quotes, prefixes, bare terms, line ends) is refused or mended.
// Source: spec/storage-and-cql.md 2.1, 2.3, 2.11.
#include "cql/parse.h"

#include "base/buf.h"

#include <string.h>
#include <unicode/utf8.h>
#include <yaz/cql.h>

enum {
    TEXT_MAX = 256 * 1024,
    PARENTHESES_MAX = 500,
    BOOLEANS_MAX = 10000, // the parser frees its tree by recursion
    NOTS_MAX = 300,
    MODIFIERS_MAX = 1000,
    SORT_KEYS_MAX = 50,
    TREE_DEPTH_MAX = 30, // SQLite's parser has room for a hundred open brackets
};

static bool is_utf8(Str text)
{
    const uint8_t *at = (const uint8_t *)text.at;

    for (size_t i = 0; i < text.len;) {
        UChar32 c = at[i];
        if (c > 0 && c < 0x80) {
            i++;
            continue;
        }
        U8_NEXT(at, i, text.len, c);
        if (c <= 0) {
            return false;
        }
    }
    return true;
}

static Err *check_quoted(Str text, Part part)
{
    // The quote that opens and the one that closes, not hidden behind a backslash.
    size_t backslashes = 0;

    while (part.end - backslashes > part.start + 2 && text.at[part.end - 2 - backslashes] == '\\') {
        backslashes++;
    }
    bool is_closed = part.end - part.start >= 2 && text.at[part.end - 1] == '"';
    if (!is_closed || backslashes % 2) {
        return cql_error_at(text, part.start, "quoted term without closing quote");
    }
    return NULL;
}

typedef struct {
    size_t depth, booleans, nots, modifiers;
} Counts;

// Nobody asks so much.
static Err *count_part(Str text, Part part, Counts *counts)
{
    counts->depth += part.kind == PART_OPEN;
    counts->depth -= part.kind == PART_CLOSE && counts->depth;
    counts->modifiers += part.kind == PART_SLASH;
    counts->booleans += part_is_boolean(text, part);
    counts->nots += part_is(text, part, "not");
    if (counts->depth > PARENTHESES_MAX) {
        return cql_error_at(text, part.start, "more than 500 nested parentheses");
    }
    if (counts->booleans > BOOLEANS_MAX) {
        return cql_error_at(text, part.start, "more than 10000 booleans");
    }
    if (counts->nots > NOTS_MAX) {
        return cql_error_at(text, part.start, "more than 300 times not");
    }
    if (counts->modifiers > MODIFIERS_MAX) {
        return cql_error_at(text, part.start, "more than 1000 modifiers");
    }
    return NULL;
}

// The query as YAZ reads it rightly: one blank between parts that need it, no line ends, which it
// would take for the end of the query.
static Err *prepare(Str text, const char **prepared)
{
    Buf z = buf_new(arena_current(), text.len * 2 + 2);
    Part before = {PART_END, 0, 0};
    Counts counts = {0};

    for (Part part = part_next(text, 0); part.kind != PART_END; part = part_next(text, part.end)) {
        if (part.kind == PART_QUOTED) {
            TRY(check_quoted(text, part));
        }
        TRY(count_part(text, part, &counts));
        if (text.at[part.start] == '>' && (before.kind == PART_END || before.kind == PART_OPEN)) {
            return cql_error_at(text, part.start, "Unsupported prefix assignment");
        }
        bool is_joined = (before.kind >= PART_WORD && part.kind >= PART_WORD) ||
                         (before.kind == PART_RELATION && part.kind == PART_RELATION);
        if (is_joined) {
            buf_char(&z, ' ');
        }
        buf_add(&z, str_sub(text, part.start, part.end));
        before = part;
    }
    buf_char(&z, '\0');
    *prepared = buf_str(&z).at;
    return NULL;
}

typedef struct {
    Str text;
    Str index, relation; // of the clause before: lists of ids share them
} Reading;

static Str copy_z(const char *z)
{
    return str_copy(arena_current(), str_of(z));
}

// Names that change nothing on a relation; the definition of the index decides.
static bool is_known_modifier(Str name)
{
    static const char *const known[] = {
        "number",        "string",         "masked",         "ignorecase",      "respectcase",
        "ignoreaccents", "respectaccents", "sort.ascending", "sort.descending",
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (str_eq_z(name, known[i])) {
            return true;
        }
    }
    return false;
}

static Err *read_modifier(const struct cql_node *node, CqlModifier *modifier)
{
    Str name = str_of(node->u.st.index);

    modifier->is_array = str_starts(name, S("@"));
    modifier->name = str_lower(modifier->is_array ? str_sub(name, 1, name.len) : name);
    modifier->has_value = node->u.st.term != NULL;
    modifier->value = copy_z(node->u.st.term);
    if (!modifier->is_array && !is_known_modifier(modifier->name)) {
        return err_text(400, "CQL: Unsupported modifier " STR_FMT, STR_ARG(modifier->name));
    }
    if (modifier->is_array && modifier->has_value && strcmp(node->u.st.relation, "=") != 0) {
        return err_text(400, "CQL: Unsupported comparison for relation modifier " STR_FMT,
                        STR_ARG(name));
    }
    return NULL;
}

static Err *read_modifiers(const struct cql_node *list, const CqlModifier **out, size_t *count)
{
    size_t n = 0;

    for (const struct cql_node *node = list; node; node = node->u.st.modifiers) {
        n++;
    }
    *count = n;
    if (n == 0) {
        return NULL;
    }
    CqlModifier *modifiers = NEW_ARRAY(CqlModifier, n);
    // YAZ keeps the last one first.
    for (const struct cql_node *node = list; node; node = node->u.st.modifiers) {
        TRY(read_modifier(node, &modifiers[--n]));
    }
    *out = modifiers;
    return NULL;
}

static bool has_modifier(const CqlModifier *modifiers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (!modifiers[i].is_array && str_eq_z(modifiers[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool relation_of(Str text, CqlRelation *out)
{
    static const struct {
        const char *text;
        CqlRelation relation;
    } relations[] = {
        {"==", CQL_EXACT},      {"<>", CQL_NOT_EQUAL},     {"=", CQL_WORDS}, {"adj", CQL_WORDS},
        {"all", CQL_ALL_WORDS}, {"any", CQL_ANY_WORD},     {"<", CQL_LESS},  {"<=", CQL_LESS_EQUAL},
        {">", CQL_GREATER},     {">=", CQL_GREATER_EQUAL},
    };

    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (str_eq_nocase(text, str_of(relations[i].text))) {
            *out = relations[i].relation;
            return true;
        }
    }
    return false;
}

// Several words are one term joined by single blanks.
static Str read_term(const struct cql_node *node)
{
    size_t len = 0;

    if (!node->u.st.extra_terms) {
        return copy_z(node->u.st.term);
    }
    for (const struct cql_node *part = node; part; part = part->u.st.extra_terms) {
        len += strlen(part->u.st.term) + 1;
    }
    Buf term = buf_new(arena_current(), len);
    for (const struct cql_node *part = node; part; part = part->u.st.extra_terms) {
        if (part != node) {
            buf_char(&term, ' ');
        }
        buf_add_z(&term, part->u.st.term);
    }
    return buf_str(&term);
}

// "a within b" is three words without an index for YAZ.
static Err *refuse_bare_term(const Reading *reading, const struct cql_node *node)
{
    const struct cql_node *second = node->u.st.extra_terms;

    if (second && second->u.st.extra_terms) {
        return err_text(400, "CQL: Unsupported relation %s: " STR_FMT, second->u.st.term,
                        STR_ARG(reading->text));
    }
    return err_text(400,
                    "CQL: cql.serverChoice requested, but no serverChoiceIndexes defined: " STR_FMT,
                    STR_ARG(reading->text));
}

static Err *read_clause(Reading *reading, const struct cql_node *node, Cql **out)
{
    Str index = str_of(node->u.st.index), relation = str_of(node->u.st.relation);
    Cql *clause = NEW(Cql);

    if (str_eq_nocase(index, S("cql.serverChoice"))) {
        return refuse_bare_term(reading, node);
    }
    if (node->u.st.index_uri) {
        return err_text(400, "CQL: Unsupported prefix assignment: " STR_FMT,
                        STR_ARG(reading->text));
    }
    if (!relation_of(relation, &clause->relation)) {
        return err_text(400, "CQL: Unsupported relation " STR_FMT ": " STR_FMT, STR_ARG(relation),
                        STR_ARG(reading->text));
    }
    TRY(read_modifiers(node->u.st.modifiers, &clause->modifiers, &clause->modifier_count));
    if (!str_eq(reading->index, index)) {
        reading->index = str_copy(arena_current(), index);
    }
    if (!str_eq(reading->relation, relation)) {
        reading->relation = str_copy(arena_current(), relation);
    }
    bool is_all = str_eq_nocase(index, S("cql.allRecords"));
    clause->kind = is_all ? CQL_ALL : CQL_CLAUSE;
    clause->index = reading->index;
    clause->is_number = has_modifier(clause->modifiers, clause->modifier_count, "number");
    clause->term = read_term(node);
    clause->relation_text = reading->relation;
    *out = clause;
    return NULL;
}

static Err *kind_of(const Reading *reading, const struct cql_node *node, CqlKind *out)
{
    Str word = str_of(node->u.boolean.value);

    if (node->u.boolean.modifiers) {
        return err_text(400, "CQL: Unsupported modifier %s", node->u.boolean.modifiers->u.st.index);
    }
    if (str_eq_nocase(word, S("and"))) {
        *out = CQL_AND;
    } else if (str_eq_nocase(word, S("or"))) {
        *out = CQL_OR;
    } else if (str_eq_nocase(word, S("not"))) {
        *out = CQL_NOT;
    } else {
        return err_text(400, "CQL: Unsupported boolean " STR_FMT ": " STR_FMT, STR_ARG(word),
                        STR_ARG(reading->text));
    }
    return NULL;
}

// A node under construction: a chain of the same boolean grows one list of operands.
typedef struct {
    Cql *node;
    size_t capacity;
} Chain;

static void chain_add(Chain *chain, Cql *operand)
{
    Cql *node = chain->node;

    node->operands = array_room(arena_current(), node->operands, node->operand_count,
                                &chain->capacity, sizeof *node->operands);
    node->operands[node->operand_count++] = operand;
    // "a not b not c" becomes one level.
    int depth = operand->depth + !(node->kind == CQL_NOT && operand->kind == CQL_NOT);
    node->depth = node->depth > depth ? node->depth : depth;
}

static void chain_join(Chain *chain, CqlKind kind, Cql *right)
{
    // "everything and x" is x, also for records without the field.
    if (kind == CQL_AND && chain->node->kind == CQL_ALL) {
        *chain = (Chain){right, right->operand_count};
        return;
    }
    if (kind == CQL_AND && right->kind == CQL_ALL) {
        return;
    }
    if (kind == CQL_NOT || chain->node->kind != kind) {
        Cql *left = chain->node;
        *chain = (Chain){NEW(Cql), 0};
        chain->node->kind = kind;
        chain_add(chain, left);
    }
    if (kind == CQL_NOT || right->kind != kind) {
        chain_add(chain, right);
        return;
    }
    for (size_t i = 0; i < right->operand_count; i++) {
        chain_add(chain, right->operands[i]);
    }
}

static Err *read_query(Reading *reading, const struct cql_node *node, Cql **out)
{
    const struct cql_node *leftmost = node;
    size_t count = 0;

    // Chains hang on their left side and may be very long; only parentheses make the right side
    // deep.
    while (leftmost->which == CQL_NODE_BOOL) {
        leftmost = leftmost->u.boolean.left;
        count++;
    }
    const struct cql_node **nodes = NEW_ARRAY(const struct cql_node *, count);
    for (size_t i = count; i > 0; i--) {
        nodes[i - 1] = node;
        node = node->u.boolean.left;
    }
    Chain chain = {0};
    TRY(read_clause(reading, leftmost, &chain.node));
    for (size_t i = 0; i < count; i++) {
        CqlKind kind = CQL_AND;
        Cql *right = NULL;
        TRY(kind_of(reading, nodes[i], &kind));
        TRY(read_query(reading, nodes[i]->u.boolean.right, &right));
        chain_join(&chain, kind, right);
        if (chain.node->depth > TREE_DEPTH_MAX) {
            return err_text(400, "CQL: more than 30 booleans nested in each other");
        }
    }
    *out = chain.node;
    return NULL;
}

static Err *read_sort_key(const struct cql_node *node, CqlSortKey *key)
{
    const CqlModifier *modifiers = NULL;
    size_t count = 0;

    TRY(read_modifiers(node->u.sort.modifiers, &modifiers, &count));
    for (size_t i = 0; i < count; i++) {
        Str name = modifiers[i].name;
        if (modifiers[i].is_array) {
            return err_text(400, "CQL: Unsupported modifier @" STR_FMT, STR_ARG(name));
        }
        // The last one of two that contradict each other counts.
        if (str_starts(name, S("sort."))) {
            key->is_descending = str_eq(name, S("sort.descending"));
        } else if (str_eq(name, S("number")) || str_eq(name, S("string"))) {
            key->is_number = str_eq(name, S("number"));
        } else if (str_ends(name, S("case"))) {
            key->respects_case = str_eq(name, S("respectcase"));
        } else if (str_ends(name, S("accents"))) {
            key->respects_accents = str_eq(name, S("respectaccents"));
        }
    }
    key->index = copy_z(node->u.sort.index);
    return NULL;
}

// The pieces of the text that are sort keys with their modifiers; the text was checked.
static Err *cut_sort_keys(Str text, StrList *pieces)
{
    Part part = part_next(text, 0);
    PartKind before = PART_END;
    size_t start = 0;

    while (!part_is(text, part, "sortby")) {
        part = part_next(text, part.end);
    }
    do {
        part = part_next(text, part.end);
        bool is_key = part.kind >= PART_WORD && before != PART_SLASH && before != PART_RELATION;
        if (start && (is_key || part.kind == PART_END)) {
            str_list_add(pieces, str_sub(text, start, part.start));
        }
        if (pieces->len > SORT_KEYS_MAX) {
            return err_text(400, "CQL: more than 50 sort keys");
        }
        start = is_key ? part.start : start;
        before = part.kind;
    } while (part.kind != PART_END);
    return NULL;
}

// Of three keys and more YAZ keeps the first and the last: each is given to it alone.
static Err *read_sort_piece(Str piece, CqlSortKey *key)
{
    const char *prepared = NULL;

    TRY(prepare(str_fmt("a=b sortby " STR_FMT, STR_ARG(piece)), &prepared));
    CQL_parser parser = cql_parser_create();
    const struct cql_node *node =
        cql_parser_string(parser, prepared) == 0 ? cql_parser_result(parser) : NULL;
    Err *err = node && node->which == CQL_NODE_SORT
                   ? read_sort_key(node, key)
                   : err_text(400, "CQL: no sort key: " STR_FMT, STR_ARG(piece));
    cql_parser_destroy(parser);
    return err;
}

static Err *read_sort_keys(Str text, CqlQuery *query)
{
    StrList pieces = {0};

    TRY(cut_sort_keys(text, &pieces));
    CqlSortKey *keys = NEW_ARRAY(CqlSortKey, pieces.len);
    for (size_t i = 0; i < pieces.len; i++) {
        TRY(read_sort_piece(pieces.at[i], &keys[i]));
    }
    query->sort = keys;
    query->sort_count = pieces.len;
    return NULL;
}

static Err *read_root(Str text, const struct cql_node *root, CqlQuery *out)
{
    Reading reading = {.text = text};
    CqlQuery query = {0};
    bool is_sorted = root->which == CQL_NODE_SORT;

    if (is_sorted) {
        TRY(cql_check(text)); // YAZ stops reading behind the last key, whatever follows
    }
    TRY(read_query(&reading, is_sorted ? root->u.sort.search : root, &query.root));
    if (is_sorted && !root->u.sort.next) {
        CqlSortKey *key = NEW(CqlSortKey);
        TRY(read_sort_key(root, key));
        query.sort = key;
        query.sort_count = 1;
    } else if (is_sorted) {
        TRY(read_sort_keys(text, &query));
    }
    *out = query;
    return NULL;
}

Err *cql_parse(Str text, CqlQuery *out)
{
    const char *prepared = NULL;

    if (!text.at) {
        Cql *all = NEW(Cql);
        all->kind = CQL_ALL;
        *out = (CqlQuery){.root = all};
        return NULL;
    }
    if (text.len > TEXT_MAX) {
        return err_text(400, "CQL: the query is longer than 256 KiB");
    }
    if (!is_utf8(text)) {
        return err_text(400, "CQL: the query is no valid UTF-8 text");
    }
    TRY(prepare(text, &prepared));
    CQL_parser parser = cql_parser_create();
    bool is_good = cql_parser_string(parser, prepared) == 0 && cql_parser_result(parser);
    Err *err = is_good ? read_root(text, cql_parser_result(parser), out) : cql_explain(text);
    cql_parser_destroy(parser);
    return err;
}
