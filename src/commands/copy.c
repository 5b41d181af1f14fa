// octavo migrate --from --to: libraries from one database system into another.
//
// Tenants go first and the process's own database, which lists them, last: a server on a target
// that is not complete serves nobody. Notes of the copies are removed when all is verified.
#include "commands/copy.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROGRESS_NS = 500000000,
    CONNECTIONS = 4,
};

#define OWN S("octavo") // the process's own database

typedef struct {
    const CommandLine *line;
    Store *from, *to;
    Str tenant; // only this one
    StrList copied;
    Str shown; // whose progress is shown
    int64_t shown_ns;
    bool differs;
} Copying;

// ---------------------------------------------------------------------------------------------
// "sqlite:DIR", "sqlite:DIR/tenant.db", "postgres://..."

static bool is_folder(Str path)
{
    struct stat info;
    return stat(str_z(path), &info) == 0 && S_ISDIR(info.st_mode);
}

static void split_file(Str path, Str *folder, Str *tenant)
{
    size_t slash = path.len;

    while (slash && path.at[slash - 1] != '/') {
        slash--;
    }
    *folder = slash ? str_sub(path, 0, slash) : S(".");
    *tenant = str_sub(path, slash, path.len - (sizeof ".db" - 1));
}

static Err *place_of(Str text, bool may_make, StoreOptions *options, Str *tenant)
{
    if (str_starts(text, S("postgres://")) || str_starts(text, S("postgresql://"))) {
        options->url = text;
        return NULL;
    }
    if (!str_starts(text, S("sqlite:"))) {
        return err_text(400, "a place is sqlite:FOLDER, sqlite:FOLDER/TENANT.db or postgres://...");
    }
    options->dir = str_sub(text, sizeof "sqlite:" - 1, text.len);
    if (str_ends(options->dir, S(".db")) && !is_folder(options->dir)) {
        split_file(options->dir, &options->dir, tenant);
    }
    if (may_make) {
        mkdir(str_z(options->dir), 0750);
    }
    return is_folder(options->dir) ? NULL
                                   : err_text(400, STR_FMT " is no folder", STR_ARG(options->dir));
}

// ---------------------------------------------------------------------------------------------
// One database

static void show(void *context, const char *what, int64_t records)
{
    Copying *copying = context;
    int64_t now = clock_ns();

    if (isatty(2) && now - copying->shown_ns > PROGRESS_NS) {
        copying->shown_ns = now;
        fprintf(stderr, "\r" STR_FMT ": %-44s %10lld", STR_ARG(copying->shown), what,
                (long long)records);
    }
}

static Err *copy_one(Copying *copying, Str name, DbCopy *copy)
{
    Db *from = NULL, *to = NULL;
    StrList differences = {0};
    int64_t begun = clock_ns();

    copying->shown = name;
    copy->positions = &relay_positions;
    copy->progress = show;
    copy->context = copying;
    TRY(db_open(copying->from, name, false, &from));
    TRY(db_open(copying->to, name, true, &to));
    TRY(db_copy(from, to, copy));
    TRY(db_compare(from, to, copy, &differences));
    fprintf(stderr, isatty(2) ? "\r%75s\r" : "", "");
    for (size_t i = 0; i < differences.len; i++) {
        fprintf(stderr, "octavo: " STR_FMT ": " STR_FMT "\n", STR_ARG(name),
                STR_ARG(differences.at[i]));
        copying->differs = true;
    }
    str_list_add(&copying->copied, name);
    printf(STR_FMT ": %lld records copied in %.1f s, %s\n", STR_ARG(name), (long long)copy->records,
           (double)(clock_ns() - begun) / 1e9,
           differences.len ? "NOT the same on both sides" : "the same on both sides");
    fflush(stdout);
    return NULL;
}

// The target was filled without waiting for the disk: what is committed now takes all before it
// along. The process's own database comes last.
static Err *end_all(Copying *copying, StoreOptions options)
{
    options.is_building = false;
    store_close(copying->to);
    copying->to = NULL;
    TRY(store_open(&options, &copying->to));
    for (size_t i = 0; i < copying->copied.len; i++) {
        Db *to = NULL;
        TRY(db_open(copying->to, copying->copied.at[i], false, &to));
        TRY(db_copy_end(to));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// One tenant into a store that may have others; all into an empty one

static Err *copy_tenant(Copying *copying)
{
    App app = {.modules = all_modules, .config = copying->line->config, .store = copying->to};
    DbCopy copy = {0};

    Err *err = gateway_start(&app);
    if (!err) {
        err = copy_one(copying, copying->tenant, &copy);
    }
    if (!err && !copying->differs) {
        err = tenant_adopt(&app, copying->from, copying->tenant);
    }
    gateway_stop(&app);
    return err;
}

static Err *copy_all(Copying *copying)
{
    StrList names = {0}, others = {0};
    DbCopy own = {0};
    Db *to = NULL;

    TRY(db_names(copying->from, &names));
    TRY(db_names(copying->to, &others));
    TRY(db_open(copying->to, OWN, true, &to));
    TRY(db_copy_begin(to, &own));
    if (!own.goes_on && others.len) {
        return err_text(400, "the target has tenants already: copy one by one, with --tenant");
    }
    for (size_t i = 0; i < names.len; i++) {
        // When this was stopped while it removed the notes, a tenant without them is complete.
        DbCopy copy = {.may_be_complete = own.goes_on};
        TRY(copy_one(copying, names.at[i], &copy));
    }
    return copy_one(copying, OWN, &own);
}

static Err *copy_stores(Copying *copying, const StoreOptions *from, const StoreOptions *to)
{
    TRY(store_open(from, &copying->from));
    TRY(store_open(to, &copying->to));
    gateway_register(all_modules);
    TRY(copying->tenant.len ? copy_tenant(copying) : copy_all(copying));
    if (copying->differs) {
        return err_text(500, "the target is not a true copy: drop it and begin anew");
    }
    return end_all(copying, *to);
}

int copy_main(const CommandLine *line, Str from, Str to, Str tenant)
{
    StoreOptions ours = {.readers_max = CONNECTIONS}, theirs = {.readers_max = CONNECTIONS};
    Copying copying = {.line = line};
    Str from_file = {0}, to_file = {0};

    ours.cache_bytes = theirs.cache_bytes = config_int(line->config, "memory.cache_mib") << 20;
    Err *err = place_of(from, false, &ours, &from_file);
    if (!err) {
        err = place_of(to, true, &theirs, &to_file);
    }
    // A server keeps what it was given whole, though nobody waits for its disk; a file would be
    // torn.
    theirs.is_building = theirs.url.len > 0;
    copying.tenant = tenant.len ? tenant : from_file;
    if (!err && ((from_file.len && !str_eq(from_file, copying.tenant)) ||
                 (to_file.len && !str_eq(to_file, copying.tenant)))) {
        err = err_text(400, "a tenant keeps its name: the files and --tenant must agree");
    }
    if (!err) {
        err = copy_stores(&copying, &ours, &theirs);
    }
    store_close(copying.to);
    store_close(copying.from);
    return err ? command_fail(err) : 0;
}
