// Walking JSON as text.
#include "jsonscan.h"

#include "base/buf.h"

#include <string.h>

enum {
    FUEL_FACTOR = 64,       // passes over the document that a path may cost
    FUEL_EXTRA = 64 * 1024, // small documents
    NESTING_MAX = 256,
};

static Err *bad_json(size_t at)
{
    return err_text(400, "no JSON at byte %zu", at);
}

JsonScan scan_of(Str doc)
{
    size_t fuel = doc.len > SIZE_MAX / FUEL_FACTOR - FUEL_EXTRA
                      ? SIZE_MAX
                      : doc.len * FUEL_FACTOR + FUEL_EXTRA;
    return (JsonScan){.doc = doc, .fuel = fuel};
}

size_t scan_blanks(const JsonScan *scan, size_t at)
{
    while (at < scan->doc.len && (scan->doc.at[at] == ' ' || scan->doc.at[at] == '\n' ||
                                  scan->doc.at[at] == '\r' || scan->doc.at[at] == '\t')) {
        at++;
    }
    return at;
}

bool scan_is_container(const JsonScan *scan, size_t at)
{
    return at < scan->doc.len && (scan->doc.at[at] == '{' || scan->doc.at[at] == '[');
}

static Err *burn(JsonScan *scan, size_t bytes)
{
    if (bytes >= scan->fuel) {
        return err_text(400, "the path costs too much to search");
    }
    scan->fuel -= bytes;
    return NULL;
}

// `at` stands on the opening quote; the end is behind the closing one.
static Err *scan_string(const JsonScan *scan, size_t at, size_t *end)
{
    size_t from = at + 1;

    while (from < scan->doc.len) {
        const char *quote = memchr(scan->doc.at + from, '"', scan->doc.len - from);
        if (!quote) {
            break;
        }
        size_t place = (size_t)(quote - scan->doc.at);
        size_t backslashes = 0;
        while (place - backslashes > at + 1 && scan->doc.at[place - backslashes - 1] == '\\') {
            backslashes++;
        }
        if (backslashes % 2 == 0) {
            *end = place + 1;
            return NULL;
        }
        from = place + 1;
    }
    return bad_json(at);
}

static Err *scan_word(const JsonScan *scan, size_t at, size_t *end)
{
    size_t i = at;

    while (i < scan->doc.len && !strchr(",]}: \t\r\n\"[{", scan->doc.at[i])) {
        i++;
    }
    Str word = str_sub(scan->doc, at, i);
    double number = 0;
    if (!str_eq_z(word, "true") && !str_eq_z(word, "false") && !str_eq_z(word, "null") &&
        !str_double(word, &number)) {
        return bad_json(at);
    }
    *end = i;
    return NULL;
}

