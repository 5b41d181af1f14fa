// The route table: which handler a method and a path belong to.
//
// Patterns of all modules stand in one tree of path segments, so that a match costs as much as the
// path is long. Source: spec/platform.md 1.1.
#pragma once

#include "gateway/gateway.h"
#include "observe/observe.h"

enum {
    MODULES_MAX = 192,
};

// Modules by their place in the gateway's list.
typedef struct {
    uint64_t bits[MODULES_MAX / 64];
} ModuleSet;

void module_set_add(ModuleSet *set, size_t module);
void module_set_remove(ModuleSet *set, size_t module);
bool module_set_has(const ModuleSet *set, size_t module);

// A route with everything a request needs, worked out once.
typedef struct {
    RouteEntry entry;
    size_t module; // its place in the list
    Meter *meter;
    RouteFigures *figures;
    StrList required, later, desired; // names of permissions; later: empty = as required
    bool is_everywhere;               // Okapi's own routes: matched for every tenant
} CompiledRoute;

typedef struct RouteTable RouteTable;

// In the current arena, which must live as long as the table. Routes of interfaces of type "system"
// are not reachable from outside.
RouteTable *route_table_new(const Module *const *modules, size_t module_count);
size_t route_table_entries(const RouteTable *table, const CompiledRoute *const **out);

typedef struct {
    Method method;
    Str path; // undecoded
    const ModuleSet *enabled;
    size_t provider; // module wanted for interfaces of type "multiple"; SIZE_MAX = none
} RouteQuery;

typedef struct {
    const CompiledRoute *route;
    const CompiledRoute *rival;  // another module provides the same interface of type "multiple"
    Str params[PATH_PARAMS_MAX]; // undecoded
    size_t param_count;
} RouteMatch;

// False: no such route.
bool route_find(const RouteTable *table, const RouteQuery *query, RouteMatch *match);
