// Percent-encoding and forms.
#include "http/http.h"

#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_plain(Str text, bool form)
{
    return !text.len || (!memchr(text.at, '%', text.len) && !memchr(text.at, 0, text.len) &&
                         !(form && memchr(text.at, '+', text.len)));
}

// A '%' that begins no escape stays as it is: people type "100%" (spec/workloads.md 1, S4).
bool url_decode(Str text, bool form, Str *out)
{
    if (is_plain(text, form)) {
        *out = text;
        return str_is_utf8(text);
    }
    char *to = arena_alloc(arena_current(), text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '+' && form) {
            c = ' ';
        } else if (c == '%' && text.len - i > 2 && hex_digit(text.at[i + 1]) >= 0 &&
                   hex_digit(text.at[i + 2]) >= 0) {
            c = (char)(hex_digit(text.at[i + 1]) * 16 + hex_digit(text.at[i + 2]));
            i += 2;
        }
        if (!c) {
            return false;
        }
        to[len++] = c;
    }
    *out = (Str){to, len};
    return str_is_utf8(*out);
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

Str url_encode(Str text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = arena_alloc_array(arena_current(), text.len + 1, 3);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (is_unreserved((char)c)) {
            to[len++] = (char)c;
            continue;
        }
        to[len++] = '%';
        to[len++] = digits[c >> 4];
        to[len++] = digits[c & 15];
    }
    return (Str){to, len};
}

// Only the first '=' separates: "query=barcode==12" typed by hand is a query.
bool form_parse(Str text, NameValues *out)
{
    Str rest = text, pair;

    while (text.len && str_next(&rest, '&', &pair)) {
        if (!pair.len) {
            continue;
        }
        ptrdiff_t equals = str_find_char(pair, '=', 0);
        size_t end = equals < 0 ? pair.len : (size_t)equals;
        Str name, value;
        if (!url_decode(str_sub(pair, 0, end), true, &name) ||
            !url_decode(str_sub(pair, end + (equals >= 0), pair.len), true, &value)) {
            return false;
        }
        name_values_add(out, name, value);
    }
    return true;
}
