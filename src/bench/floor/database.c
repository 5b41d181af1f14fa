// The floor's transaction on raw sqlite3: reading its statements, measuring them in a library.
#include "floor.h"

#include "base/buf.h"
#include "base/date.h"
#include "base/hist.h"
#include "base/uuid.h"

#include "bench/plan/actor.h"

#include <sqlite3.h>
#include <string.h>
#include <time.h>

enum {
    PICKS_MAX = 4,
    COLUMNS_MAX = 8,
    STATEMENTS_MAX = 64,
    VALUES_MAX = 32,
    CHECKPOINT_FRAMES = 4000, // as Octavo's own limit
    SAVEPOINT_BYTES = 512 * 1024,
    DOCUMENT_MAX = 1 << 16,
    DOCUMENT_MIN = 40,
};

// Records that a check-out may be about: all rows of a query.
typedef struct {
    Str name;
    Str columns[COLUMNS_MAX];
    size_t width;
    StrList cells; // row by row
    int64_t rows;
    int64_t row; // of the running pass
} Pick;

typedef struct {
    enum { VALUE_TEXT, VALUE_NULL, VALUE_INT, VALUE_DOC, VALUE_NEW, VALUE_NOW, VALUE_PICK } kind;
    Str text;
    int64_t number; // integer, bytes of a document, milliseconds from now
    const Pick *pick;
    size_t column;
} Value;

typedef struct {
    Str sql;
    Value values[VALUES_MAX];
    int places[VALUES_MAX]; // SQLite numbers $n by appearance, not by n
    int value_count;
    sqlite3_stmt *prepared;
} Statement;

typedef struct {
    sqlite3 *db;
    Pick picks[PICKS_MAX];
    size_t pick_count;
    Statement at[STATEMENTS_MAX];
    int len;
    Statement begin, savepoint, release, commit;
    int64_t used;      // rows of the first pick
    StrList new_names; // ids made in this pass
    StrList new_ids;
    int wal_frames;
    Rng rng;
    char document[DOCUMENT_MAX]; // what all documents are copies of
} FloorRun;

static Err *failed(FloorRun *run, Str sql)
{
    return err_text(500, "%s: " STR_FMT, sqlite3_errmsg(run->db), STR_ARG(sql));
}

