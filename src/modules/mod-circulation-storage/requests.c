// Requests: what storage refuses, and queues as other modules read and write them.
// Source: spec/circulation.md 9.5, 12.2.
#include "modules/mod-circulation-storage/hooks.h"

#define IS_OPEN                                                                                    \
    "status in ('open - not yet filled', 'open - awaiting pickup', 'open - in transit', "          \
    "'open - awaiting delivery')"
#define BY_POSITION "order by position is null, position, id"

// ---------------------------------------------------------------------------------------------
// Hooks

bool request_is_open(const Json *request)
{
    return str_starts(json_str(request, "status"), S("Open - "));
}

static Err *level_check(const Json *request)
{
    bool has_item = json_has(request, "itemId");
    bool has_holdings = json_has(request, "holdingsRecordId");
    Err *err = NULL;

    if (str_eq(json_str(request, "requestLevel"), S("Title"))) {
        return has_item == has_holdings
                   ? NULL
                   : err_422(NO_CODE, S("Title level request must have both itemId and "
                                        "holdingsRecordId or neither"));
    }
    if (!has_item) {
        err = err_422(NO_CODE, S("Item ID in item level request should not be absent"));
    }
    if (!has_holdings) {
        err = err_join(err,
                       err_422(NO_CODE, S("Holdings record ID in item level request should not be "
                                          "absent")));
    }
    return err;
}

// When an item that waits for its patron is no longer wanted, the shelf is cleared by that time.
static void note_pickup_closed(Tx *tx, const Json *old, Json *request)
{
    Str status = json_str(request, "status");

    json_take(request, "awaitingPickupRequestClosedDate", old, "awaitingPickupRequestClosedDate");
    if (str_eq(json_str(old, "status"), S("Open - Awaiting pickup")) &&
        (str_eq(status, S("Closed - Pickup expired")) || str_eq(status, S("Closed - Cancelled")))) {
        json_set_time(request, "awaitingPickupRequestClosedDate", tx_now(tx));
    }
}

Err *request_check(Tx *tx, const Json *old, Json *request)
{
    TRY(level_check(request));
    if (!request_is_open(request)) {
        json_remove(request, "position");
    }
    if (old) {
        note_pickup_closed(tx, old, request);
    }
    return NULL;
}

Err *request_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *request)
{
    (void)tx, (void)value;
    if (kind == CONFLICT_MISSING_REFERENCE && field &&
        str_eq(str_of(field->column), S("cancellation_reason_id"))) {
        return err_422(S("INVALID_CANCELLATION_REASON"), S("Cancellation reason does not exist"));
    }
    if (kind != CONFLICT_UNIQUE) {
        return NULL;
    }
    const Json *position = json_get(request, "position");
    return err_422(
        NO_CODE, S("Cannot have more than one request with the same position in the queue"),
        P("itemId", json_str(request, "itemId")), P("position", json_scalar_text(position)));
}

// ---------------------------------------------------------------------------------------------
// Reading queues

Err *requests_open_of_item(Tx *tx, Str item_id, Docs *out)
{
    METER("mod-circulation-storage");
    return tx_where(tx, &requests, "item_id = $1 and " IS_OPEN " " BY_POSITION,
                    ARGS(A_TEXT(str_lower(item_id))), out);
}

Err *requests_open_of_instance(Tx *tx, Str instance_id, Docs *out)
{
    METER("mod-circulation-storage");
    return tx_where(tx, &requests, "instance_id = $1 and " IS_OPEN " " BY_POSITION,
                    ARGS(A_TEXT(str_lower(instance_id))), out);
}

// ---------------------------------------------------------------------------------------------
// Writing queues

// Where a request stands: its item and position. 0 = nowhere.
typedef struct {
    Str item_id;
    int64_t position;
} Place;

typedef struct {
    const RequestChange *change;
    Place from, to;
    bool is_written;
} Step;

static Place place_of(const Json *request)
{
    if (!request || !request_is_open(request) || !json_has(request, "itemId")) {
        return (Place){0};
    }
    return (Place){json_str(request, "itemId"), json_int(request, "position", 0)};
}

static bool place_equal(Place a, Place b)
{
    return a.position && a.position == b.position && str_eq_nocase(a.item_id, b.item_id);
}

// A request may be written when nobody else who has not moved yet stands at its new place.
static bool is_free(const Step *steps, size_t n, size_t self)
{
    for (size_t i = 0; i < n; i++) {
        if (i != self && !steps[i].is_written && place_equal(steps[i].from, steps[self].to)) {
            return false;
        }
    }
    return true;
}

static Err *step_write(Tx *tx, Step *step)
{
    const RequestChange *change = step->change;

    step->is_written = true;
    return change->old ? tx_change(tx, &requests, change->old, change->now)
                       : tx_insert(tx, &requests, change->now);
}

// Two that change places: one of them stands nowhere for a moment. Its document is written later.
static Err *step_lift(Tx *tx, Step *step)
{
    int64_t changed = 0;

    TRY(tx_exec(tx, "update request set position = null where id = $1",
                ARGS(A_TEXT(json_str(step->change->old, "id"))), &changed));
    step->from = (Place){0};
    return NULL;
}

static Err *steps_write(Tx *tx, Step *steps, size_t n, bool *progress)
{
    *progress = false;
    for (size_t i = 0; i < n; i++) {
        if (!steps[i].is_written && is_free(steps, n, i)) {
            TRY(step_write(tx, &steps[i]));
            *progress = true;
        }
    }
    return NULL;
}

Err *requests_write(Tx *tx, const RequestChange *changes, size_t n)
{
    METER("mod-circulation-storage");
    Step *steps = NEW_ARRAY(Step, n + 1);
    size_t count = 0, left = 0;

    for (size_t i = 0; i < n; i++) {
        if (!changes[i].old || !json_equal(changes[i].old, changes[i].now)) {
            steps[count++] = (Step){.change = &changes[i],
                                    .from = place_of(changes[i].old),
                                    .to = place_of(changes[i].now)};
        }
    }
    for (left = count; left;) {
        bool progress = false;
        TRY(steps_write(tx, steps, count, &progress));
        left = 0;
        Step *waiting = NULL;
        for (size_t i = 0; i < count; i++) {
            left += !steps[i].is_written;
            waiting = !steps[i].is_written && steps[i].from.position ? &steps[i] : waiting;
        }
        if (left && !progress && waiting) {
            TRY(step_lift(tx, waiting));
        }
    }
    return NULL;
}

Err *request_queue_close_gap(Tx *tx, const Json *request, bool is_of_instance)
{
    Docs queue = {0};

    if (is_of_instance || !json_has(request, "itemId")) {
        TRY(requests_open_of_instance(tx, json_str(request, "instanceId"), &queue));
    } else {
        TRY(requests_open_of_item(tx, json_str(request, "itemId"), &queue));
    }
    RequestChange *changes = NEW_ARRAY(RequestChange, queue.len + 1);
    size_t count = 0;
    for (size_t i = 0; i < queue.len; i++) {
        if (str_eq(json_str(queue.at[i], "id"), json_str(request, "id"))) {
            continue;
        }
        changes[count] = (RequestChange){json_copy(queue.at[i]), queue.at[i]};
        count++;
        json_set_int(queue.at[i], "position", (int64_t)count);
    }
    return requests_write(tx, changes, count);
}
