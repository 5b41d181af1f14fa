// Event loops: who is due, what libcurl has to say, how late the loop is.
#include "loop.h"

#include "base/date.h"
#include "base/die.h"

#include <stdlib.h>
#include <time.h>

enum {
    HEARTBEAT_MS = 20,
    LOOP_ARENA_MAX = 512 << 20,
    CONNECTIONS_SPARE = 16,
};

static void heap_swap(Loop *loop, size_t a, size_t b)
{
    User *user = loop->heap[a];

    loop->heap[a] = loop->heap[b];
    loop->heap[b] = user;
    loop->heap[a]->heap_at = a;
    loop->heap[b]->heap_at = b;
}

void loop_wait(User *user, int64_t until_ns)
{
    Loop *loop = user->loop;
    size_t i = ++loop->heap_len;

    user->due_ns = until_ns;
    loop->heap[i] = user;
    user->heap_at = i;
    while (i > 1 && loop->heap[i / 2]->due_ns > loop->heap[i]->due_ns) {
        heap_swap(loop, i, i / 2);
        i /= 2;
    }
}

static User *heap_take(Loop *loop)
{
    User *user = loop->heap[1];
    size_t i = 1;

    heap_swap(loop, 1, loop->heap_len--);
    for (;;) {
        size_t least = i;
        for (size_t child = i * 2; child <= i * 2 + 1 && child <= loop->heap_len; child++) {
            if (loop->heap[child]->due_ns < loop->heap[least]->due_ns) {
                least = child;
            }
        }
        if (least == i) {
            break;
        }
        heap_swap(loop, i, least);
        i = least;
    }
    user->heap_at = 0;
    return user;
}

bool loop_is_over(const User *user, int64_t now_ns)
{
    return now_ns >= user->end_ns || atomic_load(&user->loop->run->stop);
}

static void run_due(Loop *loop, int64_t now_ns)
{
    while (loop->heap_len > 0 &&
           (loop->heap[1]->due_ns <= now_ns || atomic_load(&loop->run->stop))) {
        User *user = heap_take(loop);
        int64_t late_us = (clock_ns() - user->due_ns) / 1000;
        if (late_us >= 0) {
            tally_add(&count_begin(loop)->lag, late_us, FAIL_NONE);
            count_end(loop);
        }
        user_go_on(user);
        arena_reset(loop->arena);
    }
}

static void read_answers(Loop *loop)
{
    CURLMsg *message;
    int left = 0;

    while ((message = curl_multi_info_read(loop->multi, &left))) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        User *user = NULL;
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &user);
        curl_multi_remove_handle(loop->multi, easy);
        loop->in_flight--;
        user_finish_request(user, code);
        arena_reset(loop->arena);
    }
}

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

// A beat is due every 20 ms whether there is work or not: how late it comes is how late the loop
// sees anything.
static void beat(Loop *loop, int64_t *next_ns, int64_t now_ns)
{
    if (now_ns < *next_ns) {
        return;
    }
    tally_add(&count_begin(loop)->heartbeat, (now_ns - *next_ns) / 1000, FAIL_NONE);
    count_end(loop);
    atomic_store(&loop->cpu_ns, thread_cpu_ns());
    *next_ns += HEARTBEAT_MS * (int64_t)1000000;
    if (*next_ns < now_ns) {
        *next_ns = now_ns + HEARTBEAT_MS * (int64_t)1000000;
    }
}

static int wait_ms(const Loop *loop, int64_t next_beat_ns)
{
    int64_t until = next_beat_ns, now = clock_ns();

    if (loop->heap_len > 0 && loop->heap[1]->due_ns < until) {
        until = loop->heap[1]->due_ns;
    }
    if (loop->next_arrival_ns < until) {
        until = loop->next_arrival_ns;
    }
    return until <= now ? 0 : (int)((until - now + 999999) / 1000000);
}

static bool is_done(Loop *loop, int64_t *deadline_ns, int64_t now_ns)
{
    Run *run = loop->run;

    if (atomic_load(&run->running) > 0 && !atomic_load(&run->stop)) {
        return false;
    }
    // The idle users of the open model never see the end themselves; those in flight get some time.
    if (*deadline_ns == 0) {
        *deadline_ns = now_ns + (int64_t)(run->options->cooldown_s * 1e9);
    }
    return loop->in_flight == 0 || now_ns >= *deadline_ns;
}

static void *loop_main(void *context)
{
    Loop *loop = context;
    int64_t next_beat = clock_ns(), deadline = 0;
    int running = 0;

    loop->arena = arena_new(LOOP_ARENA_MAX);
    Arena *before = arena_use(loop->arena);
    for (;;) {
        int64_t now = clock_ns();
        beat(loop, &next_beat, now);
        run_due(loop, now);
        arrival_go_on(loop, now);
        if (is_done(loop, &deadline, now)) {
            break;
        }
        curl_multi_perform(loop->multi, &running);
        read_answers(loop);
        curl_multi_poll(loop->multi, NULL, 0, wait_ms(loop, next_beat), NULL);
    }
    atomic_store(&loop->cpu_ns, thread_cpu_ns());
    arena_use(before);
    return NULL;
}

static void loop_open(Run *run, Loop *loop, User *users, size_t user_len)
{
    const DriverOptions *options = run->options;

    *loop = (Loop){.run = run, .users = users, .user_len = user_len};
    pthread_mutex_init(&loop->lock, NULL);
    for (int i = 0; i < 2; i++) {
        tallies_open(&loop->halves[i], run->plan);
    }
    loop->tallies = &loop->halves[0];
    loop->heap = calloc(user_len + 2, sizeof *loop->heap);
    loop->multi = curl_multi_init();
    if (!loop->heap || !loop->multi) {
        die("out of memory");
    }
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, (long)(user_len + CONNECTIONS_SPARE));
    rng_seed(&loop->rng, options->seed, UINT32_MAX - (uint64_t)(users ? users->actor.number : 0));
    arrival_open(loop);
}

void loop_start(Run *run, Loop *loop, User *users, size_t user_len)
{
    loop_open(run, loop, users, user_len);
    for (size_t i = 0; i < user_len; i++) {
        int64_t due = users[i].due_ns;
        uint32_t number = users[i].actor.number;
        users[i].loop = loop;
        user_open(&users[i], number);
        loop_wait(&users[i], due);
    }
    if (pthread_create(&loop->thread, NULL, loop_main, loop)) {
        die("cannot start a thread");
    }
}

void loop_join(Loop *loop)
{
    pthread_join(loop->thread, NULL);
    arrival_close(loop);
}

void loop_close(Loop *loop)
{
    for (size_t i = 0; i < loop->user_len; i++) {
        User *user = &loop->users[i];
        if (user->request) {
            curl_multi_remove_handle(loop->multi, user->easy);
            loop->tallies->cut++;
        }
        user_close(user);
    }
    curl_multi_cleanup(loop->multi);
    bytes_close(&loop->pool);
    free(loop->heap);
    arena_free(loop->arena);
    tallies_close(&loop->halves[0]);
    tallies_close(&loop->halves[1]);
}
