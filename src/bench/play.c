// octavo bench play: runs one load plan against a server.
#include "bench.h"

#include "bench/driver/play_report.h"

#include "base/asset.h"
#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VARIABLES_MAX = 256,
    PLAN_MAX = 64 << 20, // bytes
    PLAN_ARENA_MAX = 1 << 30,
    EXIT_FINE = 0,
    EXIT_FAILURES = 1, // there were errors
    EXIT_USAGE = 3,    // nothing was run
};

static const char usage[] =
    "octavo bench play NAME|FILE --url URL [options]\n"
    "Runs a load plan (its name among the built-in ones, or a JSON file) against a server.\n\n"
    "  --url URL             the server, like http://127.0.0.1:9130\n"
    "  --inputs DIR          folder of the plan's data files (.)\n"
    "  --users N             virtual users (property VUSERS)\n"
    "  --ramp-up S           seconds until all have started (property RAMP_UP)\n"
    "  --duration S          seconds to run (property DURATION)\n"
    "  --warmup S            seconds after the ramp-up that do not count (0)\n"
    "  --cooldown S          seconds to wait for answers at the end (2)\n"
    "  --timeout S           of one request (60)\n"
    "  --think MODEL         effective: as FOLIO's tool really paused; written; none\n"
    "  --think-scale X       factor of all think times (1)\n"
    "  --stop-at-end         users end when a list whose lines serve once is used up (JMeter and\n"
    "                        the default: they go over it again)\n"
    "  --no-preflights       leave the OPTIONS requests of browsers out\n"
    "  --rate N              open model: N passes a second, whoever is free\n"
    "  --arrival MODEL       poisson or constant, with --rate (poisson)\n"
    "  --tenant T            variable tenant\n"
    "  --var NAME=VALUE      a variable and property of the plan; may be repeated\n"
    "  --seed N              of all random draws (1)\n"
    "  --threads N           event loops (1)\n"
    "  --insecure            accept any TLS certificate\n"
    "  --json FILE           write the result there; - is standard output\n"
    "  --timeline FILE       write a CSV line each second\n"
    "  --check               read the plan and its data, run nothing\n"
    "Exit code: 0 no errors, 1 errors, 3 nothing was run.\n";

typedef struct {
    const char *plan, *json, *timeline;
    PlanOptions read;
    PlanVariable variables[VARIABLES_MAX];
    DriverOptions driver;
    bool only_checks;
} PlayOptions;

static void set_variable(PlayOptions *options, const char *name, const char *value)
{
    if (options->read.variable_len < VARIABLES_MAX) {
        options->variables[options->read.variable_len++] =
            (PlanVariable){.name = str_of(name), .value = str_of(value)};
    }
}

static Err *take_number(const char *name, const char *value, double least, double *out)
{
    if (!str_double(str_of(value), out) || *out < least) {
        return err_text(400, "%s: \"%s\" is no number of at least %g", name, value, least);
    }
    return NULL;
}

static Err *take_variable(PlayOptions *options, const char *value)
{
    ptrdiff_t equals = str_find_char(str_of(value), '=', 0);

    if (equals < 1) {
        return err_text(400, "--var needs NAME=VALUE");
    }
    set_variable(options, str_z(str_sub(str_of(value), 0, (size_t)equals)), value + equals + 1);
    return NULL;
}

static Err *take_word(const char *name, const char *value, const char *words, int *out)
{
    Str rest = str_of(words), word;

    for (int i = 0; str_next(&rest, ' ', &word); i++) {
        if (str_eq_z(word, value)) {
            *out = i;
            return NULL;
        }
    }
    return err_text(400, "%s must be one of: %s", name, words);
}

// Numbers that are a property of the plan, too.
static Err *take_load(PlayOptions *options, const char *name, const char *value, bool *taken)
{
    DriverOptions *driver = &options->driver;
    double number = 0;

    *taken = true;
    if (strcmp(name, "--users") == 0) {
        TRY(take_number(name, value, 1, &number));
        driver->users = (int64_t)number;
        set_variable(options, "VUSERS", value);
    } else if (strcmp(name, "--ramp-up") == 0) {
        TRY(take_number(name, value, 0, &driver->ramp_s));
        set_variable(options, "RAMP_UP", value);
    } else if (strcmp(name, "--duration") == 0) {
        TRY(take_number(name, value, 0, &driver->duration_s));
        set_variable(options, "DURATION", value);
    } else if (strcmp(name, "--tenant") == 0) {
        set_variable(options, "tenant", value);
    } else if (strcmp(name, "--var") == 0) {
        return take_variable(options, value);
    } else {
        *taken = false;
    }
    return NULL;
}

