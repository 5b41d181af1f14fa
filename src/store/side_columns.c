// Side columns: what of a document stands beside it in columns, worked out in C.
//
// Source: spec/storage-and-cql.md 2.4, 2.6; decision 22.
#include "store/engine.h"

#include "base/fold.h"
#include "base/uuid.h"

#include <math.h>
#include <string.h>

enum { PATH_MAX_LEN = 512, TEXT_MAX = 16 * 1024 * 1024 };

static Str value_text(const Json *value)
{
    if (!value || json_is_null(value)) {
        return (Str){0};
    }
    if (json_is_array(value) || json_is_object(value)) {
        return json_pg_text(value);
    }
    return json_scalar_text(value);
}

static const Json *path_value(const Json *doc, Str path)
{
    char z[PATH_MAX_LEN];

    if (path.len >= sizeof z || memchr(path.at, '\0', path.len)) {
        return NULL;
    }
    memcpy(z, path.at, path.len);
    z[path.len] = '\0';
    return json_get(doc, z);
}

Str path_text(const Json *doc, Str path)
{
    return value_text(path_value(doc, path));
}

static void add_joined(Buf *out, bool *has_any, Str text)
{
    if (!text.at) {
        return;
    }
    if (*has_any) {
        buf_char(out, ' ');
    }
    *has_any = true;
    buf_add(out, text);
}

// One of several paths: "a.b", or "arr[*].x" and "arr[*]" for each element.
static void add_path(Buf *out, bool *has_any, const Json *doc, Str path)
{
    ptrdiff_t star = str_find(path, S("[*]"), 0);

    if (star < 0) {
        add_joined(out, has_any, path_text(doc, path));
        return;
    }
    const Json *array = path_value(doc, str_sub(path, 0, (size_t)star));
    Str member = str_sub(path, (size_t)star + 3, path.len);
    if (str_starts(member, S("."))) {
        member = str_sub(member, 1, member.len);
    }
    if (!json_is_array(array)) {
        return;
    }
    JSON_EACH(element, array)
    {
        add_joined(out, has_any, member.len ? path_text(element, member) : value_text(element));
    }
}

// Several paths give one text that is never absent (PostgreSQL's concat_ws).
static Str paths_text(const Json *doc, Str paths)
{
    Buf out = buf_new(arena_current(), TEXT_MAX);
    bool has_any = false;
    Str path;

    while (str_next(&paths, ',', &path)) {
        add_path(&out, &has_any, doc, str_trim(path));
    }
    return buf_str(&out);
}

Str field_text(const Field *field, const Json *doc)
{
    if (field->compute) {
        return field->compute(doc);
    }
    if (strchr(field->path, ',') || strstr(field->path, "[*]")) {
        return paths_text(doc, str_of(field->path));
    }
    return value_text(json_get(doc, field->path));
}

Str field_fold(const Field *field, Str text)
{
    if (field->flags & UUID) {
        return str_lower(text);
    }
    switch (field->flags & (KEEP_CASE | KEEP_ACCENTS)) {
    case 0:
        return fold(text);
    case KEEP_ACCENTS:
        return fold_case(text);
    case KEEP_CASE:
        return fold_accents(text);
    default:
        return text;
    }
}

static Arg number_arg(double number)
{
    if (floor(number) == number && fabs(number) < 9007199254740992.0) {
        return A_INT((int64_t)number);
    }
    return A_REAL(number);
}

Arg field_arg(const Field *field, Str text)
{
    Time time = 0;
    double number = 0;

    if (!text.at) {
        return A_NULL;
    }
    if (field->flags & TIME) {
        return time_parse(text, &time) ? A_INT(time) : A_NULL;
    }
    if (field->flags & NUMBER) {
        return str_double(text, &number) ? number_arg(number) : A_NULL;
    }
    if (field->flags & FLAG) {
        bool is_true = str_eq(text, S("true"));
        return is_true || str_eq(text, S("false")) ? A_INT(is_true) : A_NULL;
    }
    return A_TEXT(field_fold(field, text));
}

Arg field_value(const Field *field, const Json *doc)
{
    return field_arg(field, field_text(field, doc));
}

