// Connections and the pass that cuts the ones that take too long.
//
// The library has timeouts of its own, but with poll it spins through the last second before each
// of them, and it knows none for a whole request. The kernel counts bytes per connection anyway:
// one look a second replaces all clocks of the reading path.
#include "http/connection_pool.h"

#include "base/date.h"
#include "base/die.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define SECOND_NS ((int64_t)1000000000)
#define MS_NS     ((int64_t)1000000)

enum {
    SPARE_MAX = 64,
    DRAIN_PASS_MS = 10,
    // A client in a closed loop sends its next request at once; one that was silent for so long is
    // between two clicks.
    QUIET_MS = 50,
    // A client that has just connected is about to send.
    FRESH_MS = 250,
    LINGER_MS = 2000,
    LINGER_BYTES_MAX = 256 * 1024 * 1024,
};

struct ConnPool {
    pthread_mutex_t lock; // guards the lists and the counters
    pthread_cond_t changed;
    Conn *open, *spare;
    int open_count; // reserved places included
    int spare_count;
    bool is_ending, someone_waits;
    ConnLimits limits;
    pthread_t keeper;
};

static void *keeper_run(void *pool);

ConnPool *conn_pool_new(ConnLimits limits)
{
    ConnPool *pool = calloc(1, sizeof *pool);
    pthread_condattr_t monotonic;

    if (!pool) {
        die("out of memory");
    }
    pool->limits = limits;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&pool->keeper, NULL, keeper_run, pool)) {
        die("no thread for the connections");
    }
    return pool;
}

