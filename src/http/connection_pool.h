// The open connections of a server: who is idle, who is at work, who takes too long. Only for
// src/http.
#pragma once

#include "http/listen.h"

#include <stdatomic.h>

typedef enum {
    CONN_IDLE,    // between requests, or before the first request line is complete
    CONN_READING, // the request line is here, the rest is coming
    CONN_WORKING, // waiting for a handler or inside one: nothing here cuts it
    CONN_SENDING,
} ConnState;

typedef struct Conn Conn;

struct Conn {
    Conn *next;
    Conn **link;  // what points to this one
    Arena *arena; // of the request in work
    int fd;
    char remote_address[ADDRESS_TEXT_MAX];
    bool is_local;
    bool lingers;             // read on after the answer, so that it is not lost with the rest
    atomic_uint served;       // requests answered
    _Atomic int state;        // written by the connection's thread only
    _Atomic int64_t since_ns; // when the state began; for READING: the request
    // Of the pool's own passes.
    uint64_t bytes_seen;    // received + acknowledged at the last pass
    int64_t moved_ns;       // when that last changed
    int64_t idle_ns;        // the idle period that idle_received belongs to
    uint64_t idle_received; // bytes received when that period was first seen
    int64_t head_begun_ns;  // when bytes of a head were first seen in it, 0 if none
};

typedef struct ConnPool ConnPool;

typedef struct {
    int idle_timeout_s;
    int request_timeout_s;
    size_t arena_max;
} ConnLimits;

ConnPool *conn_pool_new(ConnLimits limits);
void conn_pool_free(ConnPool *pool);

// Waits for room among `max` connections and takes it. False once the flag `gives_up` is set and
// conn_pool_wake was called.
bool conn_reserve(ConnPool *pool, int max, const atomic_bool *gives_up);
void conn_pool_wake(ConnPool *pool);
// A place that no connection came of.
void conn_unreserve(ConnPool *pool);
// A connection in the reserved place.
Conn *connection_open(ConnPool *pool, int fd, const struct sockaddr *address);
void connection_close(ConnPool *pool, Conn *conn);
int conn_count(ConnPool *pool);
void conn_set(Conn *conn, ConnState state, int64_t now_ns);

// Waits for all connections to end, at most until `deadline_ns`; idle ones are closed as soon as it
// is clear that no request is on its way. True if none is left.
bool conn_pool_drain(ConnPool *pool, int64_t deadline_ns);

// Reads and throws away what the client still sends, until it closes, for a bounded time: a socket
// closed with unread bytes in it makes the client lose the answer. Tells the client first that this
// is the end, unless TLS has its own way to say so.
void conn_linger(Conn *conn, bool is_tls);
// The same without waiting.
void conn_skim(Conn *conn);
