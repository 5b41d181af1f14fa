// The floor's transaction on raw sqlite3: reading its statements, filling a database, measuring.
#include "floor.h"

#include "base/buf.h"
#include "base/date.h"
#include "base/hist.h"
#include "base/uuid.h"

#include "actor.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STATEMENTS_MAX = 128,
    VALUES_MAX = 16,
    FILL_GROUP = 10000,       // rows to a transaction
    CHECKPOINT_FRAMES = 4000, // as Octavo's own limit
    DOCUMENT_MAX = 1 << 16,
    DOCUMENT_MIN = 40,
    DOCUMENT_NUMBER_AT = 23, // last digit of {"number":"...............","text":"...
};

typedef struct {
    enum { VALUE_ID, VALUE_CODE, VALUE_DOC, VALUE_NEW, VALUE_TIME, VALUE_INT } kind;
    Str name;
    int64_t size; // of a document
    bool is_user; // counts u, else n
    int64_t divisor;
} Value;

typedef struct {
    Str sql;
    double factor; // of a fill
    Value values[VALUES_MAX];
    int value_count;
    sqlite3_stmt *prepared;
} Statement;

typedef struct {
    sqlite3 *db;
    Statement at[STATEMENTS_MAX];
    int len;
    int64_t items, users;
    int64_t n, u;      // of the running pass
    StrList new_names; // ids made in this pass
    StrList new_ids;
    int wal_frames;
    Rng rng;
    char document[DOCUMENT_MAX]; // what all documents are copies of
} FloorRun;

static void prepare_document(FloorRun *run)
{
    static const char head[] = "{\"number\":\"0000000000000\",\"text\":\"";

    for (size_t i = 0; i < DOCUMENT_MAX; i++) {
        run->document[i] = i < sizeof head - 1 ? head[i] : (char)('a' + i * 7 % 26);
    }
}

static Err *failed(FloorRun *run, Str sql)
{
    return err_text(500, "%s: " STR_FMT, sqlite3_errmsg(run->db), STR_ARG(sql));
}

static Err *read_value(Str word, Value *value)
{
    static const char *const kinds[] = {"id", "code", "doc", "new", "time", "int"};
    Str rest = word, kind, part = {"", 0};

    (void)str_next(&rest, ':', &kind);
    *value = (Value){.kind = -1, .divisor = 1};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (str_eq_z(kind, kinds[i])) {
            value->kind = (int)i;
        }
    }
    if (value->kind == VALUE_TIME) {
        return NULL;
    }
    if (value->kind != VALUE_INT) {
        (void)str_next(&rest, ':', &value->name);
    }
    bool is_right = (int)value->kind >= 0;
    if (value->kind == VALUE_DOC) {
        is_right = str_int64(value->name, &value->size) && value->size >= DOCUMENT_MIN &&
                   value->size < DOCUMENT_MAX;
    }
    if (value->kind != VALUE_NEW) {
        is_right = is_right && str_next(&rest, '/', &part);
        value->is_user = str_eq_z(part, "u");
        is_right = is_right && (value->is_user || str_eq_z(part, "n"));
        is_right =
            is_right && (!rest.at || (str_int64(rest, &value->divisor) && value->divisor > 0));
    }
    return is_right ? NULL : err_text(400, "\"" STR_FMT "\" is no value", STR_ARG(word));
}

// SQL -- value value ...
static Err *read_statement(Str text, Statement *statement)
{
    ptrdiff_t dashes = str_find(text, S(" -- "), 0);
    Str rest = dashes < 0 ? (Str){0} : str_sub(text, (size_t)dashes + 4, text.len), word;

    statement->sql = dashes < 0 ? text : str_sub(text, 0, (size_t)dashes);
    while (str_next(&rest, ' ', &word)) {
        if (word.len == 0) {
            continue;
        }
        if (statement->value_count == VALUES_MAX) {
            return err_text(400, "too many values: " STR_FMT, STR_ARG(text));
        }
        TRY(read_value(word, &statement->values[statement->value_count++]));
    }
    return NULL;
}

static int64_t number_of(const FloorRun *run, const Value *value)
{
    return ((value->is_user ? run->u : run->n) + value->divisor - 1) / value->divisor;
}

// The id of row i of a table: always the same, spread over the whole range as real ids are.
static Str id_of(Str name, int64_t i)
{
    Rng rng;
    uint64_t hash = 1469598103934665603u;

    for (size_t c = 0; c < name.len; c++) {
        hash = (hash ^ (unsigned char)name.at[c]) * 1099511628211u;
    }
    rng_seed(&rng, hash, (uint64_t)i);
    uint64_t a = rng_next(&rng), b = rng_next(&rng);
    return str_fmt("%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xFFFF), (unsigned)(a & 0xFFF), (unsigned)(b >> 52),
                   (unsigned long long)(b & 0xFFFFFFFFFFFFu));
}

