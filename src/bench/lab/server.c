// Starting and stopping the server under test.
#include "server.h"

#include "cgroup.h"
#include "http/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    READY_S = 60,
    STOP_S = 40, // the server's own grace is 30
    OUTPUT_MAX = 4096,
    LAST_WORDS_MAX = 2000,
    CPUS_MAX = 1024,
    ARGUMENTS_MAX = 256,
};

extern char **environ;

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

// ---------------------------------------------------------------------------------------------
// What the child is given, made before the fork: afterwards only plain system calls are allowed

typedef struct {
    char **argv, **environment;
    cpu_set_t cpus;
    bool has_cpus;
    const char *cgroup_procs; // file to write the process into; NULL = none
    int output, log;          // descriptors
    pid_t parent;
} Child;

static bool read_cpus(Str text, cpu_set_t *cpus)
{
    Str part;

    CPU_ZERO(cpus);
    while (str_next(&text, ',', &part)) {
        ptrdiff_t dash = str_find_char(part, '-', 0);
        int64_t from = 0, to = 0;
        Str first = dash < 0 ? part : str_sub(part, 0, (size_t)dash);
        Str last = dash < 0 ? part : str_sub(part, (size_t)dash + 1, part.len);
        if (!str_int64(str_trim(first), &from) || !str_int64(str_trim(last), &to) || from < 0 ||
            to >= CPUS_MAX) {
            return false;
        }
        for (int64_t cpu = from; cpu <= to; cpu++) {
            CPU_SET((size_t)cpu, cpus);
        }
    }
    return CPU_COUNT(cpus) > 0;
}

// A number of processors means the first ones of the allowed.
static bool count_cpus(int64_t count, cpu_set_t *cpus)
{
    cpu_set_t allowed;
    int64_t taken = 0;

    CPU_ZERO(cpus);
    if (sched_getaffinity(0, sizeof allowed, &allowed)) {
        return false;
    }
    for (size_t cpu = 0; cpu < CPUS_MAX && taken < count; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, cpus);
            taken++;
        }
    }
    return taken == count && count > 0;
}

static Err *choose_cpus(const ServerSpec *spec, Child *child)
{
    Str cpus = spec->configuration->cpus.len ? spec->configuration->cpus : spec->cpuset;
    int64_t count = 0;

    if (!cpus.len) {
        return NULL;
    }
    child->has_cpus = spec->configuration->cpus.len && str_int64(cpus, &count)
                          ? count_cpus(count, &child->cpus)
                          : read_cpus(cpus, &child->cpus);
    return child->has_cpus
               ? NULL
               : err_text(400, "these processors are not there: " STR_FMT, STR_ARG(cpus));
}

static void make_arguments(const ServerSpec *spec, Child *child)
{
    static const char *const fixed[] = {"/proc/self/exe", "serve", "--http.listen=127.0.0.1:0",
                                        "--edge.listen=127.0.0.1:0", "--admin.listen=127.0.0.1:0"};
    size_t n = 0;

    child->argv = NEW_ARRAY(char *, ARGUMENTS_MAX + 1);
    for (; n < sizeof fixed / sizeof *fixed; n++) {
        child->argv[n] = (char *)fixed[n];
    }
    child->argv[n++] = (char *)str_z(str_fmt("--data=" STR_FMT, STR_ARG(spec->data)));
    for (size_t i = 0; i < spec->options.len && n < ARGUMENTS_MAX; i++) {
        child->argv[n++] = (char *)str_z(spec->options.at[i]);
    }
    JSON_EACH(option, spec->configuration->options)
    {
        if (n < ARGUMENTS_MAX) {
            child->argv[n++] =
                (char *)str_z(str_fmt("--" STR_FMT "=" STR_FMT, STR_ARG(json_key(option)),
                                      STR_ARG(json_scalar_text(option))));
        }
    }
}

// Variables of the configuration stand before those of the lab: the first of a name counts.
static void make_environment(const ServerSpec *spec, Child *child)
{
    size_t own = json_len(spec->configuration->env), inherited = 0, n = 0;

    while (environ[inherited]) {
        inherited++;
    }
    child->environment = NEW_ARRAY(char *, own + inherited + 1);
    JSON_EACH(variable, spec->configuration->env)
    {
        child->environment[n++] = (char *)str_z(str_fmt(
            STR_FMT "=" STR_FMT, STR_ARG(json_key(variable)), STR_ARG(json_scalar_text(variable))));
    }
    for (size_t i = 0; i < inherited; i++) {
        child->environment[n++] = environ[i];
    }
}

static void write_pid(const char *file)
{
    char text[16];
    int length = 0, fd = open(file, O_WRONLY | O_CLOEXEC);

    for (pid_t pid = getpid(); pid > 0; pid /= 10) {
        text[sizeof text - 1 - (size_t)length++] = (char)('0' + pid % 10);
    }
    if (fd >= 0) {
        ssize_t written = write(fd, text + sizeof text - length, (size_t)length);
        (void)written; // not in the group: the sampler shows the limit that is missing
        close(fd);
    }
}

_Noreturn static void become_child(const Child *child)
{
    sigset_t none;

    // It must not outlive the lab.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child->parent) {
        _exit(127);
    }
    // Ctrl-C at the terminal is the lab's affair.
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (child->has_cpus) {
        sched_setaffinity(0, sizeof child->cpus, &child->cpus);
    }
    if (child->cgroup_procs) {
        write_pid(child->cgroup_procs);
    }
    dup2(child->output, STDOUT_FILENO);
    dup2(child->log, STDERR_FILENO);
    execve(child->argv[0], child->argv, child->environment);
    _exit(127);
}

// ---------------------------------------------------------------------------------------------

