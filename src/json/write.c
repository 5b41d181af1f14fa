// Writing trees: compact, indented, as PostgreSQL shows jsonb, and the errors[] body.
#include "json/tree.h"

#include "base/die.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
};

// More than any arena holds: a Buf needs some limit.
static const size_t TEXT_MAX = (size_t)1 << 30;

static inline char *room(Buf *buf, size_t n)
{
    if (buf->len + n < buf->cap && buf->len + n <= buf->max) {
        return buf->at + buf->len;
    }
    return buf_room(buf, n);
}

static void add(Buf *buf, const char *at, size_t len)
{
    char *to = room(buf, len);

    if (to && len) {
        memcpy(to, at, len);
        buf->len += len;
    }
}

static void write_escape(Buf *buf, unsigned char c)
{
    static const char SHORT_FORMS[] = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (const char *form = SHORT_FORMS; *form; form += 2) {
        if ((unsigned char)*form == c) {
            add(buf, (char[]){'\\', form[1]}, 2);
            return;
        }
    }
    char hex[8];
    snprintf(hex, sizeof hex, "\\u%04x", c);
    add(buf, hex, 6);
}

static void write_clean_string(Buf *buf, Str s)
{
    const char *at = s.at, *end = s.at + s.len;
    const char *stop = plain_run(at, end, 0);
    char *to = stop == end ? room(buf, s.len + 2) : NULL;

    // Nothing to escape is the rule: one piece.
    if (to) {
        to[0] = '"';
        memcpy(to + 1, s.at, s.len);
        to[s.len + 1] = '"';
        buf->len += s.len + 2;
        return;
    }
    add(buf, "\"", 1);
    while (at < end) {
        stop = plain_run(at, end, 0);
        add(buf, at, (size_t)(stop - at));
        at = stop;
        if (at < end) {
            write_escape(buf, (unsigned char)*at++);
        }
    }
    add(buf, "\"", 1);
}

void json_write_string(Buf *buf, Str s)
{
    write_clean_string(buf, text_is_clean(s) ? s : str_of(text_clean_copy(s)));
}

static size_t integer_text(int64_t number, char *to)
{
    char digits[NUMBER_TEXT_MAX];
    size_t n = 0, len = 0;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;

    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (number < 0) {
        to[len++] = '-';
    }
    while (n) {
        to[len++] = digits[--n];
    }
    return len;
}

// Amounts of money, the common case of decimals: false if two digits do not say it all.
static bool hundredths_text(double number, char *to, size_t *len)
{
    double hundredths = nearbyint(number * 100);

    // A division of exact values is rounded once, as reading the text would be.
    if (fabs(hundredths) > 1e15 || hundredths / 100 != number) {
        return false;
    }
    int64_t all = (int64_t)fabs(hundredths);
    size_t n = 0;
    if (number < 0) {
        to[n++] = '-';
    }
    n += integer_text(all / 100, to + n);
    to[n++] = '.';
    to[n++] = (char)('0' + all % 100 / 10);
    if (all % 10) {
        to[n++] = (char)('0' + all % 10);
    }
    *len = n;
    return true;
}

size_t number_text(double number, char *to)
{
    size_t len = 0;

    if (!isfinite(number)) {
        memcpy(to, "null", 4);
        return 4;
    }
    if (fabs(number) <= INTEGER_MAX && number == trunc(number)) {
        return integer_text((int64_t)number, to);
    }
    if (hundredths_text(number, to, &len)) {
        return len;
    }
    for (int digits = 15; digits <= 17; digits++) {
        len = (size_t)snprintf(to, NUMBER_TEXT_MAX, "%.*g", digits, number);
        if (strtod(to, NULL) == number) {
            break;
        }
    }
    // Integers beyond 2^53 are refused on input: what we write must not look like one.
    if (!memchr(to, 'e', len) && !memchr(to, '.', len)) {
        memcpy(to + len, ".0", 2);
        len += 2;
    }
    return len;
}

