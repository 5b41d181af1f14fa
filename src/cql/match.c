// The reference semantics of one clause against one stored value: what FOLIO's SQL would answer.
// Source: spec/storage-and-cql.md 2.2, 2.3, 2.7.
#include "cql/parse.h"

#include "base/date.h"
#include "base/fold.h"

#include <string.h>

typedef enum { WHOLE, ORDER, NUMBER, WORDS } How;

struct CqlMatcher {
    How how;
    CqlRelation relation;
    unsigned folding;
    CqlPattern pattern; // WHOLE: literals folded
    Str term;           // ORDER: folded; NUMBER: as written
    bool is_time;       // ORDER and WHOLE without wildcards: the term is a time
    Time time;
    CqlWords words;
};

static Str folded(Str s, unsigned folding)
{
    bool keeps_case = folding & CQL_KEEP_CASE, keeps_accents = folding & CQL_KEEP_ACCENTS;

    if (keeps_case && keeps_accents) {
        return s;
    }
    if (keeps_case) {
        return fold_accents(s);
    }
    return keeps_accents ? fold_case(s) : fold(s);
}

static CqlPattern pattern_folded(CqlPattern pattern, unsigned folding)
{
    CqlPiece *pieces = NEW_ARRAY(CqlPiece, pattern.count);

    for (size_t i = 0; i < pattern.count; i++) {
        pieces[i] = pattern.pieces[i];
        pieces[i].text = folded(pieces[i].text, folding);
    }
    pattern.pieces = pieces;
    pattern.literal = folded(pattern.literal, folding);
    return pattern;
}

static How how_of(const Cql *clause)
{
    bool is_exact = clause->relation == CQL_EXACT || clause->relation == CQL_NOT_EQUAL;
    bool is_words = clause->relation == CQL_WORDS || clause->relation == CQL_ALL_WORDS ||
                    clause->relation == CQL_ANY_WORD;

    if (clause->is_number && clause->relation != CQL_ALL_WORDS &&
        clause->relation != CQL_ANY_WORD) {
        return NUMBER;
    }
    if (is_exact) {
        return WHOLE;
    }
    return is_words ? WORDS : ORDER;
}

// Wildcards mean nothing to an order: the term with its escapes resolved.
static Str order_term(Str term)
{
    char *text = arena_alloc(arena_current(), term.len);
    size_t len = 0;

    for (size_t i = 0; i < term.len; i++) {
        if (term.at[i] == '\\' && i + 1 < term.len) {
            i++;
        }
        text[len++] = term.at[i];
    }
    return (Str){text, len};
}

Err *cql_matcher(const Cql *clause, unsigned folding, bool ordered_raw, CqlMatcher **out)
{
    CqlMatcher *matcher = NEW(CqlMatcher);

    matcher->how = how_of(clause);
    matcher->relation = clause->relation;
    matcher->folding = folding;
    switch (matcher->how) {
    case NUMBER:
        // "" with /number asks for defined values, as without.
        if (str_is_empty(clause->term) && clause->relation == CQL_WORDS) {
            matcher->how = WORDS;
            matcher->words.is_defined = true;
            break;
        }
        matcher->term = order_term(clause->term);
        if (!number_is_valid(matcher->term)) {
            return err_text(400, "CQL: Invalid number after '" STR_FMT STR_FMT "/number': " STR_FMT,
                            STR_ARG(clause->index), STR_ARG(clause->relation_text),
                            STR_ARG(clause->term));
        }
        break;
    case WHOLE:
        matcher->pattern = pattern_folded(cql_pattern(clause->term), folding);
        matcher->is_time = (folding & CQL_AS_TIME) && !matcher->pattern.has_wildcards &&
                           time_parse(order_term(clause->term), &matcher->time);
        break;
    case ORDER:
        matcher->term = order_term(clause->term);
        matcher->is_time = (folding & CQL_AS_TIME) && time_parse(matcher->term, &matcher->time);
        if (ordered_raw) {
            matcher->folding |= CQL_KEEP_CASE | CQL_KEEP_ACCENTS;
        }
        matcher->term = folded(matcher->term, matcher->folding);
        break;
    case WORDS:
        TRY(cql_words(clause, &matcher->words));
        break;
    }
    *out = matcher;
    return NULL;
}

// Behind one character of UTF-8.
static size_t character_end(Str value, size_t at)
{
    at++;
    while (at < value.len && ((unsigned char)value.at[at] & 0xC0) == 0x80) {
        at++;
    }
    return at;
}

// Where the pieces from..to (none of them a run) end if they begin at `at`; -1 if they do not
// match.
static ptrdiff_t segment_end(const CqlPiece *from, const CqlPiece *to, Str value, size_t at)
{
    for (; from < to; from++) {
        if (from->kind == CQL_ANY_CHAR && at < value.len) {
            at = character_end(value, at);
        } else if (from->kind == CQL_LITERAL &&
                   str_starts(str_sub(value, at, value.len), from->text)) {
            at += from->text.len;
        } else {
            return -1;
        }
    }
    return (ptrdiff_t)at;
}