static Err *take_texts(PlayOptions *options, const char *name, const char *value, bool *taken)
{
    DriverOptions *driver = &options->driver;
    int word = 0;

    *taken = true;
    if (strcmp(name, "--url") == 0) {
        driver->url = str_of(value);
    } else if (strcmp(name, "--inputs") == 0) {
        options->read.inputs = str_of(value);
    } else if (strcmp(name, "--json") == 0) {
        options->json = value;
    } else if (strcmp(name, "--timeline") == 0) {
        options->timeline = value;
    } else if (strcmp(name, "--think") == 0) {
        TRY(take_word(name, value, "effective written none", &word));
        driver->think = (ThinkModel)word;
    } else if (strcmp(name, "--arrival") == 0) {
        TRY(take_word(name, value, "poisson constant", &word));
        driver->is_poisson = word == 0;
    } else {
        *taken = false;
    }
    return NULL;
}

static Err *take_numbers(PlayOptions *options, const char *name, const char *value)
{
    DriverOptions *driver = &options->driver;
    double number = 0;
    const struct {
        const char *name;
        double least;
        double *to;
    } numbers[] = {
        {"--warmup", 0, &driver->warmup_s},
        {"--cooldown", 0, &driver->cooldown_s},
        {"--timeout", 0.001, &driver->timeout_s},
        {"--think-scale", 0, &driver->think_scale},
        {"--rate", 0.001, &driver->rate},
        {"--seed", 0, NULL},
        {"--threads", 1, NULL},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            TRY(take_number(name, value, numbers[i].least, &number));
            if (numbers[i].to) {
                *numbers[i].to = number;
            } else if (strcmp(name, "--seed") == 0) {
                driver->seed = (uint64_t)number;
            } else {
                driver->threads = (int)number;
            }
            return NULL;
        }
    }
    return err_text(400, "unknown option %s", name);
}

static Err *take_option(PlayOptions *options, const char *name, const char *value)
{
    bool taken = false;

    TRY(take_load(options, name, value, &taken));
    if (!taken) {
        TRY(take_texts(options, name, value, &taken));
    }
    return taken ? NULL : take_numbers(options, name, value);
}

static bool take_flag(PlayOptions *options, const char *name)
{
    bool *flags[] = {&options->driver.without_preflights, &options->driver.accepts_any_certificate,
                     &options->only_checks, &options->read.stops_at_end};
    static const char *const names[] = {"--no-preflights", "--insecure", "--check",
                                        "--stop-at-end"};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(name, names[i]) == 0) {
            *flags[i] = true;
            return true;
        }
    }
    return false;
}

static Err *read_arguments(PlayOptions *options, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], "--", 2) != 0) {
            if (options->plan) {
                return err_text(400, "more than one plan: %s", argv[i]);
            }
            options->plan = argv[i];
        } else if (strchr(argv[i], '=') && strncmp(argv[i], "--var", 5) != 0) {
            char *equals = strchr(argv[i], '=');
            Str name = str_sub(str_of(argv[i]), 0, (size_t)(equals - argv[i]));
            TRY(take_option(options, str_z(name), equals + 1));
        } else if (!take_flag(options, argv[i])) {
            if (!value) {
                return err_text(400, "%s needs a value", argv[i]);
            }
            TRY(take_option(options, argv[i], value));
            i++;
        }
    }
    if (!options->plan || (options->driver.url.len == 0 && !options->only_checks)) {
        return err_text(400, "a plan and --url are needed; octavo bench play --help");
    }
    return NULL;
}

// A built-in plan by its name, else a file.
static Err *find_plan(const char *name, Str *text)
{
    bool is_name = !strchr(name, '/') && !strchr(name, '.');

    if (is_name && asset_find(str_z(str_fmt("bench/workloads/%s.json", name)), text)) {
        return NULL;
    }
    if (is_name && access(name, F_OK) != 0) {
        return err_text(400, "%s: there is no built-in plan of that name", name);
    }
    return file_read(name, PLAN_MAX, text);
}

