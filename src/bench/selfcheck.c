// octavo bench selfcheck: what the load driver itself can do on this machine, and whether its
// times are right. Run it before you believe a report.
//
// A server in a process of its own answers without thinking: how many requests one core of the
// driver manages. Then it delays each answer by a drawn time and remembers when the answer really
// left: both ends' percentiles must agree. Source: spec/workloads.md 15, spec/perf-lab.md 10.
#include "bench.h"

#include "bench/driver/driver.h"

#include "base/date.h"
#include "base/die.h"
#include "base/hist.h"

#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 256,
    EVENTS_MAX = 64,
    HEAD_MAX = 4096,
    USERS_FAST = 16,
    USERS_SLOW = 8,
    RATE_LEAST = 20000,
};
#define RUN_S      2.0
#define SLOW_S     5.0
#define MEDIAN_MS  20.0
#define SPREAD     0.35 // of the logarithm
#define TIME_ERROR 0.02
#define ARENA_MAX  ((size_t)256 << 20)
#define LONGEST_US ((int64_t)60 * 1000 * 1000)

static const char answer_text[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                  "Content-Length: 2\r\n\r\n{}";
static const char usage[] =
    "octavo bench selfcheck\n"
    "Measures the load driver: requests a second of one of its cores against a server that does\n"
    "nothing, and its percentiles against a server whose delays are known. Exit code 1 if it\n"
    "manages fewer than 20,000 a second or is wrong by more than 2 %.\n";

// ---------------------------------------------------------------------------------------------
// The server, in a child process. It shares the times it took with the parent.

typedef struct {
    int socket;
    size_t len; // of the request so far
    char head[HEAD_MAX];
    int64_t came_ns, due_ns; // of the request whose answer waits; due 0 = none waits
} Connection;

enum {
    TIMES_MAX = 1 << 20,
};

typedef struct {
    _Atomic int port;
    _Atomic size_t time_len;
    int64_t times_us[TIMES_MAX]; // from the request's arrival to its answer
} Shared;

typedef struct {
    Shared *shared;
    bool delays;
    int epoll, listener, timer;
    Connection connections[CONNECTIONS_MAX];
    Rng rng;
} Echo;

static void answer(Echo *echo, Connection *connection)
{
    ssize_t sent = send(connection->socket, answer_text, sizeof answer_text - 1, MSG_NOSIGNAL);
    size_t n = atomic_load(&echo->shared->time_len);

    if (sent > 0 && n < TIMES_MAX) {
        echo->shared->times_us[n] = (clock_ns() - connection->came_ns) / 1000;
        atomic_store(&echo->shared->time_len, n + 1);
    }
    connection->due_ns = 0;
    connection->len = 0;
}

static void close_connection(Connection *connection)
{
    close(connection->socket);
    *connection = (Connection){.socket = -1};
}

static void take_request(Echo *echo, Connection *connection)
{
    ssize_t n = recv(connection->socket, connection->head + connection->len,
                     HEAD_MAX - connection->len, MSG_DONTWAIT);

    if (n <= 0) {
        if (n == 0 || errno != EAGAIN) {
            close_connection(connection);
        }
        return;
    }
    connection->len += (size_t)n;
    if (connection->len < 4 || memcmp(connection->head + connection->len - 4, "\r\n\r\n", 4) != 0) {
        return;
    }
    connection->came_ns = clock_ns();
    if (!echo->delays) {
        answer(echo, connection);
        return;
    }
    double ms = MEDIAN_MS * exp(SPREAD * rng_gauss(&echo->rng));
    connection->due_ns = connection->came_ns + (int64_t)(ms * 1e6);
}

static void accept_one(Echo *echo)
{
    int one = 1, socket = accept4(echo->listener, NULL, NULL, SOCK_CLOEXEC);

    for (size_t i = 0; socket >= 0 && i < CONNECTIONS_MAX; i++) {
        if (echo->connections[i].socket < 0) {
            struct epoll_event event = {.events = EPOLLIN, .data.u64 = i};
            echo->connections[i].socket = socket;
            setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            epoll_ctl(echo->epoll, EPOLL_CTL_ADD, socket, &event);
            return;
        }
    }
    if (socket >= 0) {
        close(socket);
    }
}

// Sends what is due and wakes up for the next.
static void send_due(Echo *echo)
{
    int64_t next = 0;

    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        Connection *connection = &echo->connections[i];
        if (connection->due_ns > 0 && connection->due_ns <= clock_ns()) {
            answer(echo, connection);
        } else if (connection->due_ns > 0 && (next == 0 || connection->due_ns < next)) {
            next = connection->due_ns;
        }
    }
    struct itimerspec at = {.it_value = {next / 1000000000, next % 1000000000}};
    timerfd_settime(echo->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

_Noreturn static void serve(Shared *shared, bool delays)
{
    static Echo echo;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    struct epoll_event events[EVENTS_MAX], listens = {.events = EPOLLIN, .data.u64 = UINT64_MAX},
                                           ticks = {.events = EPOLLIN, .data.u64 = UINT64_MAX - 1};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    echo = (Echo){.shared = shared, .delays = delays};
    rng_seed(&echo.rng, 1, 1);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        echo.connections[i].socket = -1;
    }
    echo.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    echo.epoll = epoll_create1(EPOLL_CLOEXEC);
    echo.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (bind(echo.listener, (struct sockaddr *)&address, len) || listen(echo.listener, 512) ||
        getsockname(echo.listener, (struct sockaddr *)&address, &len)) {
        _exit(1);
    }
    epoll_ctl(echo.epoll, EPOLL_CTL_ADD, echo.listener, &listens);
    epoll_ctl(echo.epoll, EPOLL_CTL_ADD, echo.timer, &ticks);
    atomic_store(&shared->port, ntohs(address.sin_port));
    for (;;) {
        int n = epoll_wait(echo.epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < n; i++) {
            uint64_t which = events[i].data.u64, missed;
            if (which == UINT64_MAX) {
                accept_one(&echo);
            } else if (which == UINT64_MAX - 1) {
                (void)!read(echo.timer, &missed, sizeof missed);
            } else if (echo.connections[which].socket >= 0) {
                take_request(&echo, &echo.connections[which]);
            }
        }
        if (delays) {
            send_due(&echo);
        }
    }
}

static pid_t start_server(Shared *shared, bool delays)
{
    shared->port = 0;
    shared->time_len = 0;
    pid_t child = fork();
    if (child == 0) {
        serve(shared, delays);
    }
    for (int i = 0; child > 0 && atomic_load(&shared->port) == 0 && i < 2000; i++) {
        usleep(1000);
    }
    if (child < 0 || atomic_load(&shared->port) == 0) {
        die("the server of the check does not start");
    }
    return child;
}

static void stop_server(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// ---------------------------------------------------------------------------------------------

static Err *drive(const Shared *shared, int64_t users, double seconds, RunResult *result)
{
    static const char plan_text[] =
        "{\"name\":\"selfcheck\",\"loop\":[{\"id\":\"get\",\"method\":\"GET\",\"path\":\"/\"}]}";
    DriverOptions options = {.url = str_fmt("http://127.0.0.1:%d", shared->port),
                             .seed = 1,
                             .threads = 1,
                             .users = users,
                             .steady_s = seconds,
                             .patience_s = 10,
                             .cooldown_s = 1,
                             .timeout_s = 10,
                             .think_scale = 1};
    Plan *plan = NULL;

    TRY(plan_read(str_of(plan_text), &(PlanOptions){.inputs = S(".")}, &plan));
    return driver_run(plan, &options, result);
}

static Err *check_speed(Shared *shared, bool *is_right)
{
    RunResult *result = NEW(RunResult);
    pid_t server = start_server(shared, false);
    Err *err = drive(shared, USERS_FAST, RUN_S, result);

    stop_server(server);
    TRY(err);
    uint64_t requests = tally_count(&result->steady.all_requests);
    double per_core = result->cpu_s > 0 ? (double)requests / result->cpu_s : 0;
    *is_right = per_core >= RATE_LEAST;
    printf("%-10s %9.0f requests/s by the clock, %9.0f per second of CPU (at least %d)\n",
           *is_right ? "ok" : "TOO SLOW", (double)requests / result->window_s, per_core,
           RATE_LEAST);
    run_result_close(result);
    return NULL;
}

static Hist *server_times(const Shared *shared)
{
    Hist *times = hist_new(3, LONGEST_US);

    for (size_t i = 0; i < shared->time_len; i++) {
        hist_record(times, shared->times_us[i]);
    }
    return times;
}

static Err *check_times(Shared *shared, bool *is_right)
{
    static const double percents[] = {50, 95, 99};
    RunResult *result = NEW(RunResult);
    pid_t server = start_server(shared, true);
    Err *err = drive(shared, USERS_SLOW, SLOW_S, result);

    stop_server(server);
    TRY(err);
    Hist *known = server_times(shared);
    const Hist *measured = result->whole.all_requests.ok;
    *is_right = measured != NULL;
    for (size_t i = 0; measured && i < sizeof percents / sizeof *percents; i++) {
        double server_ms = (double)hist_percentile(known, percents[i]) / 1000;
        double driver_ms = (double)hist_percentile(measured, percents[i]) / 1000;
        bool is_near = fabs(driver_ms / server_ms - 1) <= TIME_ERROR;
        *is_right = *is_right && is_near;
        printf("%-10s p%-2.0f: the server took %.2f ms, the driver saw %.2f ms (%+.1f %%)\n",
               is_near ? "ok" : "WRONG", percents[i], server_ms, driver_ms,
               (driver_ms / server_ms - 1) * 100);
    }
    hist_free(known);
    run_result_close(result);
    return NULL;
}

int bench_selfcheck(int argc, char **argv)
{
    bool is_fast = false, is_right = false;

    if (argc > 0) {
        bool is_help = strcmp(argv[0], "--help") == 0;
        fputs(usage, is_help ? stdout : stderr);
        return is_help ? 0 : 3;
    }
    Arena *arena = arena_new(ARENA_MAX), *former = arena_use(arena);
    Shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        die("out of memory");
    }
    Err *err = check_speed(shared, &is_fast);
    err = err ? err : check_times(shared, &is_right);
    if (err) {
        fprintf(stderr, "octavo bench selfcheck: " STR_FMT "\n", STR_ARG(err->message));
    }
    munmap(shared, sizeof *shared);
    arena_use(former);
    arena_free(arena);
    return err ? 3 : is_fast && is_right ? 0 : 1;
}
