// Outbox: events that become visible with the transaction that caused them.
//
// A topic is written only if somebody wants it; the events of one transaction are one insert when
// it ends (decision 56).
#include "store/engine.h"

#include "base/die.h"
#include "base/uuid.h"

#include <string.h>

enum {
    TOPICS_MAX = 512,
    ROWS_AT_ONCE = 50,
    EVENT_COLUMNS = 7,
    EVENT_MAX = 32 * 1024 * 1024,
    READ_MAX = 16 * 1024 * 1024, // read at once, so that a row of large events fits into memory
};

struct PendingEvent {
    Event event;
    struct PendingEvent *next;
};

// ---------------------------------------------------------------------------------------------
// Who wants what

// One per store. Topics are added at start, before tenants open; then the list is only read.
typedef struct {
    pthread_mutex_t lock; // guards writing everything below
    Arena *arena;
    const char *topics[TOPICS_MAX];
    _Atomic size_t count;
    void (*wake)(void *context, Db *db);
    void *context;
    void (*changed)(void *context, Db *db, const Collection *of);
    void *changed_context;
} Topics;

static void topics_free(void *at)
{
    Topics *topics = at;

    pthread_mutex_destroy(&topics->lock);
    arena_free(topics->arena);
}

static Topics *topics_of(const Store *store)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; // guards filling of the slot
    _Atomic(void *) *slot = (_Atomic(void *) *)store_slot((Store *)store, topics_free);
    Topics *topics = atomic_load_explicit(slot, memory_order_acquire);

    if (topics) {
        return topics;
    }
    pthread_mutex_lock(&making);
    topics = atomic_load(slot);
    if (!topics) {
        Arena *arena = arena_new(TOPICS_MAX * 256);
        topics = arena_alloc(arena, sizeof *topics);
        topics->arena = arena;
        pthread_mutex_init(&topics->lock, NULL);
        atomic_store_explicit(slot, topics, memory_order_release);
    }
    pthread_mutex_unlock(&making);
    return topics;
}

static bool topics_have(const Topics *topics, const char *topic)
{
    size_t n = atomic_load_explicit(&topics->count, memory_order_acquire);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(topics->topics[i], topic) == 0) {
            return true;
        }
    }
    return false;
}

bool store_wants_topic(const Store *store, const char *topic)
{
    return topics_have(topics_of(store), topic);
}

void store_want_topic(Store *store, const char *topic)
{
    Topics *topics = topics_of(store);

    pthread_mutex_lock(&topics->lock);
    if (!topics_have(topics, topic)) {
        size_t n = atomic_load(&topics->count);
        if (n == TOPICS_MAX) {
            die("more than %d topics", TOPICS_MAX);
        }
        topics->topics[n] = str_copy(topics->arena, str_of(topic)).at;
        atomic_store_explicit(&topics->count, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&topics->lock);
}

void store_on_events(Store *store, void (*wake)(void *context, Db *db), void *context)
{
    Topics *topics = topics_of(store);

    pthread_mutex_lock(&topics->lock);
    topics->wake = wake;
    topics->context = context;
    pthread_mutex_unlock(&topics->lock);
}

void outbox_committed(Db *db)
{
    Topics *topics = topics_of(db_store(db));

    pthread_mutex_lock(&topics->lock);
    void (*wake)(void *, Db *) = topics->wake;
    void *context = topics->context;
    pthread_mutex_unlock(&topics->lock);
    if (wake) {
        wake(context, db);
    }
}

void store_on_change(Store *store, void (*changed)(void *context, Db *db, const Collection *of),
                     void *context)
{
    Topics *topics = topics_of(store);

    pthread_mutex_lock(&topics->lock);
    topics->changed = changed;
    topics->changed_context = context;
    pthread_mutex_unlock(&topics->lock);
}

void changes_tell(Db *db, const Collection *const *changed, size_t n)
{
    Topics *topics = topics_of(db_store(db));

    pthread_mutex_lock(&topics->lock);
    for (size_t i = 0; topics->changed && i < n; i++) {
        topics->changed(topics->changed_context, db, changed[i]);
    }
    pthread_mutex_unlock(&topics->lock);
}

// ---------------------------------------------------------------------------------------------
// Writing

static Str event_body(Tx *tx, const Event *event, const Json *old, const Json *now)
{
    Buf out = buf_new(arena_current(), EVENT_MAX);

    buf_add_z(&out, "{\"id\":");
    json_write_string(&out, event->event_id);
    buf_add_z(&out, ",\"type\":");
    json_write_string(&out, event->type);
    buf_add_z(&out, ",\"tenant\":");
    json_write_string(&out, db_name(tx_db(tx)));
    buf_fmt(&out, ",\"timestamp\":%lld,\"data\":{", (long long)event->at);
    if (old) {
        buf_add_z(&out, "\"old\":");
        json_write(&out, old);
    }
    if (now) {
        buf_add_z(&out, old ? ",\"new\":" : "\"new\":");
        json_write(&out, now);
    }
    buf_add_z(&out, "}}");
    return buf_str(&out);
}

Err *tx_emit(Tx *tx, const char *topic, const char *type, Str key, const Json *old, const Json *now)
{
    if (!store_wants_topic(db_store(tx_db(tx)), topic)) {
        return NULL;
    }
    TxExtra *extra = extra_of(tx);
    Arena *before = arena_use(extra->arena);
    struct PendingEvent *pending = NEW(struct PendingEvent);

    pending->event = (Event){
        .topic = str_copy(extra->arena, str_of(topic)),
        .type = str_copy(extra->arena, str_of(type)),
        .key = str_copy(extra->arena, key),
        .event_id = uuid_new(),
        .user_id = str_copy(extra->arena, tx_user_id(tx)),
        .at = tx_now(tx),
    };
    pending->event.body = event_body(tx, &pending->event, old, now);
    arena_use(before);
    if (extra->last_event) {
        extra->last_event->next = pending;
    } else {
        extra->first_event = pending;
    }
    extra->last_event = pending;
    tx_count_events(tx, 1);
    return NULL;
}

static Err *insert_rows(Tx *tx, struct PendingEvent **from, size_t n)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Arg *args = NEW_ARRAY(Arg, n * EVENT_COLUMNS);
    size_t count = 0;

    buf_add_z(&sql, "insert into outbox (topic, type, key, body, event_id, user_id, at) values ");
    for (size_t i = 0; i < n; i++, *from = (*from)->next) {
        const Event *event = &(*from)->event;
        buf_fmt(&sql, "%s($%zu, $%zu, $%zu, $%zu, $%zu, $%zu, $%zu)", i ? ", " : "", count + 1,
                count + 2, count + 3, count + 4, count + 5, count + 6, count + 7);
        args[count++] = A_TEXT(event->topic);
        args[count++] = A_TEXT(event->type);
        args[count++] = A_TEXT(event->key);
        args[count++] = A_TEXT(event->body);
        args[count++] = A_TEXT(event->event_id);
        args[count++] = A_TEXT(event->user_id);
        args[count++] = A_INT(event->at);
    }
    return sql_exec(tx, str_z(buf_str(&sql)), (Args){args, count}, NULL, NULL);
}

