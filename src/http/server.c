// The server: libmicrohttpd accepts, parses and sends; one thread per connection.
//
// Traps of the library (0.9.75), each with a test: an answer queued in the first call of the access
// handler closes the connection afterwards, so that is done only to refuse; it accepts both lengths
// and two hosts, cuts a target at a NUL and reads on behind one in the head, and botches folded
// header lines (head.c); its timeouts spin (connection_pool.c). No option of it changes that it
// sends the head of its own answer to a Content-Length that is none twice before it closes, nor
// that it wipes a connection's memory after each request (0.6 us for 64 KB).
#include "http/exchange.h"
#include "http/listen.h"

#include "base/date.h"
#include "base/log.h"
#include "base/meter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    // Beside line and headers the library keeps a node per field and query parameter and a copy of
    // the cookies in the same memory, and reads bodies through what is left.
    CONNECTION_SLACK = 16 * 1024,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    STACK_SIZE = 4 * 1024 * 1024,
#else
    STACK_SIZE = 512 * 1024,
#endif
    SERVER_MEMORY_MAX = 4 * 1024 * 1024,
    LARGE_BODIES_MAX = 4,
    // Places are given by the acceptor; the library must never refuse one by itself.
    LIBRARY_SURPLUS = 2000,
};

static size_t or_else(size_t value, size_t fallback)
{
    return value ? value : fallback;
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    HttpServer *server = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        int socket = fd->connect_fd;
        const union MHD_ConnectionInfo *address =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        *socket_context = connection_open(server->connections, socket, address->client_addr);
        return;
    }
    meter_thread_end();
    // Requests that the library itself refuses end without our lingering.
    conn_skim(*socket_context);
    connection_close(server->connections, *socket_context);
    *socket_context = NULL;
}

static size_t leave_alone(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static void options_complete(HttpOptions *options)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    options->request_line_max = or_else(options->request_line_max, 16 * 1024);
    options->headers_max = or_else(options->headers_max, 32 * 1024);
    options->body_max = or_else(options->body_max, 32 * 1024 * 1024);
    options->arena_max = or_else(options->arena_max, 64 * 1024 * 1024);
    options->connection_max = (int)or_else((size_t)options->connection_max, 2000);
    options->idle_timeout_s = (int)or_else((size_t)options->idle_timeout_s, 30);
    options->request_timeout_s = (int)or_else((size_t)options->request_timeout_s, 60);
    options->queue_timeout_ms = (int)or_else((size_t)options->queue_timeout_ms, 5000);
    options->handler_max =
        (int)or_else((size_t)options->handler_max, cores > 2 ? 8 * (size_t)cores : 16);
}

static Err *file_read(Str name, char **content)
{
    FILE *file = fopen(str_z(name), "rb");
    Buf buf = buf_new(arena_current(), SERVER_MEMORY_MAX / 4);

    for (size_t len = 1; file && len;) {
        char *to = buf_room(&buf, 4096);
        len = to ? fread(to, 1, 4096, file) : 0;
        buf.len += len;
    }
    if (!file || ferror(file) || buf.overflowed) {
        int reason = errno;
        if (file) {
            fclose(file);
        }
        return err_text(500, "Cannot read the TLS file " STR_FMT ": %s", STR_ARG(name),
                        strerror(reason));
    }
    fclose(file);
    *content = (char *)(uintptr_t)str_z(buf_str(&buf));
    return NULL;
}

static Err *tls_options(const HttpOptions *options, struct MHD_OptionItem tls[4])
{
    static char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    char *certificate = NULL, *key = NULL;

    TRY(file_read(options->tls_certificate, &certificate));
    TRY(file_read(options->tls_key, &key));
    tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, certificate};
    tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, key};
    tls[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, priorities};
    tls[3] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return NULL;
}

static Err *daemon_start(HttpServer *server)
{
    const HttpOptions *options = &server->options;
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC |
                     MHD_USE_NO_LISTEN_SOCKET;
    struct MHD_OptionItem tls[4] = {{MHD_OPTION_END, 0, NULL}};

    if (server->is_tls) {
        TRY(tls_options(options, tls));
        flags |= MHD_USE_TLS;
    }
    // clang-format off
    server->daemon = MHD_start_daemon(flags, 0, NULL, NULL, exchange_continue, server,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT,
            options->request_line_max + options->headers_max + CONNECTION_SLACK,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(options->connection_max + LIBRARY_SURPLUS),
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_SIZE,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, server,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_alone, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, exchange_end, server,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server,
        MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    // clang-format on
    if (!server->daemon) {
        return err_text(500, "Cannot serve at " STR_FMT ": %s", STR_ARG(options->listen),
                        server->is_tls ? "is the TLS certificate valid?" : strerror(errno));
    }
    return NULL;
}

Err *http_start(const HttpOptions *options, HttpServer **out)
{
    int fd = -1;

    TRY(listen_open(options->listen, &fd));
    Arena *arena = arena_new(SERVER_MEMORY_MAX);
    HttpServer *server = arena_alloc(arena, sizeof *server);
    *server = (HttpServer){.arena = arena, .options = *options, .listen_fd = fd};
    options_complete(&server->options);
    server->port = listen_port(fd);
    server->is_tls = options->tls_certificate.len > 0;
    Str spool = options->spool_dir.len ? options->spool_dir : S("/tmp");
    server->spool_dir = str_copy(arena, spool).at;
    server->connections =
        conn_pool_new((ConnLimits){server->options.idle_timeout_s,
                                   server->options.request_timeout_s, server->options.arena_max});
    sem_init(&server->handlers, 0, (unsigned)server->options.handler_max);
    sem_init(&server->large_bodies, 0, LARGE_BODIES_MAX);
    Err *err = daemon_start(server);
    if (err) {
        close(fd);
        conn_pool_free(server->connections);
        sem_destroy(&server->handlers);
        sem_destroy(&server->large_bodies);
        arena_free(arena);
        return err;
    }
    acceptor_start(server);
    *out = server;
    return NULL;
}

int http_port(const HttpServer *server)
{
    return server->port;
}

int http_connections(const HttpServer *server)
{
    return conn_count(server->connections);
}

void http_stop(HttpServer *server, int grace_s)
{
    int64_t deadline = clock_ns() + grace_s * (int64_t)1000000000;

    atomic_store(&server->is_stopping, true);
    acceptor_stop(server);
    if (!conn_pool_drain(server->connections, deadline)) {
        log_line(LOG_WARN, "http", "%d connections were cut when the grace of %d s ended",
                 conn_count(server->connections), grace_s);
    }
    MHD_stop_daemon(server->daemon);
    conn_pool_free(server->connections);
    sem_destroy(&server->handlers);
    sem_destroy(&server->large_bodies);
    Arena *arena = server->arena;
    arena_free(arena);
}
