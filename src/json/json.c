// Reading a text into a tree, walking and making trees.
#include "json/tree.h"

#include "base/die.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

// The parser's allocations may fail at the arena's limit when the text comes from outside;
// documents of our own are read in any case, as all other work in an arena.
static _Thread_local bool parse_may_fail;

static void *hook_alloc(size_t size)
{
    Arena *arena = arena_current();

    return parse_may_fail ? arena_try(arena, size) : arena_alloc_raw(arena, size);
}

static void hook_free(void *at)
{
    (void)at; // the arena gives all back at once
}

static void hooks_set(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){hook_alloc, hook_free});
}

static Json *tree_parse(Str text, bool may_fail)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *end = NULL;

    pthread_once(&once, hooks_set);
    parse_may_fail = may_fail;
    Json *tree = cJSON_ParseWithLengthOpts(text.at, text.len, &end, 0);
    parse_may_fail = false;
    if (tree && str_trim((Str){end, (size_t)(text.at + text.len - end)}).len > 0) {
        return NULL;
    }
    return tree;
}

enum {
    SEEN_BITS = 256,
    FEW_MEMBERS = 64,
};

// The earlier member of the same name, or NULL.
static Json *earlier_namesake(const Json *object, const Json *member)
{
    for (Json *at = object->child; at != member; at = at->next) {
        if (strcmp(at->string, member->string) == 0) {
            return at;
        }
    }
    return NULL;
}

// As below, for objects so large that comparing all pairs could be used to keep us busy.
static void members_make_unique_by_table(Json *object, size_t count)
{
    Arena *arena = scratch_arena();
    ArenaMark mark = arena_mark(arena);
    size_t size = (size_t)4 * FEW_MEMBERS;

    while (size < 2 * count) {
        size *= 2;
    }
    Json **slots = arena_alloc_array(arena, size, sizeof *slots);
    for (Json *member = object->child; member; member = member->next) {
        size_t i = str_hash(str_of(member->string)) & (size - 1);
        while (slots[i] && strcmp(slots[i]->string, member->string) != 0) {
            i = (i + 1) & (size - 1);
        }
        if (slots[i]) {
            node_unlink(object, slots[i]);
        }
        slots[i] = member;
    }
    arena_release(arena, mark);
}

// Of members with the same name the last one counts. A set of name hashes tells in one pass that
// there are none, which is the rule.
static void members_make_unique(Json *object)
{
    uint64_t seen[SEEN_BITS / 64] = {0};
    size_t count = 0;

    for (Json *member = object->child; member; member = member->next) {
        uint32_t hash = 2166136261u;
        for (const char *at = member->string; *at; at++) {
            hash = (hash ^ (unsigned char)*at) * 16777619u;
        }
        unsigned bit = (hash ^ hash >> 16) % SEEN_BITS;
        if (++count > FEW_MEMBERS) {
            members_make_unique_by_table(object, json_len(object));
            return;
        }
        if (seen[bit / 64] >> (bit % 64) & 1) {
            Json *earlier = earlier_namesake(object, member);
            if (earlier) {
                node_unlink(object, earlier);
            }
        }
        seen[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
}

static void tree_make_unique(Json *tree)
{
    if (node_type(tree) == cJSON_Object) {
        members_make_unique(tree);
    }
    for (Json *child = tree->child; child; child = child->next) {
        if (child->child) {
            tree_make_unique(child);
        }
    }
}

Err *json_parse(Str text, Json **out)
{
    size_t tree_bytes = 0;
    Arena *arena = arena_current();
    ArenaMark mark = arena_mark(arena);

    TRY(json_guard(text, &tree_bytes));
    Json *tree = tree_bytes <= arena_left(arena) ? tree_parse(text, true) : NULL;
    if (!tree) {
        arena_release(arena, mark);
        return err_text(413, "Json content error the document is too large to be read at once");
    }
    tree_make_unique(tree);
    *out = tree;
    return NULL;
}

Json *json_parse_stored(Str text)
{
    Json *tree = tree_parse(text, false);

    if (!tree) {
        die("a stored document is no JSON (%zu bytes)", text.len);
    }
    return tree;
}

bool json_is_object(const Json *value)
{
    return node_type(value) == cJSON_Object;
}

bool json_is_array(const Json *value)
{
    return node_type(value) == cJSON_Array;
}

bool json_is_string(const Json *value)
{
    return node_type(value) == cJSON_String;
}

bool json_is_number(const Json *value)
{
    return node_type(value) == cJSON_Number;
}

bool json_is_bool(const Json *value)
{
    return node_type(value) == cJSON_True || node_type(value) == cJSON_False;
}

bool json_is_null(const Json *value)
{
    return node_type(value) == cJSON_NULL;
}

Json *json_first(const Json *parent)
{
    return parent ? parent->child : NULL;
}

Json *json_next(const Json *child)
{
    return child ? child->next : NULL;
}

Str json_key(const Json *member)
{
    return str_of(member ? member->string : NULL);
}

size_t json_len(const Json *parent)
{
    size_t len = 0;

    JSON_EACH(child, parent)
    {
        len++;
    }
    return len;
}

Json *json_at(const Json *array, size_t i)
{
    Json *child = json_first(array);

    while (child && i > 0) {
        child = child->next;
        i--;
    }
    return child;
}

Json *node_new(int type)
{
    Json *node = NEW(Json);

    node->type = type;
    return node;
}

Json *json_object(void)
{
    return node_new(cJSON_Object);
}

Json *json_array(void)
{
    return node_new(cJSON_Array);
}

Json *json_string(Str s)
{
    Json *node = node_new(cJSON_String);

    node->valuestring = text_clean_copy(s);
    return node;
}

Json *json_number_of(double number)
{
    Json *node = node_new(cJSON_Number);

    node->valuedouble = number;
    return node;
}

Json *json_int_of(int64_t number)
{
    return json_number_of((double)number);
}

Json *json_bool_of(bool flag)
{
    return node_new(flag ? cJSON_True : cJSON_False);
}

Json *json_null(void)
{
    return node_new(cJSON_NULL);
}

void node_append(Json *parent, Json *child)
{
    Json *first = parent->child;

    child->next = NULL;
    if (!first) {
        parent->child = child;
        child->prev = child;
        return;
    }
    child->prev = first->prev;
    first->prev->next = child;
    first->prev = child;
}

void node_unlink(Json *parent, Json *child)
{
    Json *first = parent->child, *next = child->next;

    if (next) {
        next->prev = child->prev;
    } else if (child != first) {
        first->prev = child->prev;
    }
    if (child == first) {
        parent->child = next;
    } else {
        child->prev->next = next;
    }
    child->prev = NULL;
}

void node_replace(Json *parent, Json *old, Json *child)
{
    bool is_last = !old->next;

    child->next = old->next;
    child->prev = old->prev == old ? child : old->prev;
    if (parent->child == old) {
        parent->child = child;
    } else {
        old->prev->next = child;
    }
    if (!is_last) {
        old->next->prev = child;
    } else {
        parent->child->prev = child;
    }
    old->prev = NULL;
}

Json *node_free_of_parent(Json *value)
{
    return value && value->prev ? json_copy(value) : value;
}
