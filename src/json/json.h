// Documents: a JSON tree in the current arena, read and changed by dotted paths.
//
// Every function that reads takes NULL and a missing path as "absent" and answers the empty value,
// so that a chain of look-ups needs one check at its end. Paths are dotted member names
// ("status.name"); a number selects an array element ("contributors.0.name"). A path component is
// case-sensitive. Trees live in the arena that was current when they were made; to keep one longer,
// make the cache's arena current (arena_use) and copy it.
#pragma once

#include "base/buf.h"
#include "base/date.h"
#include "base/err.h"

typedef struct cJSON Json;

enum {
    JSON_DEPTH_MAX = 64,
};

// The whole text must be one JSON value. 400 text for: bad syntax, invalid UTF-8, \u0000, a lone
// surrogate, depth over 64, an integer beyond 2^53; 413 when the tree would pass the arena's limit,
// before any memory is taken. Of members with the same name the last one counts.
WARN_UNUSED Err *json_parse(Str text, Json **out);
// For documents that our own store wrote: no checks, dies on bad text.
Json *json_parse_stored(Str text);

// Reading.
Json *json_get(const Json *doc, const char *path);
Str json_str(const Json *doc, const char *path); // "" if absent or not a string
bool json_flag(const Json *doc, const char *path, bool fallback);
int64_t json_int(const Json *doc, const char *path, int64_t fallback);
double json_number(const Json *doc, const char *path, double fallback);
bool json_time(const Json *doc, const char *path, Time *out); // false if absent or no date
bool json_has(const Json *doc, const char *path);             // present and not null
// The value itself as text: strings as they are, numbers and booleans as JSON writes them.
Str json_scalar_text(const Json *value);

bool json_is_object(const Json *value);
bool json_is_array(const Json *value);
bool json_is_string(const Json *value);
bool json_is_number(const Json *value);
bool json_is_bool(const Json *value);
bool json_is_null(const Json *value); // JSON null (not: absent)

// Members of an object and elements of an array, in order. The loop may remove its current child.
Json *json_first(const Json *parent);
Json *json_next(const Json *child);
Str json_key(const Json *member);
size_t json_len(const Json *parent);
Json *json_at(const Json *array, size_t i);
#define JSON_EACH(child, parent)                                                                   \
    for (Json *child = json_first(parent); (child); (child) = json_next(child))

// Making. Text that is no UTF-8 becomes U+FFFD, NULs are left out. Integers are exact up to 2^53.
Json *json_object(void);
Json *json_array(void);
Json *json_string(Str s);
Json *json_number_of(double number);
Json *json_int_of(int64_t number);
Json *json_bool_of(bool flag);
Json *json_null(void);

// Changing. A set makes the objects on its way; a value becomes part of the tree without a copy,
// unless it is part of a tree already: then a copy does. Setting NULL removes. A removed value may
// be put elsewhere. json_put is json_set of one member whose name may hold dots.
void json_set(Json *doc, const char *path, Json *value);
void json_set_str(Json *doc, const char *path, Str s);
void json_set_bool(Json *doc, const char *path, bool flag);
void json_set_int(Json *doc, const char *path, int64_t number);
void json_set_number(Json *doc, const char *path, double number);
void json_set_time(Json *doc, const char *path, Time time); // +00:00 form
void json_put(Json *object, Str member, Json *value);
void json_remove(Json *doc, const char *path);
void json_add(Json *array, Json *value);
// Sets the string only if it is not empty: optional members are left out.
void json_set_str_if(Json *doc, const char *path, Str s);
// Copies the member at `path` of `from`, if present, to `to_path` of `doc`.
void json_take(Json *doc, const char *to_path, const Json *from, const char *path);

Json *json_copy(const Json *value); // deep, into the current arena
// Members of `patch` replace those of `target` (copies); objects merge, null removes (RFC 7396).
void json_merge(Json *target, const Json *patch);
// Same value; the order of members does not count, 1 and 1.0 are equal.
bool json_equal(const Json *a, const Json *b);

// Writing. Numbers: integers in full digits, others in the shortest form that reads back equal
// (decision 57).
void json_write(Buf *buf, const Json *value);
Str json_text(const Json *value);
// As Jackson indents: two blanks, a blank on both sides of each colon, arrays on one line "[ 1, 2
// ]" (decision 5).
Str json_text_indented(const Json *value);
// A string with its quotes and escapes.
void json_write_string(Buf *buf, Str s);
// PostgreSQL's text of the value as CQL sees arrays and objects: one blank after ":" and ",", keys
// by length then bytes. Strings as they are. Source: spec/storage-and-cql.md 2.6.
Str json_pg_text(const Json *value);

// The errors[] body of an Err (or its own body), and its content type by err->is_json.
Str json_err_text(const Err *err);
