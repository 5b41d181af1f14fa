// Compiled descriptors: what is worked out of a Collection once, and which collections reference
// it.
#include "store/engine.h"

#include "base/die.h"
#include "base/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 4096,               // at most half of them are used
    ENGINE_COLUMNS_VERSION = 1, // raised when side columns are filled in another way
    ENGINE_INDEXES_VERSION = 3, // raised when indexes are made in another way
};

// Compiled shapes by the address of their descriptor, and all descriptors in order of registration.
// Readers take no lock: a slot goes from NULL to its final value once.
static _Atomic(Shape *) slots[SLOTS];
static pthread_mutex_t shapes_lock = PTHREAD_MUTEX_INITIALIZER; // guards writing `slots`, `known`
static const Collection *known[SLOTS / 2];
static size_t known_count;

static uint64_t hash_add(uint64_t hash, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    }
    return (hash ^ 0xff) * 1099511628211u;
}

static uint64_t hash_field(uint64_t hash, const Field *field)
{
    char number[32];

    hash = hash_add(hash, field->column);
    hash = hash_add(hash, field->path);
    snprintf(number, sizeof number, "%u",
             field->flags & ~(unsigned)(INDEX | UNIQUE | WORDS | SPARSE | COARSE));
    hash = hash_add(hash, number);
    return hash_add(hash, field->compute ? "computed" : "");
}

static uint64_t hash_start(int version)
{
    char number[32];

    snprintf(number, sizeof number, "%d", version);
    return hash_add(14695981039346656037u, number);
}

bool field_has_column(const Field *field)
{
    return !(field->flags & NO_COLUMN);
}

bool field_is_coarse(const Field *field)
{
    return field->flags & (COARSE | FLAG) || (field->references && field->references->is_cached);
}

static uint64_t hash_index(uint64_t hash, const Field *field)
{
    char number[32];

    hash = hash_add(hash, field->column);
    snprintf(number, sizeof number, "%u",
             field->flags & (unsigned)(INDEX | UNIQUE | SPARSE | COARSE));
    return hash_add(hash_add(hash, number), field->references ? "reference" : "");
}

// Of all columns: their texts are folded.
static uint64_t columns_start(void)
{
    return hash_start(ENGINE_COLUMNS_VERSION * 1000 + fold_version());
}

static void fills_add(Shape *shape, const char *name, int64_t hash)
{
    char *longer = NULL;

    if (asprintf(&longer, "%s%s %016llx\n", shape->fills ? shape->fills : "\n", name,
                 (unsigned long long)hash) < 0) {
        die("out of memory");
    }
    free((char *)(uintptr_t)shape->fills);
    shape->fills = longer;
}

// Whether a comma-separated list of columns names it.
static bool names_column(Str columns, const char *column)
{
    Str name;

    while (str_next(&columns, ',', &name)) {
        if (str_eq_z(str_trim(name), column)) {
            return true;
        }
    }
    return false;
}

static bool stands_in_index(const Collection *of, const Field *field)
{
    bool is_in_key = false;

    for (const UniqueKey *key = of->uniques; key && key->columns; key++) {
        is_in_key = is_in_key || names_column(str_of(key->columns), field->column);
    }
    return is_in_key || field->references || field->flags & (INDEX | UNIQUE);
}

static void shape_add_field(Shape *shape, const Field *field)
{
    if (shape->column_count == COLUMNS_MAX || shape->word_count == COLUMNS_MAX) {
        die("collection %s has too many fields", shape->of->table);
    }
    if (field_has_column(field)) {
        fills_add(shape, field->column, (int64_t)hash_field(columns_start(), field));
        shape->is_key[shape->column_count] = stands_in_index(shape->of, field);
        shape->columns[shape->column_count++] = field;
        shape->column_hash = (int64_t)hash_field((uint64_t)shape->column_hash, field);
        shape->index_hash = (int64_t)hash_index((uint64_t)shape->index_hash, field);
    }
    if (field->flags & WORDS) {
        shape->words[shape->word_count++] = field;
        shape->word_hash = (int64_t)hash_field((uint64_t)shape->word_hash, field);
    }
    if (field->references) {
        shape->references[shape->reference_count++] = field;
    }
}

