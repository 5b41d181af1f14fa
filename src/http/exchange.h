// One request and its answer between the library's callbacks and a handler. Only for src/http.
#pragma once

#include "http/connection_pool.h"
#include "http/http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <semaphore.h>

struct HttpServer {
    HttpOptions options; // complete
    Arena *arena;        // this struct, for example
    struct MHD_Daemon *daemon;
    int listen_fd, wake_fd; // wake_fd: the acceptor shall look at is_stopping
    pthread_t acceptor;
    int port;
    bool is_tls;
    const char *spool_dir;
    ConnPool *connections;
    sem_t handlers;     // free places for running handlers
    sem_t large_bodies; // of those, with a large body: a parsed one takes many times its size
    atomic_bool is_stopping;
};

// The thread that lets clients in, while there is room.
void acceptor_start(HttpServer *server);
// Lets those in whom the kernel has welcomed already, then nobody.
void acceptor_stop(HttpServer *server);

// The library's callbacks, in the order of their calls: the request line is complete; the head is
// complete, a piece of the body, the request is complete; the answer is sent or nobody wants it.
void *exchange_begin(void *server, const char *target, struct MHD_Connection *connection);
enum MHD_Result exchange_continue(void *server, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_len, void **exchange);
void exchange_end(void *server, struct MHD_Connection *connection, void **exchange,
                  enum MHD_RequestTerminationCode why);
