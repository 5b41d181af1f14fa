// octavo bench check, plan, list, note, watch: what is said about experiments and runs without
// running anything.
#include "bench/bench.h"

#include "lab.h"
#include "live.h"
#include "live_page.h"

#include "base/asset.h"
#include "base/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    ARENA_MAX = 1 << 30,
    EXIT_ERROR = 3,
};

// What all are called with.
typedef struct {
    const char *word;
    Str profile, lab_dir, run, serve;
} Words;

static Err *read_words(Words *words, int argc, char **argv)
{
    const struct {
        const char *name;
        Str *to;
    } known[] = {{"--profile", &words->profile},
                 {"--lab.dir", &words->lab_dir},
                 {"--run", &words->run},
                 {"--serve", &words->serve}};

    for (int i = 0; i < argc; i++) {
        size_t k = 0;
        if (strncmp(argv[i], "--", 2) != 0) {
            if (words->word) {
                return err_text(400, "one word too many: %s", argv[i]);
            }
            words->word = argv[i];
            continue;
        }
        char *equals = strchr(argv[i], '=');
        if (equals) {
            *equals = 0;
        }
        while (k < sizeof known / sizeof *known && strcmp(known[k].name, argv[i]) != 0) {
            k++;
        }
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (k == sizeof known / sizeof *known || !value) {
            return err_text(400, "%s: unknown, or without its value", argv[i]);
        }
        *known[k].to = str_of(value);
    }
    return NULL;
}

typedef Err *(*Command)(const Words *words);

static int run_command(const char *name, const char *usage, Command command, int argc, char **argv)
{
    Arena *arena = arena_new(ARENA_MAX), *former = arena_use(arena);
    Words words = {.lab_dir = S("lab")};
    int code = 0;

    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        fputs(usage, stdout);
    } else {
        Err *err = read_words(&words, argc, argv);
        err = err ? err : command(&words);
        if (err) {
            fprintf(stderr, "octavo bench %s: " STR_FMT "\n", name, STR_ARG(err->message));
            code = EXIT_ERROR;
        }
    }
    arena_use(former);
    arena_free(arena);
    return code;
}

static Err *need_word(const Words *words, const char *what)
{
    return words->word ? NULL : err_text(400, "%s is needed", what);
}

// ---------------------------------------------------------------------------------------------
// check: the file and each of its profiles

static Err *check_plans(const Experiment *experiment)
{
    for (size_t i = 0; i < experiment->workload_len; i++) {
        const Workload *workload = &experiment->workloads[i];
        Plan *plan = NULL;
        Err *err = workload_plan(workload, &(PlanOptions){0}, &plan);
        if (err) {
            return err_text(400, "workload." STR_FMT ".file: " STR_FMT, STR_ARG(workload->name),
                            STR_ARG(err->message));
        }
        plan_close_files(plan);
    }
    return NULL;
}

static Err *check_profile(const char *name, Str profile)
{
    Experiment *experiment = NULL;

    TRY(experiment_open(name, profile, &experiment));
    TRY(check_plans(experiment));
    CellPlan plan = experiment_cells(experiment);
    printf("%-8s %4zu cells, about %s\n", profile.len ? str_z(profile) : "(full)", plan.len,
           str_z(experiment_duration(plan.expected_s)));
    return NULL;
}

// A sound file may ask for more than this version can do.
static Err *say_what_is_missing(const char *name)
{
    Experiment *experiment = NULL;

    TRY(experiment_open(name, S(""), &experiment));
    Err *err = experiment_can_run(experiment);
    if (err) {
        printf("can be checked and planned, but not run:\n" STR_FMT "\n", STR_ARG(err->message));
    }
    return NULL;
}

static Err *check(const Words *words)
{
    StrList profiles = {0};

    TRY(need_word(words, "an experiment"));
    TRY(say_what_is_missing(words->word));
    TRY(check_profile(words->word, S("")));
    TRY(experiment_profiles(words->word, &profiles));
    for (size_t i = 0; i < profiles.len; i++) {
        Err *err = check_profile(words->word, profiles.at[i]);
        if (err) {
            return err_text(400, "profile " STR_FMT ": " STR_FMT, STR_ARG(profiles.at[i]),
                            STR_ARG(err->message));
        }
    }
    return NULL;
}