static const CqlPiece *segment_limit(const CqlPiece *piece, const CqlPiece *end)
{
    while (piece < end && piece->kind != CQL_ANY_RUN) {
        piece++;
    }
    return piece;
}

// Behind the first place at or after `at` where the segment matches; the last one must reach the
// end.
static ptrdiff_t segment_find(const CqlPiece *from, const CqlPiece *to, Str value, size_t at,
                              bool is_last)
{
    while (at <= value.len) {
        ptrdiff_t end = segment_end(from, to, value, at);
        if (end >= 0 && (!is_last || (size_t)end == value.len)) {
            return end;
        }
        at = at < value.len ? character_end(value, at) : at + 1;
    }
    return -1;
}

static bool pattern_matches(const CqlPattern *pattern, Str value)
{
    const CqlPiece *end = pattern->pieces + pattern->count;
    const CqlPiece *limit = segment_limit(pattern->pieces, end);

    if (!pattern->has_wildcards) {
        return str_eq(pattern->literal, value);
    }
    ptrdiff_t at = segment_end(pattern->pieces, limit, value, 0);
    if (limit == end) {
        return at == (ptrdiff_t)value.len;
    }
    while (at >= 0 && limit < end) {
        const CqlPiece *from = limit + 1;
        limit = segment_limit(from, end);
        // A run at the very end takes what is left.
        if (from == end) {
            return true;
        }
        at = segment_find(from, limit, value, (size_t)at, limit == end);
    }
    return at >= 0;
}

bool relation_holds(CqlRelation relation, int order)
{
    switch (relation) {
    case CQL_LESS:
        return order < 0;
    case CQL_LESS_EQUAL:
        return order <= 0;
    case CQL_GREATER:
        return order > 0;
    case CQL_GREATER_EQUAL:
        return order >= 0;
    case CQL_NOT_EQUAL:
        return order != 0;
    default:
        return order == 0;
    }
}

static bool word_matches(const CqlWord *word, Str text)
{
    return word->is_prefix ? str_starts(text, word->word) : str_eq(text, word->word);
}

static bool has_phrase_at(const CqlWords *words, const StrList *text, size_t at)
{
    for (size_t i = 0; i < words->count; i++) {
        if (!word_matches(&words->words[i], text->at[at + i])) {
            return false;
        }
    }
    return true;
}

static bool has_phrase(const CqlWords *words, const StrList *text)
{
    for (size_t at = 0; at + words->count <= text->len; at++) {
        if (has_phrase_at(words, text, at)) {
            return true;
        }
    }
    return false;
}

static bool has_word(const CqlWord *word, const StrList *text)
{
    for (size_t i = 0; i < text->len; i++) {
        if (word_matches(word, text->at[i])) {
            return true;
        }
    }
    return false;
}

static bool words_match(const CqlWords *words, CqlRelation relation, Str value)
{
    StrList text = {0};
    size_t found = 0;

    if (words->matches_all || words->is_defined) {
        return true;
    }
    if (words->count == 0) {
        return false;
    }
    fold_words(value, &text);
    if (relation == CQL_WORDS) {
        return has_phrase(words, &text);
    }
    for (size_t i = 0; i < words->count; i++) {
        found += has_word(&words->words[i], &text);
    }
    return relation == CQL_ALL_WORDS ? found == words->count : found > 0;
}

static bool value_matches(const CqlMatcher *matcher, Str value)
{
    Time time = 0;

    if (matcher->how == WORDS) {
        return words_match(&matcher->words, matcher->relation, value);
    }
    if (matcher->how == NUMBER) {
        // A stored text that is no number matches nothing.
        return number_is_valid(value) &&
               relation_holds(matcher->relation, number_cmp(value, matcher->term));
    }
    if (matcher->is_time && time_parse(value, &time)) {
        return relation_holds(matcher->relation, (time > matcher->time) - (time < matcher->time));
    }
    value = folded(value, matcher->folding);
    if (matcher->how == ORDER) {
        return relation_holds(matcher->relation, str_cmp(value, matcher->term));
    }
    bool is_equal = pattern_matches(&matcher->pattern, value);
    return matcher->relation == CQL_NOT_EQUAL ? !is_equal : is_equal;
}

CqlTruth cql_matcher_test(const CqlMatcher *matcher, Str value)
{
    if (matcher->how == WORDS && matcher->words.matches_all) {
        return CQL_TRUE;
    }
    if (!value.at) {
        return CQL_UNKNOWN;
    }
    // Scans test millions of values: nothing of one stays.
    Arena *scratch = scratch_arena(), *former = arena_use(scratch);
    ArenaMark mark = arena_mark(scratch);
    bool matches = value_matches(matcher, value);
    arena_release(scratch, mark);
    arena_use(former);
    return matches ? CQL_TRUE : CQL_FALSE;
}

Err *cql_clause_matches(const Cql *clause, Str value, unsigned folding, bool ordered_raw,
                        CqlTruth *out)
{
    CqlMatcher *matcher = NULL;

    TRY(cql_matcher(clause, folding, ordered_raw, &matcher));
    *out = cql_matcher_test(matcher, value);
    return NULL;
}
