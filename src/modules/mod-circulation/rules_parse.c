// Reads the text of the circulation rules line by line into a table sorted by precedence.
// Source: spec/circulation.md 8.1, 8.2.
#include "modules/mod-circulation/rules.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

typedef enum { TOKEN_END, TOKEN_LETTER, TOKEN_POLICY, TOKEN_NAME, TOKEN_MARK } TokenKind;

typedef struct {
    TokenKind kind;
    Str text;
    int column; // 0-based
} Token;

typedef enum { BY_NOTHING, BY_CRITERIUM, BY_NUMBER } Precedence;

// A line that others may be nested in.
typedef struct {
    int indent;
    const Criterion **criteria;
    size_t criterion_count;
    bool has_policies;
    bool has_children;
    int line, column;
} Level;

typedef struct {
    Str rest; // of the text behind the current line
    Str line; // the current line without its end
    int line_number, priority_line;
    size_t at; // next byte in `line`
    Token token;

    Precedence first, second;
    bool is_first_line;    // the earlier line wins
    bool is_fallback_last; // "priority: first-line"
    int letter_weight[128];

    Level levels[RULES_DEPTH_MAX];
    int depth;
    Rule *rules;
    size_t rule_count, rule_cap;
    bool has_fallback;
} Parser;

static const char policy_letters[POLICY_TYPES + 1] = "lrnoi";

Err *rules_fault(Str message, int line, int column)
{
    Json *body = json_object();

    json_set_str(body, "message", message);
    json_set_int(body, "line", line);
    json_set_int(body, "column", column);
    return err_body(422, json_text(body));
}

static Err *fault(const Parser *parser, const char *message, int column)
{
    return rules_fault(str_of(message), parser->line_number, column);
}

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

// One-letter words have meanings of their own; the same letter inside a longer word is a name.
static TokenKind word_kind(Str word)
{
    if (word.len != 1) {
        return TOKEN_NAME;
    }
    if (strchr("tabcsmg", word.at[0])) {
        return TOKEN_LETTER;
    }
    return strchr(policy_letters, word.at[0]) ? TOKEN_POLICY : TOKEN_NAME;
}

static Err *next_token(Parser *parser)
{
    Str line = parser->line;
    size_t at = parser->at;

    while (at < line.len && line.at[at] == ' ') {
        at++;
    }
    parser->token = (Token){.kind = TOKEN_END, .column = (int)at};
    parser->at = at;
    if (at == line.len || line.at[at] == '#' || line.at[at] == '/') {
        parser->at = line.len;
        return NULL;
    }
    if (line.at[at] == '\t') {
        return fault(parser, "Tabulator character is not allowed, use spaces instead.",
                     (int)at + 1);
    }
    size_t end = at;
    while (end < line.len && is_name_char(line.at[end])) {
        end++;
    }
    if (end > at) {
        parser->token.text = str_sub(line, at, end);
        parser->token.kind = word_kind(parser->token.text);
        parser->at = end;
        return NULL;
    }
    if (!memchr("!+:,()", line.at[at], 6)) {
        return rules_fault(str_fmt("token recognition error at: '%c'", line.at[at]),
                           parser->line_number, (int)at + 1);
    }
    parser->token.kind = TOKEN_MARK;
    parser->token.text = str_sub(line, at, at + 1);
    parser->at = at + 1;
    return NULL;
}

static bool is_mark(const Parser *parser, char mark)
{
    return parser->token.kind == TOKEN_MARK && parser->token.text.at[0] == mark;
}

static bool is_word(const Parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_NAME && str_eq_z(parser->token.text, word);
}

static Err *unexpected(const Parser *parser, const char *expected)
{
    Str found = parser->token.kind == TOKEN_END ? S("end of line") : parser->token.text;

    return rules_fault(
        str_fmt("mismatched input '" STR_FMT "' expecting %s", STR_ARG(found), expected),
        parser->line_number, parser->token.column + 1);
}

static Err *expect_mark(Parser *parser, char mark)
{
    if (!is_mark(parser, mark)) {
        char expected[] = {'\'', mark, '\'', 0};
        return unexpected(parser, expected);
    }
    return next_token(parser);
}