static void stop_by_signal(int number)
{
    (void)number;
    driver_stop();
}

static Err *write_json(const char *name, Str text)
{
    FILE *file = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");

    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fputc('\n', file) == EOF ||
        fflush(file)) {
        return err_text(500, "%s: %s", name, strerror(errno));
    }
    if (file != stdout) {
        fclose(file);
    }
    return NULL;
}

static void warn_unset(const Plan *plan)
{
    StrList unset = plan_unset_variables(plan);

    if (unset.len > 0) {
        fprintf(stderr, "nothing sets these variables (--var NAME=VALUE): " STR_FMT "\n",
                STR_ARG(str_join(unset.at, unset.len, S(", "))));
    }
}

static Err *play(PlayOptions *options, RunResult *result, Plan **out)
{
    // With the result on standard output, everything for people goes to the other one.
    FILE *out_file = options->json && strcmp(options->json, "-") == 0 ? stderr : stdout;
    LiveView view = {.out = out_file, .is_terminal = isatty(fileno(out_file))};
    Plan *plan = NULL;
    Str text;

    TRY(find_plan(options->plan, &text));
    TRY(plan_read(text, &options->read, &plan));
    warn_unset(plan);
    *out = plan;
    if (options->only_checks) {
        fprintf(out_file, STR_FMT ": %zu groups, %zu transactions, %zu requests\n",
                STR_ARG(plan->name), plan->group_len, plan->transactions.len, plan->requests.len);
        report_lists(out_file, plan);
        return NULL;
    }
    if (options->timeline) {
        view.timeline = fopen(options->timeline, "w");
        if (!view.timeline) {
            return err_text(400, "%s: %s", options->timeline, strerror(errno));
        }
        fprintf(view.timeline, "second,steady,users,transactions_per_s,requests_per_s,p50_ms,"
                               "p95_ms,errors\n");
    }
    options->driver.progress = report_progress;
    options->driver.context = &view;
    signal(SIGINT, stop_by_signal);
    signal(SIGTERM, stop_by_signal);
    Err *err = driver_run(plan, &options->driver, result);
    if (view.timeline) {
        fclose(view.timeline);
    }
    if (view.is_terminal) {
        fputc('\n', out_file);
    }
    if (!err || result->sample_len > 0) {
        report_print(out_file, plan, &options->driver, result);
    }
    TRY(err);
    return options->json ? write_json(options->json, report_json(plan, &options->driver, result))
                         : NULL;
}

static int play_with_arguments(int argc, char **argv, RunResult *result, Plan **plan)
{
    PlayOptions *options = NEW(PlayOptions);

    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_FINE;
    }
    options->read = (PlanOptions){.inputs = S("."), .variables = options->variables};
    options->driver = (DriverOptions){.seed = 1,
                                      .threads = 1,
                                      .ramp_s = -1,
                                      .duration_s = -1,
                                      .cooldown_s = 2,
                                      .timeout_s = 60,
                                      .think_scale = 1,
                                      .is_poisson = true};
    Err *err = read_arguments(options, argc, argv);
    if (!err) {
        err = play(options, result, plan);
    }
    if (err) {
        fprintf(stderr, "octavo bench play: " STR_FMT "\n", STR_ARG(err->message));
        return result->sample_len > 0 ? EXIT_FAILURES : EXIT_USAGE;
    }
    bool has_failed = !options->only_checks && (tally_failed(&result->whole.all_requests) > 0 ||
                                                tally_failed(&result->whole.all_transactions) > 0);
    return has_failed ? EXIT_FAILURES : EXIT_FINE;
}

int bench_play(int argc, char **argv)
{
    Arena *arena = arena_new(PLAN_ARENA_MAX);
    Arena *former = arena_use(arena);
    RunResult *result = NEW(RunResult);
    Plan *plan = NULL;
    int code = play_with_arguments(argc, argv, result, &plan);

    run_result_close(result);
    if (plan) {
        plan_close_files(plan);
    }
    arena_use(former);
    arena_free(arena);
    return code;
}