static void give_back(Server *server)
{
    server->is_there = false;
    close(server->output);
    if (server->cgroup.len) {
        cgroup_remove(server->cgroup);
    }
    server->pid = 0;
}

static Str last_words(Str log)
{
    FILE *file = fopen(str_z(log), "rb");
    char *text = arena_alloc(arena_current(), LAST_WORDS_MAX + 1);
    size_t n = 0;

    if (file) {
        if (fseek(file, -LAST_WORDS_MAX, SEEK_END)) {
            rewind(file);
        }
        n = fread(text, 1, LAST_WORDS_MAX, file);
        fclose(file);
    }
    return str_trim((Str){text, n});
}

static Err *not_started(Server *server, const char *why)
{
    Str words = last_words(server->log);

    if (server_is_alive(server)) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, &server->status, 0);
    }
    give_back(server);
    return err_text(500, "the server %s%s" STR_FMT, why, words.len ? ": " : "", STR_ARG(words));
}

// "127.0.0.1:PORT" behind the words of a line of its output.
static Str address_behind(Str output, const char *words)
{
    ptrdiff_t at = str_find(output, str_of(words), 0);
    size_t from = (size_t)at + strlen(words), to = from;

    while (at >= 0 && to < output.len && output.at[to] >= '0' && output.at[to] <= '9') {
        to++;
    }
    return at < 0 || to == from
               ? S("")
               : str_fmt("http://127.0.0.1:" STR_FMT, STR_ARG(str_sub(output, from, to)));
}

static Err *read_addresses(Server *server)
{
    char text[OUTPUT_MAX];
    size_t len = 0;
    int64_t until = clock_ns() + READY_S * (int64_t)1000000000;

    for (;;) {
        int left = (int)((until - clock_ns()) / 1000000);
        struct pollfd wait = {.fd = server->output, .events = POLLIN};
        if (left <= 0 || len == sizeof text) {
            return not_started(server, "is not ready in time");
        }
        if (poll(&wait, 1, left) <= 0) {
            continue;
        }
        ssize_t n = read(server->output, text + len, sizeof text - len);
        if (n <= 0) {
            return not_started(server, "does not start");
        }
        len += (size_t)n;
        Str output = {text, len};
        // All its addresses come at once.
        if (str_find(output, S("is ready"), 0) >= 0 && str_ends(output, S("\n"))) {
            server->url = address_behind(output, "://localhost:");
            server->admin_url = address_behind(output, "admin listener on port ");
            server->edge_url = address_behind(output, "edge listener on port ");
            return server->url.len ? NULL : not_started(server, "says no address");
        }
    }
}

Err *server_start(const ServerSpec *spec, Server *out)
{
    int pipes[2];
    Child child = {.parent = getpid()};
    Str limit = spec->configuration->memory_limit.len ? spec->configuration->memory_limit
                                                      : spec->memory_limit;

    *out = (Server){.log = spec->log, .started_at = time_now()};
    TRY(choose_cpus(spec, &child));
    make_arguments(spec, &child);
    make_environment(spec, &child);
    if (limit.len && cgroup_make(limit, &out->cgroup)) {
        child.cgroup_procs = str_z(str_fmt(STR_FMT "/cgroup.procs", STR_ARG(out->cgroup)));
    }
    child.log = open(str_z(spec->log), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (child.log < 0 || pipe2(pipes, O_CLOEXEC)) {
        return err_text(500, STR_FMT ": %s", STR_ARG(spec->log), strerror(errno));
    }
    child.output = pipes[1];
    out->output = pipes[0];
    out->pid = fork();
    if (out->pid == 0) {
        become_child(&child);
    }
    out->is_there = out->pid > 0;
    close(pipes[1]);
    close(child.log);
    if (out->pid < 0) {
        return err_text(500, "no new process: %s", strerror(errno));
    }
    return read_addresses(out);
}

bool server_is_alive(Server *server)
{
    if (server->pid > 0 && waitpid(server->pid, &server->status, WNOHANG) == server->pid) {
        server->pid = 0;
    }
    return server->pid > 0;
}

Str server_end_text(const Server *server)
{
    return WIFSIGNALED(server->status)
               ? str_fmt("was killed by signal %d (%s)", WTERMSIG(server->status),
                         strsignal(WTERMSIG(server->status)))
               : str_fmt("ended with code %d", WEXITSTATUS(server->status));
}

Err *server_stop(Server *server)
{
    int64_t until = clock_ns() + STOP_S * (int64_t)1000000000;

    if (!server_is_alive(server)) {
        give_back(server);
        return err_text(500, "the server " STR_FMT, STR_ARG(server_end_text(server)));
    }
    kill(server->pid, SIGTERM);
    while (server_is_alive(server) && clock_ns() < until) {
        sleep_ms(2);
    }
    bool is_forced = server_is_alive(server);
    if (is_forced) {
        kill(server->pid, SIGKILL);
        waitpid(server->pid, &server->status, 0);
    }
    give_back(server);
    if (is_forced) {
        return err_text(500, "the server did not end within %d s", STOP_S);
    }
    return server->status == 0
               ? NULL
               : err_text(500, "the server " STR_FMT, STR_ARG(server_end_text(server)));
}

int program_run(const StrList *words, Str output)
{
    Child child = {.parent = getpid(), .environment = environ};
    int status = 0;

    child.argv = NEW_ARRAY(char *, words->len + 2);
    child.argv[0] = (char *)"/proc/self/exe";
    for (size_t i = 0; i < words->len; i++) {
        child.argv[i + 1] = (char *)str_z(words->at[i]);
    }
    child.output = child.log = open(str_z(output), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (child.output < 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become_child(&child);
    }
    close(child.output);
    bool has_ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    return has_ended ? WEXITSTATUS(status) : -1;
}
