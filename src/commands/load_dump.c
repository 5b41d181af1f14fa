// FOLIO's PostgreSQL dumps: the documents of each COPY block, as they are.
// Source: spec/storage-and-cql.md 3.1.
#include "commands/load.h"

#include <stdio.h>

enum {
    FIELD_MAX = 64 * 1024 * 1024,
};

typedef struct {
    Str rest; // of the file
    int64_t line;
} Lines;

static bool line_next(Lines *lines, Str *line)
{
    if (!lines->rest.len) {
        return false;
    }
    bool has_more = str_next(&lines->rest, '\n', line);
    lines->line++;
    return has_more;
}

// ---------------------------------------------------------------------------------------------
// "COPY diku_mod_users.groups (id, jsonb, creation_date) FROM stdin;"

typedef struct {
    const Collection *of; // NULL: not ours
    Str table;
    int column; // of the document; -1: there is none
} Block;

static bool module_of_schema(const char *module, Str schema)
{
    Str name = str_of(module);

    if (schema.len <= name.len || schema.at[schema.len - name.len - 1] != '_') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i] == '-' ? '_' : name.at[i];
        if (schema.at[schema.len - name.len + i] != c) {
            return false;
        }
    }
    return true;
}

static const Collection *collection_of(const Load *load, Str schema, Str table)
{
    for (const Module *const *module = load->app->modules; *module; module++) {
        if (!module_of_schema((*module)->name, schema) ||
            !tenant_has_module(load->tenant, (*module)->name)) {
            continue;
        }
        for (const Collection *const *of = (*module)->collections; of && *of; of++) {
            if (str_eq_z(table, (*of)->table)) {
                return *of;
            }
        }
    }
    return NULL;
}

static int column_named(Str columns, const char *name)
{
    Str one;

    for (int i = 0; str_next(&columns, ',', &one); i++) {
        if (str_eq_z(str_trim(one), name)) {
            return i;
        }
    }
    return -1;
}

static bool block_begins(const Load *load, Str line, Block *block)
{
    ptrdiff_t open = str_find_char(line, '(', 0), close = str_find_char(line, ')', 0);

    if (!str_starts(line, S("COPY ")) || open < 0 || close < open ||
        str_find(line, S("FROM stdin;"), (size_t)close) < 0) {
        return false;
    }
    Str table = str_trim(str_sub(line, 5, (size_t)open)), schema;
    block->table = table;
    block->of = str_next(&table, '.', &schema) ? collection_of(load, schema, table) : NULL;
    block->column = column_named(str_sub(line, (size_t)open + 1, (size_t)close), "jsonb");
    return true;
}

// ---------------------------------------------------------------------------------------------
// Rows

static char unescaped(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    default:
        return c;
    }
}

static Str field_unescape(Str field)
{
    Buf out = buf_new(arena_current(), FIELD_MAX);
    size_t from = 0;

    for (size_t i = 0; i + 1 < field.len; i++) {
        if (field.at[i] == '\\') {
            buf_add(&out, str_sub(field, from, i));
            buf_char(&out, unescaped(field.at[++i]));
            from = i + 1;
        }
    }
    buf_add(&out, str_sub(field, from, field.len));
    return buf_str(&out);
}

static Err *row_put(LoadAsIs *loading, const Block *block, Str line, int64_t number)
{
    Str field = {0};

    for (int i = 0; i <= block->column; i++) {
        if (!str_next(&line, '\t', &field)) {
            load_refused(loading->load, number, err_text(400, "the row has too few columns"));
            return NULL;
        }
    }
    return load_as_is_put(loading, field_unescape(field), number);
}

static Err *rows_put(LoadAsIs *loading, const Block *block, Lines *lines)
{
    Str line;

    while (line_next(lines, &line) && !str_eq(str_trim(line), S("\\."))) {
        ArenaMark mark = arena_mark(arena_current());
        TRY(row_put(loading, block, line, lines->line));
        arena_release(arena_current(), mark);
    }
    return NULL;
}

static void block_skip(Load *load, const Block *block, Lines *lines)
{
    int64_t before = load->skipped;
    Str line;

    while (line_next(lines, &line) && !str_eq(str_trim(line), S("\\."))) {
        load->skipped++;
    }
    if (load->skipped > before) {
        fprintf(stderr, STR_FMT ": %lld rows left out: no such table here\n", STR_ARG(block->table),
                (long long)(load->skipped - before));
    }
}

static Err *block_load(Load *load, const Block *block, Lines *lines)
{
    int64_t before = load->loaded;
    LoadAsIs loading;

    TRY(load_as_is_begin(load, block->of, &loading));
    TRY(load_as_is_end(&loading, rows_put(&loading, block, lines)));
    printf("%-30s %10lld\n", block->of->table, (long long)(load->loaded - before));
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// References: blocks come in any order, so that they are looked at when all are there

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

static Err *reference_check(Tx *tx, Load *load, const Collection *of, const Field *field)
{
    int64_t count = 0;
    Str sql = str_fmt("select count(*) from \"%s\" c where c.\"%s\" is not null and not exists "
                      "(select 1 from \"%s\" p where p.id = c.\"%s\")",
                      of->table, field->column, field->references->table, field->column);

    TRY(tx_rows(tx, str_z(sql), NO_ARGS, take_count, &count));
    if (count) {
        fprintf(stderr, "%s: %lld records name a %s in %s that does not exist\n", of->table,
                (long long)count, field->references->table, field->path);
        load->refused += count;
    }
    return NULL;
}

static Err *references_check_all(Tx *tx, void *context)
{
    Load *load = context;

    for (const Module *const *module = load->app->modules; *module; module++) {
        const Collection *const *of = (*module)->collections;
        for (; of && *of && tenant_has_module(load->tenant, (*module)->name); of++) {
            for (const Field *field = (*of)->fields; field && field->column; field++) {
                if (field->references && !(field->flags & NO_COLUMN)) {
                    TRY(reference_check(tx, load, *of, field));
                }
            }
        }
    }
    return NULL;
}

Err *load_dump(Load *load)
{
    Lines lines = {load->text, 0};
    Block block;
    Str line;

    while (line_next(&lines, &line)) {
        if (!block_begins(load, line, &block)) {
            continue;
        }
        if (block.of && block.column >= 0) {
            TRY(block_load(load, &block, &lines));
        } else {
            block_skip(load, &block, &lines);
        }
    }
    return tx_run(tenant_db(load->tenant), &(TxOptions){.kind = READ}, references_check_all, load);
}
