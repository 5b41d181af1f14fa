// One clause as SQL on side columns where they can decide it, else as a test of the document.
// Source: spec/storage-and-cql.md 2.2-2.6.
#include "store/query.h"

#include "base/fold.h"

#include <string.h>

static const char *const compare_sql[] = {
    [CQL_EXACT] = "=",       [CQL_NOT_EQUAL] = "<>", [CQL_LESS] = "<",
    [CQL_LESS_EQUAL] = "<=", [CQL_GREATER] = ">",    [CQL_GREATER_EQUAL] = ">=",
};

static bool is_word_relation(CqlRelation relation)
{
    return relation == CQL_WORDS || relation == CQL_ALL_WORDS || relation == CQL_ANY_WORD;
}

static bool is_order(CqlRelation relation)
{
    return relation >= CQL_LESS;
}

static Str quoted(const char *column)
{
    return str_fmt("\"%s\"", column);
}

static Node *node_defined(const char *column)
{
    return node_sql(str_fmt("\"%s\" is not null", column));
}

static Node *node_compare(Planner *planner, const char *column, CqlRelation relation, Arg value)
{
    int n = planner_add(planner, value);
    Str sql = str_fmt("\"%s\" %s $%d", column, compare_sql[relation], n);

    planner->has_range = planner->has_range || relation != CQL_EXACT;
    if (!is_order(relation)) {
        return node_sql(sql);
    }
    return node_sql(str_fmt("%s(" STR_FMT ")", tx_dialect(planner->tx)->seldom, STR_ARG(sql)));
}

// ---------------------------------------------------------------------------------------------
// Documents

static unsigned folding_of(const Field *field)
{
    unsigned folding = 0;

    if (field && field->flags & KEEP_CASE) {
        folding |= CQL_KEEP_CASE;
    }
    if (field && field->flags & KEEP_ACCENTS) {
        folding |= CQL_KEEP_ACCENTS;
    }
    return field && field->flags & TIME ? folding | CQL_AS_TIME : folding;
}

static Err *clause_matcher(const Cql *clause, const Field *field, CqlMatcher **out)
{
    bool ordered_raw = !field || !(field->flags & INDEX);

    return cql_matcher(clause, folding_of(field), ordered_raw, out);
}

// A date that has no side column compares as an instant too.
static bool is_date(const RecordType *record, Str path)
{
    const Property *property = record ? property_find(record, str_z(path)) : NULL;

    if (property) {
        return property->type == DATE_TIME;
    }
    return str_starts(path, S("metadata.")) && str_ends(path, S("Date"));
}

Err *doc_node(const Cql *clause, const Field *field, Str bound, Node **out)
{
    Node *node = NEW(Node);

    *node = (Node){
        .kind = NODE_DOC,
        .sql = bound,
        .field = field,
        .path = clause->index,
        .clause = clause,
        .column = -1,
    };
    TRY(clause_matcher(clause, field, &node->matcher));
    *out = node;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Words

static Str words_sql(Planner *planner, const Field *field, int operator_, const CqlWords *words)
{
    const Dialect *dialect = tx_dialect(planner->tx);
    Str *texts = NEW_ARRAY(Str, words->count);
    bool *prefixes = NEW_ARRAY(bool, words->count);
    Buf sql = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < words->count; i++) {
        texts[i] = words->words[i].word;
        prefixes[i] = words->words[i].is_prefix;
    }
    planner->has_words = true;
    Str query = dialect->words_query(field->column, operator_, texts, prefixes, words->count);
    dialect->words(&sql, planner->of->table, field->column, planner_add(planner, A_TEXT(query)),
                   planner->or_depth > 0);
    return buf_str(&sql);
}

static void add_like_literal(Buf *out, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (memchr("\\%_", text.at[i], 3)) {
            buf_char(out, '\\');
        }
        buf_char(out, text.at[i]);
    }
}

