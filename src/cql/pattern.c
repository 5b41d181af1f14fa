// Terms: escapes and wildcards for whole-value comparison, words for word search.
// Source: spec/storage-and-cql.md 2.2, 2.10.
#include "cql/parse.h"

#include "base/buf.h"
#include "base/fold.h"

enum { WORDS_MAX = 1000 };

static bool is_wildcard(char c)
{
    return c == '*' || c == '?';
}

// The next character of a term with its escape resolved; a backslash at the end means itself.
static char unescaped(Str term, size_t *i, bool *is_escaped)
{
    char c = term.at[(*i)++];

    *is_escaped = c == '\\' && *i < term.len;
    return *is_escaped ? term.at[(*i)++] : c;
}

static CqlPattern pattern_plain(Str term)
{
    CqlPiece *piece = NEW(CqlPiece);

    *piece = (CqlPiece){CQL_LITERAL, term};
    return (CqlPattern){.pieces = piece, .count = term.len > 0, .literal = term};
}

CqlPattern cql_pattern(Str term)
{
    size_t special = 0;

    for (size_t i = 0; i < term.len; i++) {
        special += is_wildcard(term.at[i]) || term.at[i] == '\\';
    }
    if (special == 0) {
        return pattern_plain(term);
    }
    CqlPiece *pieces = NEW_ARRAY(CqlPiece, special * 2 + 1);
    CqlPattern pattern = {.pieces = pieces};
    char *text = arena_alloc(arena_current(), term.len);
    size_t len = 0, start = 0;
    for (size_t i = 0; i < term.len;) {
        bool is_escaped = false;
        char c = unescaped(term, &i, &is_escaped);
        if (is_escaped || !is_wildcard(c)) {
            text[len++] = c;
            continue;
        }
        if (len > start) {
            pieces[pattern.count++] = (CqlPiece){CQL_LITERAL, {text + start, len - start}};
        }
        start = len;
        pieces[pattern.count++].kind = c == '*' ? CQL_ANY_RUN : CQL_ANY_CHAR;
        pattern.has_wildcards = true;
    }
    if (len > start) {
        pieces[pattern.count++] = (CqlPiece){CQL_LITERAL, {text + start, len - start}};
    }
    if (!pattern.has_wildcards) {
        pattern.literal = (Str){text, len};
    }
    return pattern;
}

typedef struct {
    StrList words;
    bool *is_prefix; // beside words
    size_t capacity; // of is_prefix
} Words;

static bool ends_in_word(Str piece, const StrList *words)
{
    Str folded = fold(piece), last = words->at[words->len - 1];

    return str_ends(folded, last);
}

// The words of what stands between two blanks. "jo@*" asks for the word jo, not for what begins so.
static void add_words(Words *out, Str piece, bool is_truncated)
{
    size_t before = out->words.len;

    fold_words(piece, &out->words);
    if (out->words.len > out->capacity) {
        size_t capacity = out->words.len * 2;
        bool *larger = NEW_ARRAY(bool, capacity);
        for (size_t i = 0; i < before; i++) {
            larger[i] = out->is_prefix[i];
        }
        out->is_prefix = larger;
        out->capacity = capacity;
    }
    if (is_truncated && out->words.len > before && ends_in_word(piece, &out->words)) {
        out->is_prefix[out->words.len - 1] = true;
    }
}

// The character behind a wildcard, whole even if it has several bytes.
static Str character_at(Str term, size_t i)
{
    size_t end = i + 1;

    while (end < term.len && ((unsigned char)term.at[end] & 0xC0) == 0x80) {
        end++;
    }
    return str_sub(term, i, end);
}

static Err *split_words(Str term, Words *out)
{
    Buf piece = buf_new(arena_current(), term.len + 1);

    for (size_t i = 0; i < term.len;) {
        bool is_escaped = false;
        char c = unescaped(term, &i, &is_escaped);
        bool is_star = !is_escaped && c == '*';
        if (!is_escaped && c == '?') {
            return err_text(400, "? wildcard not allowed in full text query string");
        }
        if (is_star && i < term.len && !part_is_blank(term.at[i])) {
            return err_text(400,
                            "* right truncation wildcard must be followed by space or end of "
                            "string, but found " STR_FMT,
                            STR_ARG(character_at(term, i)));
        }
        // "^", an anchor elsewhere, only separates.
        bool is_end = is_star || (!is_escaped && (part_is_blank(c) || c == '^'));
        if (!is_end) {
            buf_char(&piece, c);
        }
        if (is_end || i == term.len) {
            add_words(out, buf_str(&piece), is_star);
            piece = buf_new(arena_current(), term.len + 1);
        }
    }
    return NULL;
}

Err *cql_words(const Cql *clause, CqlWords *out)
{
    Words words = {0};

    *out = (CqlWords){
        .matches_all = str_eq(clause->term, S("*")),
        .is_defined = str_is_empty(clause->term),
    };
    if (out->matches_all || out->is_defined) {
        return NULL;
    }
    TRY(split_words(clause->term, &words));
    if (words.words.len > WORDS_MAX) {
        return err_text(400, "CQL: more than 1000 words in a term");
    }
    CqlWord *list = NEW_ARRAY(CqlWord, words.words.len);
    for (size_t i = 0; i < words.words.len; i++) {
        list[i] = (CqlWord){words.words.at[i], words.is_prefix[i]};
    }
    out->words = list;
    out->count = words.words.len;
    return NULL;
}
