// A small HTTP/1.1 server for tests of the load driver: one thread a connection, keep-alive,
// answers from a function of the test.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
    const char *head; // request line and headers, NUL-terminated
    const char *body;
    char method[16], target[4096];
} StubRequest;

typedef struct {
    int status;
    const char *headers; // lines that end with \r\n, or ""
    char body[8192];
} StubReply;

typedef void (*StubAnswer)(const StubRequest *request, StubReply *reply);

typedef struct {
    int socket, port;
    pthread_t thread;
    StubAnswer answer;
    _Atomic int connections, requests;
} Stub;

typedef struct {
    Stub *stub;
    int socket;
} StubConnection;

static bool stub_write(int socket, const char *at, size_t len)
{
    while (len > 0) {
        ssize_t n = send(socket, at, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        at += n;
        len -= (size_t)n;
    }
    return true;
}

// Answers the request at the begin of the buffer; returns its length, 0 if it is not complete yet.
static size_t stub_serve(StubConnection *connection, char *buffer, size_t len)
{
    static __thread StubRequest request;
    static __thread StubReply reply;
    static __thread char out[16384];
    char *end = memmem(buffer, len, "\r\n\r\n", 4);
    size_t body_len = 0;

    if (!end) {
        return 0;
    }
    *end = 0;
    const char *length = strcasestr(buffer, "\r\nContent-Length:");
    if (length) {
        body_len = strtoul(length + 17, NULL, 10);
    }
    size_t total = (size_t)(end - buffer) + 4 + body_len;
    if (total > len) {
        *end = '\r';
        return 0;
    }
    char after = buffer[total];
    buffer[total] = 0;
    request.head = buffer;
    request.body = end + 4;
    request.method[0] = request.target[0] = 0;
    sscanf(buffer, "%15s %4095s", request.method, request.target);
    reply.status = 200;
    reply.headers = "";
    reply.body[0] = 0;
    atomic_fetch_add(&connection->stub->requests, 1);
    connection->stub->answer(&request, &reply);
    buffer[total] = after;
    int n = snprintf(out, sizeof out, "HTTP/1.1 %d Text\r\n%sContent-Length: %zu\r\n\r\n%s",
                     reply.status, reply.headers, strlen(reply.body), reply.body);
    stub_write(connection->socket, out, (size_t)n);
    return total;
}

static void *stub_connection(void *context)
{
    StubConnection *connection = context;
    char *buffer = malloc(1 << 17);
    size_t len = 0;
    ssize_t n;

    while (buffer && (n = recv(connection->socket, buffer + len, (1 << 17) - 1 - len, 0)) > 0) {
        len += (size_t)n;
        for (size_t used; len > 0 && (used = stub_serve(connection, buffer, len)) > 0;) {
            memmove(buffer, buffer + used, len - used);
            len -= used;
        }
    }
    close(connection->socket);
    free(buffer);
    free(connection);
    return NULL;
}

static void *stub_main(void *context)
{
    Stub *stub = context;

    for (;;) {
        int socket = accept(stub->socket, NULL, NULL), one = 1;
        if (socket < 0) {
            return NULL;
        }
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        StubConnection *connection = malloc(sizeof *connection);
        *connection = (StubConnection){stub, socket};
        pthread_t thread;
        pthread_create(&thread, NULL, stub_connection, connection);
        pthread_detach(thread);
        atomic_fetch_add(&stub->connections, 1);
    }
}

static void stub_start(Stub *stub, StubAnswer answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;

    *stub = (Stub){.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .answer = answer};
    if (bind(stub->socket, (struct sockaddr *)&address, len) || listen(stub->socket, 512) ||
        getsockname(stub->socket, (struct sockaddr *)&address, &len)) {
        perror("stub server");
        exit(1);
    }
    stub->port = ntohs(address.sin_port);
    pthread_create(&stub->thread, NULL, stub_main, stub);
}

static void stub_stop(Stub *stub)
{
    shutdown(stub->socket, SHUT_RDWR);
    close(stub->socket);
    pthread_join(stub->thread, NULL);
}
