// A server on a free port and a client of raw bytes, for the tests of the HTTP server.
#pragma once

#include "test.h"

#include "base/date.h"
#include "http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_MAX = 64 * 1024 * 1024,
    PATIENCE_MS = 60000,
};

typedef struct {
    int fd;
    char *at; // everything received
    size_t len, cap;
    bool is_closed, is_reset;
} Probe;

static inline Probe probe_open(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    Probe probe = {.fd = socket(AF_INET, SOCK_STREAM, 0)};

    if (connect(probe.fd, (struct sockaddr *)&address, sizeof address)) {
        close(probe.fd);
        probe.fd = -1;
    }
    return probe;
}

static inline void probe_close(Probe *probe)
{
    close(probe->fd);
    free(probe->at);
}

static inline bool probe_send(Probe *probe, Str bytes)
{
    while (bytes.len) {
        ssize_t sent = send(probe->fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes = str_sub(bytes, (size_t)sent, bytes.len);
    }
    return true;
}

static inline bool probe_send_z(Probe *probe, const char *z)
{
    return probe_send(probe, str_of(z));
}

// One more read; false at the end or when patience ends.
static inline bool probe_read(Probe *probe, int wait_ms)
{
    struct pollfd wait = {.fd = probe->fd, .events = POLLIN};

    if (probe->len + 65536 > probe->cap) {
        probe->cap = probe->cap ? probe->cap * 2 : 131072;
        probe->at = realloc(probe->at, probe->cap);
    }
    if (poll(&wait, 1, wait_ms) <= 0) {
        return false;
    }
    ssize_t len = recv(probe->fd, probe->at + probe->len, 65536, 0);
    if (len <= 0) {
        probe->is_closed = true;
        probe->is_reset = len < 0;
        return false;
    }
    probe->len += (size_t)len;
    return true;
}

static inline Str probe_text(const Probe *probe)
{
    return (Str){probe->at ? probe->at : "", probe->len};
}

static inline Str answer_header(Str head, const char *name)
{
    Str rest = head, line;

    while (str_next(&rest, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':', 0);
        if (colon > 0 && str_eq_nocase(str_sub(line, 0, (size_t)colon), str_of(name))) {
            return str_trim(str_sub(line, (size_t)colon + 1, line.len));
        }
    }
    return S("");
}

// Length of the first complete answer in what was received, 0 if there is none.
static inline size_t answer_len(Str text)
{
    ptrdiff_t end = str_find(text, S("\r\n\r\n"), 0);
    if (end < 0) {
        return 0;
    }
    Str head = str_sub(text, 0, (size_t)end);
    size_t body = (size_t)end + 4;
    if (str_eq(answer_header(head, "transfer-encoding"), S("chunked"))) {
        ptrdiff_t last = str_find(text, S("\r\n0\r\n\r\n"), (size_t)end);
        return last < 0 ? 0 : (size_t)last + 7;
    }
    int64_t length = 0;
    str_int64(answer_header(head, "content-length"), &length);
    return text.len >= body + (size_t)length ? body + (size_t)length : 0;
}

typedef struct {
    int status; // 0: no whole answer came
    Str head, body;
} Answer;

// Takes the next answer from the connection.
static inline Answer probe_answer(Probe *probe)
{
    Answer answer = {0};

    while (!answer_len(probe_text(probe)) && probe_read(probe, PATIENCE_MS)) {
    }
    Str text = probe_text(probe);
    size_t len = answer_len(text);
    if (!len) {
        return answer;
    }
    size_t end = (size_t)str_find(text, S("\r\n\r\n"), 0);
    answer.head = str_copy(arena_current(), str_sub(text, 0, end));
    answer.body = str_copy(arena_current(), str_sub(text, end + 4, len));
    answer.status = atoi(str_z(str_sub(text, 9, 12)));
    memmove(probe->at, probe->at + len, probe->len - len);
    probe->len -= len;
    return answer;
}

static inline Answer ask(int port, Str request)
{
    Probe probe = probe_open(port);
    Answer answer = {0};

    if (probe.fd >= 0) {
        probe_send(&probe, request);
        answer = probe_answer(&probe);
    }
    probe_close(&probe);
    return answer;
}

static inline void sleep_ms(int ms)
{
    poll(NULL, 0, ms);
}

// Waits until the server has no connection left; false if that does not happen.
static inline bool becomes_empty(const HttpServer *server)
{
    for (int i = 0; i < PATIENCE_MS / 5 && http_connections(server); i++) {
        sleep_ms(5);
    }
    return http_connections(server) == 0;
}