// Writes what has no children; false for arrays and objects.
static bool write_scalar(Buf *buf, const Json *value)
{
    char number[NUMBER_TEXT_MAX];

    switch (node_type(value)) {
    case cJSON_String:
        write_clean_string(buf, str_of(value->valuestring));
        return true;
    case cJSON_Number:
        add(buf, number, number_text(value->valuedouble, number));
        return true;
    case cJSON_True:
        add(buf, "true", 4);
        return true;
    case cJSON_False:
        add(buf, "false", 5);
        return true;
    case cJSON_Array:
    case cJSON_Object:
        return false;
    default:
        add(buf, "null", 4);
        return true;
    }
}

void json_write(Buf *buf, const Json *value)
{
    if (write_scalar(buf, value)) {
        return;
    }
    bool is_object = node_type(value) == cJSON_Object;
    add(buf, is_object ? "{" : "[", 1);
    JSON_EACH(child, value)
    {
        if (is_object) {
            write_clean_string(buf, json_key(child));
            add(buf, ":", 1);
        }
        json_write(buf, child);
        if (child->next) {
            add(buf, ",", 1);
        }
    }
    add(buf, is_object ? "}" : "]", 1);
}

static void write_line(Buf *buf, size_t depth)
{
    char *to = room(buf, 1 + depth * INDENT);

    if (to) {
        to[0] = '\n';
        memset(to + 1, ' ', depth * INDENT);
        buf->len += 1 + depth * INDENT;
    }
}

static void write_indented(Buf *buf, const Json *value, size_t depth)
{
    if (write_scalar(buf, value)) {
        return;
    }
    bool is_object = node_type(value) == cJSON_Object;
    add(buf, is_object ? "{" : "[", 1);
    JSON_EACH(child, value)
    {
        if (is_object) {
            write_line(buf, depth + 1);
            write_clean_string(buf, json_key(child));
            add(buf, " : ", 3);
            write_indented(buf, child, depth + 1);
        } else {
            // The braces of an object in an array belong to the array's line.
            add(buf, " ", 1);
            write_indented(buf, child, depth);
        }
        if (child->next) {
            add(buf, ",", 1);
        }
    }
    if (is_object && value->child) {
        write_line(buf, depth);
    } else {
        add(buf, " ", 1);
    }
    add(buf, is_object ? "}" : "]", 1);
}

static int compare_pg_keys(const void *a, const void *b)
{
    Str x = json_key(*(const Json *const *)a), y = json_key(*(const Json *const *)b);

    if (x.len != y.len) {
        return x.len < y.len ? -1 : 1;
    }
    return memcmp(x.at, y.at, x.len);
}

// The children as jsonb keeps them: members by length of the key, then bytes.
static const Json **pg_children(const Json *parent, size_t *count)
{
    *count = json_len(parent);
    const Json **children = arena_alloc_array(scratch_arena(), *count + 1, sizeof *children);
    size_t i = 0;

    JSON_EACH(child, parent)
    {
        children[i++] = child;
    }
    if (node_type(parent) == cJSON_Object) {
        sort_array(children, *count, sizeof *children, compare_pg_keys);
    }
    return children;
}

// PostgreSQL's numeric has no exponent.
static void write_pg_number(Buf *buf, double number)
{
    char text[NUMBER_TEXT_MAX], wide[512];
    size_t len = number_text(number, text);
    const char *e = memchr(text, 'e', len);

    if (!e) {
        add(buf, text, len);
        return;
    }
    size_t digits = 0;
    for (const char *at = text; at < e; at++) {
        digits += *at >= '0' && *at <= '9';
    }
    int decimals = (int)digits - 1 - (int)strtol(e + 1, NULL, 10);
    int n = snprintf(wide, sizeof wide, "%.*f", decimals > 0 ? decimals : 0, number);
    add(buf, wide, n < (int)sizeof wide ? (size_t)n : sizeof wide - 1);
}

