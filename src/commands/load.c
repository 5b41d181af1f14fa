// octavo load: records of files and of FOLIO's database dumps into a tenant.
#include "commands/load.h"

#include "json/split.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RECORDS_OF_TX = 100,
    REFUSED_SHOWN = 100,
    PROGRESS_NS = 500000000,
};

typedef struct {
    Str tenant, collection, dump, as_is;
} LoadOptions;

void load_show(Load *load, const char *what)
{
    int64_t now = clock_ns();

    if (isatty(2) && now - load->shown_ns > PROGRESS_NS) {
        load->shown_ns = now;
        fprintf(stderr, "\r%-30s %10lld", what, (long long)load->loaded);
    }
}

void load_refused(Load *load, int64_t line, const Err *err)
{
    if (load->refused++ >= REFUSED_SHOWN) {
        return;
    }
    fprintf(stderr, STR_FMT ":%lld: " STR_FMT "\n", STR_ARG(load->file), (long long)line,
            STR_ARG(err->message));
}

// ---------------------------------------------------------------------------------------------
// Records of one collection

typedef struct {
    Str text;
    int64_t line;
} Record;

typedef struct {
    Load *load;
    const Collection *of;
    Record at[RECORDS_OF_TX];
    size_t begin, len;
} Batch;

static Err *record_parse(Str text, Json **doc)
{
    TRY(json_parse(text, doc));
    return json_is_object(*doc)
               ? NULL
               : err_text(400, "this is no record but " STR_FMT, STR_ARG(str_sub(text, 0, 40)));
}

static Err *store_record(Tx *tx, const Batch *batch, const Record *record)
{
    ArenaMark mark = arena_mark(arena_current());
    Json *doc = NULL;

    TRY(record_parse(record->text, &doc));
    TRY(tx_insert(tx, batch->of, doc));
    arena_release(arena_current(), mark);
    return NULL;
}

static Err *store_records(Tx *tx, void *context)
{
    const Batch *batch = context;

    for (size_t i = batch->begin; i < batch->len; i++) {
        TRY(store_record(tx, batch, &batch->at[i]));
    }
    return NULL;
}

// A batch with a bad record is taken again record by record: only the bad one is left out.
static void batch_store(Batch *batch)
{
    Db *db = tenant_db(batch->load->tenant);
    TxOptions options = {.kind = WRITE, .is_batch = true};
    size_t len = batch->len;
    ArenaMark mark = arena_mark(arena_current());

    batch->begin = 0;
    Err *err = tx_run(db, &options, store_records, batch);
    for (size_t i = 0; err && i < len; i++) {
        batch->begin = i;
        batch->len = i + 1;
        Err *one = tx_run(db, &options, store_records, batch);
        if (one) {
            load_refused(batch->load, batch->at[i].line, one);
            batch->load->loaded--;
        }
    }
    batch->load->loaded += (int64_t)len;
    batch->len = 0;
    arena_release(arena_current(), mark);
}

static void load_by_rules(Load *load, const Collection *of)
{
    JsonSplitter splitter = json_splitter(load->text, str_of(of->list_key));
    Batch *batch = NEW(Batch);
    Record record;

    *batch = (Batch){.load = load, .of = of};
    while (json_split_next(&splitter, &record.text, &record.line)) {
        batch->at[batch->len++] = record;
        if (batch->len == RECORDS_OF_TX) {
            batch_store(batch);
            load_show(load, of->table);
        }
    }
    if (batch->len) {
        batch_store(batch);
    }
}

// ---------------------------------------------------------------------------------------------
// As they are

static void tell_refused(void *context, int64_t line, const Err *err)
{
    load_refused(context, line, err);
}

static Err *look_for_one(Tx *tx, void *context)
{
    LoadAsIs *loading = context;
    Docs docs = {0};

    TRY(tx_list(tx, loading->of, S("cql.allRecords=1"), 1, &docs));
    loading->was_empty = docs.len == 0;
    return NULL;
}

Err *load_as_is_begin(Load *load, const Collection *of, LoadAsIs *out)
{
    Db *db = tenant_db(load->tenant);

    *out = (LoadAsIs){.load = load, .of = of, .before = load->loaded};
    TRY(tx_run(db, &(TxOptions){.kind = READ}, look_for_one, out));
    TRY(out->was_empty ? db_drop_indexes(db, &of, 1, false) : db_drop_foreign_keys(db, &of, 1));
    return bulk_begin(db, &(BulkOptions){.refused = tell_refused, .context = load}, &out->bulk);
}