bool arg_equal(const Arg *a, const Arg *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case ARG_NULL:
        return true;
    case ARG_INT:
        return a->integer == b->integer;
    case ARG_REAL:
        return a->real == b->real;
    default:
        return str_eq(a->text, b->text);
    }
}

// ---------------------------------------------------------------------------------------------
// Texts that an index cannot take whole

// Behind what is cut: greater than any letter, so that all that follows the shorter texts stays
// behind them.
#define CUT_MARK "\xf4\x8f\xbf\xbf"

static const char CUT_SPACE[] = "6f637461-766f-4b65-9963-757474657874";

static Str text_cut(Str text)
{
    size_t len = KEY_BYTES_MAX;

    while (len && ((unsigned char)text.at[len] & 0xc0) == 0x80) {
        len--; // no half letter
    }
    Str hash = uuid_of_name(str_of(CUT_SPACE), text);
    return str_fmt(STR_FMT CUT_MARK STR_FMT, (int)len, text.at, STR_ARG(hash));
}

static bool is_key(const Shape *shape, const Field *field)
{
    for (size_t i = 0; i < shape->column_count; i++) {
        if (shape->columns[i] == field) {
            return shape->is_key[i];
        }
    }
    return false;
}

bool key_may_be_cut(Tx *tx, const Collection *of, const Field *field)
{
    return tx_dialect(tx)->is_cut && is_key(shape_of(of), field);
}

bool key_is_cut(Tx *tx, const Collection *of, const Field *field, Str text)
{
    return text.len > KEY_BYTES_MAX && key_may_be_cut(tx, of, field);
}

Str key_text(Tx *tx, const Collection *of, const Field *field, Str text)
{
    return key_is_cut(tx, of, field, text) ? text_cut(text) : text;
}

Arg key_arg(Tx *tx, const Collection *of, const Field *field, Arg value)
{
    return value.kind == ARG_TEXT ? A_TEXT(key_text(tx, of, field, value.text)) : value;
}

bool keys_are_cut_sql(Tx *tx, const Shape *shape, Buf *sql)
{
    const Dialect *dialect = tx_dialect(tx);
    size_t n = 0;

    for (size_t i = 0; dialect->is_cut && i < shape->column_count; i++) {
        if (shape->is_key[i] && !(shape->columns[i]->flags & (NUMBER | TIME | FLAG))) {
            buf_add_z(sql, n++ ? " or " : "");
            dialect->is_cut(sql, shape->columns[i]->column);
        }
    }
    return n > 0;
}

void keys_cut(Tx *tx, const Shape *shape, Arg *columns)
{
    for (size_t i = 0; tx_dialect(tx)->is_cut && i < shape->column_count; i++) {
        if (shape->is_key[i] && columns[i].kind == ARG_TEXT &&
            columns[i].text.len > KEY_BYTES_MAX) {
            columns[i].text = text_cut(columns[i].text);
        }
    }
}

void words_of(const Shape *shape, const Json *doc, Str *out)
{
    for (size_t i = 0; i < shape->word_count; i++) {
        Str text = doc ? field_text(shape->words[i], doc) : (Str){0};
        StrList words = {0};
        if (!text.at) {
            out[i] = (Str){0};
            continue;
        }
        fold_words(text, &words);
        out[i] = words.len ? str_join(words.at, words.len, S(" ")) : (Str){0};
    }
}

static const Property *property_named(const Property *properties, Str name)
{
    for (const Property *one = properties; one && one->name; one++) {
        if (str_eq_z(name, one->name)) {
            return one;
        }
    }
    return NULL;
}

bool path_may_exist(const RecordType *record, Str path)
{
    const Property *properties = record ? record->properties : NULL;
    bool is_open = !record || record->open;
    Str part;

    while (str_next(&path, '.', &part)) {
        const Property *property = property_named(properties, part);
        if (!property) {
            return is_open;
        }
        // What is not described may hold anything.
        if (property->type == ANY || property->type == METADATA ||
            (property->type == OBJECT && !property->of)) {
            return true;
        }
        properties = property->of;
        is_open = property->open;
    }
    return true;
}
