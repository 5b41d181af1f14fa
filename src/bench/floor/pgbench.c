// The statements of one check-out as a script of pgbench: all of a transaction in one pipeline,
// prepared, with values that no transaction repeats.
//
// pgbench knows numbers only, so a table in the library's schema holds the ids and barcodes of each
// pass. Reading its row is not the transaction's price: a script of that alone is measured too.
#include "floor.h"

#include "base/buf.h"
#include "base/date.h"
#include "base/hist.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TEXT_MAX = 1 << 20,
    LATENCY_MAX_US = 60 * 1000 * 1000,
    ARGUMENTS_MAX = 64,
};

#define TABLE "octavo_floor"

extern char **environ;

// ---------------------------------------------------------------------------------------------
// Values

static void note(StrList *list, Str word)
{
    if (!str_list_has(list, word)) {
        str_list_add(list, word);
    }
}

// "item.id" -> "item_id", "new:6" -> "new_6"
static Str variable_of(Str word)
{
    char *name = arena_alloc(arena_current(), word.len + 1);

    for (size_t i = 0; i < word.len; i++) {
        name[i] = strchr(".:+", word.at[i]) ? '_' : word.at[i];
    }
    return (Str){name, word.len};
}

// As it stands in the script's SQL.
static Err *add_value(PgbenchScript *script, Buf *sql, Str word)
{
    int64_t number = 0;

    if (word.at[0] == '\'' || str_eq_z(word, "null") || str_int64(word, &number)) {
        buf_add(sql, word);
        return NULL;
    }
    bool is_doc = str_starts(word, S("doc:"));
    if (is_doc && str_int64(str_sub(word, 4, word.len), &number) && number > 0) {
        note(&script->documents, word);
    } else if (str_starts(word, S("now+")) && str_int64(str_sub(word, 4, word.len), &number)) {
        note(&script->times, word);
    } else if (str_starts(word, S("new:")) && word.len > 4) {
        note(&script->new_ids, word);
    } else if (!is_doc && str_find_char(word, '.', 0) > 0) {
        note(&script->picked, word);
    } else {
        return err_text(400, "\"" STR_FMT "\" is no value", STR_ARG(word));
    }
    buf_fmt(sql, ":" STR_FMT, STR_ARG(variable_of(word)));
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Statements

// Each $n of the statement replaced by its value.
static Err *add_statement(PgbenchScript *script, Str line)
{
    ptrdiff_t dashes = str_find(line, S(" --"), 0);
    Str sql = dashes < 0 ? line : str_sub(line, 0, (size_t)dashes), word;
    Str rest = dashes < 0 ? (Str){0} : str_sub(line, (size_t)dashes + 3, line.len);
    StrList values = {0};

    while (floor_next_word(&rest, &word)) {
        str_list_add(&values, word);
    }
    for (size_t i = 0; i < sql.len; i++) {
        size_t n = 0, end = i + 1;
        for (; sql.at[i] == '$' && end < sql.len && strchr("0123456789", sql.at[end]); end++) {
            n = n * 10 + (size_t)(sql.at[end] - '0');
        }
        if (!n) {
            buf_char(&script->body, sql.at[i]);
            continue;
        }
        if (n > values.len) {
            return err_text(400, "$%zu has no value: " STR_FMT, n, STR_ARG(sql));
        }
        TRY(add_value(script, &script->body, values.at[n - 1]));
        i = end - 1;
    }
    buf_add_z(&script->body, ";\n");
    script->statements++;
    return NULL;
}

static Err *add_line(PgbenchScript *script, Str line)
{
    Str word;

    if (!line.len || line.at[0] == '#') {
        return NULL;
    }
    str_next(&line, ' ', &word);
    if (str_eq_z(word, "pick")) {
        str_list_add(&script->picks, line);
        return NULL;
    }
    return str_eq_z(word, "do")
               ? add_statement(script, line)
               : err_text(400, "expected pick or do, not \"" STR_FMT "\"", STR_ARG(word));
}

Err *pgbench_script(Str statements, PgbenchScript *out)
{
    Str line;

    *out = (PgbenchScript){.body = buf_new(arena_current(), TEXT_MAX)};
    while (str_next(&statements, '\n', &line)) {
        TRY(add_line(out, str_trim(line)));
    }
    return out->statements && out->picks.len ? NULL : err_text(400, "the statements do nothing");
}

// ---------------------------------------------------------------------------------------------
// The table of passes

// A time-ordered id, as the program makes them, from the number of the pass.
static void add_new_id(Buf *sql, Str word)
{
    buf_fmt(sql,
            ", regexp_replace(lpad(to_hex(%lld + n), 12, '0') || '4' || substr(md5(n || '" STR_FMT
            "'), 1, 3) || '8' || substr(md5(n || '" STR_FMT "'), 4, 15), "
            "'(.{8})(.{4})(.{4})(.{4})(.{12})', '\\1-\\2-\\3-\\4-\\5') as " STR_FMT,
            (long long)time_now(), STR_ARG(word), STR_ARG(word), STR_ARG(variable_of(word)));
}

// Numbered rows of one pick. The first pick's serve once each, in an order that is not the table's;
// of the others each pass draws one.
static void add_pick(Buf *sql, Str pick, bool is_first)
{
    Str name;

    str_next(&pick, ' ', &name);
    buf_fmt(sql,
            "%s" STR_FMT "_rows as (select p.*, row_number() over (order by md5(id)) - 1 as n, "
            "count(*) over () as all_of_them from (" STR_FMT ") p)",
            is_first ? "with " : ", ", STR_ARG(name), STR_ARG(pick));
}

static void add_columns(const PgbenchScript *script, Buf *sql)
{
    for (size_t i = 0; i < script->picked.len; i++) {
        Str column = script->picked.at[i], pick;
        str_next(&column, '.', &pick);
        buf_fmt(sql, ", " STR_FMT "_rows." STR_FMT " as " STR_FMT, STR_ARG(pick), STR_ARG(column),
                STR_ARG(variable_of(script->picked.at[i])));
    }
}

Str pgbench_table(const PgbenchScript *script)
{
    Buf sql = buf_new(arena_current(), TEXT_MAX);
    Str rest = script->picks.at[0], first, name;

    str_next(&rest, ' ', &first);
    buf_add_z(&sql, "create sequence " TABLE "_n minvalue 0; create table " TABLE " as select *");
    for (size_t i = 0; i < script->new_ids.len; i++) {
        add_new_id(&sql, script->new_ids.at[i]);
    }
    buf_add_z(&sql, " from (");
    for (size_t i = 0; i < script->picks.len; i++) {
        add_pick(&sql, script->picks.at[i], i == 0);
    }
    buf_fmt(&sql, " select " STR_FMT "_rows.n", STR_ARG(first));
    add_columns(script, &sql);
    buf_fmt(&sql, " from " STR_FMT "_rows", STR_ARG(first));
    for (size_t i = 1; i < script->picks.len; i++) {
        rest = script->picks.at[i];
        str_next(&rest, ' ', &name);
        buf_fmt(&sql,
                " join " STR_FMT "_rows on " STR_FMT "_rows.n = " STR_FMT
                "_rows.n * 7919 %% " STR_FMT "_rows.all_of_them",
                STR_ARG(name), STR_ARG(name), STR_ARG(first), STR_ARG(name));
    }
    buf_add_z(&sql, " order by 1) passes; alter table " TABLE " add primary key (n); "
                    "vacuum analyze " TABLE);
    return buf_str(&sql);
}

// ---------------------------------------------------------------------------------------------
// The script's text

static void add_pass(const PgbenchScript *script, bool only_picks, Buf *out)
{
    const StrList *lists[] = {&script->picked, &script->new_ids};

    buf_add_z(out, "select (extract(epoch from clock_timestamp()) * 1000)::bigint as now");
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->len; i++) {
            buf_fmt(out, ", " STR_FMT, STR_ARG(variable_of(lists[l]->at[i])));
        }
    }
    // Alone it is so fast that it comes to the end of the table.
    buf_fmt(out, " from " TABLE " where n = (select nextval('" TABLE "_n')%s) \\gset\n",
            only_picks ? " % 1000" : "");
    for (size_t i = 0; i < script->times.len; i++) {
        Str word = script->times.at[i];
        buf_fmt(out, "\\set " STR_FMT " :now + " STR_FMT "\n", STR_ARG(variable_of(word)),
                STR_ARG(str_sub(word, 4, word.len)));
    }
}