int bench_check(int argc, char **argv)
{
    return run_command(
        "check",
        "octavo bench check NAME|FILE\n"
        "Reads an experiment, its profiles and its load plans, and says what is\n"
        "wrong with them, each with its path. Runs nothing. Exit code 3 if there is\n"
        "something.\n",
        check, argc, argv);
}

// ---------------------------------------------------------------------------------------------

static Err *show_plan(const Words *words)
{
    Experiment *experiment = NULL;

    TRY(need_word(words, "an experiment"));
    TRY(experiment_open(words->word, words->profile, &experiment));
    CellPlan plan = experiment_cells(experiment);
    printf(STR_FMT ": %zu cells\n\n%4s  %-60s %9s %9s\n", STR_ARG(experiment->title), plan.len, "",
           "cell", "warm-up s", "steady s");
    for (size_t i = 0; i < plan.len; i++) {
        const PlannedCell *cell = &plan.at[i];
        double ramp_s = cell->run->workloads[0].load->ramp_s;
        printf("%4zu  %-60s %9g %9g\n", i + 1, str_z(cell->id), fmax(ramp_s, cell->run->warmup_s),
               cell->run->steady_s);
    }
    printf("\nexpected time %s", str_z(experiment_duration(plan.expected_s)));
    if (experiment->design.time_limit_s > 0) {
        printf(", limit %s", str_z(experiment_duration(experiment->design.time_limit_s)));
    }
    printf("; the library \"" STR_FMT "\" is made before, once\n",
           STR_ARG(experiment->data.recipe));
    return NULL;
}

int bench_plan(int argc, char **argv)
{
    return run_command("plan",
                       "octavo bench plan NAME|FILE [--profile NAME]\n"
                       "Lists the cells of an experiment in their order, with the expected time.\n",
                       show_plan, argc, argv);
}

// ---------------------------------------------------------------------------------------------

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

// Folders of results, the oldest first.
static void runs_of(Str lab_dir, StrList *out)
{
    DIR *dir = opendir(str_z(lab_dir));

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        Str folder = str_fmt(STR_FMT "/%s", STR_ARG(lab_dir), entry->d_name);
        if (access(str_z(str_fmt(STR_FMT "/result.json", STR_ARG(folder))), R_OK) == 0) {
            str_list_add(out, folder);
        }
    }
    if (dir) {
        closedir(dir);
    }
    if (out->len > 0) {
        sort_array(out->at, out->len, sizeof *out->at, by_text);
    }
}

// A run at work holds the lock of its folder.
static bool is_at_work(Str folder)
{
    int file = open(str_z(str_fmt(STR_FMT "/lock", STR_ARG(folder))), O_WRONLY | O_CLOEXEC);
    bool is_locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (file >= 0) {
        close(file);
    }
    return is_locked;
}

static void list_run(Str folder)
{
    Result *result = NULL;
    int64_t states[CELL_STATES] = {0};
    ArenaMark mark = arena_mark(arena_current());

    Err *err = result_load(str_z(str_fmt(STR_FMT "/result.json", STR_ARG(folder))), &result);
    if (err) {
        printf("  " STR_FMT "  cannot be read: " STR_FMT "\n", STR_ARG(folder),
               STR_ARG(err->message));
        return;
    }
    for (size_t i = 0; i < result->cells.len; i++) {
        states[result->cells.at[i].state]++;
    }
    printf("  " STR_FMT "  %lld cells done, %lld invalid, %lld not done%s" STR_FMT "%s\n",
           STR_ARG(folder), (long long)states[CELL_DONE], (long long)states[CELL_INVALID],
           (long long)states[CELL_PLANNED], result->label.len ? "  " : "", STR_ARG(result->label),
           is_at_work(folder) ? "  (at work)" : "");
    arena_release(arena_current(), mark);
}