static Err *scan_container(const JsonScan *scan, size_t at, size_t *end)
{
    char open[NESTING_MAX];
    size_t depth = 0;

    for (size_t i = at; i < scan->doc.len;) {
        char c = scan->doc.at[i];
        if (c == '"') {
            TRY(scan_string(scan, i, &i));
            continue;
        }
        if (c == '{' || c == '[') {
            if (depth == NESTING_MAX) {
                return err_text(400, "the JSON is nested too deeply");
            }
            open[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (open[--depth] != c) {
                return bad_json(i);
            }
            if (depth == 0) {
                *end = i + 1;
                return NULL;
            }
        }
        i++;
    }
    return bad_json(scan->doc.len);
}

Err *scan_value(JsonScan *scan, size_t at, size_t *end)
{
    if (at >= scan->doc.len) {
        return bad_json(at);
    }
    if (scan->doc.at[at] == '"') {
        TRY(scan_string(scan, at, end));
    } else if (scan_is_container(scan, at)) {
        TRY(scan_container(scan, at, end));
    } else {
        TRY(scan_word(scan, at, end));
    }
    return burn(scan, *end - at);
}

// Reads "key": value or value at `at`.
static Err *scan_member(JsonScan *scan, size_t at, JsonMember *member)
{
    if (member->has_key) {
        size_t end = 0;
        if (at >= scan->doc.len || scan->doc.at[at] != '"') {
            return bad_json(at);
        }
        TRY(scan_string(scan, at, &end));
        member->key = at + 1;
        member->key_end = end - 1;
        member->has_escape = memchr(scan->doc.at + at + 1, '\\', end - at - 2) != NULL;
        at = scan_blanks(scan, end);
        if (at >= scan->doc.len || scan->doc.at[at] != ':') {
            return bad_json(at);
        }
        at = scan_blanks(scan, at + 1);
    }
    member->value = at;
    return scan_value(scan, at, &member->end);
}

Err *scan_first(JsonScan *scan, size_t at, JsonMember *member)
{
    *member = (JsonMember){.has_key = scan->doc.at[at] == '{'};
    size_t first = scan_blanks(scan, at + 1);

    if (first >= scan->doc.len) {
        return bad_json(first);
    }
    if (scan->doc.at[first] == '}' || scan->doc.at[first] == ']') {
        member->is_end = true;
        return NULL;
    }
    return scan_member(scan, first, member);
}

Err *scan_next(JsonScan *scan, JsonMember *member)
{
    size_t at = scan_blanks(scan, member->end);

    if (at < scan->doc.len && scan->doc.at[at] == (member->has_key ? '}' : ']')) {
        member->is_end = true;
        return NULL;
    }
    if (at >= scan->doc.len || scan->doc.at[at] != ',') {
        return bad_json(at);
    }
    member->i++;
    return scan_member(scan, scan_blanks(scan, at + 1), member);
}

Err *scan_count(JsonScan *scan, size_t at, size_t *count)
{
    JsonMember member = {0};

    *count = 0;
    TRY(scan_first(scan, at, &member));
    while (!member.is_end) {
        ++*count;
        TRY(scan_next(scan, &member));
    }
    return NULL;
}

bool scan_key_is(const JsonScan *scan, const JsonMember *member, Str name)
{
    Str key = str_sub(scan->doc, member->key, member->key_end);
    return str_eq(member->has_escape ? scan_unescape(key) : key, name);
}

static void add_utf8(Buf *buf, uint32_t c)
{
    if (c < 0x80) {
        buf_char(buf, (char)c);
    } else if (c < 0x800) {
        buf_char(buf, (char)(0xC0 | c >> 6));
        buf_char(buf, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_char(buf, (char)(0xE0 | c >> 12));
        buf_char(buf, (char)(0x80 | (c >> 6 & 63)));
        buf_char(buf, (char)(0x80 | (c & 63)));
    } else {
        buf_char(buf, (char)(0xF0 | c >> 18));
        buf_char(buf, (char)(0x80 | (c >> 12 & 63)));
        buf_char(buf, (char)(0x80 | (c >> 6 & 63)));
        buf_char(buf, (char)(0x80 | (c & 63)));
    }
}

// Four hexadecimal digits at `at`, else -1.
static int32_t hex4(Str s, size_t at)
{
    static const char digits[] = "0123456789abcdef";
    int32_t value = 0;

    if (s.len < 4 || at > s.len - 4) {
        return -1;
    }
    for (size_t i = at; i < at + 4; i++) {
        const char *digit = s.at[i] ? strchr(digits, s.at[i] | 32) : NULL;
        if (!digit) {
            return -1;
        }
        value = value * 16 + (int32_t)(digit - digits);
    }
    return value;
}

// The character of \uXXXX (with its second half) whose digits begin at `at`; moves behind it.
static uint32_t unicode_escape(Str s, size_t *at)
{
    int32_t high = hex4(s, *at);

    if (high < 0) {
        return 0xFFFD;
    }
    *at += 4;
    if (high < 0xD800 || high > 0xDFFF) {
        return (uint32_t)high;
    }
    bool has_second = str_eq_z(str_sub(s, *at, *at + 2), "\\u");
    int32_t low = has_second ? hex4(s, *at + 2) : -1;
    if (high > 0xDBFF || low < 0xDC00 || low > 0xDFFF) {
        return 0xFFFD;
    }
    *at += 6;
    return 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
}

Str scan_unescape(Str inside)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";

    if (str_find_char(inside, '\\', 0) < 0) {
        return inside;
    }
    Buf buf = buf_new(arena_current(), inside.len);
    for (size_t i = 0; i < inside.len;) {
        char c = inside.at[i++];
        if (c != '\\' || i == inside.len) {
            buf_char(&buf, c);
            continue;
        }
        c = inside.at[i++];
        const char *name = c ? strchr(names, c) : NULL;
        if (c == 'u') {
            add_utf8(&buf, unicode_escape(inside, &i));
        } else {
            buf_char(&buf, name ? values[name - names] : c);
        }
    }
    return buf_str(&buf);
}