// A text column without word search: it contains the words at least.
static Str contains_words(Planner *planner, const Cql *clause, const Field *field,
                          const CqlWords *words)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    if (!field || !field_has_column(field) || !(field->flags & (TEXT | TREE)) ||
        field->flags & (KEEP_CASE | KEEP_ACCENTS)) {
        return (Str){0};
    }
    buf_char(&sql, '(');
    for (size_t i = 0; i < words->count; i++) {
        Buf pattern = buf_new(arena_current(), SQL_MAX);
        buf_char(&pattern, '%');
        add_like_literal(&pattern, words->words[i].word);
        buf_char(&pattern, '%');
        buf_add_z(&sql, i == 0 ? "" : clause->relation == CQL_ANY_WORD ? " or " : " and ");
        tx_dialect(planner->tx)
            ->like(&sql, quoted(field->column).at, planner_add(planner, A_TEXT(buf_str(&pattern))));
    }
    add_cut_rows(planner, field, &sql);
    buf_char(&sql, ')');
    return buf_str(&sql);
}

static int words_operator(CqlRelation relation)
{
    return relation == CQL_ALL_WORDS  ? WORDS_ALL
           : relation == CQL_ANY_WORD ? WORDS_ANY
                                      : WORDS_PHRASE;
}

// A phrase with a truncated word before its end is more than a word index can say.
static bool words_are_exact(CqlRelation relation, const CqlWords *words)
{
    for (size_t i = 0; relation == CQL_WORDS && i + 1 < words->count; i++) {
        if (words->words[i].is_prefix) {
            return false;
        }
    }
    return true;
}

// * and "" need no words. True: *out is set.
static bool words_special(const Field *field, const CqlWords *words, Node **out)
{
    if (words->matches_all) {
        *out = node_true();
    } else if (words->is_defined && field && field_has_column(field)) {
        *out = node_defined(field->column);
    } else if (!words->count && !words->is_defined) {
        *out = node_false();
    } else {
        return false;
    }
    return true;
}

static Err *words_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    CqlWords words;

    TRY(cql_words(clause, &words));
    if (!clause->is_number && words_special(field, &words, out)) {
        return NULL;
    }
    if (clause->is_number || !words.count) {
        return doc_node(clause, field, (Str){0}, out);
    }
    if (!field || !(field->flags & WORDS)) {
        return doc_node(clause, field, contains_words(planner, clause, field, &words), out);
    }
    if (words_are_exact(clause->relation, &words)) {
        *out = node_sql(words_sql(planner, field, words_operator(clause->relation), &words));
        return NULL;
    }
    return doc_node(clause, field, words_sql(planner, field, WORDS_ALL, &words), out);
}

// ---------------------------------------------------------------------------------------------
// Texts

// With a text as the column holds it. Where it is cut there, order is for the document to tell.
static Err *text_compare(Planner *planner, const Cql *clause, const Field *field,
                         CqlRelation relation, Str text, Node **out)
{
    if (is_order(relation) && key_is_cut(planner->tx, planner->of, field, text)) {
        return doc_node(clause, field, (Str){0}, out);
    }
    text = key_text(planner->tx, planner->of, field, text);
    *out = node_compare(planner, field->column, relation, A_TEXT(text));
    return NULL;
}

static Str like_pattern(const Field *field, const CqlPattern *pattern)
{
    Buf out = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < pattern->count; i++) {
        const CqlPiece *piece = &pattern->pieces[i];
        if (piece->kind == CQL_LITERAL) {
            add_like_literal(&out, field_fold(field, piece->text));
        } else {
            buf_char(&out, piece->kind == CQL_ANY_RUN ? '%' : '_');
        }
    }
    return buf_str(&out);
}

static bool is_any_run_only(const CqlPattern *pattern)
{
    for (size_t i = 0; i < pattern->count; i++) {
        if (pattern->pieces[i].kind != CQL_ANY_RUN) {
            return false;
        }
    }
    return pattern->count > 0;
}

