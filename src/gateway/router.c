// Matches paths against the patterns of all modules: a tree with one node per segment.
//
// A literal segment wins over {name}, that over '*'; inside a module the first declared route wins.
#include "gateway/router.h"

#include "base/asset.h"
#include "base/die.h"
#include "base/sort.h"
#include "gateway/spring.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENTS_MAX = 24,
};

typedef struct Node Node;

typedef struct {
    const CompiledRoute **at;
    size_t len, cap;
} Routes;

typedef struct {
    Str segment;
    Node *node;
} Branch;

struct Node {
    Branch *branches; // sorted by segment once the table is complete
    size_t branch_count, branch_cap;
    Node *param;
    Routes here; // patterns that end at this node
    Routes rest; // patterns that end in '*' below it
};

struct RouteTable {
    Node root;
    Routes all;
};

void module_set_add(ModuleSet *set, size_t module)
{
    set->bits[module / 64] |= (uint64_t)1 << (module % 64);
}

void module_set_remove(ModuleSet *set, size_t module)
{
    set->bits[module / 64] &= ~((uint64_t)1 << (module % 64));
}

bool module_set_has(const ModuleSet *set, size_t module)
{
    return set->bits[module / 64] >> (module % 64) & 1;
}

// ---------------------------------------------------------------------------------------------
// Building

static void routes_add(Routes *routes, const CompiledRoute *route)
{
    routes->at =
        array_room(arena_current(), routes->at, routes->len, &routes->cap, sizeof *routes->at);
    routes->at[routes->len++] = route;
}

static Node *branch_to(Node *node, Str segment)
{
    for (size_t i = 0; i < node->branch_count; i++) {
        if (str_eq(node->branches[i].segment, segment)) {
            return node->branches[i].node;
        }
    }
    node->branches = array_room(arena_current(), node->branches, node->branch_count,
                                &node->branch_cap, sizeof *node->branches);
    Node *child = NEW(Node);
    node->branches[node->branch_count++] = (Branch){segment, child};
    return child;
}

static void table_add(RouteTable *table, const CompiledRoute *route)
{
    Node *node = &table->root;
    Str rest = str_sub(str_of(route->entry.route->path), 1, SIZE_MAX), segment;

    routes_add(&table->all, route);
    while (str_next(&rest, '/', &segment)) {
        if (str_eq(segment, S("*"))) {
            routes_add(&node->rest, route);
            return;
        }
        if (str_find_char(segment, '*', 0) >= 0) {
            die("pattern %s: '*' must be a whole segment", route->entry.route->path);
        }
        if (segment.len && segment.at[0] == '{') {
            node->param = node->param ? node->param : NEW(Node);
            node = node->param;
        } else {
            node = branch_to(node, segment);
        }
    }
    routes_add(&node->here, route);
}

static StrList names_of(const char *names)
{
    StrList list = {0};
    Str rest = str_of(names), name;
    while (str_next(&rest, ' ', &name)) {
        if (!str_is_empty(name)) {
            str_list_add(&list, name);
        }
    }
    return list;
}

// What a newer release calls the permission of a route: lines "method path baseline later" of
// refdata/later-permissions.tsv; {name} parts compare whatever the name.
static bool same_pattern(Str a, Str b)
{
    Str x, y;
    while (str_next(&a, '/', &x)) {
        if (!str_next(&b, '/', &y)) {
            return false;
        }
        bool both_params = x.len && y.len && x.at[0] == '{' && y.at[0] == '{';
        if (!both_params && !str_eq(x, y)) {
            return false;
        }
    }
    return !str_next(&b, '/', &y);
}

static StrList later_names(const Route *route, Str table)
{
    Str line, method, path, baseline, later;
    if (route->later_permission) {
        return names_of(route->later_permission);
    }
    while (str_next(&table, '\n', &line)) {
        if (str_next(&line, '\t', &method) && str_next(&line, '\t', &path) &&
            str_next(&line, '\t', &baseline) && str_next(&line, '\t', &later) &&
            str_eq_z(method, method_name(route->method)) &&
            same_pattern(path, str_of(route->path))) {
            return names_of(str_z(later));
        }
    }
    return (StrList){0};
}