Str pgbench_text(const PgbenchScript *script, bool only_picks)
{
    Buf out = buf_new(arena_current(), TEXT_MAX);

    add_pass(script, only_picks, &out);
    if (!only_picks) {
        buf_add_z(&out, "\\startpipeline\nbegin;\n");
        buf_add(&out, buf_str(&script->body));
        buf_add_z(&out, "commit;\n\\endpipeline\n");
    }
    return buf_str(&out);
}

// ---------------------------------------------------------------------------------------------
// Running it

// The newest one of Debian's, whose command in the path is a wrapper; else the path's.
static const char *program(void)
{
    glob_t found;
    const char *name = "pgbench";

    if (glob("/usr/lib/postgresql/*/bin/pgbench", 0, NULL, &found) == 0 && found.gl_pathc) {
        name = str_copy(arena_current(), str_of(found.gl_pathv[found.gl_pathc - 1])).at;
    }
    globfree(&found);
    return name;
}

static Err *run_program(char **argv, Str output)
{
    posix_spawn_file_actions_t files;
    pid_t pid = 0;
    int status = 0;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, str_z(output),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0640);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    int code = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (code || waitpid(pid, &status, 0) != pid) {
        return err_text(500, "%s: %s", argv[0], strerror(code ? code : errno));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? NULL
               : err_text(500, "pgbench failed: see " STR_FMT, STR_ARG(output));
}