// A pattern with wildcards: what stands before the first one is a range of the index.
static Err *pattern_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    bool is_negative = clause->relation == CQL_NOT_EQUAL;
    CqlPattern pattern = cql_pattern(clause->term);
    const CqlPiece *first = &pattern.pieces[0];
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Str range = {0}, prefix = {0};

    if (is_any_run_only(&pattern)) {
        *out = is_negative ? node_false() : node_defined(field->column);
        return NULL;
    }
    if (first->kind == CQL_LITERAL) {
        prefix = field_fold(field, first->text);
        range = prefix.len ? prefix_sql(planner, field->column, prefix) : (Str){0};
    }
    bool is_prefix = range.at && pattern.count == 2 && pattern.pieces[1].kind == CQL_ANY_RUN;
    buf_add_z(&sql, is_negative ? "not (" : "(");
    buf_add(&sql, range);
    if (!is_prefix) {
        buf_add_z(&sql, range.at ? " and " : "");
        int n = planner_add(planner, A_TEXT(like_pattern(field, &pattern)));
        tx_dialect(planner->tx)->like(&sql, quoted(field->column).at, n);
    }
    if (!is_prefix || prefix.len > KEY_BYTES_MAX) {
        TRY(add_cut_matches(planner, clause, field, &sql));
    }
    buf_char(&sql, ')');
    *out = node_sql(buf_str(&sql));
    return NULL;
}

// Whole words inside the pattern's literal pieces: a word next to a wildcard may be cut off.
static void inner_words(const CqlPattern *pattern, StrList *out)
{
    for (size_t i = 0; i < pattern->count; i++) {
        Str text = pattern->pieces[i].text;
        size_t from = 0, to = text.len;
        if (pattern->pieces[i].kind != CQL_LITERAL) {
            continue;
        }
        while (i > 0 && from < to && !memchr("\"[]{}:, ", text.at[from], 8)) {
            from++;
        }
        while (i + 1 < pattern->count && to > from && !memchr("\"[]{}:, ", text.at[to - 1], 8)) {
            to--;
        }
        fold_words(str_sub(text, from, to), out);
    }
}

// "contains element" and its like on an array without a column: its words narrow the search.
static Str tree_bound(Planner *planner, const Field *field, const CqlPattern *pattern)
{
    StrList inner = {0};

    if (!(field->flags & WORDS)) {
        return (Str){0};
    }
    inner_words(pattern, &inner);
    if (!inner.len) {
        return (Str){0};
    }
    CqlWord *words = NEW_ARRAY(CqlWord, inner.len);
    for (size_t i = 0; i < inner.len; i++) {
        words[i] = (CqlWord){inner.at[i], false};
    }
    CqlWords all = {words, inner.len, false, false};
    return words_sql(planner, field, WORDS_ALL, &all);
}

static Err *exact_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    bool is_negative = clause->relation == CQL_NOT_EQUAL;
    CqlPattern pattern = cql_pattern(clause->term);

    if (!field_has_column(field) || clause->is_number) {
        bool may_narrow = !is_negative && !clause->is_number;
        return doc_node(clause, field, may_narrow ? tree_bound(planner, field, &pattern) : (Str){0},
                        out);
    }
    if (pattern.has_wildcards) {
        return pattern_node(planner, clause, field, out);
    }
    return text_compare(planner, clause, field, clause->relation,
                        field_fold(field, pattern.literal), out);
}

// The term of < and its like: wildcards mean themselves.
static Str order_term(const Cql *clause)
{
    CqlPattern pattern = cql_pattern(clause->term);

    return pattern.has_wildcards ? clause->term : pattern.literal;
}

static Err *text_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    const unsigned raw = KEEP_CASE | KEEP_ACCENTS;

    if (is_word_relation(clause->relation)) {
        return words_node(planner, clause, field, out);
    }
    if (!is_order(clause->relation)) {
        return exact_node(planner, clause, field, out);
    }
    bool column_serves = field_has_column(field) && !clause->is_number && !(field->flags & TREE) &&
                         (field->flags & INDEX || (field->flags & raw) == raw);
    if (!column_serves) {
        return doc_node(clause, field, (Str){0}, out);
    }
    return text_compare(planner, clause, field, clause->relation,
                        field_fold(field, order_term(clause)), out);
}