typedef struct {
    RouteTable *table;
    const Module *module;
    const Interface *interface;
    size_t place;
    Meter *meter;
    Str later; // the table of later permissions
} Compiling;

static void add_route(const Compiling *at, const Route *route)
{
    CompiledRoute *compiled = NEW(CompiledRoute);
    compiled->entry = (RouteEntry){at->module, at->interface, route};
    compiled->module = at->place;
    compiled->meter = at->meter;
    compiled->figures = NEW(RouteFigures);
    compiled->required = names_of(route->permission);
    compiled->later = later_names(route, at->later);
    compiled->desired = names_of(route->desired);
    compiled->is_everywhere = at->place == 0;
    table_add(at->table, compiled);
}

static const char *stem_name(const Collection *of, const char *own, const char *end)
{
    if (own) {
        return own;
    }
    return of->permission ? str_z(str_fmt("%s.%s", of->permission, end)) : NULL;
}

// What the letters of Collection.ops stand for.
static const struct {
    char op;
    Method method;
    bool is_of_one;
    TxKind kind;
    Handler handler, spring;
    size_t own_permission; // where Collection.permissions has a name of its own
    const char *permission;
} operations[] = {
    {'L', GET, false, READ, collection_list, spring_list, offsetof(Collection, permissions.list),
     "collection.get"},
    {'C', POST, false, WRITE, collection_create, spring_create,
     offsetof(Collection, permissions.create), "item.post"},
    {'D', DELETE, false, NONE, collection_delete_all, NULL,
     offsetof(Collection, permissions.delete_all), "collection.delete"},
    {'r', GET, true, READ, collection_get, spring_get, offsetof(Collection, permissions.get),
     "item.get"},
    {'u', PUT, true, WRITE, collection_put, spring_put, offsetof(Collection, permissions.put),
     "item.put"},
    {'d', DELETE, true, WRITE, collection_delete, spring_delete,
     offsetof(Collection, permissions.delete_one), "item.delete"},
};

static size_t operation_of(const Collection *of, char op)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (operations[i].op == op && (!of->is_spring || operations[i].spring)) {
            return i;
        }
    }
    die("collection %s: unknown operation '%c'", of->table, op);
}

// Records that stand for themselves: unique keys, foreign keys, the version and a lock on the row
// are all they need. What a hook looks at beside the record would need more.
static bool is_plain(const Collection *of)
{
    return !of->before_write && !of->after_write && !of->before_delete && !of->put_creates;
}

static void add_collection(const Compiling *at, const Collection *of)
{
    const char *one = of->path ? str_z(str_fmt("%s/{id}", of->path)) : NULL;
    for (const char *op = of->path ? of->ops : NULL; op && *op; op++) {
        size_t i = operation_of(of, *op);
        const char *own = *(const char *const *)((const char *)of + operations[i].own_permission);
        Route *route = NEW(Route);
        *route = (Route){
            .method = operations[i].method,
            .path = operations[i].is_of_one ? one : of->path,
            .kind = operations[i].kind,
            .handler = of->is_spring ? operations[i].spring : operations[i].handler,
            .permission = stem_name(of, own, operations[i].permission),
            .takes_any_body = of->is_spring,
            .locks_rows = operations[i].kind == WRITE && is_plain(of),
            .collection = of,
        };
        add_route(at, route);
    }
}

static int compare_branches(const void *a, const void *b)
{
    return str_cmp(((const Branch *)a)->segment, ((const Branch *)b)->segment);
}

static void sort_branches(Node *node)
{
    if (node->branch_count) {
        sort_array(node->branches, node->branch_count, sizeof(Branch), compare_branches);
    }
    for (size_t i = 0; i < node->branch_count; i++) {
        sort_branches(node->branches[i].node);
    }
    if (node->param) {
        sort_branches(node->param);
    }
}