Err *load_as_is_put(LoadAsIs *loading, Str text, int64_t line)
{
    ArenaMark mark = arena_mark(arena_current());
    Json *doc = NULL;
    Err *err = record_parse(text, &doc);

    if (!err) {
        err = bulk_put(loading->bulk, loading->of, doc, line);
    }
    if (err && err->status >= 500) {
        return err;
    }
    if (err) {
        load_refused(loading->load, line, err);
    }
    loading->load->loaded++; // as far as is known
    load_show(loading->load, loading->of->table);
    arena_release(arena_current(), mark);
    return NULL;
}

Err *load_as_is_end(LoadAsIs *loading, Err *err)
{
    int64_t loaded = 0, refused = 0;
    Err *ended = bulk_end(loading->bulk, &loaded, &refused);

    loading->load->loaded = loading->before + loaded;
    TRY(err);
    TRY(ended);
    return db_migrate(tenant_db(loading->load->tenant), &loading->of, 1);
}

static Err *load_as_is(Load *load, const Collection *of)
{
    JsonSplitter splitter = json_splitter(load->text, str_of(of->list_key));
    LoadAsIs loading;
    Record record;
    Err *err = NULL;

    TRY(load_as_is_begin(load, of, &loading));
    while (!err && json_split_next(&splitter, &record.text, &record.line)) {
        err = load_as_is_put(&loading, record.text, record.line);
    }
    return load_as_is_end(&loading, err);
}

Err *load_collection(Load *load, const Collection *of, bool as_is)
{
    if (as_is) {
        return load_as_is(load, of);
    }
    load_by_rules(load, of);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Command

static const Collection *collection_at(const Load *load, Str path)
{
    for (const Module *const *module = load->app->modules; *module; module++) {
        const Collection *const *of = (*module)->collections;
        for (; of && *of && tenant_has_module(load->tenant, (*module)->name); of++) {
            if ((*of)->path && str_eq_z(path, (*of)->path)) {
                return *of;
            }
        }
    }
    return NULL;
}

static Err *map_file(Load *load)
{
    const char *name = str_z(load->file);
    struct stat info;
    int file = open(name, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &info)) {
        return err_text(400, "%s: %s", name, strerror(errno));
    }
    size_t size = (size_t)info.st_size;
    void *at = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : "";
    close(file);
    if (at == MAP_FAILED) {
        return err_text(400, "%s: %s", name, strerror(errno));
    }
    load->text = (Str){at, size};
    return NULL;
}

static Err *load_file(App *app, const LoadOptions *options, Str file, Load *load)
{
    *load = (Load){.app = app, .file = file};
    TRY(tenant_find(app, options->tenant, &load->tenant));
    TRY(tenant_migrate(app, load->tenant));
    TRY(map_file(load));
    if (options->dump.len) {
        return load_dump(load);
    }
    const Collection *of = collection_at(load, options->collection);
    if (!of) {
        return err_text(400, "no enabled module has a collection at \"" STR_FMT "\"",
                        STR_ARG(options->collection));
    }
    return load_collection(load, of, options->as_is.len > 0);
}

int load_main(int argc, char **argv)
{
    LoadOptions options = {0};
    const CommandOption own[] = {
        {"tenant", "the library", &options.tenant, false},
        {"collection", "path of the interface the records belong to: /item-storage/items",
         &options.collection, false},
        {"as-is", "keep metadata and computed members, apply no rules", &options.as_is, true},
        {"dump", "a plain dump of FOLIO's database (pg_dump), instead of --collection",
         &options.dump, false},
        {0}};
    CommandLine line = command_line(
        argc, argv, "load --data DIR --tenant T (--collection PATH FILE | --dump FILE.sql)", own);
    Load load = {0};
    App app;

    bool is_dump = options.dump.len > 0;
    if (!options.tenant.len || is_dump == (options.collection.len > 0) ||
        line.words.len != (is_dump ? 0 : 1)) {
        return command_fail(err_text(400, "say what and where: octavo load --help"));
    }
    Err *err = command_open(&line, false, &app);
    if (err) {
        return command_fail(err);
    }
    err = load_file(&app, &options, is_dump ? options.dump : line.words.at[0], &load);
    command_close(&app);
    printf("%lld loaded, %lld refused", (long long)load.loaded, (long long)load.refused);
    printf(is_dump ? ", %lld of unknown tables\n" : "\n", (long long)load.skipped);
    return err ? command_fail(err) : load.refused > 0;
}
