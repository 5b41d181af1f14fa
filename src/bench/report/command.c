// octavo bench report, compare: reports of stored results.
#include "bench/bench.h"

#include "report.h"
#include "pair.h"
#include "trend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    EXIT_USAGE = 3,
    RUNS_MAX = 256,
};
#define REPORT_ARENA_MAX ((size_t)4 << 30)

typedef struct {
    Str lab_dir, out, configuration;
    Str runs[RUNS_MAX];
    size_t run_len;
} Words;

static const char report_usage[] =
    "octavo bench report RUN... [--lab.dir DIR]\n"
    "Writes the reports of stored results anew, into the folder of each: report.html, report.md,\n"
    "tables, timeline.csv, junit.xml, plots; and index.html of all results in the lab's folder.\n"
    "RUN is the id of a result, its folder or its result.json.\n\n"
    "  --lab.dir DIR     folder of the results (lab)\n\n"
    "Exit code: 0 all thresholds met, 1 one missed, 2 not a valid run, 3 error. Of several, the "
    "largest.\n";

static const char compare_usage[] =
    "octavo bench compare A B [options]\n"
    "Compares two stored results: A is the baseline. Writes a report and prints the verdicts.\n\n"
    "  --lab.dir DIR           folder of the results (lab)\n"
    "  --configuration NAME    of both results (the baseline of each)\n"
    "  --out DIR               folder of the report (lab.dir/compare-A-B)\n\n"
    "Exit code: 0 nothing is worse, 1 something is, 2 the results cannot be compared, 3 error.\n";

static bool take_word(Words *words, int argc, char **argv, int *i)
{
    const struct {
        const char *name;
        Str *value;
    } options[] = {{"--lab.dir", &words->lab_dir},
                   {"--out", &words->out},
                   {"--configuration", &words->configuration}};

    for (size_t j = 0; j < sizeof options / sizeof *options; j++) {
        if (strcmp(argv[*i], options[j].name) == 0 && *i + 1 < argc) {
            *options[j].value = str_of(argv[++*i]);
            return true;
        }
    }
    if (argv[*i][0] == '-' || words->run_len == RUNS_MAX) {
        fprintf(stderr, "octavo bench: %s is not understood\n", argv[*i]);
        return false;
    }
    words->runs[words->run_len++] = str_of(argv[*i]);
    return true;
}

static bool is_there(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

// The folder that holds the result.json of a run.
static const char *folder_of(const Words *words, Str run)
{
    Str file = S("/result.json");

    if (str_ends(run, file)) {
        return str_z(str_sub(run, 0, run.len - file.len));
    }
    if (str_eq(run, S("result.json"))) {
        return ".";
    }
    if (is_there(str_z(str_fmt(STR_FMT "/result.json", STR_ARG(run))))) {
        return str_z(run);
    }
    return str_z(str_fmt(STR_FMT "/" STR_FMT, STR_ARG(words->lab_dir), STR_ARG(run)));
}

static Err *load(const Words *words, Str run, Result **out)
{
    return result_load(str_z(str_fmt("%s/result.json", folder_of(words, run))), out);
}

// What is wrong with the report, and where it is.
static void print_end(const Report *report, const char *folder)
{
    for (size_t i = 0; i < report->doc->defects.len; i++) {
        fprintf(stderr, "%s: " STR_FMT "\n", folder, STR_ARG(report->doc->defects.at[i]));
    }
    for (size_t i = 0; i < report->doc->plots_missing.len; i++) {
        fprintf(stderr, "%s: " STR_FMT "\n", folder, STR_ARG(report->doc->plots_missing.at[i]));
    }
    printf("%s/report.html\n", folder);
}

Err *report_folder(const char *folder, int *exit_code)
{
    Result *result = NULL;

    TRY(result_load(str_z(str_fmt("%s/result.json", folder)), &result));
    Report *report = report_make(result);
    TRY(report_write(report, folder));
    *exit_code = report_exit_code(report);
    print_end(report, folder);
    return NULL;
}

static int report_runs(const Words *words)
{
    int worst = 0;

    for (size_t i = 0; i < words->run_len; i++) {
        int code = 0;
        Arena *former = arena_use(arena_new(REPORT_ARENA_MAX));
        Err *err = report_folder(folder_of(words, words->runs[i]), &code);
        if (err) {
            fprintf(stderr, "octavo bench report: " STR_FMT "\n", STR_ARG(err->message));
            code = EXIT_USAGE;
        }
        arena_free(arena_use(former));
        worst = code > worst ? code : worst;
    }
    Err *err = trend_write(str_z(words->lab_dir));
    if (err) {
        fprintf(stderr, "octavo bench report: " STR_FMT "\n", STR_ARG(err->message));
        worst = EXIT_USAGE;
    }
    return worst;
}

static Words read_words(int argc, char **argv, const char *usage, int *code)
{
    Words words = {.lab_dir = S("lab")};

    *code = -1;
    for (int i = 0; i < argc && *code < 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            *code = 0;
        } else if (!take_word(&words, argc, argv, &i)) {
            *code = EXIT_USAGE;
        }
    }
    return words;
}

int bench_report(int argc, char **argv)
{
    int code = 0;
    Words *words = NEW(Words);

    *words = read_words(argc, argv, report_usage, &code);
    if (code >= 0) {
        return code;
    }
    if (words->run_len == 0) {
        fputs(report_usage, stderr);
        return EXIT_USAGE;
    }
    return report_runs(words);
}

static int print_verdicts(const Report *report)
{
    int worse = 0;

    for (size_t i = 0; i < report->compared_len; i++) {
        const Compared *compared = &report->compared[i];
        printf("%-32s %10s %24s  %s\n", str_z(compared->metric.name),
               str_z(show_percent(100 * (compared->is.ratio - 1))),
               str_z(show_ratios(compared->is.within95)), verdict_name(compared->is.verdict));
        worse |= compared->is.verdict == VERDICT_WORSE;
    }
    return worse;
}

static Err *compare_runs(const Words *words, int *code)
{
    Result *a = NULL, *b = NULL, *both = NULL;
    StrList warnings = {0};

    TRY(load(words, words->runs[0], &a));
    TRY(load(words, words->runs[1], &b));
    TRY(pair_results(a, b, words->configuration, &both, &warnings));
    for (size_t i = 0; i < warnings.len; i++) {
        printf("warning: " STR_FMT "\n", STR_ARG(warnings.at[i]));
    }
    Report *report = report_make(both);
    const char *folder =
        words->out.len > 0
            ? str_z(words->out)
            : str_z(str_fmt(STR_FMT "/" STR_FMT, STR_ARG(words->lab_dir), STR_ARG(both->id)));
    TRY(report_write(report, folder));
    TRY(result_save(both, str_z(str_fmt("%s/result.json", folder))));
    *code = report_exit_code(report) == REPORT_INVALID ? REPORT_INVALID : print_verdicts(report);
    print_end(report, folder);
    return NULL;
}

int bench_compare(int argc, char **argv)
{
    int code = 0;
    Words *words = NEW(Words);

    *words = read_words(argc, argv, compare_usage, &code);
    if (code >= 0) {
        return code;
    }
    if (words->run_len != 2) {
        fputs(compare_usage, stderr);
        return EXIT_USAGE;
    }
    Arena *former = arena_use(arena_new(REPORT_ARENA_MAX));
    Err *err = compare_runs(words, &code);
    if (err) {
        fprintf(stderr, "octavo bench compare: " STR_FMT "\n", STR_ARG(err->message));
        code = EXIT_USAGE;
    }
    arena_free(arena_use(former));
    return code;
}
