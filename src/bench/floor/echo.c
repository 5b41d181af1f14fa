// The bare HTTP route of the floor: a server process that sends 2 KB back, driven by the load
// driver.
#include "floor.h"

#include "bench/driver/driver.h"

#include "http/http.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    BODY_BYTES = 2048,
    CONNECTIONS = 20,
};

static void echo(Req *req, void *context)
{
    (void)context;
    (void)!reply_body(req, 200, "application/octet-stream", req->body);
}

// Runs in the child: says its port, serves until the parent closes the other pipe.
static void serve(int port_pipe, int end_pipe)
{
    HttpServer *server = NULL;
    HttpOptions options = {
        .listen = S("127.0.0.1:0"),
        .request_line_max = 16384,
        .headers_max = 32768,
        .body_max = 1 << 20,
        .connection_max = 100,
        .idle_timeout_s = 30,
        .request_timeout_s = 60,
        .handle = echo,
    };
    char byte;

    if (http_start(&options, &server)) {
        _exit(1);
    }
    int port = http_port(server);
    if (write(port_pipe, &port, sizeof port) == sizeof port) {
        while (read(end_pipe, &byte, 1) < 0 && errno == EINTR) {
        }
    }
    _exit(0);
}

static double cpu_of(pid_t child)
{
    clockid_t clock;
    struct timespec used = {0};

    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &used)) {
        return 0;
    }
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static Err *drive(int port, int64_t users, double seconds, RunResult *result)
{
    char body[BODY_BYTES + 1];
    PlanOptions read = {.inputs = S(".")};
    Plan *plan = NULL;
    DriverOptions options = {.url = str_fmt("http://127.0.0.1:%d", port),
                             .seed = 1,
                             .threads = 1,
                             .users = users,
                             .ramp_s = 0,
                             .duration_s = seconds,
                             .cooldown_s = 1,
                             .timeout_s = 10,
                             .think_scale = 1};

    memset(body, 'x', BODY_BYTES);
    body[BODY_BYTES] = 0;
    TRY(plan_read(str_fmt("{\"name\":\"echo\",\"loop\":[{\"id\":\"echo\",\"method\":\"POST\","
                          "\"path\":\"/echo\",\"body\":\"%s\",\"content_type\":"
                          "\"application/octet-stream\"}]}",
                          body),
                  &read, &plan));
    TRY(driver_run(plan, &options, result));
    return result->sample_len == 0
               ? NULL
               : err_text(500, "echo: " STR_FMT, STR_ARG(result->samples[0].why));
}

static Err *measure(pid_t child, int port, double seconds, Floor *floor)
{
    RunResult *one = NEW(RunResult), *many = NEW(RunResult);

    TRY(drive(port, 1, seconds, one));
    double before = cpu_of(child);
    TRY(drive(port, CONNECTIONS, seconds, many));
    double used = cpu_of(child) - before;
    uint64_t count = tally_count(&many->whole.all_requests);
    if (!one->whole.all_requests.ok || count == 0) {
        return err_text(500, "echo: no answers");
    }
    floor->echo_wall_us = (double)hist_percentile(one->whole.all_requests.ok, 50);
    floor->echo_cpu_us = used * 1e6 / (double)count;
    floor->echo_per_s = (double)count / many->run_s;
    return NULL;
}

Err *floor_measure_echo(double seconds, Floor *floor)
{
    int port_pipe[2], end_pipe[2], port = 0;

    if (pipe(port_pipe) || pipe(end_pipe)) {
        return err_text(500, "pipe: %s", strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        close(end_pipe[1]);
        serve(port_pipe[1], end_pipe[0]);
    }
    close(port_pipe[1]);
    close(end_pipe[0]);
    bool has_port = child > 0 && read(port_pipe[0], &port, sizeof port) == sizeof port;
    Err *err = has_port ? measure(child, port, seconds, floor)
                        : err_text(500, "the echo server did not start");
    close(end_pipe[1]);
    close(port_pipe[0]);
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    return err;
}