// Made by copying: the price of making it must not count.
static Str document_of(const FloorRun *run, int64_t size, int64_t i)
{
    char *text = arena_alloc(arena_current(), (size_t)size + 1);

    memcpy(text, run->document, (size_t)size);
    for (size_t at = DOCUMENT_NUMBER_AT; i > 0; i /= 10) {
        text[at--] = (char)('0' + i % 10);
    }
    text[size - 2] = '"';
    text[size - 1] = '}';
    return (Str){text, (size_t)size};
}

static Str new_id(FloorRun *run, Str name)
{
    for (size_t i = 0; i < run->new_names.len; i++) {
        if (str_eq(run->new_names.at[i], name)) {
            return run->new_ids.at[i];
        }
    }
    str_list_add(&run->new_names, name);
    str_list_add(&run->new_ids, uuid_new());
    return run->new_ids.at[run->new_ids.len - 1];
}

static void bind_value(FloorRun *run, const Statement *statement, int i)
{
    const Value *value = &statement->values[i];
    // SQLite numbers $n by appearance, not by n.
    int place = sqlite3_bind_parameter_index(statement->prepared, str_z(str_fmt("$%d", i + 1)));
    Str text = {"", 0};

    switch (value->kind) {
    case VALUE_ID:
        text = id_of(value->name, number_of(run, value));
        break;
    case VALUE_CODE:
        text = str_fmt(STR_FMT "%09lld", STR_ARG(value->name), (long long)number_of(run, value));
        break;
    case VALUE_DOC:
        text = document_of(run, value->size, number_of(run, value));
        break;
    case VALUE_NEW:
        text = new_id(run, value->name);
        break;
    case VALUE_TIME:
        sqlite3_bind_int64(statement->prepared, place, time_now());
        return;
    case VALUE_INT:
        sqlite3_bind_int64(statement->prepared, place, number_of(run, value));
        return;
    }
    sqlite3_bind_text(statement->prepared, place, text.at, (int)text.len, SQLITE_STATIC);
}

// All rows are fetched, as a server does.
static Err *run_statement(FloorRun *run, Statement *statement)
{
    int code = SQLITE_ROW;

    if (!statement->prepared &&
        sqlite3_prepare_v3(run->db, statement->sql.at, (int)statement->sql.len,
                           SQLITE_PREPARE_PERSISTENT, &statement->prepared, NULL)) {
        return failed(run, statement->sql);
    }
    for (int i = 0; i < statement->value_count; i++) {
        bind_value(run, statement, i);
    }
    while (code == SQLITE_ROW) {
        code = sqlite3_step(statement->prepared);
        if (code == SQLITE_ROW) {
            (void)sqlite3_column_text(statement->prepared, 0);
        }
    }
    sqlite3_reset(statement->prepared);
    return code == SQLITE_DONE ? NULL : failed(run, statement->sql);
}

static Err *run_sql(FloorRun *run, const char *sql)
{
    return sqlite3_exec(run->db, sql, NULL, NULL, NULL) ? failed(run, str_of(sql)) : NULL;
}

static Err *fill(FloorRun *run, Statement *statement)
{
    int64_t count = (int64_t)(statement->factor * (double)run->items + 0.5);

    count = count < 1 ? 1 : count;
    for (run->n = run->u = 1; run->n <= count; run->u = ++run->n) {
        ArenaMark mark = arena_mark(arena_current());
        if (run->n % FILL_GROUP == 1) {
            TRY(run_sql(run, "BEGIN"));
        }
        TRY(run_statement(run, statement));
        arena_release(arena_current(), mark);
        if (run->n % FILL_GROUP == 0 || run->n == count) {
            TRY(run_sql(run, "COMMIT"));
        }
    }
    if (str_find(statement->sql, S("INTO users"), 0) >= 0) {
        run->users = count;
    }
    sqlite3_finalize(statement->prepared);
    statement->prepared = NULL;
    return NULL;
}