static Err *list(const Words *words)
{
    StrList runs = {0};

    printf("load plans (octavo bench play):\n");
    for (size_t i = 0; asset_at("bench/workloads/", i); i++) {
        const char *name = strrchr(asset_at("bench/workloads/", i)->name, '/') + 1;
        printf("  %.*s\n", (int)strcspn(name, "."), name);
    }
    printf("experiments (octavo bench run) and their profiles:\n");
    for (size_t i = 0; asset_at("bench/experiments/", i); i++) {
        const char *name = strrchr(asset_at("bench/experiments/", i)->name, '/') + 1;
        Str id = str_sub(str_of(name), 0, strcspn(name, "."));
        StrList profiles = {0};
        TRY(experiment_profiles(str_z(id), &profiles));
        printf("  " STR_FMT "  " STR_FMT "\n", STR_ARG(id),
               STR_ARG(str_join(profiles.at, profiles.len, S(" "))));
    }
    runs_of(words->lab_dir, &runs);
    printf("results in " STR_FMT "%s\n", STR_ARG(words->lab_dir), runs.len ? ":" : ": none");
    for (size_t i = 0; i < runs.len; i++) {
        list_run(runs.at[i]);
    }
    return NULL;
}

int bench_list(int argc, char **argv)
{
    return run_command("list",
                       "octavo bench list [--lab.dir DIR]\n"
                       "Names of the built-in load plans and experiments; the results in DIR "
                       "(lab).\n",
                       list, argc, argv);
}

// ---------------------------------------------------------------------------------------------

// The folder of the run at work; of several the latest, or the one that was named.
static Err *find_at_work(const Words *words, Str *folder)
{
    StrList runs = {0};

    *folder = (Str){0};
    runs_of(words->lab_dir, &runs);
    for (size_t i = 0; i < runs.len; i++) {
        bool is_meant = !words->run.len || str_ends(runs.at[i], words->run);
        *folder = is_meant && is_at_work(runs.at[i]) ? runs.at[i] : *folder;
    }
    return folder->len ? NULL
                       : err_text(400, "no run is at work in " STR_FMT, STR_ARG(words->lab_dir));
}

static Err *note(const Words *words)
{
    Str chosen;

    TRY(need_word(words, "a text"));
    TRY(find_at_work(words, &chosen));
    Str file = str_fmt(STR_FMT "/notes", STR_ARG(chosen)), text = str_of(words->word), line;
    FILE *out = fopen(str_z(file), "a");
    str_next(&text, '\n', &line);
    bool is_written = out && fprintf(out, STR_FMT "\t" STR_FMT "\n",
                                     STR_ARG(time_format_z(time_now())), STR_ARG(line)) > 0;
    return (out ? fclose(out) == 0 : false) && is_written
               ? NULL
               : err_text(500, STR_FMT ": %s", STR_ARG(file), strerror(errno));
}

int bench_note(int argc, char **argv)
{
    return run_command("note",
                       "octavo bench note TEXT [--lab.dir DIR] [--run ID]\n"
                       "Leaves a note with the time in the result of the run at work (\"a backup\n"
                       "runs now\"); reports show it in every plot.\n",
                       note, argc, argv);
}

// ---------------------------------------------------------------------------------------------

// A line when the figures have changed, until the run ends.
static void watch_lines(Str folder)
{
    int64_t every_ms = isatty(STDOUT_FILENO) ? 1000 : 10000, shown_ns = 0;

    while (is_at_work(folder)) {
        ArenaMark mark = arena_mark(arena_current());
        Json *now = NULL;
        if (clock_ns() - shown_ns >= every_ms * 1000000 && !json_parse(live_text(folder), &now)) {
            printf(STR_FMT "\n", STR_ARG(live_line(now)));
            fflush(stdout);
            shown_ns = clock_ns();
        }
        arena_release(arena_current(), mark);
        usleep(200000);
    }
}

static Err *watch(const Words *words)
{
    LivePage *page = NULL;
    Str folder;

    TRY(find_at_work(words, &folder));
    if (words->serve.len > 0) {
        TRY(live_page_start(words->serve, folder, &page));
        printf("http://127.0.0.1:%d/\n", live_page_port(page));
    }
    watch_lines(folder);
    if (page) {
        live_page_stop(page);
    }
    return NULL;
}

int bench_watch(int argc, char **argv)
{
    return run_command(
        "watch",
        "octavo bench watch [--lab.dir DIR] [--run ID] [--serve ADDRESS]\n"
        "Shows what the run at work does until it ends: a line each second on a\n"
        "terminal, else every ten; with --serve (127.0.0.1:9140) also as a page for\n"
        "browsers.\n",
        watch, argc, argv);
}