// ---------------------------------------------------------------------------------------------
// Ids and references

static Node *uuid_order(Planner *planner, const char *column, CqlRelation relation, Str text)
{
    return node_compare(planner, column, relation, A_TEXT(text));
}

static Err *uuid_node(Planner *planner, const Cql *clause, const char *column, Node **out)
{
    bool is_key = strcmp(column, "id") == 0;
    CqlUuid uuid;

    TRY(cql_uuid(clause, &uuid));
    switch (uuid.kind) {
    case CQL_UUID_ALL:
        *out = is_key ? node_true() : node_defined(column);
        break;
    case CQL_UUID_NONE:
        *out = node_false();
        break;
    case CQL_UUID_EQUAL:
        *out = node_compare(planner, column, CQL_EXACT, A_TEXT(uuid.text));
        break;
    case CQL_UUID_NOT_EQUAL:
        *out = node_compare(planner, column, CQL_NOT_EQUAL, A_TEXT(uuid.text));
        break;
    case CQL_UUID_PREFIX:
        *out = node_sql(prefix_sql(planner, column, uuid.text));
        break;
    case CQL_UUID_NOT_PREFIX:
        *out = node_sql(str_fmt("not " STR_FMT, STR_ARG(prefix_sql(planner, column, uuid.text))));
        break;
    case CQL_UUID_ORDER:
        *out = uuid_order(planner, column, uuid.relation, uuid.text);
        break;
    }
    return NULL;
}

// An id that is no declared reference is an ordinary text in FOLIO: other relations work too, and
// what is no UUID may be stored and found.
static Err *plain_uuid_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    CqlPattern pattern = cql_pattern(clause->term);
    bool is_equality = clause->relation == CQL_EXACT || clause->relation == CQL_WORDS;

    if (is_equality && !clause->is_number && !pattern.has_wildcards &&
        !str_is_empty(pattern.literal)) {
        return text_compare(planner, clause, field, CQL_EXACT, str_lower(pattern.literal), out);
    }
    if (is_equality && cql_uuid(clause, &(CqlUuid){0}) == NULL) {
        return uuid_node(planner, clause, field->column, out);
    }
    return text_node(planner, clause, field, out);
}

// ---------------------------------------------------------------------------------------------
// Flags, numbers, times

static Err *flag_node(const Cql *clause, const Field *field, Node **out)
{
    CqlMatcher *matcher = NULL;
    CqlWords words;

    TRY(clause_matcher(clause, field, &matcher));
    if (is_word_relation(clause->relation)) {
        TRY(cql_words(clause, &words));
        if (words.matches_all) {
            *out = node_true();
            return NULL;
        }
    }
    bool is_true = cql_matcher_test(matcher, S("true")) == CQL_TRUE;
    bool is_false = cql_matcher_test(matcher, S("false")) == CQL_TRUE;
    if (is_true && is_false) {
        *out = node_defined(field->column);
    } else if (is_true || is_false) {
        *out = node_sql(str_fmt("\"%s\" = %d", field->column, is_true));
    } else {
        *out = node_false();
    }
    return NULL;
}

// What * and "" mean for a field whose values are never empty. True: *out is set.
static Err *special_terms(const Cql *clause, const Field *field, Node **out)
{
    CqlPattern pattern = cql_pattern(clause->term);
    CqlWords words;

    *out = NULL;
    if (is_order(clause->relation)) {
        return NULL;
    }
    if (is_word_relation(clause->relation)) {
        TRY(cql_words(clause, &words));
        words_special(field, &words, out);
        return NULL;
    }
    bool is_positive = clause->relation == CQL_EXACT;
    if (pattern.has_wildcards && is_any_run_only(&pattern)) {
        *out = is_positive ? node_defined(field->column) : node_false();
    } else if (!pattern.has_wildcards && !pattern.literal.len) {
        *out = is_positive ? node_false() : node_defined(field->column);
    }
    return NULL;
}

static Arg number_arg(double number)
{
    return A_REAL(number);
}