// ---------------------------------------------------------------------------------------------
// The program's version

#ifdef OCTAVO_HOOKS
static struct {
    char table[64], column[64], path[64];
    Field field;
} next_version;

void store_plays_next_version(Str text)
{
    int taken = sscanf(str_z(text), "%63[^:]:%63[^:]:%63s", next_version.table, next_version.column,
                       next_version.path);

    if (taken != 3) {
        die("the field of the next version must be table:column:path");
    }
    next_version.field =
        (Field){.column = next_version.column, .path = next_version.path, .flags = INDEX};
}

static const Field *field_of_next_version(const Collection *of)
{
    return strcmp(of->table, next_version.table) == 0 ? &next_version.field : NULL;
}

static bool is_next_version(void)
{
    return next_version.field.column;
}
#else
static const Field *field_of_next_version(const Collection *of)
{
    (void)of;
    return NULL;
}

static bool is_next_version(void)
{
    return false;
}
#endif

int64_t program_number(void)
{
    int major = 0, minor = 0, patch = 0;

    sscanf(OCTAVO_VERSION, "%d.%d.%d", &major, &minor, &patch);
    return ((int64_t)major * 1000 + minor) * 1000 + patch + (is_next_version() ? 1 : 0);
}

// ---------------------------------------------------------------------------------------------

// SQL text that lives as long as the process.
static const char *keep(const Buf *sql)
{
    char *z = malloc(sql->len + 1);

    if (!z) {
        die("out of memory");
    }
    memcpy(z, sql->at, sql->len);
    z[sql->len] = '\0';
    return z;
}

static void shape_write_sql(Shape *shape)
{
    Buf sql = buf_new(scratch_arena(), SQL_MAX);
    const char *table = shape->of->table;

    buf_fmt(&sql, "select pk, doc from \"%s\" where id = $1", table);
    shape->sql_get = keep(&sql);

    buf_clear(&sql);
    buf_fmt(&sql, "delete from \"%s\" where id = $1", table);
    shape->sql_delete = keep(&sql);

    buf_clear(&sql);
    buf_fmt(&sql, "insert into \"%s\" (doc, id, filled, version", table);
    for (size_t i = 0; i < shape->column_count; i++) {
        buf_fmt(&sql, ", \"%s\"", shape->columns[i]->column);
    }
    buf_add_z(&sql, ") values ($1");
    for (size_t i = 0; i < shape->column_count + 3; i++) {
        buf_fmt(&sql, ", $%zu", i + 2);
    }
    buf_char(&sql, ')');
    shape->sql_insert = keep(&sql);
}

bool same_table(const Collection *a, const Collection *b)
{
    return a == b || strcmp(a->table, b->table) == 0;
}

static Shape *shape_make(const Collection *of)
{
    Shape *shape = calloc(1, sizeof *shape);

    if (!shape) {
        die("out of memory");
    }
    shape->of = of;
    shape->main = of;
    for (size_t i = 0; i < known_count && shape->main == of; i++) {
        shape->main = same_table(known[i], of) ? known[i] : of;
    }
    shape->column_hash = (int64_t)columns_start();
    shape->word_hash = (int64_t)hash_start(fold_version());
    shape->index_hash = (int64_t)hash_start(ENGINE_INDEXES_VERSION);
    for (const Field *field = of->fields; field && field->column; field++) {
        shape_add_field(shape, field);
    }
    const Field *of_next_version = field_of_next_version(of);
    if (of_next_version) {
        shape_add_field(shape, of_next_version);
    }
    fills_add(shape, "(words)", shape->word_hash);
    for (const UniqueKey *key = of->uniques; key && key->columns; key++) {
        uint64_t hash = hash_add((uint64_t)shape->index_hash, key->columns);
        shape->index_hash = (int64_t)hash_add(hash, key->where);
    }
    if (of->record) {
        const Property *metadata = property_find(of->record, "metadata");
        shape->has_metadata = metadata && metadata->type == METADATA;
    }
    shape->count_from[0] = shape->main;
    shape->count = (Derived){.name = "count", .from = shape->count_from};
    ArenaMark mark = arena_mark(scratch_arena());
    shape_write_sql(shape);
    arena_release(scratch_arena(), mark);
    return shape;
}