// Moves to the next line that holds more than blanks and a comment; *has is false at the end.
static Err *next_line(Parser *parser, bool *has)
{
    *has = false;
    while (parser->rest.len) {
        size_t end = 0;
        while (end < parser->rest.len && parser->rest.at[end] != '\n' &&
               parser->rest.at[end] != '\r') {
            end++;
        }
        parser->line = str_sub(parser->rest, 0, end);
        parser->line_number++;
        size_t skip = end;
        if (skip < parser->rest.len) {
            skip += parser->rest.at[skip] == '\r' && skip + 1 < parser->rest.len &&
                            parser->rest.at[skip + 1] == '\n'
                        ? 2
                        : 1;
        }
        parser->rest = str_sub(parser->rest, skip, parser->rest.len);
        parser->at = 0;
        TRY(next_token(parser));
        if (parser->token.kind != TOKEN_END) {
            *has = true;
            return NULL;
        }
    }
    parser->line = (Str){"", 0};
    parser->at = 0;
    parser->line_number++;
    parser->token = (Token){.kind = TOKEN_END};
    return NULL;
}

// --- priority

static Err *parse_letters(Parser *parser)
{
    int start = parser->token.column + 1;
    int columns[7] = {0}, count = 0;
    char letters[7];

    while (parser->token.kind == TOKEN_LETTER) {
        if (count < 7) {
            letters[count] = parser->token.text.at[0];
            columns[count] = parser->token.column + 1;
        }
        count++;
        TRY(next_token(parser));
        if (is_mark(parser, ',')) {
            TRY(next_token(parser));
        }
    }
    if (count != 7) {
        return rules_fault(count < 7 ? str_fmt("7 letters expected, found only %d", count)
                                     : str_fmt("Only 7 letters expected, found %d", count),
                           parser->line_number, start);
    }
    for (int i = 0; i < 7; i++) {
        if (parser->letter_weight[(int)letters[i]]) {
            return rules_fault(str_fmt("Duplicate letter %c", letters[i]), parser->line_number,
                               columns[i]);
        }
        parser->letter_weight[(int)letters[i]] = 7 - i;
    }
    return NULL;
}

static Err *parse_precedence(Parser *parser, Precedence *out)
{
    if (is_word(parser, "number-of-criteria")) {
        *out = BY_NUMBER;
        return next_token(parser);
    }
    if (!is_word(parser, "criterium")) {
        return unexpected(parser, "{'criterium', 'number-of-criteria', 'last-line', "
                                  "'first-line', CRITERIUM_LETTER}");
    }
    *out = BY_CRITERIUM;
    TRY(next_token(parser));
    TRY(expect_mark(parser, '('));
    TRY(parse_letters(parser));
    return expect_mark(parser, ')');
}

static Err *parse_line_precedence(Parser *parser)
{
    if (!is_word(parser, "first-line") && !is_word(parser, "last-line")) {
        return unexpected(parser, "{'first-line', 'last-line'}");
    }
    parser->is_first_line = is_word(parser, "first-line");
    return next_token(parser);
}

static Err *parse_precedences(Parser *parser)
{
    int column = 0;

    if (parser->token.kind == TOKEN_LETTER) {
        parser->first = BY_CRITERIUM;
        parser->second = BY_NUMBER;
        return parse_letters(parser);
    }
    if (is_word(parser, "first-line") || is_word(parser, "last-line")) {
        parser->is_fallback_last = is_word(parser, "first-line");
        return parse_line_precedence(parser);
    }
    TRY(parse_precedence(parser, &parser->second));
    TRY(expect_mark(parser, ','));
    if (!is_word(parser, "first-line") && !is_word(parser, "last-line")) {
        parser->first = parser->second;
        column = parser->token.column + 1;
        TRY(parse_precedence(parser, &parser->second));
        if (parser->first == parser->second) {
            return fault(parser, "Duplicate priority type", column);
        }
        TRY(expect_mark(parser, ','));
    }
    return parse_line_precedence(parser);
}

static Err *parse_priority(Parser *parser)
{
    if (parser->token.column != 0 || !is_word(parser, "priority")) {
        return unexpected(parser, "'priority'");
    }
    TRY(next_token(parser));
    TRY(expect_mark(parser, ':'));
    return parse_precedences(parser);
}

// --- criteria and policies

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static Err *parse_names(Parser *parser, Criterion *criterion)
{
    StrList names = {0};

    criterion->is_negated = is_mark(parser, '!');
    while (parser->token.kind == TOKEN_NAME || is_mark(parser, '!')) {
        if (is_mark(parser, '!') != criterion->is_negated) {
            return fault(parser, "A '!' must precede each name or no name.",
                         parser->token.column + 1);
        }
        if (criterion->is_negated) {
            TRY(next_token(parser));
            if (parser->token.kind != TOKEN_NAME) {
                return fault(parser, "Name missing.", parser->token.column + 1);
            }
        }
        str_list_add(&names, parser->token.text);
        TRY(next_token(parser));
    }
    if (names.len == 0) {
        return fault(parser, "Name missing.", parser->token.column + 1);
    }
    sort_array(names.at, names.len, sizeof *names.at, compare_names);
    criterion->names = names.at;
    criterion->name_count = names.len;
    return NULL;
}

