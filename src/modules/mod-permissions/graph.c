// The permissions of a tenant as a graph, and the effective set of each user: kept in memory,
// dropped exactly when a permission or a grant changes.
#include "modules/mod-permissions/internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// The graph

static _Atomic uint64_t graph_serial; // tells graphs apart even when their memory is reused

typedef struct {
    PermissionGraph *graph;
    size_t cap;
} GraphBuilder;

static void reserve(GraphBuilder *builder, size_t count)
{
    PermissionGraph *graph = builder->graph;
    if (count > builder->cap) {
        size_t cap = builder->cap ? builder->cap : 512;
        while (cap < count) {
            cap *= 2;
        }
        uint32_t **subs = NEW_ARRAY(uint32_t *, cap), *sub_counts = NEW_ARRAY(uint32_t, cap);
        uint8_t *kinds = NEW_ARRAY(uint8_t, cap);
        if (graph->count) {
            memcpy(subs, graph->subs, graph->count * sizeof *subs);
            memcpy(sub_counts, graph->sub_counts, graph->count * sizeof *sub_counts);
            memcpy(kinds, graph->kinds, graph->count);
        }
        graph->subs = subs;
        graph->sub_counts = sub_counts;
        graph->kinds = kinds;
        builder->cap = cap;
    }
    graph->count = count;
}

static size_t number_in(GraphBuilder *builder, Str name)
{
    size_t number = permission_number(builder->graph->names, name);
    size_t count = permission_count(builder->graph->names);
    if (count > builder->graph->count) {
        reserve(builder, count);
    }
    return number;
}

// Columns: name, subPermissions as JSON text, mutable, dummy.
static Err *add_permission(const Row *row, void *context)
{
    GraphBuilder *builder = context;
    size_t number = number_in(builder, row_text(row, 0));
    Str text = row_text(row, 1);
    Json *subs = text.len > 2 ? json_parse_stored(text) : NULL;
    uint32_t *numbers = NEW_ARRAY(uint32_t, json_len(subs) + 1);
    size_t n = 0;
    JSON_EACH(sub, subs)
    {
        // FOLIO also accepts whole permission objects here.
        Str name = json_is_object(sub) ? json_str(sub, "permissionName") : json_scalar_text(sub);
        numbers[n++] = (uint32_t)number_in(builder, name);
    }
    PermissionGraph *graph = builder->graph;
    graph->subs[number] = numbers;
    graph->sub_counts[number] = (uint32_t)n;
    graph->kinds[number] = row_int(row, 3) ? DUMMY : row_int(row, 2) ? MUTABLE : IMMUTABLE;
    return NULL;
}

static Err *build_graph(Tx *tx, void **value)
{
    METER("mod-permissions");
    GraphBuilder builder = {.graph = NEW(PermissionGraph)};
    builder.graph->names = permission_names_new();
    builder.graph->serial = atomic_fetch_add(&graph_serial, 1) + 1;
    TRY(tx_rows(tx,
                "select exact_name, sub_permissions, is_mutable, is_dummy from permissions"
                " order by pk",
                NO_ARGS, add_permission, &builder));
    *value = builder.graph;
    return NULL;
}

static const Collection *const graph_sources[] = {&permissions, NULL};
static const Derived graph_derived = {"permission graph", graph_sources, build_graph};
DERIVED_IS_KNOWN(graph_derived)

Err *permission_graph(Tx *tx, const PermissionGraph **out)
{
    const void *value = NULL;
    TRY(tx_derived(tx, &graph_derived, &value));
    *out = value;
    return NULL;
}

PermissionKind permission_kind(const PermissionGraph *graph, Str name)
{
    size_t number = 0;
    return permission_find(graph->names, name, &number) ? (PermissionKind)graph->kinds[number]
                                                        : UNDEFINED;
}

// A stack instead of recursion: sets may contain each other in circles.
void permission_closure(const PermissionGraph *graph, Str name, PermissionSet *set)
{
    size_t number = 0, depth = 0;
    if (!permission_find(graph->names, name, &number)) {
        permission_set_add_other(set, name);
        return;
    }
    ArenaMark mark = arena_mark(scratch_arena());
    uint32_t *stack = arena_alloc_array(scratch_arena(), graph->count + 1, sizeof *stack);
    if (!permission_set_has_number(set, number)) {
        permission_set_add(set, number);
        stack[depth++] = (uint32_t)number;
    }
    while (depth) {
        uint32_t top = stack[--depth];
        for (uint32_t i = 0; i < graph->sub_counts[top]; i++) {
            uint32_t sub = graph->subs[top][i];
            if (!permission_set_has_number(set, sub)) {
                permission_set_add(set, sub);
                stack[depth++] = sub; // each at most once: the stack is large enough
            }
        }
    }
    arena_release(scratch_arena(), mark);
}

