// What the files of mod-permissions share.
#pragma once

#include "modules/mod-permissions/collections.h"
#include "modules/mod-permissions/permissions.h"

// How a name is defined.
typedef enum { UNDEFINED, IMMUTABLE, MUTABLE, DUMMY } PermissionKind;

// All permissions of a tenant with what they contain. Shared and read only.
typedef struct {
    PermissionNames *names;
    uint32_t **subs; // numbers, by number of the containing permission
    uint32_t *sub_counts;
    uint8_t *kinds; // PermissionKind
    size_t count;
    uint64_t serial; // differs from graph to graph
} PermissionGraph;

WARN_UNUSED Err *permission_graph(Tx *tx, const PermissionGraph **out);
PermissionKind permission_kind(const PermissionGraph *graph, Str name);
// Adds a permission and all that it contains.
void permission_closure(const PermissionGraph *graph, Str name, PermissionSet *set);

// permissions.c
Err *perms_list(Req *req);
Err *perms_get(Req *req);
Err *perms_post(Req *req);
Err *perms_put(Req *req);
Err *perms_delete(Req *req);
Err *perms_purge_deprecated(Req *req);
// By its exact name; NULL if there is none.
WARN_UNUSED Err *permission_by_name(Tx *tx, Str name, Json **out);
// Makes `childOf` of the contained permissions say so, or no longer; unknown names become dummies.
WARN_UNUSED Err *permission_link(Tx *tx, Str name, const Json *old_subs, const Json *new_subs);
// limit/length and offset/start of /perms/*.
WARN_UNUSED Err *perms_list_request(const Req *req, const Collection *of, ListRequest *out);
// Fills grantedTo of the records.
WARN_UNUSED Err *permissions_add_grants(Tx *tx, const Docs *docs);

// permission_users.c
Err *perm_users_list(Req *req);
Err *perm_users_get(Req *req);
Err *perm_users_post(Req *req);
Err *perm_users_put(Req *req);
Err *perm_users_delete(Req *req);
Err *perm_users_names(Req *req);
Err *perm_users_add(Req *req);
Err *perm_users_remove(Req *req);
// 403 if the caller may not put these rights into a set that has `old_subs` already.
WARN_UNUSED Err *perms_may_contain(Req *req, const Json *subs, const Json *old_subs);
// Takes the names from every permission user that holds one of them, adds `other` to those that
// hold the first.
WARN_UNUSED Err *perm_users_drop(Tx *tx, Str name);
WARN_UNUSED Err *perm_users_also(Tx *tx, Str old_name, Str new_name);

// define.c
WARN_UNUSED Err *permissions_define(Tx *tx, const PermissionDefinitions *definitions);
WARN_UNUSED Err *permission_names_of(const Json *array, StrList *out);