static Err *parse_criterion(Parser *parser, Criterion *criterion)
{
    if (parser->token.kind != TOKEN_LETTER) {
        return unexpected(parser, "CRITERIUM_LETTER");
    }
    criterion->letter = parser->token.text.at[0];
    TRY(next_token(parser));
    if (is_word(parser, "all")) {
        criterion->is_all = true;
        return next_token(parser);
    }
    return parse_names(parser, criterion);
}

static Err *check_policies(const Parser *parser, const Rule *rule, const int *counts,
                           bool is_fallback)
{
    for (PolicyType type = 0; type < POLICY_TYPES; type++) {
        Str text = {0};
        char letter = policy_letters[type];
        if (counts[type] > 1) {
            text = str_fmt(is_fallback ? "Only one fallback policy of type %c is allowed"
                                       : "Only one policy of type %c allowed",
                           letter);
        } else if (counts[type] == 0) {
            text = str_fmt(is_fallback ? "Must have a fallback policy of type %c"
                                       : "Must contain one of each policy type, missing type %c",
                           letter);
        }
        if (text.len) {
            return rules_fault(text, parser->line_number, is_fallback ? 0 : rule->column);
        }
    }
    return NULL;
}

// ": l id r id n id o id i id" up to the end of the line.
static Err *parse_policies(Parser *parser, bool is_fallback, Rule *rule)
{
    int counts[POLICY_TYPES] = {0};

    rule->line = parser->line_number;
    rule->column = parser->token.column;
    TRY(next_token(parser));
    if (parser->token.kind == TOKEN_END) {
        return fault(parser, "Policy missing after ':'", parser->token.column + 1);
    }
    while (parser->token.kind == TOKEN_POLICY) {
        PolicyType type =
            (PolicyType)(strchr(policy_letters, parser->token.text.at[0]) - policy_letters);
        TRY(next_token(parser));
        if (parser->token.kind != TOKEN_NAME) {
            return fault(parser, "Name missing.", parser->token.column + 1);
        }
        rule->policy_ids[type] = parser->token.text;
        counts[type]++;
        TRY(next_token(parser));
    }
    if (parser->token.kind != TOKEN_END) {
        return unexpected(parser, "POLICY_TYPE");
    }
    return check_policies(parser, rule, counts, is_fallback);
}

// --- precedence

static int distinct_criteria(const Rule *rule)
{
    unsigned seen = 0;

    for (size_t i = 0; i < rule->criterion_count; i++) {
        char letter = rule->criteria[i]->letter;
        // Institution, campus, library and location count as one.
        seen |= 1u << (memchr("abcs", letter, 4) ? 0 : letter - 'a');
    }
    return __builtin_popcount(seen);
}

static int strongest_criterion(const Parser *parser, const Rule *rule)
{
    int most = 0;

    for (size_t i = 0; i < rule->criterion_count; i++) {
        int weight = parser->letter_weight[(int)rule->criteria[i]->letter];
        most = weight > most ? weight : most;
    }
    return most;
}

static int precedence_weight(const Parser *parser, Precedence precedence, const Rule *rule)
{
    if (precedence == BY_CRITERIUM) {
        return strongest_criterion(parser, rule);
    }
    return precedence == BY_NUMBER ? distinct_criteria(rule) : 0;
}

static void add_rule(Parser *parser, Rule rule)
{
    enum { LINES = 10000000 };

    parser->rules = array_room(arena_current(), parser->rules, parser->rule_count,
                               &parser->rule_cap, sizeof *parser->rules);
    if (rule.criterion_count) {
        rule.weight = parser->is_first_line ? LINES - rule.line : rule.line;
        rule.weight += (int64_t)precedence_weight(parser, parser->second, &rule) * LINES;
        rule.weight += (int64_t)precedence_weight(parser, parser->first, &rule) * LINES * 10;
    }
    parser->rules[parser->rule_count++] = rule;
}

// --- lines

static Err *leaf_without_policies(const Parser *parser)
{
    const Level *level = parser->depth ? &parser->levels[parser->depth - 1] : NULL;

    if (level && !level->has_policies && !level->has_children) {
        return rules_fault(S("Policy missing"), level->line, level->column);
    }
    return NULL;
}