// ---------------------------------------------------------------------------------------------
// Sets of users

enum {
    USERS_MAX = 4096, // beyond that a set is made for each request
    USER_SLOTS = 2 * USERS_MAX,
};

typedef struct {
    Str user_id;
    const PermissionSet *set; // NULL: the user has no record
} UserEntry;

// Filled bit by bit by the transactions that share it: all of them see the same grants.
typedef struct {
    pthread_mutex_t lock; // guards everything below
    Arena *arena;
    uint64_t graph_serial;
    uint64_t serial; // of this table
    size_t count;
    UserEntry slots[USER_SLOTS];
} UserTable;

static Err *build_table(Tx *tx, void **value)
{
    (void)tx;
    UserTable *table = NEW(UserTable);
    pthread_mutex_init(&table->lock, NULL);
    table->arena = arena_current();
    table->serial = atomic_fetch_add(&graph_serial, 1) + 1;
    *value = table;
    return NULL;
}

static const Collection *const table_sources[] = {&permissions, &permission_users, NULL};
static const Derived table_derived = {"permissions of users", table_sources, build_table};
DERIVED_IS_KNOWN(table_derived)

static UserEntry *slot_of(UserTable *table, Str user_id)
{
    size_t at = str_hash(user_id) % USER_SLOTS;
    while (table->slots[at].user_id.len && !str_eq(table->slots[at].user_id, user_id)) {
        at = (at + 1) % USER_SLOTS;
    }
    return &table->slots[at];
}

static const PermissionSet *make_set(const PermissionGraph *graph, const Json *user)
{
    PermissionSet *set = permission_set_new(graph->names);
    JSON_EACH(name, json_get(user, "permissions"))
    {
        permission_closure(graph, str_copy(arena_current(), json_scalar_text(name)), set);
    }
    return set;
}

static bool look_up(UserTable *table, uint64_t serial, Str user_id, const PermissionSet **out)
{
    bool found = false;
    pthread_mutex_lock(&table->lock);
    if (table->graph_serial != serial) {
        memset(table->slots, 0, sizeof table->slots);
        table->count = 0;
        table->graph_serial = serial;
    }
    UserEntry *entry = slot_of(table, user_id);
    if (entry->user_id.len) {
        *out = entry->set;
        found = true;
    }
    pthread_mutex_unlock(&table->lock);
    return found;
}

static const PermissionSet *keep(UserTable *table, const PermissionGraph *graph, Str user_id,
                                 const Json *user)
{
    const PermissionSet *set = NULL;
    pthread_mutex_lock(&table->lock);
    bool has_room = table->count < USERS_MAX && table->graph_serial == graph->serial;
    Arena *former = has_room ? arena_use(table->arena) : NULL;
    set = user ? make_set(graph, user) : NULL;
    if (has_room) {
        UserEntry *entry = slot_of(table, user_id);
        if (!entry->user_id.len) {
            *entry = (UserEntry){str_copy(table->arena, user_id), set};
            table->count++;
        }
        set = entry->set;
        arena_use(former);
    }
    pthread_mutex_unlock(&table->lock);
    return set;
}

typedef struct {
    Str user_id;
    Json *user; // filled
} UserWanted;

static Err *find_user(Tx *tx, void *context)
{
    UserWanted *wanted = context;
    return permission_user_of(tx, wanted->user_id, &wanted->user);
}

Err *permissions_of_user(Tx *tx, Str user_id, const PermissionSet **out)
{
    const PermissionGraph *graph = NULL;
    const void *value = NULL;
    UserWanted wanted = {user_id, NULL};

    TRY(permission_graph(tx, &graph));
    TRY(tx_derived(tx, &table_derived, &value));
    UserTable *table = (UserTable *)value;
    if (look_up(table, graph->serial, user_id, out)) {
        return NULL; // sooner than a clock is read
    }
    METER("mod-permissions");
    TRY(tx_newest(tx, find_user, &wanted));
    *out = keep(table, graph, user_id, wanted.user);
    return NULL;
}
