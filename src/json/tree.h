// Inside of src/json/: the nodes of a tree, and text checks shared by reader and writer.
//
// A node is a cJSON. Children form a list; the first child's `prev` is the last child, so appending
// costs nothing. A node whose `prev` is NULL belongs to no parent.
#pragma once

#include "json/json.h"

#include <cjson/cJSON.h>

static inline int node_type(const Json *node)
{
    return node ? node->type & 0xFF : cJSON_Invalid;
}

// A new node outside of any tree.
Json *node_new(int type);
// The value itself, or a copy if it is part of a tree already: a node cannot have two parents.
Json *node_free_of_parent(Json *value);
void node_append(Json *parent, Json *child);
// Takes the child out. Its `next` stays, so that a loop over the siblings can go on.
void node_unlink(Json *parent, Json *child);
void node_replace(Json *parent, Json *old, Json *child);
Json *node_member(const Json *object, Str key);

// The first byte that a JSON string cannot hold as it is (control character, quote, backslash), or
// `end`. With `stop` = HIGH_BITS bytes beyond ASCII count too; else 0.
const char *plain_run(const char *at, const char *end, uint64_t stop);
#define HIGH_BITS UINT64_C(0x8080808080808080)

// Valid UTF-8 without NUL.
bool text_is_clean(Str s);
// NUL-terminated copy; NULs are left out, bytes that are no UTF-8 become U+FFFD.
char *text_clean_copy(Str s);

// One pass over a text: JSON syntax, UTF-8, depth, size of the numbers. Gives the arena bytes that
// the tree needs. Errors: 400 text with line and column.
WARN_UNUSED Err *json_guard(Str text, size_t *tree_bytes);

// 2^53: integers up to here are exact.
#define INTEGER_MAX 9007199254740992.0

enum {
    NUMBER_TEXT_MAX = 32,
};
// Writes the number into `to` (NUMBER_TEXT_MAX bytes); returns the length.
size_t number_text(double number, char *to);