static Err *read_line(FloorRun *run, Str line)
{
    Statement statement = {0};
    Str word;

    if (line.len == 0 || line.at[0] == '#') {
        return NULL;
    }
    (void)str_next(&line, ' ', &word);
    if (str_eq_z(word, "schema")) {
        return run_sql(run, str_z(line));
    }
    if (str_eq_z(word, "fill")) {
        (void)str_next(&line, ' ', &word);
        if (!str_double(word, &statement.factor)) {
            return err_text(400, "fill needs a factor, not \"" STR_FMT "\"", STR_ARG(word));
        }
        TRY(read_statement(line, &statement));
        return fill(run, &statement);
    }
    if (!str_eq_z(word, "do") || run->len == STATEMENTS_MAX) {
        return err_text(400, "expected schema, fill or do (at most %d), not \"" STR_FMT "\"",
                        STATEMENTS_MAX, STR_ARG(word));
    }
    return read_statement(line, &run->at[run->len++]);
}

static int count_frames(void *context, sqlite3 *db, const char *name, int frames)
{
    (void)db;
    (void)name;
    ((FloorRun *)context)->wal_frames = frames;
    return SQLITE_OK;
}

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

// One commit with `size` transactions, each behind a savepoint as in a group commit.
static Err *run_group(FloorRun *run, int size)
{
    TRY(run_sql(run, "BEGIN IMMEDIATE"));
    for (int i = 0; i < size; i++) {
        ArenaMark mark = arena_mark(arena_current());
        run->n = rng_between(&run->rng, 1, run->items);
        run->u = rng_between(&run->rng, 1, run->users);
        run->new_names = run->new_ids = (StrList){0};
        TRY(run_sql(run, "SAVEPOINT member"));
        for (int s = 0; s < run->len; s++) {
            TRY(run_statement(run, &run->at[s]));
        }
        TRY(run_sql(run, "RELEASE member"));
        arena_release(arena_current(), mark);
    }
    return run_sql(run, "COMMIT");
}

// Checkpoints are part of the price, but not of a group's own time.
static Err *measure(FloorRun *run, int which, double seconds, Floor *floor)
{
    const int size = which ? 20 : 1;
    Hist *groups = hist_new(3, (int64_t)60 * 1000000);
    int64_t begin = clock_ns(), end = begin + (int64_t)(seconds * 1e9);
    int64_t cpu = thread_cpu_ns(), count = 0;
    Err *err = NULL;

    while (!err && clock_ns() < end) {
        int64_t from = clock_ns();
        err = run_group(run, size);
        hist_record(groups, (clock_ns() - from) / 1000);
        count += size;
        if (run->wal_frames > CHECKPOINT_FRAMES) {
            sqlite3_wal_checkpoint_v2(run->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
            run->wal_frames = 0;
        }
    }
    double wall_s = (double)(clock_ns() - begin) / 1e9;
    floor->cpu_us[which] = (double)(thread_cpu_ns() - cpu) / 1e3 / (double)count;
    floor->wall_us[which] = (double)hist_percentile(groups, 50) / size;
    floor->group_p99_us[which] = (double)hist_percentile(groups, 99);
    floor->per_s[which] = (double)count / wall_s;
    hist_free(groups);
    return err;
}

static Err *open_database(FloorRun *run, const char *name)
{
    if (sqlite3_open(name, &run->db)) {
        return failed(run, str_of(name));
    }
    TRY(run_sql(run, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
                     "wal_autocheckpoint=0; PRAGMA cache_size=-32768; PRAGMA mmap_size=2147418112; "
                     "PRAGMA temp_store=FILE"));
    sqlite3_wal_hook(run->db, count_frames, run);
    return NULL;
}

static Err *measure_all(FloorRun *run, const FloorDatabase *database, Floor *floor)
{
    Str rest = database->statements, line;

    while (str_next(&rest, '\n', &line)) {
        TRY(read_line(run, str_trim(line)));
    }
    if (run->len == 0 || run->users == 0) {
        return err_text(400, "the statements make no table users or do nothing");
    }
    sqlite3_wal_checkpoint_v2(run->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    TRY(measure(run, 0, database->seconds, floor));
    return measure(run, 1, database->seconds, floor);
}

Err *floor_measure_database(const FloorDatabase *database, Floor *floor)
{
    FloorRun *run = NEW(FloorRun);
    const char *name = str_z(str_fmt("%s/octavo-floor-%d.db", database->folder, (int)getpid()));

    run->items = database->items;
    rng_seed(&run->rng, 1, 0);
    prepare_document(run);
    Err *err = open_database(run, name);
    if (!err) {
        err = measure_all(run, database, floor);
    }
    for (int i = 0; i < run->len; i++) {
        sqlite3_finalize(run->at[i].prepared);
    }
    sqlite3_close(run->db);
    unlink(name);
    unlink(str_z(str_fmt("%s-wal", name)));
    unlink(str_z(str_fmt("%s-shm", name)));
    return err;
}
