// The server of known times: one thread, one epoll, answers when they are due.
#include "bench/known_server.h"

#include "bench/plan/actor.h"

#include "base/date.h"
#include "base/hist.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 1024,
    EVENTS_MAX = 64,
    HEAD_MAX = 4096,
    ANSWER_MAX = 512,
    OF_LISTENER = CONNECTIONS_MAX, // events that are no connection's
    OF_TIMER,
};
#define MEDIAN_MS  20.0
#define SPREAD     0.35 // of the logarithm
#define LATE_SHARE 0.02
#define LATE_MS    100.0 // at least; and up to twice as much again
#define LONGEST_US ((int64_t)60 * 1000 * 1000)

typedef struct {
    int socket;
    size_t len; // of the request so far
    char head[HEAD_MAX];
    int64_t came_ns, due_ns; // of the request whose answer waits; due 0 = none waits
} Connection;

typedef struct {
    int epoll, listener, timer;
    int waiting; // answers
    Connection connections[CONNECTIONS_MAX];
    Rng rng;
    Hist *times;
} Server;

static void send_answer(const Connection *connection, const char *body)
{
    char text[ANSWER_MAX];
    // ab needs to be told that a connection stays.
    int len = snprintf(text, sizeof text,
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                       "Connection: keep-alive\r\nContent-Length: %zu\r\n\r\n%s",
                       strlen(body), body);
    // Who has gone meanwhile is noticed by the next event of the connection.
    (void)!send(connection->socket, text, (size_t)len, MSG_NOSIGNAL);
}

static void send_times(Server *server, const Connection *connection)
{
    const Hist *times = server->times;
    char body[ANSWER_MAX / 2];

    snprintf(body, sizeof body,
             "{\"count\":%lld,\"meanMs\":%.3f,\"p50Ms\":%.3f,\"p95Ms\":%.3f,\"p99Ms\":%.3f}",
             (long long)hist_count(times), hist_mean(times) / 1000,
             (double)hist_percentile(times, 50) / 1000, (double)hist_percentile(times, 95) / 1000,
             (double)hist_percentile(times, 99) / 1000);
    hist_reset(server->times);
    send_answer(connection, body);
}

static void close_connection(Server *server, Connection *connection)
{
    server->waiting -= connection->due_ns > 0;
    close(connection->socket);
    connection->socket = -1;
    connection->len = 0;
    connection->due_ns = 0;
}

static int64_t draw_delay_ns(Rng *rng)
{
    double ms = MEDIAN_MS * exp(SPREAD * rng_gauss(rng));

    if (rng_unit(rng) < LATE_SHARE) {
        ms += LATE_MS * (1 + 2 * rng_unit(rng));
    }
    return (int64_t)(ms * 1e6);
}

static void take_request(Server *server, Connection *connection)
{
    ssize_t n = recv(connection->socket, connection->head + connection->len,
                     HEAD_MAX - connection->len, MSG_DONTWAIT);

    if (n <= 0) {
        if (n == 0 || errno != EAGAIN) {
            close_connection(server, connection);
        }
        return;
    }
    connection->len += (size_t)n;
    if (connection->len < 4 || memcmp(connection->head + connection->len - 4, "\r\n\r\n", 4) != 0) {
        return;
    }
    connection->len = 0;
    if (memcmp(connection->head, "GET /delay", 10) == 0) {
        server->waiting += connection->due_ns == 0;
        connection->came_ns = clock_ns();
        connection->due_ns = connection->came_ns + draw_delay_ns(&server->rng);
    } else if (memcmp(connection->head, "GET /times", 10) == 0) {
        send_times(server, connection);
    } else {
        send_answer(connection, "{}");
    }
}

static void accept_one(Server *server)
{
    int one = 1, socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);

    for (size_t i = 0; socket >= 0 && i < CONNECTIONS_MAX; i++) {
        Connection *connection = &server->connections[i];
        if (connection->socket < 0) {
            struct epoll_event event = {.events = EPOLLIN, .data.u64 = i};
            connection->socket = socket;
            setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            epoll_ctl(server->epoll, EPOLL_CTL_ADD, socket, &event);
            return;
        }
    }
    if (socket >= 0) {
        close(socket);
    }
}

// Sends what is due and sets the clock for the next.
static void send_due(Server *server)
{
    int64_t next = 0;

    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        Connection *connection = &server->connections[i];
        if (connection->due_ns > 0 && connection->due_ns <= clock_ns()) {
            send_answer(connection, "{}");
            hist_record(server->times, (clock_ns() - connection->came_ns) / 1000);
            connection->due_ns = 0;
            server->waiting--;
        } else if (connection->due_ns > 0 && (next == 0 || connection->due_ns < next)) {
            next = connection->due_ns;
        }
    }
    struct itimerspec at = {.it_value = {next / 1000000000, next % 1000000000}};
    timerfd_settime(server->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static int listen_on(Server *server, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof address;
    int one = 1;

    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server->listener, (struct sockaddr *)&address, len) ||
        listen(server->listener, CONNECTIONS_MAX) ||
        getsockname(server->listener, (struct sockaddr *)&address, &len)) {
        perror("the server of known times");
        exit(1);
    }
    return ntohs(address.sin_port);
}

static void watch(const Server *server, int file, uint64_t of)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = of};

    epoll_ctl(server->epoll, EPOLL_CTL_ADD, file, &event);
}

static void take_event(Server *server, uint64_t of)
{
    uint64_t missed;

    if (of == OF_LISTENER) {
        accept_one(server);
    } else if (of == OF_TIMER) {
        (void)!read(server->timer, &missed, sizeof missed);
    } else if (server->connections[of].socket >= 0) {
        take_request(server, &server->connections[of]);
    }
}

void known_server_run(int port, void (*ready)(int port, void *context), void *context)
{
    static Server server;
    struct epoll_event events[EVENTS_MAX];

    rng_seed(&server.rng, 1, 1);
    server.times = hist_new(3, LONGEST_US);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        server.connections[i].socket = -1;
    }
    server.epoll = epoll_create1(EPOLL_CLOEXEC);
    server.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    port = listen_on(&server, port);
    watch(&server, server.listener, OF_LISTENER);
    watch(&server, server.timer, OF_TIMER);
    ready(port, context);
    for (;;) {
        int n = epoll_wait(server.epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < n; i++) {
            take_event(&server, events[i].data.u64);
        }
        if (server.waiting > 0) {
            send_due(&server);
        }
    }
}
