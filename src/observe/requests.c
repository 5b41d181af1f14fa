// The last slow and failed requests with what they waited for. One buffer of fixed size: the oldest
// goes first.
#include "observe/internal.h"

#include "base/arena.h"

#include <pthread.h>
#include <string.h>

enum {
    KEPT = 256,
    STATEMENTS = 8, // the longest of each
    NAME_BYTES = 96,
};

static const int64_t SLOW_NS = 100 * 1000000;

typedef struct {
    const char *shape;
    int64_t ns;
} Statement;

typedef struct {
    Time at;
    char request_id[NAME_BYTES], tenant[NAME_BYTES];
    const char *method, *route;
    int status;
    int64_t ns, phase_ns[PHASES];
    Statement statements[STATEMENTS];
    size_t statement_count;
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
static Entry entries[KEPT];
static size_t added; // since the start

static void text_keep(char to[NAME_BYTES], Str text)
{
    size_t len = text.len < NAME_BYTES - 1 ? text.len : NAME_BYTES - 1;

    memcpy(to, text.at ? text.at : "", len);
    to[len] = 0;
}

// The longest ones, in that order.
static void statements_keep(Entry *entry, const MeterWork *work)
{
    size_t n = work->statement_count < STATEMENTS_KEPT ? work->statement_count : STATEMENTS_KEPT;

    for (size_t i = 0; i < n; i++) {
        const MeterStatement *statement = &work->statements[i];
        size_t at = entry->statement_count;
        while (at > 0 && entry->statements[at - 1].ns < statement->ns) {
            at--;
        }
        if (at == STATEMENTS) {
            continue;
        }
        size_t behind = entry->statement_count - at;
        behind -= entry->statement_count == STATEMENTS;
        memmove(&entry->statements[at + 1], &entry->statements[at], behind * sizeof(Statement));
        entry->statements[at] = (Statement){statement->shape, statement->ns};
        entry->statement_count += entry->statement_count < STATEMENTS;
    }
}

void slow_requests_add(const Observed *request, const MeterWork *work)
{
    int64_t ns = request->ended_ns - request->begun_ns;

    if (ns < SLOW_NS && request->status < 500) {
        return;
    }
    pthread_mutex_lock(&lock);
    Entry *entry = &entries[added++ % KEPT];
    *entry = (Entry){.at = request->at,
                     .method = request->method,
                     .route = request->route,
                     .status = request->status,
                     .ns = ns};
    text_keep(entry->request_id, request->request_id);
    text_keep(entry->tenant, request->tenant);
    memcpy(entry->phase_ns, work->phase_ns, sizeof entry->phase_ns);
    statements_keep(entry, work);
    pthread_mutex_unlock(&lock);
}

static void entry_show(const Entry *entry, SlowRequest *to)
{
    Arena *arena = arena_current();

    *to = (SlowRequest){.at = entry->at,
                        .request_id = str_copy(arena, str_of(entry->request_id)),
                        .tenant = str_copy(arena, str_of(entry->tenant)),
                        .method = entry->method,
                        .route = entry->route,
                        .status = entry->status,
                        .ns = entry->ns,
                        .statement_count = entry->statement_count};
    memcpy(to->phase_ns, entry->phase_ns, sizeof to->phase_ns);
    to->statements = NEW_ARRAY(SlowStatement, entry->statement_count + 1);
    for (size_t i = 0; i < entry->statement_count; i++) {
        to->statements[i] =
            (SlowStatement){str_of(entry->statements[i].shape), entry->statements[i].ns};
    }
}

size_t slow_requests_read(int64_t min_ms, size_t limit, SlowRequest **out)
{
    size_t n = 0;

    limit = limit < KEPT ? limit : KEPT;
    *out = NEW_ARRAY(SlowRequest, limit + 1);
    pthread_mutex_lock(&lock);
    size_t count = added < KEPT ? added : KEPT;
    for (size_t i = 1; i <= count && n < limit; i++) {
        const Entry *entry = &entries[(added - i) % KEPT];
        if (entry->ns >= min_ms * 1000000 || entry->status >= 500) {
            entry_show(entry, &(*out)[n++]);
        }
    }
    pthread_mutex_unlock(&lock);
    return n;
}
