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
} TestRequest;

typedef struct {
    int status;
    const char *headers; // lines that end with \r\n, or ""
    char body[8192];
} TestReply;

typedef void (*TestAnswer)(const TestRequest *request, TestReply *reply);

typedef struct {
    int socket, port;
    pthread_t thread;
    TestAnswer answer;
    _Atomic int connections, requests;
} TestServer;

typedef struct {
    TestServer *test_server;
    int socket;
} TestConnection;

static bool test_server_write(int socket, const char *at, size_t len)
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
static size_t test_server_serve(TestConnection *connection, char *buffer, size_t len)
{
    static __thread TestRequest request;
    static __thread TestReply reply;
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
    atomic_fetch_add(&connection->test_server->requests, 1);
    connection->test_server->answer(&request, &reply);
    buffer[total] = after;
    int n = snprintf(out, sizeof out, "HTTP/1.1 %d Text\r\n%sContent-Length: %zu\r\n\r\n%s",
                     reply.status, reply.headers, strlen(reply.body), reply.body);
    test_server_write(connection->socket, out, (size_t)n);
    return total;
}

static void *test_server_connection(void *context)
{
    TestConnection *connection = context;
    char *buffer = malloc(1 << 17);
    size_t len = 0;
    ssize_t n;

    while (buffer && (n = recv(connection->socket, buffer + len, (1 << 17) - 1 - len, 0)) > 0) {
        len += (size_t)n;
        for (size_t used; len > 0 && (used = test_server_serve(connection, buffer, len)) > 0;) {
            memmove(buffer, buffer + used, len - used);
            len -= used;
        }
    }
    close(connection->socket);
    free(buffer);
    free(connection);
    return NULL;
}

static void *test_server_main(void *context)
{
    TestServer *test_server = context;

    for (;;) {
        int socket = accept(test_server->socket, NULL, NULL), one = 1;
        if (socket < 0) {
            return NULL;
        }
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        TestConnection *connection = malloc(sizeof *connection);
        *connection = (TestConnection){test_server, socket};
        pthread_t thread;
        pthread_create(&thread, NULL, test_server_connection, connection);
        pthread_detach(thread);
        atomic_fetch_add(&test_server->connections, 1);
    }
}

static void test_server_start(TestServer *test_server, TestAnswer answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;

    *test_server =
        (TestServer){.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .answer = answer};
    if (bind(test_server->socket, (struct sockaddr *)&address, len) ||
        listen(test_server->socket, 512) ||
        getsockname(test_server->socket, (struct sockaddr *)&address, &len)) {
        perror("test_server server");
        exit(1);
    }
    test_server->port = ntohs(address.sin_port);
    pthread_create(&test_server->thread, NULL, test_server_main, test_server);
}

static void test_server_stop(TestServer *test_server)
{
    shutdown(test_server->socket, SHUT_RDWR);
    close(test_server->socket);
    pthread_join(test_server->thread, NULL);
}
