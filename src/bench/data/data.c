// octavo bench data: makes a library by recipe, restores it, checks it.
#include "data.h"

#include "base/die.h"
#include "bench/bench.h"
#include "modules/administrator.h"
#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-permissions/collections.h"
#include "modules/mod-users/collections.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READERS_MAX = 8,
    PROGRESS_NS = 200000000,
};

#define CACHE_BYTES       ((int64_t)768 << 20) // nobody else is served meanwhile
#define CHECK_CACHE_BYTES ((int64_t)16 << 20)
#define ID_SPACE          "6f1d9a52-1f0e-5a0c-9d52-6b6f63746176"

static const char usage[] =
    "octavo bench data make --recipe NAME --data DIR [--database URL] [--seed 1] [--tenant diku]\n"
    "octavo bench data reset --data DIR|--database URL [--tenant diku]\n"
    "octavo bench data check --data DIR|--database URL [--tenant diku]\n\n"
    "make   a new library with users, titles, items, loans and requests, all data files of the\n"
    "       built-in plans in DIR/inputs, and a copy of the prepared database for reset\n"
    "reset  the prepared database again, after load was played on it; prints its checksum\n"
    "check  what must hold at any time (an open loan for each item on loan ...); exit code 1 if\n"
    "       something does not\n\n"
    "Recipes: tiny (4,000 items), small (40,000), seed (400,000), large (1,000,000),\n"
    "         huge (7,200,000). Nothing else may use DIR or the database meanwhile.\n"
    "With --database=postgres://... the library is made in that database, the files of the plans\n"
    "in DIR; the role must be allowed to make databases.\n";

static const Recipe recipes[] = {
    {.name = "tiny",
     .instances = 2000,
     .items_per_holdings = 2,
     .users = 500,
     .loans = 300,
     .requests = 200,
     .rtac_large = 500},
    {.name = "small",
     .instances = 20000,
     .items_per_holdings = 2,
     .users = 5000,
     .loans = 5158,
     .requests = 3809,
     .rtac_large = 5000},
    {.name = "seed",
     .instances = 400000,
     .items_per_holdings = 1,
     .users = 82525,
     .loans = 5158,
     .requests = 3809,
     .available_max = 372817,
     .rtac_large = 5000},
    {.name = "large",
     .instances = 500000,
     .items_per_holdings = 2,
     .users = 82525,
     .loans = 5158,
     .requests = 3809,
     .rtac_large = 5000},
    {.name = "huge",
     .instances = 7200000,
     .items_per_holdings = 1,
     .users = 82525,
     .loans = 5158,
     .requests = 3809},
};

