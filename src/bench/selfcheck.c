// octavo bench selfcheck: what the load driver itself can do on this machine, and whether its
// times are right. Run it before you believe a report.
//
// Against a server of known times in a process of its own (known_server.h): how many requests one
// core of the driver manages, and how far its percentiles are from the server's own.
// Source: spec/workloads.md 15, spec/perf-lab.md 10.
#include "bench/bench.h"

#include "bench/driver/driver.h"
#include "bench/known_server.h"

#include "http/client.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    USERS_FAST = 16,
    USERS_SLOW = 32,
    TIMES_SLOW = 200, // of each user
    RATE_LEAST = 20000,
};
#define RUN_S      2.0
#define TIME_ERROR 0.02
#define ARENA_MAX  ((size_t)256 << 20)

static const char usage[] =
    "octavo bench selfcheck [--serve [--port N]]\n"
    "Measures the load driver: requests a second of one of its cores against a server that does\n"
    "nothing, and its percentiles against a server whose delays are known. Exit code 1 if it\n"
    "manages fewer than 20,000 a second or is wrong by more than 2 %.\n\n"
    "  --serve    only starts that server, for other load tools: /, /delay, and /times, which\n"
    "             says how long /delay took since it was asked last\n"
    "  --port N   of the server (any free one)\n";

typedef struct {
    pid_t pid;
    Str url;
} Server;

static void tell_port(int port, void *context)
{
    (void)!write(*(int *)context, &port, sizeof port);
}

static Err *start_server(Server *server)
{
    int ends[2], port = 0;

    if (pipe(ends)) {
        return err_text(500, "no pipe for the server of the check");
    }
    server->pid = fork();
    if (server->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        known_server_run(0, tell_port, &ends[1]);
    }
    close(ends[1]);
    bool is_there = server->pid > 0 && read(ends[0], &port, sizeof port) == sizeof port;
    close(ends[0]);
    server->url = str_fmt("http://127.0.0.1:%d", port);
    return is_there ? NULL : err_text(500, "the server of the check does not start");
}

static Err *drive(const Server *server, Str plan_text, const DriverOptions *special,
                  RunResult *result)
{
    DriverOptions options = *special;
    Plan *plan = NULL;

    options.url = server->url;
    options.seed = 1;
    options.threads = 1;
    options.cooldown_s = 1;
    options.timeout_s = 10;
    options.think_scale = 1;
    TRY(plan_read(plan_text, &(PlanOptions){.inputs = S(".")}, &plan));
    return driver_run(plan, &options, result);
}

static Err *check_speed(const Server *server, bool *is_right)
{
    RunResult *result = NEW(RunResult);

    TRY(drive(
        server,
        S("{\"name\":\"speed\",\"loop\":[{\"id\":\"get\",\"method\":\"GET\",\"path\":\"/\"}]}"),
        &(DriverOptions){.users = USERS_FAST, .steady_s = RUN_S, .patience_s = 10}, result));
    uint64_t requests = tally_count(&result->steady.all_requests);
    double per_core = result->cpu_s > 0 ? (double)requests / result->cpu_s : 0;
    bool is_fast = per_core >= RATE_LEAST;
    *is_right = *is_right && is_fast;
    printf("%-10s %9.0f requests/s by the clock, %9.0f per second of CPU (at least %d)\n",
           is_fast ? "ok" : "TOO SLOW", (double)requests / result->window_s, per_core, RATE_LEAST);
    run_result_close(result);
    return NULL;
}

// What the server says of its own times.
static Err *ask_times(const Server *server, Json **times)
{
    HttpCall call = {.method = GET, .url = str_fmt(STR_FMT "/times", STR_ARG(server->url))};
    HttpAnswer answer;

    TRY(http_call(&call, &answer));
    return json_parse(answer.body, times);
}

static Err *check_times(const Server *server, bool *is_right)
{
    static const struct {
        double percent;
        const char *name;
    } of[] = {{50, "p50Ms"}, {95, "p95Ms"}, {99, "p99Ms"}};
    RunResult *result = NEW(RunResult);
    Json *known = NULL;

    // A number of passes, not of seconds: an end in the middle would cut the long ones off.
    TRY(drive(server,
              str_fmt("{\"name\":\"times\",\"iterations\":%d,\"loop\":[{\"id\":\"get\",\"method\":"
                      "\"GET\",\"path\":\"/delay\"}]}",
                      TIMES_SLOW),
              &(DriverOptions){.users = USERS_SLOW, .duration_s = -1}, result));
    TRY(ask_times(server, &known));
    const Hist *measured = result->whole.all_requests.ok;
    if (!measured || hist_count(measured) != json_int(known, "count", 0)) {
        return err_text(500, "the driver and the server do not count the same requests");
    }
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double server_ms = json_number(known, of[i].name, 0);
        double driver_ms = (double)hist_percentile(measured, of[i].percent) / 1000;
        bool is_near = fabs(driver_ms / server_ms - 1) <= TIME_ERROR;
        *is_right = *is_right && is_near;
        printf("%-10s p%-2.0f: the server took %.2f ms, the driver saw %.2f ms (%+.1f %%)\n",
               is_near ? "ok" : "WRONG", of[i].percent, server_ms, driver_ms,
               (driver_ms / server_ms - 1) * 100);
    }
    run_result_close(result);
    return NULL;
}

static Err *check(bool *is_right)
{
    Server server = {0};

    TRY(start_server(&server));
    Err *err = check_speed(&server, is_right);
    err = err ? err : check_times(&server, is_right);
    kill(server.pid, SIGKILL);
    waitpid(server.pid, NULL, 0);
    return err;
}

static void say_address(int port, void *context)
{
    (void)context;
    printf("http://127.0.0.1:%d/       answers at once\n"
           "http://127.0.0.1:%d/delay  answers after a drawn delay\n"
           "http://127.0.0.1:%d/times  says how long /delay took, and forgets it\n",
           port, port, port);
    fflush(stdout);
}

// 0 = what `--port` says is no port.
static int serve(int argc, char **argv)
{
    long port = 0;
    char *end = "";

    if (argc == 2 && strcmp(argv[0], "--port") == 0) {
        port = strtol(argv[1], &end, 10);
    }
    if ((argc != 0 && argc != 2) || (argc == 2 && port <= 0) || *end || port > 65535) {
        fputs(usage, stderr);
        return 3;
    }
    known_server_run((int)port, say_address, NULL);
}

int bench_selfcheck(int argc, char **argv)
{
    bool is_right = true;

    if (argc > 0 && strcmp(argv[0], "--serve") == 0) {
        return serve(argc - 1, argv + 1);
    }
    if (argc > 0) {
        bool is_help = strcmp(argv[0], "--help") == 0;
        fputs(usage, is_help ? stdout : stderr);
        return is_help ? 0 : 3;
    }
    Arena *arena = arena_new(ARENA_MAX), *former = arena_use(arena);
    Err *err = check(&is_right);
    if (err) {
        fprintf(stderr, "octavo bench selfcheck: " STR_FMT "\n", STR_ARG(err->message));
    }
    arena_use(former);
    arena_free(arena);
    return err ? 3 : is_right ? 0 : 1;
}
