// Sort keys of a document, where no side column holds them: bytes that compare as the keys do, all
// keys of a record in one. Source: spec/storage-and-cql.md 2.8.
#include "store/query.h"

#include <string.h>

enum {
    KEY_MAX = 64 * 1024,
};

static void key_bytes(Buf *key, Str bytes, unsigned char invert)
{
    for (size_t i = 0; i < bytes.len; i++) {
        buf_char(key, (char)((unsigned char)bytes.at[i] ^ invert));
        if (bytes.at[i] == '\0') {
            buf_char(key, (char)(0xff ^ invert)); // tells it from the end
        }
    }
    buf_char(key, (char)invert);
    buf_char(key, (char)invert);
}

static void key_number(Buf *key, double number, unsigned char invert)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    for (int shift = 56; shift >= 0; shift -= 8) {
        buf_char(key, (char)((unsigned char)(bits >> shift) ^ invert));
    }
}

static Str key_fold(const SortKey *key, Str text)
{
    Field like = {.flags = TEXT | (key->keeps_case ? KEEP_CASE : 0u) |
                           (key->keeps_accents ? KEEP_ACCENTS : 0u)};

    return field_fold(&like, text);
}

// Order of JSON types: null, string, number, boolean, array, object. Source:
// storage-and-cql.md 2.8.
static char json_rank(const Json *value)
{
    return (char)(json_is_string(value)   ? 2
                  : json_is_number(value) ? 3
                  : json_is_bool(value)   ? 4
                  : json_is_array(value)  ? (json_len(value) ? 5 : 0)
                  : json_is_null(value)   ? 1
                                          : 6);
}

static bool key_json(Buf *out, const SortKey *key, const Json *doc, unsigned char invert)
{
    const Json *value = json_get(doc, str_z(key->path));

    if (!value) {
        return false;
    }
    buf_char(out, (char)(json_rank(value) ^ (char)invert));
    if (json_is_number(value)) {
        double number = 0;
        (void)str_double(json_scalar_text(value), &number);
        key_number(out, number, invert);
    } else {
        key_bytes(out, json_scalar_text(value), invert);
    }
    return true;
}

static void key_value(Buf *out, const Arg *value, size_t start, unsigned char invert)
{
    switch (value->kind) {
    case ARG_INT:
        key_number(out, (double)value->integer, invert);
        break;
    case ARG_REAL:
        key_number(out, value->real, invert);
        break;
    case ARG_TEXT:
        key_bytes(out, value->text, invert);
        break;
    default:
        out->len = start;
        buf_char(out, (char)(1 ^ invert));
    }
}

static void key_add(Buf *out, const SortKey *key, const Json *doc)
{
    unsigned char invert = key->is_descending ? 0xff : 0;
    size_t start = out->len;

    buf_char(out, (char)invert); // before the missing ones
    if (key->is_number && (!key->field || !key->column)) {
        if (!key_json(out, key, doc, invert)) {
            out->len = start;
            buf_char(out, (char)(1 ^ invert));
        }
        return;
    }
    Arg value = A_NULL;
    Str text = key->field ? field_text(key->field, doc) : path_text(doc, key->path);
    if (key->field && key->field->flags & (TIME | NUMBER | FLAG)) {
        value = field_arg(key->field, text);
    } else if (text.at) {
        value = A_TEXT(key_fold(key, text));
    }
    key_value(out, &value, start, invert);
}

static Arg column_value(const SortKey *key, const Row *row, int column)
{
    if (row_is_null(row, column)) {
        return A_NULL;
    }
    bool is_number = key->typed && key->typed->flags & (TIME | NUMBER | FLAG);

    return is_number ? A_REAL(row_real(row, column)) : A_TEXT(row_text(row, column));
}

// The id breaks ties, in the direction of the last key.
static Str key_end(Buf *key, const Plan *plan, Str id)
{
    bool is_descending = plan->key_count && plan->keys[plan->key_count - 1].is_descending;

    key_bytes(key, id, is_descending ? 0xff : 0);
    return buf_str(key);
}

Str sort_bytes_of_row(const Plan *plan, const Row *row)
{
    Buf key = buf_new(arena_current(), KEY_MAX);

    for (size_t i = 0; i < plan->key_count; i++) {
        unsigned char invert = plan->keys[i].is_descending ? 0xff : 0;
        Arg value = column_value(&plan->keys[i], row, (int)i + 2);
        size_t start = key.len;
        buf_char(&key, (char)invert); // before the missing ones
        key_value(&key, &value, start, invert);
    }
    return key_end(&key, plan, row_text(row, 1));
}

Str sort_bytes(const Plan *plan, const Json *doc)
{
    Buf key = buf_new(arena_current(), KEY_MAX);

    for (size_t i = 0; i < plan->key_count; i++) {
        key_add(&key, &plan->keys[i], doc);
    }
    return key_end(&key, plan, json_str(doc, "id"));
}