static void write_pg(Buf *buf, const Json *value)
{
    if (json_is_number(value)) {
        write_pg_number(buf, value->valuedouble);
        return;
    }
    if (write_scalar(buf, value)) {
        return;
    }
    bool is_object = node_type(value) == cJSON_Object;
    size_t count = 0;
    const Json **children = pg_children(value, &count);
    add(buf, is_object ? "{" : "[", 1);
    for (size_t i = 0; i < count; i++) {
        add(buf, ", ", i > 0 ? 2 : 0);
        if (is_object) {
            write_clean_string(buf, json_key(children[i]));
            add(buf, ": ", 2);
        }
        write_pg(buf, children[i]);
    }
    add(buf, is_object ? "}" : "]", 1);
}

// Growing happens in the scratch arena: the current one gets the text once, in its exact size.
static Str text_of(const Json *value, void (*write)(Buf *buf, const Json *value))
{
    Arena *current = arena_current(), *scratch = scratch_arena();
    ArenaMark mark = arena_mark(scratch);
    Buf buf = buf_new(scratch, TEXT_MAX);

    write(&buf, value);
    if (buf.overflowed) {
        die("a JSON text beyond %zu bytes", TEXT_MAX);
    }
    if (current == scratch) {
        return buf_str(&buf);
    }
    Str text = str_copy(current, buf_str(&buf));
    arena_release(scratch, mark);
    return text;
}

Str json_text(const Json *value)
{
    return text_of(value, json_write);
}

static void write_indented_root(Buf *buf, const Json *value)
{
    write_indented(buf, value, 0);
}

Str json_text_indented(const Json *value)
{
    return text_of(value, write_indented_root);
}

Str json_pg_text(const Json *value)
{
    if (!value || json_is_null(value)) {
        return (Str){"", 0};
    }
    return json_is_string(value) ? str_of(value->valuestring) : text_of(value, write_pg);
}

Str json_scalar_text(const Json *value)
{
    char number[NUMBER_TEXT_MAX];

    switch (node_type(value)) {
    case cJSON_String:
        return str_of(value->valuestring);
    case cJSON_True:
        return S("true");
    case cJSON_False:
        return S("false");
    case cJSON_Number:
        return str_copy(arena_current(), (Str){number, number_text(value->valuedouble, number)});
    default:
        return (Str){"", 0};
    }
}

static Json *err_params(const Err *err)
{
    Json *params = json_array();

    for (size_t i = 0; i < err->param_count; i++) {
        const ErrParam *param = &err->params[i];
        Json *entry = json_object();
        json_set_str(entry, "key", param->key);
        json_set(entry, "value", param->is_null ? json_null() : json_string(param->value));
        json_add(params, entry);
    }
    return params;
}

static Json *err_block(const Err *err)
{
    Json *block = json_object(), *missing = json_array();

    for (size_t i = 0; i < err->missing_permissions.len; i++) {
        json_add(missing, json_string(err->missing_permissions.at[i]));
    }
    json_set_str(block, "name", err->overridable_block);
    json_set(block, "missingPermissions", missing);
    return block;
}

Str json_err_text(const Err *err)
{
    if (err->body.len > 0 || !err->is_json) {
        return err->body.len > 0 ? err->body : err->message;
    }
    Json *answer = json_object(), *errors = json_array();
    for (const Err *at = err; at; at = at->next) {
        Json *entry = json_object();
        json_set_str(entry, "message", at->message);
        json_set_str_if(entry, "type", at->type);
        json_set_str_if(entry, "code", at->code);
        json_set(entry, "parameters", err_params(at));
        if (at->overridable_block.len > 0) {
            json_set(entry, "overridableBlock", err_block(at));
        }
        json_add(errors, entry);
    }
    json_set(answer, "errors", errors);
    return json_text(answer);
}
