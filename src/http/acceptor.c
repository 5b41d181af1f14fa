// Lets clients in. The library could do that, but at its limit it closes what it has just accepted,
// and out of file descriptors it spins; here clients wait in the kernel's backlog.
#include "http/exchange.h"

#include "base/die.h"
#include "base/log.h"

#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    SHORTAGE_PAUSE_MS = 100,
    // Time for handshakes that have begun when the server stops.
    LAST_CALL_MS = 50,
};

static bool is_shortage(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOMEM || reason == ENOBUFS;
}

// False: nobody waits, or nobody can be let in.
static bool client_take(HttpServer *server)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    int fd =
        accept4(server->listen_fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0) {
        if (MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, len) != MHD_YES) {
            conn_unreserve(server->connections);
        }
        return true;
    }
    int reason = errno;
    conn_unreserve(server->connections);
    if (is_shortage(reason)) {
        log_line(LOG_ERROR, "http", "cannot accept a connection: %s", strerror(reason));
        struct pollfd wake = {.fd = server->wake_fd, .events = POLLIN};
        poll(&wake, 1, SHORTAGE_PAUSE_MS);
    }
    return reason == ECONNABORTED || reason == EINTR;
}

// To close the socket resets the clients who are between their handshake and our accept. So from
// here on the kernel drops new SYNs unanswered: those clients try again after a second, and find
// the next server or nobody.
static void syns_drop(int listen_fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), // flags of the TCP header
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), // SYN without ACK
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};

    if (setsockopt(listen_fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter)) {
        log_line(LOG_DEBUG, "http", "no filter for new connections: %s", strerror(errno));
    }
}

static void last_call(HttpServer *server)
{
    struct pollfd wait = {.fd = server->listen_fd, .events = POLLIN};

    syns_drop(server->listen_fd);
    while (
        poll(&wait, 1, LAST_CALL_MS) > 0 &&
        conn_reserve(server->connections, server->options.connection_max, &server->is_stopping) &&
        client_take(server)) {
    }
}

static void *acceptor_run(void *context)
{
    HttpServer *server = context;
    struct pollfd wait[2] = {{.fd = server->listen_fd, .events = POLLIN},
                             {.fd = server->wake_fd, .events = POLLIN}};

    while (!server->is_stopping) {
        if (poll(wait, 2, -1) > 0 && wait[0].revents &&
            conn_reserve(server->connections, server->options.connection_max,
                         &server->is_stopping)) {
            client_take(server);
        }
    }
    last_call(server);
    return NULL;
}

void acceptor_start(HttpServer *server)
{
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->wake_fd < 0 || pthread_create(&server->acceptor, NULL, acceptor_run, server)) {
        die("no thread to accept connections");
    }
}

void acceptor_stop(HttpServer *server)
{
    uint64_t one = 1;

    if (write(server->wake_fd, &one, sizeof one) != sizeof one) {
        die("the acceptor cannot be woken");
    }
    conn_pool_wake(server->connections);
    pthread_join(server->acceptor, NULL);
    close(server->wake_fd);
    close(server->listen_fd);
}
