// The guard before the parser: one strict pass over a text from outside. What passes it, cJSON
// reads without surprise: it is stricter than cJSON in everything where cJSON is lax.
#include "json/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What may come next.
typedef enum { VALUE, VALUE_OR_END, KEY_OR_END, KEY, COLON, COMMA_OR_END, NOTHING } Expect;

enum {
    NODE_BYTES = (sizeof(Json) + 15) / 16 * 16,
    NUMBER_LEN_MAX = 63,     // cJSON reads no longer ones
    INTEGER_DIGITS_MAX = 16, // of 2^53
};

typedef struct {
    const char *start, *at, *end;
    uint64_t objects; // one bit per open level, the innermost lowest: 1 = object, 0 = array
    unsigned depth;
    size_t tree_bytes;
    const char *wrong; // first thing that is wrong, at `at`
} Guard;

_Static_assert(JSON_DEPTH_MAX <= 64, "one bit per level in a word");

static bool wrong(Guard *g, const char *what)
{
    g->wrong = what;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(Guard *g)
{
    while (g->at < g->end &&
           (*g->at == ' ' || *g->at == '\n' || *g->at == '\r' || *g->at == '\t')) {
        g->at++;
    }
}

// The four hexadecimal digits behind \u; -1 if they are not there.
static int hex4(const Guard *g, const char *at)
{
    int value = 0;

    if (g->end - at < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = is_digit(c)              ? c - '0'
                    : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                    : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                             : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static bool guard_unicode_escape(Guard *g)
{
    int unit = hex4(g, g->at + 2);

    if (unit < 0) {
        return wrong(g, "bad \\u escape");
    }
    if (unit == 0) {
        return wrong(g, "the character \\u0000 cannot be stored");
    }
    if (unit >= 0xDC00 && unit <= 0xDFFF) {
        return wrong(g, "lone surrogate");
    }
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        bool has_second = g->end - g->at >= 12 && g->at[6] == '\\' && g->at[7] == 'u';
        int second = has_second ? hex4(g, g->at + 8) : -1;
        if (second < 0xDC00 || second > 0xDFFF) {
            return wrong(g, "lone surrogate");
        }
        g->at += 6;
    }
    g->at += 6;
    return true;
}

static bool guard_escape(Guard *g)
{
    if (g->end - g->at < 2) {
        return wrong(g, "unexpected end of a string");
    }
    if (g->at[1] == 'u') {
        return guard_unicode_escape(g);
    }
    if (!strchr("\"\\/bfnrt", g->at[1]) || g->at[1] == '\0') {
        return wrong(g, "unknown escape in a string");
    }
    g->at += 2;
    return true;
}

static bool guard_string(Guard *g)
{
    const char *start = ++g->at;

    while ((g->at = plain_run(g->at, g->end, HIGH_BITS)) < g->end && *g->at != '"') {
        unsigned char c = (unsigned char)*g->at;
        if (c == '\\') {
            if (!guard_escape(g)) {
                return false;
            }
            continue;
        }
        size_t len = utf8_char_len(g->at, g->end);
        if (c < 0x20 || len == 0) {
            return wrong(g, len ? "control character in a string" : "invalid UTF-8");
        }
        g->at += len;
    }
    if (g->at == g->end) {
        return wrong(g, "unexpected end of a string");
    }
    g->tree_bytes += ((size_t)(g->at - start) + 16) & ~(size_t)15;
    g->at++;
    return true;
}

static const char *skip_digits(const Guard *g, const char *at)
{
    while (at < g->end && is_digit(*at)) {
        at++;
    }
    return at;
}

// The value of a number whose syntax is right: an integer must be exact as a double, the others
// finite.
static bool guard_magnitude(Guard *g, size_t len, bool is_integer)
{
    char z[NUMBER_LEN_MAX + 1];

    if (len > NUMBER_LEN_MAX) {
        return wrong(g, "number too long");
    }
    if (is_integer && len < INTEGER_DIGITS_MAX) {
        return true;
    }
    memcpy(z, g->at, len);
    z[len] = '\0';
    double value = fabs(strtod(z, NULL));
    // 2^53 + 1 reads as 2^53, hence the comparison of the digits.
    if (is_integer && (value > INTEGER_MAX || strcmp(z + (*z == '-'), "9007199254740993") == 0)) {
        return wrong(g, "integer out of range");
    }
    return isfinite(value) || wrong(g, "number out of range");
}

static bool guard_number(Guard *g)
{
    const char *at = g->at + (*g->at == '-');
    const char *digits = at;
    bool is_integer = true;

    at = skip_digits(g, at);
    if (at == digits || (*digits == '0' && at - digits > 1)) {
        return wrong(g, "bad number");
    }
    if (at < g->end && *at == '.') {
        const char *fraction = at + 1;
        is_integer = false;
        at = skip_digits(g, fraction);
        if (at == fraction) {
            return wrong(g, "bad number");
        }
    }
    if (at < g->end && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1;
        is_integer = false;
        if (exponent < g->end && (*exponent == '+' || *exponent == '-')) {
            exponent++;
        }
        at = skip_digits(g, exponent);
        if (at == exponent) {
            return wrong(g, "bad number");
        }
    }
    if (!guard_magnitude(g, (size_t)(at - g->at), is_integer)) {
        return false;
    }
    g->at = at;
    return true;
}

static bool guard_literal(Guard *g, const char *literal)
{
    size_t len = strlen(literal);

    if ((size_t)(g->end - g->at) < len || memcmp(g->at, literal, len) != 0) {
        return wrong(g, "unexpected character");
    }
    g->at += len;
    return true;
}

static bool guard_open(Guard *g, bool is_object, Expect *expect)
{
    if (g->depth == JSON_DEPTH_MAX) {
        return wrong(g, "nested too deeply");
    }
    g->depth++;
    g->objects = g->objects << 1 | (is_object ? 1 : 0);
    g->at++;
    *expect = is_object ? KEY_OR_END : VALUE_OR_END;
    return true;
}

static bool guard_close(Guard *g, Expect *expect)
{
    g->depth--;
    g->objects >>= 1;
    g->at++;
    *expect = g->depth ? COMMA_OR_END : NOTHING;
    return true;
}

static bool guard_value(Guard *g, Expect *expect)
{
    bool is_fine = false;

    g->tree_bytes += NODE_BYTES;
    switch (*g->at) {
    case '{':
        return guard_open(g, true, expect);
    case '[':
        return guard_open(g, false, expect);
    case '"':
        is_fine = guard_string(g);
        break;
    case 't':
        is_fine = guard_literal(g, "true");
        break;
    case 'f':
        is_fine = guard_literal(g, "false");
        break;
    case 'n':
        is_fine = guard_literal(g, "null");
        break;
    default:
        is_fine =
            is_digit(*g->at) || *g->at == '-' ? guard_number(g) : wrong(g, "unexpected character");
    }
    *expect = g->depth ? COMMA_OR_END : NOTHING;
    return is_fine;
}

static bool guard_comma(Guard *g, Expect *expect)
{
    bool in_object = g->objects & 1;

    if (*g->at == ',') {
        g->at++;
        *expect = in_object ? KEY : VALUE;
        return true;
    }
    if (*g->at == (in_object ? '}' : ']')) {
        return guard_close(g, expect);
    }
    return wrong(g, in_object ? "expected a comma or }" : "expected a comma or ]");
}

static bool guard_step(Guard *g, Expect *expect)
{
    switch (*expect) {
    case VALUE_OR_END:
        return *g->at == ']' ? guard_close(g, expect) : guard_value(g, expect);
    case KEY_OR_END:
        if (*g->at == '}') {
            return guard_close(g, expect);
        }
        __attribute__((fallthrough));
    case KEY:
        *expect = COLON;
        return *g->at == '"' ? guard_string(g) : wrong(g, "expected a member name");
    case COLON:
        *expect = VALUE;
        return *g->at++ == ':' || (g->at--, wrong(g, "expected a colon"));
    case COMMA_OR_END:
        return guard_comma(g, expect);
    case NOTHING:
        return wrong(g, "more text behind the value");
    case VALUE:
    default:
        return guard_value(g, expect);
    }
}

static Err *guard_err(const Guard *g)
{
    size_t line = 1;
    const char *line_start = g->start;

    for (const char *at = g->start; at < g->at; at++) {
        if (*at == '\n') {
            line++;
            line_start = at + 1;
        }
    }
    return err_text(400, "Json content error %s at line %zu column %zu", g->wrong, line,
                    (size_t)(g->at - line_start) + 1);
}

Err *json_guard(Str text, size_t *tree_bytes)
{
    const char *at = text.at ? text.at : "";
    Guard g = {.start = at, .at = at, .end = at + text.len};
    Expect expect = VALUE;

    // A byte order mark is let in, as the parser does.
    if (str_starts(text, S("\xEF\xBB\xBF"))) {
        g.at += 3;
    }
    for (;;) {
        skip_blanks(&g);
        if (g.at == g.end) {
            break;
        }
        if (!guard_step(&g, &expect)) {
            return guard_err(&g);
        }
    }
    if (expect != NOTHING) {
        wrong(&g, "unexpected end");
        return guard_err(&g);
    }
    *tree_bytes = g.tree_bytes;
    return NULL;
}
