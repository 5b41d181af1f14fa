// The ISBNs of a title as queries see them: "978-92 8011" is found as 978928011 and the reverse.
// FOLIO: SQL functions normalize_digits, normalize_isbns. Source: spec/inventory.md 7.1.
#include "modules/mod-inventory-storage/isbn.h"

#include "base/buf.h"

#define ISBN         "8261054f-be78-422d-bd51-4ed9f33c3422"
#define INVALID_ISBN "fcca2643-406a-482a-b760-7a7f8aec640e"

enum {
    ISBN_TEXT_MAX = 1 << 20,
};

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == '-';
}

// The leading run of digits and gaps loses its gaps; a truncation mark closes it.
static void add_digits_together(Buf *buf, Str value)
{
    size_t i = 0, digits = 0;

    for (; i < value.len && (is_gap(value.at[i]) || (value.at[i] >= '0' && value.at[i] <= '9'));
         i++) {
        if (!is_gap(value.at[i])) {
            buf_char(buf, value.at[i]);
            digits++;
        }
    }
    if (digits > 0 && i < value.len && value.at[i] == '*') {
        buf_char(buf, '*');
        i++;
    }
    if (digits > 0 && i < value.len) {
        buf_char(buf, ' ');
    }
    buf_add(buf, str_sub(value, i, value.len));
}

static Str values_of_type(const Json *identifiers, const char *type)
{
    Buf buf = buf_new(arena_current(), ISBN_TEXT_MAX);

    JSON_EACH(identifier, identifiers)
    {
        if (!str_eq_z(json_str(identifier, "identifierTypeId"), type)) {
            continue;
        }
        if (buf.len > 0) {
            buf_char(&buf, ' ');
        }
        add_digits_together(&buf, json_str(identifier, "value"));
    }
    return buf_str(&buf);
}

Str isbn_text(const Json *instance)
{
    return values_of_type(json_get(instance, "identifiers"), ISBN);
}

Str invalid_isbn_text(const Json *instance)
{
    return values_of_type(json_get(instance, "identifiers"), INVALID_ISBN);
}

Str item_isbn_text(const Json *request)
{
    return values_of_type(json_get(request, "instance.identifiers"), ISBN);
}

Str isbn_term(Str term)
{
    Buf buf = buf_new(arena_current(), ISBN_TEXT_MAX);

    add_digits_together(&buf, term);
    return buf_str(&buf);
}