// Closes the levels that a line of this indentation does not stand in.
static Err *enter_level(Parser *parser, int indent)
{
    int open = parser->depth ? parser->levels[parser->depth - 1].indent : -1;

    if (parser->depth == 0 && indent > 0) {
        return fault(parser, "extraneous input INDENT, a rule must be nested in another one",
                     indent + 1);
    }
    if (indent > open) {
        if (parser->depth == RULES_DEPTH_MAX) {
            return fault(parser, "Rules are nested too deeply", indent + 1);
        }
        if (parser->depth) {
            parser->levels[parser->depth - 1].has_children = true;
        }
        return NULL;
    }
    TRY(leaf_without_policies(parser));
    while (parser->depth && parser->levels[parser->depth - 1].indent > indent) {
        parser->depth--;
    }
    if (!parser->depth || parser->levels[parser->depth - 1].indent != indent) {
        return fault(parser, "Indentation does not match any enclosing rule", indent + 1);
    }
    parser->depth--;
    return NULL;
}

static Err *parse_rule(Parser *parser)
{
    int indent = parser->token.column;
    const Criterion *own[64];
    size_t own_count = 0;

    TRY(enter_level(parser, indent));
    for (;;) {
        Criterion *criterion = NEW(Criterion);
        TRY(parse_criterion(parser, criterion));
        if (own_count == sizeof own / sizeof *own) {
            return fault(parser, "Too many criteria in one line", parser->token.column + 1);
        }
        own[own_count++] = criterion;
        if (!is_mark(parser, '+')) {
            break;
        }
        TRY(next_token(parser));
    }
    const Level *parent = parser->depth ? &parser->levels[parser->depth - 1] : NULL;
    size_t inherited = parent ? parent->criterion_count : 0;
    const Criterion **criteria = NEW_ARRAY(const Criterion *, inherited + own_count);
    if (inherited) {
        memcpy(criteria, parent->criteria, inherited * sizeof *criteria);
    }
    memcpy(criteria + inherited, own, own_count * sizeof *criteria);
    Level level = {.indent = indent,
                   .criteria = criteria,
                   .criterion_count = inherited + own_count,
                   .has_policies = is_mark(parser, ':'),
                   .line = parser->line_number,
                   .column = parser->token.column + 1};
    if (level.has_policies) {
        Rule rule = {.criteria = criteria, .criterion_count = level.criterion_count};
        TRY(parse_policies(parser, false, &rule));
        add_rule(parser, rule);
    } else if (parser->token.kind != TOKEN_END) {
        return unexpected(parser, "{':', '+', end of line}");
    }
    parser->levels[parser->depth++] = level;
    return NULL;
}

static Err *parse_fallback(Parser *parser)
{
    Rule rule = {0};

    if ((parser->token.column != 0 && parser->line_number != parser->priority_line) ||
        !is_word(parser, "fallback-policy")) {
        return unexpected(parser, "'fallback-policy'");
    }
    TRY(next_token(parser));
    if (parser->token.kind == TOKEN_END) {
        return fault(parser, "Policy missing", parser->token.column + 1);
    }
    if (!is_mark(parser, ':')) {
        return unexpected(parser, "':'");
    }
    TRY(parse_policies(parser, true, &rule));
    add_rule(parser, rule);
    parser->has_fallback = true;
    return NULL;
}

static Err *parse_lines(Parser *parser)
{
    bool has = false;

    TRY(next_line(parser, &has));
    TRY(parse_priority(parser));
    parser->priority_line = parser->line_number;
    // What comes next may stand in the same line.
    if (parser->token.kind == TOKEN_END) {
        TRY(next_line(parser, &has));
    }
    if (!parser->is_fallback_last) {
        TRY(parse_fallback(parser));
        TRY(next_line(parser, &has));
    }
    while (has) {
        if (parser->is_fallback_last && parser->has_fallback) {
            return fault(parser,
                         "For 'priority: first-line' the fallback-policy must be after the last "
                         "rule.",
                         parser->token.column + 1);
        }
        if (parser->is_fallback_last && is_word(parser, "fallback-policy")) {
            TRY(leaf_without_policies(parser));
            parser->depth = 0;
            TRY(parse_fallback(parser));
        } else {
            TRY(parse_rule(parser));
        }
        TRY(next_line(parser, &has));
    }
    TRY(leaf_without_policies(parser));
    return parser->has_fallback ? NULL : unexpected(parser, "'fallback-policy'");
}

static int compare_weights(const void *a, const void *b)
{
    const Rule *x = a, *y = b;

    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

Err *rules_parse(Str text, Rules **out)
{
    if (text.len > RULES_TEXT_MAX) {
        return rules_fault(S("The rules are too long"), 1, 1);
    }
    Parser *parser = NEW(Parser);
    parser->rest = text;
    TRY(parse_lines(parser));
    sort_array(parser->rules, parser->rule_count, sizeof *parser->rules, compare_weights);
    Rules *rules = NEW(Rules);
    rules->at = parser->rules;
    rules->len = parser->rule_count;
    *out = rules;
    return NULL;
}