void conn_pool_free(ConnPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    pthread_join(pool->keeper, NULL);
    for (Conn *conn = pool->spare, *next; conn; conn = next) {
        next = conn->next;
        arena_free(conn->arena);
        free(conn);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static Conn *conn_take(ConnPool *pool)
{
    Conn *conn = pool->spare;

    if (conn) {
        pool->spare = conn->next;
        pool->spare_count--;
        Arena *arena = conn->arena;
        *conn = (Conn){.arena = arena};
        return conn;
    }
    conn = calloc(1, sizeof *conn);
    if (!conn) {
        die("out of memory");
    }
    conn->arena = arena_new(pool->limits.arena_max);
    return conn;
}

bool conn_reserve(ConnPool *pool, int max, const atomic_bool *gives_up)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->open_count >= max && !*gives_up) {
        pool->someone_waits = true;
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pool->someone_waits = false;
    bool has_room = pool->open_count < max;
    pool->open_count += has_room;
    pthread_mutex_unlock(&pool->lock);
    return has_room;
}

void conn_pool_wake(ConnPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

static void count_down(ConnPool *pool)
{
    if (--pool->open_count == 0 || pool->someone_waits) {
        pthread_cond_broadcast(&pool->changed);
    }
}

void conn_unreserve(ConnPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    count_down(pool);
    pthread_mutex_unlock(&pool->lock);
}

Conn *connection_open(ConnPool *pool, int fd, const struct sockaddr *address)
{
    int64_t now = clock_ns();

    pthread_mutex_lock(&pool->lock);
    Conn *conn = conn_take(pool);
    conn->fd = fd;
    conn->moved_ns = now;
    address_text(address, conn->remote_address, &conn->is_local);
    conn_set(conn, CONN_IDLE, now);
    conn->next = pool->open;
    conn->link = &pool->open;
    if (conn->next) {
        conn->next->link = &conn->next;
    } else {
        // The keeper sleeps while nobody is here.
        pthread_cond_broadcast(&pool->changed);
    }
    pool->open = conn;
    pthread_mutex_unlock(&pool->lock);
    return conn;
}

void connection_close(ConnPool *pool, Conn *conn)
{
    pthread_mutex_lock(&pool->lock);
    *conn->link = conn->next;
    if (conn->next) {
        conn->next->link = conn->link;
    }
    count_down(pool);
    bool is_kept = pool->spare_count < SPARE_MAX;
    if (is_kept) {
        conn->next = pool->spare;
        pool->spare = conn;
        pool->spare_count++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!is_kept) {
        arena_free(conn->arena);
        free(conn);
    }
}

int conn_count(ConnPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int count = pool->open_count;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

void conn_set(Conn *conn, ConnState state, int64_t now_ns)
{
    atomic_store_explicit(&conn->since_ns, now_ns, memory_order_relaxed);
    atomic_store_explicit(&conn->state, state, memory_order_release);
}

static bool tcp_look_at(const Conn *conn, struct tcp_info *info)
{
    socklen_t len = sizeof *info;

    memset(info, 0, sizeof *info);
    return getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0;
}

// A head that trickles in shows only in the kernel's counter: the library tells nobody before the
// request line is complete.
static bool head_is_late(Conn *conn, const struct tcp_info *info, int64_t now, int64_t limit_ns)
{
    int64_t since = atomic_load_explicit(&conn->since_ns, memory_order_relaxed);

    if (conn->idle_ns != since) {
        conn->idle_ns = since;
        conn->idle_received = conn->served ? info->tcpi_bytes_received : 0;
        conn->head_begun_ns = 0;
    }
    if (!conn->head_begun_ns && info->tcpi_bytes_received > conn->idle_received) {
        conn->head_begun_ns = now;
    }
    return conn->head_begun_ns && now - conn->head_begun_ns > limit_ns;
}

static bool conn_is_late(const ConnLimits *limits, Conn *conn, int64_t now)
{
    ConnState state = (ConnState)atomic_load_explicit(&conn->state, memory_order_acquire);
    int64_t request_limit = limits->request_timeout_s * SECOND_NS;
    struct tcp_info info;

    if (state == CONN_WORKING) {
        conn->moved_ns = now;
        return false;
    }
    if (!tcp_look_at(conn, &info)) {
        return false;
    }
    uint64_t bytes = info.tcpi_bytes_received + info.tcpi_bytes_acked;
    if (bytes != conn->bytes_seen) {
        conn->bytes_seen = bytes;
        conn->moved_ns = now;
    }
    if (now - conn->moved_ns > limits->idle_timeout_s * SECOND_NS) {
        return true;
    }
    if (state == CONN_IDLE) {
        return head_is_late(conn, &info, now, request_limit);
    }
    int64_t since = atomic_load_explicit(&conn->since_ns, memory_order_relaxed);
    return state == CONN_READING && now - since > request_limit;
}

static void keeper_wait(ConnPool *pool, int64_t ns)
{
    int64_t until = clock_ns() + ns;
    struct timespec at = {until / SECOND_NS, until % SECOND_NS};

    pthread_cond_timedwait(&pool->changed, &pool->lock, &at);
}

static void *keeper_run(void *context)
{
    ConnPool *pool = context;

    pthread_mutex_lock(&pool->lock);
    while (!pool->is_ending) {
        if (!pool->open) {
            pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        keeper_wait(pool, SECOND_NS);
        int64_t now = clock_ns();
        for (Conn *conn = pool->open; conn; conn = conn->next) {
            if (conn_is_late(&pool->limits, conn, now)) {
                // The connection's thread wakes up, ends the request and closes.
                shutdown(conn->fd, SHUT_RDWR);
            }
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

// No request is on its way: nothing unread, and the last word on this connection was ours.
static bool conn_is_quiet(Conn *conn, int64_t now)
{
    int64_t idle_ns = now - atomic_load_explicit(&conn->since_ns, memory_order_relaxed);
    struct tcp_info info;
    int unread = 0;

    if (atomic_load_explicit(&conn->state, memory_order_acquire) != CONN_IDLE ||
        idle_ns < (conn->served ? QUIET_MS : FRESH_MS) * MS_NS) {
        return false;
    }
    if (ioctl(conn->fd, FIONREAD, &unread) || unread || !tcp_look_at(conn, &info)) {
        return false;
    }
    return info.tcpi_last_data_recv >= info.tcpi_last_data_sent;
}

bool conn_pool_drain(ConnPool *pool, int64_t deadline_ns)
{
    pthread_mutex_lock(&pool->lock);
    for (int64_t now; pool->open_count && (now = clock_ns()) < deadline_ns;) {
        for (Conn *conn = pool->open; conn; conn = conn->next) {
            if (conn_is_quiet(conn, now)) {
                shutdown(conn->fd, SHUT_RD);
            }
        }
        keeper_wait(pool, DRAIN_PASS_MS * MS_NS);
    }
    bool is_empty = !pool->open_count;
    pthread_mutex_unlock(&pool->lock);
    return is_empty;
}

void conn_linger(Conn *conn, bool is_tls)
{
    char waste[16 * 1024];
    int64_t until = clock_ns() + LINGER_MS * MS_NS;
    size_t total = 0;

    if (!is_tls) {
        shutdown(conn->fd, SHUT_WR);
    }
    for (int64_t left; (left = until - clock_ns()) > 0 && total < LINGER_BYTES_MAX;) {
        struct pollfd wait = {.fd = conn->fd, .events = POLLIN};
        if (poll(&wait, 1, (int)(left / MS_NS) + 1) <= 0) {
            break;
        }
        ssize_t len = recv(conn->fd, waste, sizeof waste, MSG_DONTWAIT);
        if (len == 0 || (len < 0 && errno != EAGAIN && errno != EINTR)) {
            break;
        }
        total += len > 0 ? (size_t)len : 0;
    }
}

void conn_skim(Conn *conn)
{
    char waste[16 * 1024];

    for (int i = 0; i < 64 && recv(conn->fd, waste, sizeof waste, MSG_DONTWAIT) > 0; i++) {
    }
}
