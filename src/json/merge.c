// Copying, merging and comparing trees.
#include "json/tree.h"

#include <string.h>

static char *z_copy(const char *z)
{
    return z ? (char *)str_z(str_of(z)) : NULL;
}

// The key of a member is copied by the caller: the root of a copy has none.
static Json *tree_copy(const Json *value)
{
    Json *copy = node_new(node_type(value));

    copy->valuedouble = value->valuedouble;
    copy->valuestring = z_copy(value->valuestring);
    JSON_EACH(child, value)
    {
        Json *child_copy = tree_copy(child);
        child_copy->string = z_copy(child->string);
        node_append(copy, child_copy);
    }
    return copy;
}

Json *json_copy(const Json *value)
{
    return value ? tree_copy(value) : NULL;
}

void json_merge(Json *target, const Json *patch)
{
    JSON_EACH(change, patch)
    {
        Str key = json_key(change);
        if (json_is_null(change)) {
            json_put(target, key, NULL);
        } else if (json_is_object(change)) {
            Json *member = node_member(target, key);
            if (!json_is_object(member)) {
                member = json_object();
                json_put(target, key, member);
            }
            json_merge(member, change);
        } else {
            json_put(target, key, json_copy(change));
        }
    }
}

static bool lists_equal(const Json *a, const Json *b)
{
    const Json *x = json_first(a), *y = json_first(b);

    for (; x && y; x = x->next, y = y->next) {
        if (!json_equal(x, y)) {
            return false;
        }
    }
    return !x && !y;
}

// Members mostly stand in the same order: the one in step is tried before a search.
static bool objects_equal(const Json *a, const Json *b)
{
    const Json *in_step = json_first(b);

    JSON_EACH(member, a)
    {
        bool matches = in_step && strcmp(in_step->string, member->string) == 0;
        const Json *other = matches ? in_step : node_member(b, json_key(member));
        if (!other || !json_equal(member, other)) {
            return false;
        }
        in_step = other->next;
    }
    return json_len(a) == json_len(b);
}

bool json_equal(const Json *a, const Json *b)
{
    if (!a || !b || node_type(a) != node_type(b)) {
        return a == b;
    }
    switch (node_type(a)) {
    case cJSON_Object:
        return objects_equal(a, b);
    case cJSON_Array:
        return lists_equal(a, b);
    case cJSON_String:
        return strcmp(a->valuestring, b->valuestring) == 0;
    case cJSON_Number:
        return a->valuedouble == b->valuedouble;
    default:
        return true;
    }
}
