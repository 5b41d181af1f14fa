// octavo serve: listeners, background work, and a stop that cuts no request.
#include "commands/commands.h"

#include "gateway/admin.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    GRACE_S = 30,
    HEADERS_MAX = 32 * 1024,
};

typedef struct {
    HttpServer *gateway, *edge, *admin;
} Listeners;

static HttpOptions listener_options(const App *app, Str data, const char *listen)
{
    const Config *config = app->config;

    return (HttpOptions){
        .listen = config_text(config, listen),
        .request_line_max = (size_t)config_int(config, "http.request_line_kib") << 10,
        .headers_max = HEADERS_MAX,
        .body_max = (size_t)config_int(config, "http.body_mib") << 20,
        .connection_max = (int)config_int(config, "http.connections"),
        .idle_timeout_s = (int)config_int(config, "http.idle_timeout_s"),
        .request_timeout_s = (int)config_int(config, "http.request_timeout_s"),
        .spool_dir = data,
        .context = (void *)app,
    };
}

static void listener_show(App *app, const char *name, const char *option, const HttpServer *server)
{
    Listener *listener = &app->listeners[app->listener_count];

    *listener = (Listener){name, config_text(app->config, option), server};
    app->listener_count++;
}

// Nothing instead of an address: people write both.
static bool is_off(Str address)
{
    return !address.len || str_eq_nocase(address, S("off"));
}

static Err *listeners_start(App *app, Str data, Listeners *listeners)
{
    HttpOptions gateway = listener_options(app, data, "http.listen");
    HttpOptions edge = listener_options(app, data, "edge.listen");
    HttpOptions admin = listener_options(app, data, "admin.listen");

    gateway.tls_certificate = config_text(app->config, "http.tls_certificate");
    gateway.tls_key = config_text(app->config, "http.tls_key");
    gateway.handle = gateway_handle;
    edge.handle = edge_handle;
    admin.handle = admin_handle;
    TRY(http_start(&gateway, &listeners->gateway));
    listener_show(app, "gateway", "http.listen", listeners->gateway);
    if (!is_off(edge.listen)) {
        TRY(http_start(&edge, &listeners->edge));
        listener_show(app, "edge", "edge.listen", listeners->edge);
    }
    if (!is_off(admin.listen)) {
        TRY(http_start(&admin, &listeners->admin));
        listener_show(app, "admin", "admin.listen", listeners->admin);
    }
    return NULL;
}

static void listeners_stop(Listeners *listeners)
{
    if (listeners->gateway) {
        http_stop(listeners->gateway, GRACE_S);
    }
    if (listeners->edge) {
        http_stop(listeners->edge, GRACE_S);
    }
    if (listeners->admin) {
        http_stop(listeners->admin, 1);
    }
}

// Tells systemd (Type=notify) without its library: one datagram to the socket it names.
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!path || strlen(path) >= sizeof address.sun_path) {
        return;
    }
    memcpy(address.sun_path, path, strlen(path));
    if (address.sun_path[0] == '@') {
        address.sun_path[0] = 0;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, len) < 0) {
        log_line(LOG_WARN, "octavo", "the service manager cannot be told: %s", state);
    }
    close(fd);
}

// Signals are taken by this thread alone; all others have them blocked.
static sigset_t stop_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return set;
}

// A second signal ends the process at once.
static void *second_signal(void *set)
{
    int number = 0;

    sigwait(set, &number);
    _exit(128 + number);
}

static void print_ready(const App *app, const Listeners *listeners)
{
    Str listen = config_text(app->config, "http.listen");
    Str scheme = config_text(app->config, "http.tls_certificate").len ? S("https") : S("http");
    int64_t ms = time_now() - app->started_at;

    // The port is asked for: 0 in the option means any free one.
    ptrdiff_t colon = -1;
    for (ptrdiff_t at = str_find_char(listen, ':', 0); at >= 0;
         at = str_find_char(listen, ':', (size_t)at + 1)) {
        colon = at;
    }
    Str host = str_sub(listen, 0, colon < 0 ? listen.len : (size_t)colon);
    if (!host.len || str_eq(host, S("127.0.0.1"))) {
        host = S("localhost");
    }
    printf("Octavo %s is ready after %d ms at " STR_FMT "://" STR_FMT ":%d\n", OCTAVO_VERSION,
           (int)ms, STR_ARG(scheme), STR_ARG(host), http_port(listeners->gateway));
    if (listeners->admin) {
        printf("admin listener on port %d\n", http_port(listeners->admin));
    }
    if (listeners->edge) {
        printf("edge listener on port %d\n", http_port(listeners->edge));
    }
    fflush(stdout);
}

int serve_main(int argc, char **argv)
{
    CommandLine line = command_line(argc, argv,
                                    "serve --data DIR [--http.listen ADDR:PORT] "
                                    "[--edge.listen ADDR:PORT] [--admin.listen ADDR:PORT]",
                                    NULL);
    sigset_t set = stop_signals();
    App app;
    Listeners listeners = {0};
    pthread_t impatient;
    int number = 0;

    Err *err = command_open(&line, true, &app);
    if (err) {
        return command_fail(err);
    }
    err = listeners_start(&app, line.data, &listeners);
    if (err) {
        listeners_stop(&listeners);
        command_close(&app);
        return command_fail(err);
    }
    print_ready(&app, &listeners);
    notify("READY=1");

    sigwait(&set, &number);
    notify("STOPPING=1");
    log_line(LOG_INFO, "octavo", "stopping: requests in flight are answered first");
    if (pthread_create(&impatient, NULL, second_signal, &set) == 0) {
        pthread_detach(impatient);
    }
    app.listener_count = 0;
    listeners_stop(&listeners);
    command_close(&app);
    return 0;
}
