// Reading and changing a tree by dotted paths.
#include "json/tree.h"

#include "base/die.h"

#include <math.h>
#include <string.h>

// The key holds no NUL.
static Json *member_named(const Json *object, Str key)
{
    char first = key.len ? *key.at : '\0';

    for (Json *member = json_first(object); member; member = member->next) {
        const char *name = member->string;
        if (name && *name == first && strncmp(name, key.at, key.len) == 0 && !name[key.len]) {
            return member;
        }
    }
    return NULL;
}

Json *node_member(const Json *object, Str key)
{
    // No name holds a NUL.
    return key.len && memchr(key.at, '\0', key.len) ? NULL : member_named(object, key);
}

// The part of the path up to the next dot; moves the path behind it.
static Str path_part(const char **path)
{
    const char *start = *path;
    const char *end = strchrnul(start, '.');

    *path = *end ? end + 1 : end;
    return (Str){start, (size_t)(end - start)};
}

static bool index_of(Str part, size_t *i)
{
    int64_t number = 0;

    if (!str_int64(part, &number) || number < 0) {
        return false;
    }
    *i = (size_t)number;
    return true;
}

static Json *child_of(const Json *parent, Str part)
{
    size_t i = 0;

    if (node_type(parent) == cJSON_Array) {
        return index_of(part, &i) ? json_at(parent, i) : NULL;
    }
    return node_type(parent) == cJSON_Object ? member_named(parent, part) : NULL;
}

Json *json_get(const Json *doc, const char *path)
{
    const Json *at = doc;

    while (at && *path) {
        at = child_of(at, path_part(&path));
    }
    return (Json *)at;
}

Str json_str(const Json *doc, const char *path)
{
    const Json *value = json_get(doc, path);

    return json_is_string(value) ? str_of(value->valuestring) : (Str){"", 0};
}

bool json_flag(const Json *doc, const char *path, bool fallback)
{
    const Json *value = json_get(doc, path);

    return json_is_bool(value) ? node_type(value) == cJSON_True : fallback;
}

int64_t json_int(const Json *doc, const char *path, int64_t fallback)
{
    const Json *value = json_get(doc, path);

    if (!json_is_number(value) || isnan(value->valuedouble)) {
        return fallback;
    }
    // Beyond int64 a conversion would be undefined.
    if (fabs(value->valuedouble) >= 9.2e18) {
        return value->valuedouble < 0 ? INT64_MIN : INT64_MAX;
    }
    return (int64_t)value->valuedouble;
}

double json_number(const Json *doc, const char *path, double fallback)
{
    const Json *value = json_get(doc, path);

    return json_is_number(value) ? value->valuedouble : fallback;
}

bool json_time(const Json *doc, const char *path, Time *out)
{
    const Json *value = json_get(doc, path);

    return json_is_string(value) && time_parse(str_of(value->valuestring), out);
}

bool json_has(const Json *doc, const char *path)
{
    const Json *value = json_get(doc, path);

    return value && !json_is_null(value);
}

// Puts the value (NULL: nothing) in the place of the child, or appends it.
static void child_put(Json *parent, Str part, Json *value)
{
    Json *old = child_of(parent, part);
    size_t i = 0;

    if (!value) {
        if (old) {
            node_unlink(parent, old);
        }
        return;
    }
    if (node_type(parent) == cJSON_Array) {
        if (!old && !(index_of(part, &i) && i == json_len(parent))) {
            die("no element " STR_FMT " in an array of %zu", STR_ARG(part), json_len(parent));
        }
        value->string = NULL;
    } else if (node_type(parent) == cJSON_Object) {
        value->string = old ? old->string : text_clean_copy(part);
    } else {
        die("member " STR_FMT " set on a value that is no object", STR_ARG(part));
    }
    if (old) {
        node_replace(parent, old, value);
    } else {
        node_append(parent, value);
    }
}

static bool is_container(const Json *value)
{
    return node_type(value) == cJSON_Object || node_type(value) == cJSON_Array;
}

void json_set(Json *doc, const char *path, Json *value)
{
    Json *parent = doc;
    Str part = path_part(&path);

    while (*path) {
        Json *child = child_of(parent, part);
        if (!is_container(child)) {
            if (!value) {
                return;
            }
            child = json_object();
            child_put(parent, part, child);
        }
        parent = child;
        part = path_part(&path);
    }
    child_put(parent, part, node_free_of_parent(value));
}

void json_set_str(Json *doc, const char *path, Str s)
{
    json_set(doc, path, json_string(s));
}

void json_set_bool(Json *doc, const char *path, bool flag)
{
    json_set(doc, path, json_bool_of(flag));
}

void json_set_int(Json *doc, const char *path, int64_t number)
{
    json_set(doc, path, json_int_of(number));
}

void json_set_number(Json *doc, const char *path, double number)
{
    json_set(doc, path, json_number_of(number));
}

void json_set_time(Json *doc, const char *path, Time time)
{
    json_set_str(doc, path, time_format(time));
}

void json_put(Json *object, Str member, Json *value)
{
    child_put(object, member, node_free_of_parent(value));
}

void json_remove(Json *doc, const char *path)
{
    json_set(doc, path, NULL);
}

void json_add(Json *array, Json *value)
{
    if (node_type(array) != cJSON_Array) {
        die("element added to a value that is no array");
    }
    value = node_free_of_parent(value);
    value->string = NULL;
    node_append(array, value);
}

void json_set_str_if(Json *doc, const char *path, Str s)
{
    if (!str_is_empty(s)) {
        json_set_str(doc, path, s);
    }
}

void json_take(Json *doc, const char *to_path, const Json *from, const char *path)
{
    if (json_has(from, path)) {
        json_set(doc, to_path, json_copy(json_get(from, path)));
    }
}