static size_t slot_of(const Collection *of)
{
    return (size_t)(((uintptr_t)of >> 4) * 11400714819323198485u >> 40) % SLOTS;
}

const Shape *shape_of(const Collection *of)
{
    size_t slot = slot_of(of);

    for (Shape *shape; (shape = atomic_load_explicit(&slots[slot], memory_order_acquire));
         slot = (slot + 1) % SLOTS) {
        if (shape->of == of) {
            return shape;
        }
    }
    pthread_mutex_lock(&shapes_lock);
    slot = slot_of(of);
    Shape *shape;
    while ((shape = atomic_load(&slots[slot])) && shape->of != of) {
        slot = (slot + 1) % SLOTS;
    }
    if (!shape) {
        if (known_count == SLOTS / 2) {
            die("more than %d collections", SLOTS / 2);
        }
        shape = shape_make(of);
        known[known_count++] = of;
        atomic_store_explicit(&slots[slot], shape, memory_order_release);
    }
    pthread_mutex_unlock(&shapes_lock);
    return shape;
}

void store_register(const Collection *const *collections, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        shape_of(collections[i]);
    }
}

void store_charge(const Collection *const *collections, size_t n, const char *module)
{
    for (size_t i = 0; i < n; i++) {
        ((Shape *)(uintptr_t)shape_of(collections[i]))->meter = meter_of(module);
    }
}

// True if an earlier registered collection has the same table.
static bool is_second_of_table(size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (same_table(known[i], known[j])) {
            return true;
        }
    }
    return false;
}

const Collection *collection_of_table(Str table)
{
    const Collection *found = NULL;

    pthread_mutex_lock(&shapes_lock);
    for (size_t i = 0; i < known_count && !found; i++) {
        found = str_eq_z(table, known[i]->table) ? known[i] : NULL;
    }
    pthread_mutex_unlock(&shapes_lock);
    return found;
}

size_t references_to(const Collection *target, Reference *out, size_t max)
{
    size_t n = 0;

    pthread_mutex_lock(&shapes_lock);
    for (size_t i = 0; i < known_count; i++) {
        const Field *field = known[i]->fields;
        for (; field && field->column && n < max; field++) {
            if (field->references && field_has_column(field) &&
                same_table(field->references, target) && !is_second_of_table(i)) {
                out[n++] = (Reference){known[i], field};
            }
        }
    }
    pthread_mutex_unlock(&shapes_lock);
    return n;
}

Str unique_field_name(const Collection *of, const Field *field)
{
    return str_fmt("%s_%s_unique", of->table, field->column);
}

Str unique_key_name(const Collection *of, const UniqueKey *key)
{
    uint64_t hash = hash_add(hash_start(0), key->columns);

    return str_fmt("%s_key_%08x", of->table, (unsigned)(hash_add(hash, key->where) >> 16));
}

const Field *field_by_column(const Collection *of, Str column)
{
    for (const Field *field = of->fields; field && field->column; field++) {
        if (str_eq_z(column, field->column)) {
            return field;
        }
    }
    return NULL;
}

const Field *field_by_cql_name(const Collection *of, Str name)
{
    for (const Field *field = of->fields; field && field->column; field++) {
        if (str_eq_z(name, field->cql_name ? field->cql_name : field->path)) {
            return field;
        }
    }
    return NULL;
}