static Err *insert_list(Tx *tx, struct PendingEvent *first)
{
    size_t left = 0;

    for (const struct PendingEvent *one = first; one; one = one->next) {
        left++;
    }
    while (left) {
        size_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        TRY(insert_rows(tx, &first, n));
        left -= n;
    }
    return NULL;
}

Err *outbox_flush(Tx *tx)
{
    TxExtra *extra = *tx_extra(tx);

    if (!extra) {
        return NULL;
    }
    struct PendingEvent *first = extra->first_event;
    extra->first_event = extra->last_event = NULL;
    return insert_list(tx, first);
}

Err *outbox_restore(Tx *tx, const Event *events, size_t n)
{
    struct PendingEvent *pending = NEW_ARRAY(struct PendingEvent, n);

    for (size_t i = 0; i < n; i++) {
        pending[i] = (struct PendingEvent){events[i], i + 1 < n ? &pending[i + 1] : NULL};
    }
    return n ? insert_list(tx, pending) : NULL;
}

// ---------------------------------------------------------------------------------------------
// Reading, for the relay

typedef struct {
    Event *events;
    size_t len, bytes;
} EventRows;

static Err *take_event(const Row *row, void *context)
{
    EventRows *rows = context;
    Arena *arena = arena_current();

    if (rows->bytes > READ_MAX) {
        return NULL; // with all behind it: they are next time's
    }
    rows->bytes += row_text(row, 4).len;
    rows->events[rows->len++] = (Event){
        .seq = row_int(row, 0),
        .topic = str_copy(arena, row_text(row, 1)),
        .type = str_copy(arena, row_text(row, 2)),
        .key = str_copy(arena, row_text(row, 3)),
        .body = str_copy(arena, row_text(row, 4)),
        .event_id = str_copy(arena, row_text(row, 5)),
        .user_id = str_copy(arena, row_text(row, 6)),
        .at = row_int(row, 7),
    };
    return NULL;
}

Err *outbox_read(Tx *tx, int64_t after, int n, Event **events, size_t *count)
{
    EventRows rows = {.events = NEW_ARRAY(Event, (size_t)(n > 0 ? n : 0))};

    TRY(sql_rows(tx,
                 "select seq, topic, type, key, body, event_id, user_id, at from outbox "
                 "where seq > $1 order by seq limit $2",
                 ARGS(A_INT(after), A_INT(n)), take_event, &rows));
    *events = rows.events;
    *count = rows.len;
    return NULL;
}

Err *outbox_delete(Tx *tx, int64_t up_to_seq)
{
    return sql_exec(tx, "delete from outbox where seq <= $1", ARGS(A_INT(up_to_seq)), NULL, NULL);
}