static CqlRelation as_compare(CqlRelation relation)
{
    return relation == CQL_WORDS ? CQL_EXACT : relation;
}

static Err *number_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    CqlPattern pattern = cql_pattern(clause->term);
    CqlRelation relation = as_compare(clause->relation);
    CqlMatcher *matcher = NULL;
    double number = 0;

    TRY(clause_matcher(clause, field, &matcher)); // for its errors
    if (!clause->is_number) {
        TRY(special_terms(clause, field, out));
        if (*out) {
            return NULL;
        }
    }
    bool is_plain = !pattern.has_wildcards && str_double(pattern.literal, &number) &&
                    !is_word_relation(relation);
    if (!is_plain) {
        return doc_node(clause, field, (Str){0}, out);
    }
    // Without /number the texts are compared: 5.0 is not 5.
    bool is_as_written = clause->is_number || is_order(relation) ||
                         str_eq(json_scalar_text(json_number_of(number)), pattern.literal);
    if (is_as_written) {
        *out = node_compare(planner, field->column, relation, number_arg(number));
    } else {
        *out = relation == CQL_NOT_EQUAL ? node_defined(field->column) : node_false();
    }
    return NULL;
}

// "2024", "2024-05", ... "2024-05-01T12:30:15": the instants whose text begins so.
static bool time_range(Str prefix, Time *start, Time *end)
{
    static const char rest[] = "0000-01-01T00:00:00.000Z";
    int64_t year = 0, month = 1;

    if (prefix.len != 4 && prefix.len != 7 && prefix.len != 10 && prefix.len != 13 &&
        prefix.len != 16 && prefix.len != 19) {
        return false;
    }
    if (!time_parse(str_fmt(STR_FMT "%s", STR_ARG(prefix), rest + prefix.len), start)) {
        return false;
    }
    switch (prefix.len) {
    case 4:
    case 7:
        if (!str_int64(str_sub(prefix, 0, 4), &year) ||
            (prefix.len == 7 && !str_int64(str_sub(prefix, 5, 7), &month))) {
            return false;
        }
        month += prefix.len == 7 ? 1 : 12;
        return time_parse(
            str_fmt("%04d-%02d-01", (int)(year + (month - 1) / 12), (int)((month - 1) % 12 + 1)),
            end);
    case 10:
        *end = *start + DAY_MS;
        return true;
    case 13:
        *end = *start + HOUR_MS;
        return true;
    case 16:
        *end = *start + MINUTE_MS;
        return true;
    default:
        *end = *start + SECOND_MS;
        return true;
    }
}

static Node *time_range_node(Planner *planner, const char *column, Time start, Time end,
                             bool is_negative)
{
    int from = planner_add(planner, A_INT(start));
    int to = planner_add(planner, A_INT(end));

    planner->has_range = true;
    return node_sql(str_fmt("%s(\"%s\" >= $%d and \"%s\" < $%d)", is_negative ? "not " : "", column,
                            from, column, to));
}

static Err *time_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    CqlPattern pattern = cql_pattern(clause->term);
    CqlRelation relation = as_compare(clause->relation);
    Time time = 0, end = 0;

    TRY(special_terms(clause, field, out));
    if (*out || is_word_relation(relation) || clause->is_number) {
        return *out ? NULL : words_node(planner, clause, field, out);
    }
    if (!pattern.has_wildcards && time_parse(pattern.literal, &time)) {
        *out = node_compare(planner, field->column, relation, A_INT(time));
        return NULL;
    }
    bool is_prefix = pattern.count == 2 && pattern.pieces[0].kind == CQL_LITERAL &&
                     pattern.pieces[1].kind == CQL_ANY_RUN;
    if (!is_order(relation) && clause->relation != CQL_WORDS && is_prefix &&
        time_range(pattern.pieces[0].text, &time, &end)) {
        *out = time_range_node(planner, field->column, time, end, relation == CQL_NOT_EQUAL);
        return NULL;
    }
    // Texts that begin like the term are greater than it.
    if (is_order(relation) && !pattern.has_wildcards && time_range(pattern.literal, &time, &end)) {
        bool is_less = relation == CQL_LESS || relation == CQL_LESS_EQUAL;
        *out = node_compare(planner, field->column, is_less ? CQL_LESS : CQL_GREATER_EQUAL,
                            A_INT(time));
        return NULL;
    }
    return is_word_relation(clause->relation) ? words_node(planner, clause, field, out)
                                              : doc_node(clause, field, (Str){0}, out);
}