const Recipe *recipe_find(Str name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        if (str_eq_z(name, recipes[i].name)) {
            return &recipes[i];
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// What the makers of records use

Str maker_id(const Maker *maker, const char *kind, int64_t n)
{
    return maker_id_in(maker, "", kind, n);
}

// "<set><kind> <n>"; written without printf, which would cost more than the id.
Str maker_id_in(const Maker *maker, const char *set, const char *kind, int64_t n)
{
    char name[64], *end = name + sizeof name, *at = end;
    size_t set_len = strlen(set), kind_len = strlen(kind);

    do {
        *--at = (char)('0' + n % 10);
    } while (n /= 10);
    *--at = ' ';
    if (set_len + kind_len > (size_t)(at - name)) {
        die("the kind of record %s%s has too long a name", set, kind);
    }
    at = memcpy(at - kind_len, kind, kind_len);
    at = memcpy(at - set_len, set, set_len);
    return uuid_of_name(maker->space, (Str){at, (size_t)(end - at)});
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint64_t maker_draw(const Maker *maker, int64_t n, const char *use, uint64_t below)
{
    uint64_t state = mix(maker->seed + 0x9E3779B97F4A7C15u);

    for (; *use; use++) {
        state = state * 31 + (unsigned char)*use;
    }
    return mix(state ^ mix((uint64_t)n + 0x9E3779B97F4A7C15u)) % below;
}

static void show(Maker *maker, bool is_end)
{
    int64_t now = clock_ns();

    if (!is_end && now - maker->shown_ns < PROGRESS_NS) {
        return;
    }
    maker->shown_ns = now;
    double seconds = (double)(now - maker->stage_ns) / 1e9;
    if (isatty(2) || is_end) {
        fprintf(stderr, "%s%-24s %9lld  %6.1f s%s", isatty(2) ? "\r" : "", maker->stage,
                (long long)maker->stage_records, seconds, is_end ? "\n" : "");
    }
}

void maker_stage(Maker *maker, const char *stage)
{
    if (maker->stage) {
        show(maker, true);
    }
    maker->stage = stage;
    maker->stage_records = 0;
    maker->stage_ns = maker->shown_ns = clock_ns();
}

Err *maker_put(Maker *maker, const Collection *of, Json *doc)
{
    maker->records++;
    maker->stage_records++;
    show(maker, false);
    return bulk_put(maker->bulk, of, doc, 0);
}

// ---------------------------------------------------------------------------------------------
// The prepared copy

typedef struct {
    Str recipe, seed, data, database, tenant;
} DataOptions;

static Str prepared_file(Str folder, Str tenant)
{
    return str_fmt(STR_FMT "/prepared/" STR_FMT ".db", STR_ARG(folder), STR_ARG(tenant));
}

static Err *file_error(const char *name)
{
    return err_text(500, "%s: %s", name, strerror(errno));
}

static Err *folder_make(Str folder)
{
    return mkdir(str_z(folder), 0750) && errno != EEXIST ? file_error(str_z(folder)) : NULL;
}

static Err *copy_open_files(FILE *from, FILE *to, const char *name, uint64_t *checksum)
{
    static uint64_t words[1 << 17];
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t n = 1; n;) {
        n = fread(words, 1, sizeof words, from);
        memset((char *)words + n, 0, sizeof words - n);
        for (size_t i = 0; i < (n + 7) / 8; i++) {
            sum = (sum ^ words[i]) * 0x100000001b3u;
        }
        if (fwrite(words, 1, n, to) != n) {
            return file_error(name);
        }
    }
    *checksum = sum;
    return ferror(from) || fflush(to) || fdatasync(fileno(to)) ? file_error(name) : NULL;
}

// Copies and sums up in one pass; the copy appears under its name when it is whole.
static Err *copy_file(Str from_name, Str to_name, uint64_t *checksum)
{
    const char *from_z = str_z(from_name), *to_z = str_z(to_name);
    const char *half = str_z(str_fmt("%s.half", to_z));
    FILE *from = fopen(from_z, "rb");
    FILE *to = from ? fopen(half, "wb") : NULL;
    Err *err = !from ? file_error(from_z) : !to ? file_error(half) : NULL;

    if (!err) {
        err = copy_open_files(from, to, half, checksum);
    }
    if (from) {
        fclose(from);
    }
    if (to && fclose(to) && !err) {
        err = file_error(half);
    }
    return !err && rename(half, to_z) ? file_error(to_z) : err;
}

static Str database_file(const DataOptions *options)
{
    return str_fmt(STR_FMT "/" STR_FMT ".db", STR_ARG(options->data), STR_ARG(options->tenant));
}

static Err *prepared_keep(const DataOptions *options)
{
    uint64_t checksum = 0;

    TRY(folder_make(str_fmt(STR_FMT "/prepared", STR_ARG(options->data))));
    TRY(copy_file(database_file(options), prepared_file(options->data, options->tenant),
                  &checksum));
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return NULL;
}

static Err *data_reset(const DataOptions *options)
{
    int64_t begun = clock_ns();
    uint64_t checksum = 0;
    Str file = database_file(options);

    if (options->database.len) {
        TRY(postgres_reset(options->database));
        printf("reset in %.2f s\n", (double)(clock_ns() - begun) / 1e9);
        return NULL;
    }

    if (access(str_z(str_fmt(STR_FMT "-wal", STR_ARG(file))), F_OK) == 0) {
        // Left behind by a process that was killed; its content belongs to the old file.
        unlink(str_z(str_fmt(STR_FMT "-wal", STR_ARG(file))));
        unlink(str_z(str_fmt(STR_FMT "-shm", STR_ARG(file))));
    }
    TRY(copy_file(prepared_file(options->data, options->tenant), file, &checksum));
    printf("reset in %.2f s, checksum %016llx\n", (double)(clock_ns() - begun) / 1e9,
           (unsigned long long)checksum);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Making

static const Collection *const loaded_collections[] = {
    &users,    &permission_users,      &instances, &holdings, &items, &loans, &loan_history,
    &requests, &patron_action_sessions};

enum {
    LOADED = sizeof loaded_collections / sizeof *loaded_collections,
};

static Err *records_put(Maker *maker)
{
    TRY(people_make(maker));
    TRY(stock_make(maker));
    TRY(circulation_make(maker));
    return rtac_make(maker);
}

static Err *records_make(Maker *maker)
{
    int64_t loaded = 0, refused = 0;

    TRY(library_make(maker));
    TRY(db_drop_indexes(maker->db, loaded_collections, LOADED, true));
    TRY(bulk_begin(maker->db, &(BulkOptions){.now = maker->today}, &maker->bulk));
    Err *err = records_put(maker);
    Err *ended = bulk_end(maker->bulk, &loaded, &refused);
    TRY(err);
    TRY(ended);
    maker_stage(maker, "indexes");
    TRY(db_migrate(maker->db, loaded_collections, LOADED));
    maker_stage(maker, NULL);
    return library_finish(maker);
}

static Err *tenant_make(App *app, const DataOptions *options, Maker *maker)
{
    Tenant *tenant = NULL;

    TRY(tenant_create(app, options->tenant, S("Demo library"), S("")));
    TRY(tenant_enable(app, options->tenant, NULL, true, false));
    TRY(administrator_create(app, options->tenant, S("diku_admin"), S("admin")));
    TRY(tenant_find(app, options->tenant, &tenant));
    maker->db = tenant_db(tenant);
    return NULL;
}

// The databases are made in a folder of their own, without waiting for the disk, and appear under
// their names when they are whole and on the disk.
static Str making_folder(const DataOptions *options)
{
    return str_fmt(STR_FMT "/making", STR_ARG(options->data));
}

// What a make that broke off left behind.
static Err *making_clear(const DataOptions *options)
{
    const char *folder = str_z(making_folder(options));
    DIR *dir = opendir(folder);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        unlinkat(dirfd(dir), entry->d_name, 0); // not for "." and ".."
    }
    if (dir) {
        closedir(dir);
    }
    return rmdir(folder) && errno != ENOENT ? file_error(folder) : NULL;
}

static Err *database_publish(int from, int to, const char *name)
{
    int file = openat(from, name, O_RDWR | O_CLOEXEC);
    bool is_safe = file >= 0 && fsync(file) == 0 && renameat(from, name, to, name) == 0;
    Err *err = is_safe ? NULL : file_error(name);

    if (file >= 0) {
        close(file);
    }
    return err;
}

static Err *making_publish(const DataOptions *options)
{
    DIR *from = opendir(str_z(making_folder(options))), *to = opendir(str_z(options->data));
    Err *err = from && to ? NULL : file_error(str_z(options->data));

    for (struct dirent *entry; !err && (entry = readdir(from));) {
        if (str_ends(str_of(entry->d_name), S(".db"))) {
            err = database_publish(dirfd(from), dirfd(to), entry->d_name);
        }
    }
    if (!err && fsync(dirfd(to))) {
        err = file_error(str_z(options->data));
    }
    if (from) {
        closedir(from);
    }
    if (to) {
        closedir(to);
    }
    return err ? err : making_clear(options);
}

static Err *app_open(const DataOptions *options, App *app)
{
    bool is_embedded = !options->database.len;
    StoreOptions store = {.dir = is_embedded ? making_folder(options) : (Str){0},
                          .url = options->database,
                          .cache_bytes = CACHE_BYTES,
                          .readers_max = READERS_MAX,
                          .is_building = true};

    TRY(folder_make(options->data));
    if (is_embedded) {
        TRY(making_clear(options));
    }
    *app = (App){.modules = all_modules};
    TRY(store_open(&store, &app->store));
    Err *err = gateway_start(app);
    if (err) {
        gateway_stop(app);
        store_close(app->store);
    }
    return err;
}

static void app_close(App *app)
{
    store_close(app->store);
    gateway_stop(app);
}

static Err *maker_new(const DataOptions *options, Maker *maker)
{
    int64_t seed = 0;

    *maker = (Maker){.recipe = recipe_find(options->recipe),
                     .folder = options->data,
                     .tenant = options->tenant,
                     .today = time_now() / DAY_MS * DAY_MS};
    if (!maker->recipe) {
        return err_text(400, "there is no recipe \"" STR_FMT "\"", STR_ARG(options->recipe));
    }
    if (!str_int64(options->seed, &seed) || seed < 0) {
        return err_text(400, "the seed is a number from 0 on");
    }
    maker->seed = (uint64_t)seed;
    maker->space = uuid_of_name(S(ID_SPACE), str_fmt("seed %lld", (long long)seed));
    return NULL;
}

static Err *tenant_fill(const DataOptions *options, Maker *maker)
{
    App app;

    TRY(app_open(options, &app)); // the process ends on errors: nothing to give back
    maker->stage = "tenant";
    maker->stage_ns = clock_ns();
    Err *err = tenant_make(&app, options, maker);
    if (!err) {
        err = records_make(maker);
    }
    app_close(&app);
    return err || options->database.len ? err : making_publish(options);
}

static Err *data_make(const DataOptions *options)
{
    int64_t begun = clock_ns();
    Maker maker;

    TRY(maker_new(options, &maker));
    if (!options->database.len && access(str_z(database_file(options)), F_OK) == 0) {
        return err_text(400, STR_FMT " exists: make begins with an empty folder",
                        STR_ARG(database_file(options)));
    }
    TRY(tenant_fill(options, &maker));
    TRY(inputs_write(&maker));
    if (options->database.len) {
        TRY(postgres_keep(options->database));
    }
    printf("%s: %lld records in %.1f s\n", maker.recipe->name, (long long)maker.records,
           (double)(clock_ns() - begun) / 1e9);
    return options->database.len ? NULL : prepared_keep(options);
}

Err *library_of_recipe(Str recipe, Str folder)
{
    DataOptions options = {.recipe = recipe, .seed = S("1"), .data = folder, .tenant = S("diku")};
    Maker maker;

    TRY(maker_new(&options, &maker));
    return tenant_fill(&options, &maker);
}

Err *library_copy(Str folder, Str file)
{
    uint64_t checksum = 0;

    return copy_file(prepared_file(folder, S("diku")), file, &checksum);
}

// Reads only, so that it may look at the data of a server at work.
static Err *check_tenant(const DataOptions *options, int *violations)
{
    StoreOptions store = {.dir = options->data,
                          .url = options->database,
                          .cache_bytes = CHECK_CACHE_BYTES,
                          .readers_max = READERS_MAX,
                          .beside_server = true};
    Store *opened = NULL;
    Db *db = NULL;

    TRY(store_open(&store, &opened));
    Err *err = db_open(opened, options->tenant, false, &db);
    if (!err) {
        err = data_check(db, violations);
    }
    store_close(opened);
    return err;
}

// ---------------------------------------------------------------------------------------------
// Command line

static Err *read_arguments(DataOptions *options, int argc, char **argv)
{
    const struct {
        const char *name;
        Str *value;
    } known[] = {{"--recipe", &options->recipe}, {"--seed", &options->seed},
                 {"--data", &options->data},     {"--database", &options->database},
                 {"--tenant", &options->tenant}, {0}};

    for (int i = 1; i < argc; i++) {
        Str name = str_of(argv[i]);
        ptrdiff_t equals = str_find_char(name, '=', 0);
        const char *value = equals > 0 ? argv[i] + equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        size_t k = 0;
        name = equals > 0 ? str_sub(name, 0, (size_t)equals) : name;
        while (known[k].name && !str_eq_z(name, known[k].name)) {
            k++;
        }
        if (!known[k].name || !value) {
            return err_text(400, STR_FMT ": unknown, or without its value", STR_ARG(name));
        }
        *known[k].value = str_of(value);
    }
    if (options->database.len && !str_starts(options->database, S("postgres"))) {
        return err_text(400, "a database is postgres://...");
    }
    bool needs_folder = !options->database.len || strcmp(argv[0], "make") == 0;
    return options->data.len || !needs_folder ? NULL : err_text(400, "say where: --data DIR");
}

static int fail(const Err *err, int code)
{
    fprintf(stderr, "octavo bench data: " STR_FMT "\n", STR_ARG(err->message));
    return code;
}

int bench_data(int argc, char **argv)
{
    DataOptions options = {.recipe = S("tiny"), .seed = S("1"), .tenant = S("diku")};
    const char *what = argc > 0 ? argv[0] : "--help";
    int violations = 0;

    if (strcmp(what, "--help") == 0 || (argc > 1 && strcmp(argv[1], "--help") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    log_set(LOG_WARN, false);
    Err *err = read_arguments(&options, argc, argv);
    if (err) {
        return fail(err, 3);
    }
    if (strcmp(what, "make") == 0) {
        err = data_make(&options);
    } else if (strcmp(what, "reset") == 0) {
        err = data_reset(&options);
    } else if (strcmp(what, "check") == 0) {
        err = check_tenant(&options, &violations);
    } else {
        fputs(usage, stderr);
        return 3;
    }
    return err ? fail(err, 1) : violations > 0;
}