// Lines of its log: client, transaction, microseconds, script, when (s, us).
static Err *read_log(Str folder, double seconds, PgbenchResult *out)
{
    Hist *times = hist_new(3, LATENCY_MAX_US);
    glob_t found = {0};
    char line[200];

    (void)glob(str_z(str_fmt(STR_FMT "/pgbench.*", STR_ARG(folder))), 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "rb");
        while (file && fgets(line, sizeof line, file)) {
            Str rest = str_of(line), word = {0};
            int64_t us = 0;
            for (int n = 0; n < 3; n++) {
                str_next(&rest, ' ', &word);
            }
            if (str_int64(word, &us)) {
                hist_record(times, us);
            }
        }
        if (file) {
            fclose(file);
        }
        unlink(found.gl_pathv[i]);
    }
    globfree(&found);
    out->p50_us = (double)hist_percentile(times, 50);
    out->per_s = (double)hist_count(times) / seconds;
    bool has_any = hist_count(times) > 0;
    hist_free(times);
    return has_any ? NULL : err_text(500, "pgbench did nothing");
}

static Err *write_text(Str file, Str text)
{
    FILE *out = fopen(str_z(file), "wb");
    bool is_written = out && fwrite(text.at, 1, text.len, out) == text.len;

    if (out && fclose(out)) {
        is_written = false;
    }
    return is_written ? NULL : err_text(500, STR_FMT ": %s", STR_ARG(file), strerror(errno));
}

Err *pgbench_run(const PgbenchScript *script, const PgbenchRun *run, PgbenchResult *out)
{
    Str folder = run->folder, file = str_fmt(STR_FMT "/check-out.sql", STR_ARG(folder));
    char *argv[ARGUMENTS_MAX] = {NULL};
    const char *const fixed[] = {
        program(),
        "--no-vacuum",
        "--protocol=prepared",
        "--log",
        str_z(str_fmt("--log-prefix=" STR_FMT "/pgbench", STR_ARG(folder))),
        str_z(str_fmt("--client=%d", run->clients)),
        str_z(str_fmt("--time=%d", (int)run->seconds)),
        str_z(str_fmt("--file=" STR_FMT, STR_ARG(file))),
    };
    size_t n = 0;

    TRY(write_text(file, pgbench_text(script, run->only_picks)));
    for (; n < sizeof fixed / sizeof *fixed; n++) {
        argv[n] = (char *)fixed[n];
    }
    for (size_t i = 0; i < script->documents.len && n < ARGUMENTS_MAX - 2; i++) {
        Str word = script->documents.at[i];
        int64_t size = 0;
        (void)str_int64(str_sub(word, 4, word.len), &size);
        char *text = arena_alloc(arena_current(), (size_t)size + 1);
        memset(text, 'x', (size_t)size);
        argv[n++] =
            (char *)str_z(str_fmt("--define=" STR_FMT "=%s", STR_ARG(variable_of(word)), text));
    }
    argv[n++] = (char *)str_z(run->url);
    setenv("PGOPTIONS", str_z(str_fmt("-c search_path=" STR_FMT, STR_ARG(run->schema))), 1);
    Err *err = run_program(argv, str_fmt(STR_FMT "/pgbench-output", STR_ARG(folder)));
    unsetenv("PGOPTIONS");
    return err ? err : read_log(folder, run->seconds, out);
}