// ---------------------------------------------------------------------------------------------
// Any clause

static const Cql *with_computed_term(const Cql *clause, const Field *field)
{
    if (!field->compute_term || (is_word_relation(clause->relation) && !clause->term.len)) {
        return clause;
    }
    Cql *copy = NEW(Cql);

    *copy = *clause;
    copy->term = field->compute_term(clause->term);
    return copy;
}

static bool has_array_modifier(const Cql *clause)
{
    for (size_t i = 0; i < clause->modifier_count; i++) {
        if (clause->modifiers[i].is_array) {
            return true;
        }
    }
    return false;
}

static Err *field_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    clause = with_computed_term(clause, field);
    if (!field_has_column(field)) {
        return text_node(planner, clause, field, out);
    }
    if (field->flags & UUID) {
        return field->references ? uuid_node(planner, clause, field->column, out)
                                 : plain_uuid_node(planner, clause, field, out);
    }
    if (field->flags & FLAG && !clause->is_number) {
        return flag_node(clause, field, out);
    }
    if (field->flags & NUMBER) {
        return number_node(planner, clause, field, out);
    }
    if (field->flags & TIME) {
        return time_node(planner, clause, field, out);
    }
    return text_node(planner, clause, field, out);
}

// A member of an object whose words are searched ("customFields.department"): they narrow the
// search. Texts that JSON writes in another way have other words.
static Str member_bound(Planner *planner, const Cql *clause)
{
    ptrdiff_t dot = str_find_char(clause->index, '.', 0);
    const Field *field =
        dot < 0 ? NULL : field_by_cql_name(planner->of, str_sub(clause->index, 0, (size_t)dot));
    CqlPattern pattern = cql_pattern(clause->term);

    if (!field || !(field->flags & TREE) || clause->relation != CQL_EXACT || clause->is_number) {
        return (Str){0};
    }
    for (size_t i = 0; i < clause->term.len; i++) {
        if (clause->term.at[i] == '\\' || (unsigned char)clause->term.at[i] < ' ') {
            return (Str){0};
        }
    }
    return tree_bound(planner, field, &pattern);
}

// A field that the descriptor does not know: on the documents, if a record can have it at all.
static Err *unknown_node(Planner *planner, const Cql *clause, Node **out)
{
    TRY(doc_node(clause, NULL, member_bound(planner, clause), out));
    if (is_date(planner->of->record, clause->index)) {
        TRY(cql_matcher(clause, CQL_AS_TIME, true, &(*out)->matcher));
    }
    if (is_word_relation(clause->relation)) {
        return words_node(planner, clause, NULL, out);
    }
    return NULL;
}

Err *clause_node(Planner *planner, const Cql *clause, Node **out)
{
    const Field *field = field_by_cql_name(planner->of, clause->index);
    Str rest;
    const Join *join = field ? NULL : join_of(planner->of, clause->index, &rest);

    if (str_eq(clause->index, S("id"))) {
        return uuid_node(planner, clause, "id", out);
    }
    if (join) {
        Cql *copy = NEW(Cql);
        *copy = *clause;
        copy->index = rest;
        return join_node(planner, join, copy, out);
    }
    if (has_array_modifier(clause)) {
        return elements_node(planner, clause, field, out);
    }
    if (field) {
        return field_node(planner, clause, field, out);
    }
    TRY(unknown_node(planner, clause, out));
    if ((*out)->kind == NODE_DOC && !path_may_exist(planner->of->record, clause->index)) {
        *out = node_false();
    }
    return NULL;
}