static Err *prepare(FloorRun *run, Statement *statement)
{
    if (sqlite3_prepare_v3(run->db, statement->sql.at, (int)statement->sql.len,
                           SQLITE_PREPARE_PERSISTENT, &statement->prepared, NULL)) {
        return failed(run, statement->sql);
    }
    for (int i = 0; i < statement->value_count; i++) {
        statement->places[i] =
            sqlite3_bind_parameter_index(statement->prepared, str_z(str_fmt("$%d", i + 1)));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Reading the file

static bool read_pick_value(FloorRun *run, Str word, Value *value)
{
    Str rest = word, name;

    if (!str_next(&rest, '.', &name)) {
        return false;
    }
    for (size_t p = 0; p < run->pick_count; p++) {
        const Pick *pick = &run->picks[p];
        for (size_t c = 0; str_eq(pick->name, name) && c < pick->width; c++) {
            if (str_eq(pick->columns[c], rest)) {
                *value = (Value){.kind = VALUE_PICK, .pick = pick, .column = c};
                return true;
            }
        }
    }
    return false;
}

static bool read_value(FloorRun *run, Str word, Value *value)
{
    *value = (Value){0};
    if (word.at[0] == '\'') {
        value->text = str_sub(word, 1, word.len - 1);
        return true;
    }
    if (str_eq_z(word, "null")) {
        value->kind = VALUE_NULL;
        return true;
    }
    if (str_starts(word, S("doc:"))) {
        value->kind = VALUE_DOC;
        return str_int64(str_sub(word, 4, word.len), &value->number) &&
               value->number >= DOCUMENT_MIN && value->number < DOCUMENT_MAX;
    }
    if (str_starts(word, S("new:"))) {
        value->kind = VALUE_NEW;
        value->text = str_sub(word, 4, word.len);
        return value->text.len > 0;
    }
    if (str_starts(word, S("now+"))) {
        value->kind = VALUE_NOW;
        return str_int64(str_sub(word, 4, word.len), &value->number);
    }
    if (str_int64(word, &value->number)) {
        value->kind = VALUE_INT;
        return true;
    }
    return read_pick_value(run, word, value);
}

bool floor_next_word(Str *rest, Str *word)
{
    *rest = str_trim(*rest);
    if (!rest->len) {
        return false;
    }
    ptrdiff_t end =
        rest->at[0] == '\'' ? str_find_char(*rest, '\'', 1) + 1 : str_find_char(*rest, ' ', 0);
    size_t len = end <= 0 ? rest->len : (size_t)end;
    *word = str_sub(*rest, 0, len);
    *rest = str_sub(*rest, len, rest->len);
    return true;
}

// do SQL -- value value ...
static Err *read_statement(FloorRun *run, Str text)
{
    ptrdiff_t dashes = str_find(text, S(" --"), 0);
    Str rest = dashes < 0 ? (Str){0} : str_sub(text, (size_t)dashes + 3, text.len), word;
    Statement *statement = &run->at[run->len];

    if (run->len == STATEMENTS_MAX) {
        return err_text(400, "more than %d statements", STATEMENTS_MAX);
    }
    statement->sql = dashes < 0 ? text : str_sub(text, 0, (size_t)dashes);
    while (floor_next_word(&rest, &word)) {
        if (statement->value_count == VALUES_MAX ||
            !read_value(run, word, &statement->values[statement->value_count])) {
            return err_text(400, "\"" STR_FMT "\" is no value", STR_ARG(word));
        }
        statement->value_count++;
    }
    run->len++;
    return prepare(run, statement);
}

// In an order of its own: neighbours in the database shall not follow each other.
static void shuffle(FloorRun *run, Pick *pick)
{
    for (int64_t i = pick->rows - 1; i > 0; i--) {
        int64_t j = rng_between(&run->rng, 0, i);
        for (size_t c = 0; c < pick->width; c++) {
            Str *a = &pick->cells.at[(size_t)i * pick->width + c];
            Str *b = &pick->cells.at[(size_t)j * pick->width + c];
            Str kept = *a;
            *a = *b;
            *b = kept;
        }
    }
}

// pick NAME SQL
static Err *read_pick(FloorRun *run, Str text)
{
    Pick *pick = &run->picks[run->pick_count];
    Statement query = {0};

    if (run->pick_count == PICKS_MAX || !str_next(&text, ' ', &pick->name) || !text.len) {
        return err_text(400, "pick needs a name and a query; at most %d", PICKS_MAX);
    }
    query.sql = text;
    TRY(prepare(run, &query));
    pick->width = (size_t)sqlite3_column_count(query.prepared);
    for (size_t c = 0; c < pick->width && c < COLUMNS_MAX; c++) {
        pick->columns[c] =
            str_copy(arena_current(), str_of(sqlite3_column_name(query.prepared, (int)c)));
    }
    while (pick->width <= COLUMNS_MAX && sqlite3_step(query.prepared) == SQLITE_ROW) {
        for (size_t c = 0; c < pick->width; c++) {
            Str cell = str_of((const char *)sqlite3_column_text(query.prepared, (int)c));
            str_list_add(&pick->cells, str_copy(arena_current(), cell));
        }
        pick->rows++;
    }
    sqlite3_finalize(query.prepared);
    shuffle(run, pick);
    run->pick_count++;
    return pick->rows ? NULL : err_text(400, "nothing to pick: " STR_FMT, STR_ARG(text));
}

static Err *read_line(FloorRun *run, Str line)
{
    Str word;

    if (line.len == 0 || line.at[0] == '#') {
        return NULL;
    }
    (void)str_next(&line, ' ', &word);
    if (str_eq_z(word, "pick")) {
        return read_pick(run, line);
    }
    if (str_eq_z(word, "do")) {
        return read_statement(run, line);
    }
    return err_text(400, "expected pick or do, not \"" STR_FMT "\"", STR_ARG(word));
}

static Err *read_file(FloorRun *run, Str text)
{
    Str line;

    while (str_next(&text, '\n', &line)) {
        TRY(read_line(run, str_trim(line)));
    }
    return run->len && run->pick_count ? NULL : err_text(400, "the statements do nothing");
}

// ---------------------------------------------------------------------------------------------
// Running it

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
    sqlite3_stmt *to = statement->prepared;
    int place = statement->places[i];
    Str text = value->text;

    switch (value->kind) {
    case VALUE_NULL:
        sqlite3_bind_null(to, place);
        return;
    case VALUE_INT:
        sqlite3_bind_int64(to, place, value->number);
        return;
    case VALUE_NOW:
        sqlite3_bind_int64(to, place, time_now() + value->number);
        return;
    case VALUE_DOC: // the price of making it must not count
        text = (Str){run->document, (size_t)value->number};
        break;
    case VALUE_NEW:
        text = new_id(run, value->text);
        break;
    case VALUE_PICK:
        text = value->pick->cells.at[(size_t)value->pick->row * value->pick->width + value->column];
        break;
    case VALUE_TEXT:
        break;
    }
    sqlite3_bind_text(to, place, text.at, (int)text.len, SQLITE_STATIC);
}

// All rows are fetched, as a server does.
static Err *run_statement(FloorRun *run, Statement *statement)
{
    int code;

    for (int i = 0; i < statement->value_count; i++) {
        bind_value(run, statement, i);
    }
    while ((code = sqlite3_step(statement->prepared)) == SQLITE_ROW) {
        for (int c = sqlite3_column_count(statement->prepared) - 1; c >= 0; c--) {
            (void)sqlite3_column_blob(statement->prepared, c);
        }
    }
    sqlite3_reset(statement->prepared);
    return code == SQLITE_DONE ? NULL : failed(run, statement->sql);
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

// The first pick's rows serve once: an item is lent once.
static void choose(FloorRun *run)
{
    for (size_t p = 0; p < run->pick_count; p++) {
        Pick *pick = &run->picks[p];
        pick->row = p == 0 ? run->used++ : rng_between(&run->rng, 0, pick->rows - 1);
    }
    run->new_names = run->new_ids = (StrList){0};
}

// One commit with `size` transactions, each but the first behind a savepoint as in a group commit.
static Err *run_group(FloorRun *run, int size)
{
    TRY(run_statement(run, &run->begin));
    for (int i = 0; i < size; i++) {
        ArenaMark mark = arena_mark(arena_current());
        choose(run);
        if (i > 0) {
            TRY(run_statement(run, &run->savepoint));
        }
        for (int s = 0; s < run->len; s++) {
            TRY(run_statement(run, &run->at[s]));
        }
        if (i > 0) {
            TRY(run_statement(run, &run->release));
        }
        arena_release(arena_current(), mark);
    }
    return run_statement(run, &run->commit);
}

// Checkpoints are part of the price, but not of a group's own time.
static Err *measure(FloorRun *run, int which, double seconds, Floor *floor)
{
    const int size = which ? 20 : 1;
    Hist *groups = hist_new(3, (int64_t)60 * 1000000);
    int64_t begin = clock_ns(), end = begin + (int64_t)(seconds * 1e9);
    int64_t cpu = thread_cpu_ns(), count = 0;
    Err *err = NULL;

    while (!err && clock_ns() < end && run->used + size <= run->picks[0].rows) {
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
    return err || count ? err : err_text(400, "nothing is left to pick");
}

static Err *open_database(FloorRun *run, const char *file)
{
    // As in the store; when that was used before, it has done so.
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, SAVEPOINT_BYTES);
    if (sqlite3_open_v2(file, &run->db, SQLITE_OPEN_READWRITE, NULL) ||
        sqlite3_exec(run->db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
                     "wal_autocheckpoint=0; PRAGMA cache_size=-32768; PRAGMA mmap_size=2147418112; "
                     "PRAGMA temp_store=FILE; PRAGMA secure_delete=fast",
                     NULL, NULL, NULL)) {
        return failed(run, str_of(file));
    }
    sqlite3_wal_hook(run->db, count_frames, run);
    run->begin.sql = S("BEGIN IMMEDIATE");
    run->savepoint.sql = S("SAVEPOINT member");
    run->release.sql = S("RELEASE member");
    run->commit.sql = S("COMMIT");
    TRY(prepare(run, &run->begin));
    TRY(prepare(run, &run->savepoint));
    TRY(prepare(run, &run->release));
    return prepare(run, &run->commit);
}

static Err *measure_all(FloorRun *run, const FloorDatabase *database, Floor *floor)
{
    TRY(open_database(run, database->file));
    TRY(read_file(run, database->statements));
    TRY(measure(run, 0, database->seconds, floor));
    return measure(run, 1, database->seconds, floor);
}

Err *floor_measure_database(const FloorDatabase *database, Floor *floor)
{
    FloorRun *run = NEW(FloorRun);

    rng_seed(&run->rng, 1, 0);
    memset(run->document, 'x', sizeof run->document);
    Err *err = measure_all(run, database, floor);
    for (sqlite3_stmt *left; (left = sqlite3_next_stmt(run->db, NULL));) {
        sqlite3_finalize(left);
    }
    sqlite3_close(run->db);
    return err;
}
