// octavo migrate and backup: the administrator's commands beside a running or stopped server.
#include "commands/copy.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int update_all(const CommandLine *line)
{
    StrList names = {0};
    App app;

    // Starting the gateway brings the process's own database up to date.
    Err *err = command_open(line, false, &app);
    if (err) {
        return command_fail(err);
    }
    err = db_names(app.store, &names);
    for (size_t i = 0; !err && i < names.len; i++) {
        Tenant *tenant = NULL;
        int64_t begun = clock_ns();
        if (tenant_find(&app, names.at[i], &tenant)) { // a crash came before its data went, too
            fprintf(stderr, "octavo: " STR_FMT " is no tenant: left alone\n", STR_ARG(names.at[i]));
            continue;
        }
        err = tenant_migrate(&app, tenant);
        if (!err) {
            printf(STR_FMT ": up to date after %d ms\n", STR_ARG(names.at[i]),
                   (int)((clock_ns() - begun) / 1000000));
        }
    }
    command_close(&app);
    return err ? command_fail(err) : 0;
}

int migrate_main(int argc, char **argv)
{
    Str from = {0}, to = {0}, tenant = {0};
    const CommandOption own[] = {
        {"from", "copy from here: sqlite:FOLDER, sqlite:FOLDER/TENANT.db, postgres://...", &from,
         false},
        {"to", "copy to here; goes on where an earlier run was stopped", &to, false},
        {"tenant", "copy only this tenant", &tenant, false},
        {0}};
    CommandLine line = command_line(
        argc, argv, "migrate --data DIR | --database URL | --from PLACE --to PLACE", own);

    if (!from.len && !to.len) {
        return update_all(&line);
    }
    if (!from.len || !to.len) {
        return command_fail(err_text(400, "say both: --from PLACE --to PLACE"));
    }
    int code = copy_main(&line, from, to, tenant);
    config_free(line.config);
    return code;
}

static Str backup_file(Str to, Str name)
{
    return str_fmt(STR_FMT "/" STR_FMT ".db", STR_ARG(to), STR_ARG(name));
}

static Err *backup_one(Store *store, Str name, Str to)
{
    Str file = backup_file(to, name);
    Db *db = NULL;

    TRY(db_open(store, name, false, &db));
    TRY(db_backup(db, str_z(file)));
    printf(STR_FMT "\n", STR_ARG(file));
    return NULL;
}

static bool is_there(Store *store, Str name)
{
    StrList names = {0};

    return db_names(store, &names) || str_list_has(&names, name);
}

// First what says which modules each library has: a module's tables and records are complete before
// it is enabled, so the copies made later have them.
static Err *backup_all(Store *store, Str to)
{
    StrList names = {0};

    TRY(backup_one(store, S("octavo"), to));
    TRY(db_names(store, &names));
    for (size_t i = 0; i < names.len; i++) {
        Err *err = backup_one(store, names.at[i], to);
        // Of a file that was removed under way even a copy that succeeds may lack what its log had.
        if (!is_there(store, names.at[i])) {
            unlink(str_z(backup_file(to, names.at[i])));
            fprintf(stderr,
                    "octavo: " STR_FMT " was deleted meanwhile: the copy has its name only\n",
                    STR_ARG(names.at[i]));
        } else if (err) {
            return err;
        }
    }
    return NULL;
}

int backup_main(int argc, char **argv)
{
    Str to = {0}, tenant = {0};
    const CommandOption own[] = {{"to", "folder for the copies; must not exist yet", &to, false},
                                 {"tenant", "only this tenant's database", &tenant, false},
                                 {0}};
    CommandLine line = command_line(argc, argv, "backup --data DIR --to FOLDER [--tenant T]", own);
    Store *store = NULL;

    if (config_text(line.config, "database.url").len) {
        return command_fail(err_text(
            400,
            "a PostgreSQL database is copied with its own tools: pg_dump "
            "--schema='octavo_TENANT' (one library), pg_basebackup (everything, to any time)"));
    }
    if (!to.len || !line.data.len) {
        return command_fail(err_text(400, "say what and whereto: --data DIR --to FOLDER"));
    }
    if (mkdir(str_z(to), 0750) != 0) {
        return command_fail(
            err_text(400, STR_FMT " cannot be made; a backup needs a new folder", STR_ARG(to)));
    }
    StoreOptions options = {.dir = line.data, .readers_max = 2, .beside_server = true};
    Err *err = store_open(&options, &store);
    if (!err) {
        err = tenant.len ? backup_one(store, tenant, to) : backup_all(store, to);
        store_close(store);
    }
    config_free(line.config);
    return err ? command_fail(err) : 0;
}