static void add_interface(const Compiling *at)
{
    for (const Route *route = at->interface->routes; route && route->path; route++) {
        add_route(at, route);
    }
    const Collection *const *of = at->interface->collections;
    for (; of && *of; of++) {
        add_collection(at, *of);
    }
}

RouteTable *route_table_new(const Module *const *modules, size_t module_count)
{
    RouteTable *table = NEW(RouteTable);
    Str later = {0};
    asset_find("refdata/later-permissions.tsv", &later);

    for (size_t i = 0; i < module_count; i++) {
        Compiling at = {.table = table, .module = modules[i], .place = i, .later = later};
        at.meter = meter_of(modules[i]->name);
        at.interface = modules[i]->provides;
        for (; at.interface && at.interface->id; at.interface++) {
            if (!at.interface->type || strcmp(at.interface->type, "system") != 0) {
                add_interface(&at);
            }
        }
    }
    sort_branches(&table->root);
    return table;
}

size_t route_table_entries(const RouteTable *table, const CompiledRoute *const **out)
{
    *out = table->all.at;
    return table->all.len;
}

// ---------------------------------------------------------------------------------------------
// Matching

typedef struct {
    const RouteQuery *query;
    RouteMatch *match;
    Str segments[SEGMENTS_MAX];
    size_t count;
} Walk;

static bool is_multiple(const CompiledRoute *route)
{
    const char *type = route->entry.interface->type;
    return type && strcmp(type, "multiple") == 0;
}

static bool pick(const Routes *routes, Walk *walk)
{
    const RouteQuery *query = walk->query;
    RouteMatch *match = walk->match;

    for (size_t i = 0; i < routes->len; i++) {
        const CompiledRoute *route = routes->at[i];
        if (route->entry.route->method != query->method ||
            !(route->is_everywhere || module_set_has(query->enabled, route->module))) {
            continue;
        }
        if (!is_multiple(route)) {
            match->route = match->route ? match->route : route;
        } else if (query->provider == route->module) {
            match->route = route;
            match->rival = NULL;
            return true;
        } else if (!match->route) {
            match->route = route;
        } else if (match->route->module != route->module) {
            match->rival = route;
        }
    }
    return match->route != NULL;
}

static const Node *branch_of(const Node *node, Str segment)
{
    size_t low = 0, high = node->branch_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(node->branches[middle].segment, segment);
        if (order == 0) {
            return node->branches[middle].node;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

// Depth is bounded by the depth of the patterns.
static bool walk_down(const Node *node, Walk *walk, size_t at)
{
    if (at == walk->count) {
        return pick(&node->here, walk);
    }
    const Node *child = branch_of(node, walk->segments[at]);
    if (child && walk_down(child, walk, at + 1)) {
        return true;
    }
    RouteMatch *match = walk->match;
    if (node->param && walk->segments[at].len && match->param_count < PATH_PARAMS_MAX) {
        match->params[match->param_count++] = walk->segments[at];
        if (walk_down(node->param, walk, at + 1)) {
            return true;
        }
        match->param_count--;
    }
    return pick(&node->rest, walk);
}

bool route_find(const RouteTable *table, const RouteQuery *query, RouteMatch *match)
{
    Walk walk = {.query = query, .match = match};
    *match = (RouteMatch){0};
    if (!query->path.len || query->path.at[0] != '/') {
        return false;
    }
    // Longer paths keep their rest in the last segment: only '*' can match those.
    size_t from = 1;
    for (;;) {
        ptrdiff_t end = str_find_char(query->path, '/', from);
        bool is_last = end < 0 || walk.count == SEGMENTS_MAX - 1;
        size_t to = is_last ? query->path.len : (size_t)end;
        walk.segments[walk.count++] = str_sub(query->path, from, to);
        if (is_last) {
            break;
        }
        from = to + 1;
    }
    return walk_down(&table->root, &walk, 0);
}
