// A bounded table of tokens, four to a bucket; a new one takes the place of that which was seen
// longest ago. Who is forgotten is new again, and reads the primary for ten seconds.
#include "gateway/readers.h"

#include "base/die.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    BUCKETS = 4096,
    WAYS = 4,
    LOCKS = 32,
};

#define REST_MS  (10 * SECOND_MS) // after a write, decision 50
#define SLACK_NS ((int64_t)2000000000)

// Two tokens with one hash count as one: each then reads the primary more often.
typedef struct {
    uint64_t hash; // 0: free
    Time used;
    Time since;        // it wrote, or came
    int64_t wrote_ns;  // the same by the clock that never jumps
    int64_t seen_ns;   // when it last read the newest data
    Time refused_from; // since when replicas have not had what it has seen; 0: they have
} Reader;

struct Readers {
    pthread_mutex_t locks[LOCKS]; // locks[i] guards the buckets with number % LOCKS == i
    Reader at[BUCKETS][WAYS];
};

Readers *readers_new(void)
{
    Readers *readers = calloc(1, sizeof *readers);

    if (!readers) {
        die("out of memory");
    }
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&readers->locks[i], NULL);
    }
    return readers;
}

void readers_free(Readers *readers)
{
    for (int i = 0; readers && i < LOCKS; i++) {
        pthread_mutex_destroy(&readers->locks[i]);
    }
    free(readers);
}

static void begin_anew(Reader *reader, uint64_t hash, Time now)
{
    int64_t now_ns = clock_ns();

    *reader = (Reader){.hash = hash, .since = now, .wrote_ns = now_ns, .seen_ns = now_ns};
}

static Reader *find(Reader *bucket, uint64_t hash, Time now)
{
    Reader *oldest = bucket;

    for (int i = 0; i < WAYS; i++) {
        if (bucket[i].hash == hash) {
            return &bucket[i];
        }
        oldest = bucket[i].used < oldest->used ? &bucket[i] : oldest;
    }
    begin_anew(oldest, hash, now);
    return oldest;
}

// The token's entry, with the lock of its bucket.
static Reader *enter(Readers *readers, Str token, Time now, pthread_mutex_t **lock)
{
    uint64_t hash = str_hash(token) | 1;
    size_t bucket = (size_t)(hash >> 1) % BUCKETS;

    *lock = &readers->locks[bucket % LOCKS];
    pthread_mutex_lock(*lock);
    Reader *reader = find(readers->at[bucket], hash, now);
    reader->used = now;
    return reader;
}

// Who has seen the newest data shall not see older ones next. Who reads all the time would never
// leave the primary like that, because how far a replica is becomes known a moment later: after ten
// seconds he may go back by such a moment.
int64_t readers_ask(Readers *readers, Str token, Time now)
{
    pthread_mutex_t *lock = NULL;
    const Reader *reader = enter(readers, token, now, &lock);
    bool is_patient = !reader->refused_from || now - reader->refused_from < REST_MS;
    int64_t seen_ns = reader->seen_ns - (is_patient ? 0 : SLACK_NS);
    int64_t from = seen_ns > reader->wrote_ns ? seen_ns : reader->wrote_ns;
    bool may_lag = now - reader->since >= REST_MS;

    pthread_mutex_unlock(lock);
    return may_lag ? from : 0;
}

void readers_wrote(Readers *readers, Str token, Time now)
{
    pthread_mutex_t *lock = NULL;
    Reader *reader = enter(readers, token, now, &lock);

    begin_anew(reader, reader->hash, now);
    pthread_mutex_unlock(lock);
}

void readers_read(Readers *readers, Str token, Time now, bool lagged)
{
    pthread_mutex_t *lock = NULL;
    Reader *reader = enter(readers, token, now, &lock);

    if (lagged && clock_ns() - reader->seen_ns > SLACK_NS) {
        reader->refused_from = 0; // others of the same token have come along
    } else if (!lagged) {
        bool was_offered = now - reader->since >= REST_MS;
        reader->refused_from = reader->refused_from ? reader->refused_from : was_offered ? now : 0;
        reader->seen_ns = clock_ns();
    }
    pthread_mutex_unlock(lock);
}
