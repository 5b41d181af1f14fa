// Reference data a new tenant gets: tab-separated tables embedded in the program.
//
// Line 1: "@ <table>"; line 2: JSON paths, ":json" behind those whose cells are JSON; then one
// record a line, empty cells are absent; \t \n \\ are escapes. Existing records are replaced, but
// those of kind "always": what a module cannot work without, loaded with its first enabling.
// Source: spec/storage-and-cql.md 1.7.
#include "gateway/internal.h"

#include "base/asset.h"

enum {
    COLUMNS_MAX = 128,
    BATCH = 100,
};

typedef struct {
    const char *path;
    bool is_json;
} Column;

static Str unescape(Str cell)
{
    if (str_find_char(cell, '\\', 0) < 0) {
        return cell;
    }
    Buf buf = buf_new(arena_current(), cell.len + 1);
    for (size_t i = 0; i < cell.len; i++) {
        char c = cell.at[i];
        if (c == '\\' && i + 1 < cell.len) {
            c = cell.at[++i];
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
        }
        buf_char(&buf, c);
    }
    return buf_str(&buf);
}

static size_t read_columns(Str line, Column *columns)
{
    Str header, json = S(":json");
    size_t n = 0;
    while (n < COLUMNS_MAX && str_next(&line, '\t', &header)) {
        columns[n].is_json = str_ends(header, json);
        columns[n].path =
            str_z(columns[n].is_json ? str_sub(header, 0, header.len - json.len) : header);
        n++;
    }
    return n;
}

static Err *read_row(Str line, const Column *columns, size_t n, Json **out)
{
    Json *doc = json_object();
    Str cell;
    for (size_t i = 0; str_next(&line, '\t', &cell); i++) {
        if (i >= n) {
            return err_text(500, "reference data: more cells than headers");
        }
        Str value = unescape(cell);
        if (!value.len) {
            continue;
        }
        if (columns[i].is_json) {
            Json *parsed = NULL;
            TRY(json_parse(value, &parsed));
            json_set(doc, columns[i].path, parsed);
        } else {
            json_set_str(doc, columns[i].path, value);
        }
    }
    *out = doc;
    return NULL;
}

static size_t count_lines(Str text)
{
    size_t n = 1;
    for (size_t i = 0; i < text.len; i++) {
        n += text.at[i] == '\n';
    }
    return n;
}

Err *refdata_parse(Str text, Str *table, Docs *out)
{
    Column columns[COLUMNS_MAX];
    Str line;
    if (!str_next(&text, '\n', &line) || !str_starts(line, S("@ "))) {
        return err_text(500, "reference data: the first line must be \"@ <table>\"");
    }
    *table = str_trim(str_sub(line, 2, line.len));
    if (!str_next(&text, '\n', &line)) {
        return err_text(500, "reference data: no headers");
    }
    size_t n = read_columns(line, columns);
    *out = (Docs){NEW_ARRAY(Json *, count_lines(text)), 0};
    while (str_next(&text, '\n', &line)) {
        if (line.len) {
            TRY(read_row(line, columns, n, &out->at[out->len]));
            out->len++;
        }
    }
    return NULL;
}

typedef struct {
    const Collection *of;
    Json **at;
    size_t len;
    bool keeps_existing;
} Batch;

static Err *store_batch(Tx *tx, void *context)
{
    const Batch *batch = context;
    for (size_t i = 0; i < batch->len; i++) {
        Json *doc = batch->at[i], *old = NULL;
        Str id = json_str(doc, "id");
        if (id.len) {
            TRY(tx_get(tx, batch->of, id, &old));
        }
        if (!old) {
            TRY(tx_insert(tx, batch->of, doc));
            continue;
        }
        if (batch->keeps_existing) {
            continue;
        }
        json_take(doc, "_version", old, "_version");
        TRY(tx_update(tx, batch->of, doc));
    }
    return NULL;
}

static Err *load_file(Db *db, const Module *module, const Asset *asset, bool keeps_existing)
{
    Str text = {asset->at, (size_t)(asset->end - asset->at)}, table;
    Docs docs;
    TRY(refdata_parse(text, &table, &docs));

    const Collection *const *of = module->collections;
    while (of && *of && !str_eq_z(table, (*of)->table)) {
        of++;
    }
    if (!of || !*of) {
        return err_text(500, "reference data: %s has no table " STR_FMT, module->name,
                        STR_ARG(table));
    }
    for (size_t at = 0; at < docs.len; at += BATCH) {
        Batch batch = {*of, docs.at + at, docs.len - at < BATCH ? docs.len - at : BATCH,
                       keeps_existing};
        TRY(tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, store_batch, &batch));
    }
    return NULL;
}

Err *refdata_load(Db *db, const Module *module, const char *kind)
{
    const char *prefix = str_z(str_fmt("refdata/%s/%s/", module->name, kind));
    const Asset *asset = NULL;
    for (size_t i = 0; (asset = asset_at(prefix, i)) != NULL; i++) {
        Err *err = load_file(db, module, asset, str_eq_z(S("always"), kind));
        if (err) {
            return err_text(err->status, "%s: " STR_FMT, asset->name, STR_ARG(err->message));
        }
    }
    return NULL;
}
