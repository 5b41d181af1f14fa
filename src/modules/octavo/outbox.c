// What is in the outbox of the caller's tenant, and its dead letters. Source: spec/native-api.md 2.
#include "modules/octavo/native.h"

enum { DEAD_SHOWN = 1000 };

typedef struct {
    Json *topics;
    int64_t pending;
    Time oldest;
} Outbox;

static Err *take_topic(const Row *row, void *context)
{
    Outbox *outbox = context;
    Json *topic = json_object();
    Time oldest = row_int(row, 2);

    json_set_str(topic, "topic", row_text(row, 0));
    json_set_int(topic, "pending", row_int(row, 1));
    json_add(outbox->topics, topic);
    outbox->pending += row_int(row, 1);
    outbox->oldest = outbox->oldest && outbox->oldest < oldest ? outbox->oldest : oldest;
    return NULL;
}

static Json *dead_json(const Docs *dead)
{
    static const char *const shown[] = {"seq", "topic", "type", "key", "reader", "error"};
    Json *array = json_array();

    for (size_t i = 0; i < dead->len; i++) {
        Json *one = json_object();
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            json_take(one, shown[k], dead->at[i], shown[k]);
        }
        json_set_time(one, "at", json_int(dead->at[i], "at", 0));
        json_set_time(one, "failedAt", json_int(dead->at[i], "failedAt", 0));
        json_add(array, one);
    }
    return array;
}

static const char *kafka_state(const App *app)
{
    if (!app->kafka) {
        return "off";
    }
    return kafka_figures(app->kafka).is_down ? "down" : "up";
}

Err *outbox_show(Req *req)
{
    Outbox outbox = {.topics = json_array()};
    Json *body = json_object();
    Docs dead = {0};

    TRY(operators_only(req));
    TRY(tx_rows(req->tx,
                "select topic, count(*), min(at) from outbox group by topic order by topic",
                NO_ARGS, take_topic, &outbox));
    TRY(dead_letters_list(req->tx, DEAD_SHOWN, &dead));
    json_set_int(body, "pending", outbox.pending);
    json_set_int(body, "oldestS", outbox.pending ? (req->now - outbox.oldest) / SECOND_MS : 0);
    json_set_str(body, "kafka", str_of(kafka_state(req->app)));
    json_set(body, "topics", outbox.topics);
    json_set(body, "dead", dead_json(&dead));
    return reply_json(req, 200, body);
}

static Err *seq_of(const Req *req, int64_t *seq)
{
    Str text = req_param(req, 0);

    if (!str_int64(text, seq)) {
        return err_text(404, "no dead letter " STR_FMT, STR_ARG(text));
    }
    return NULL;
}

Err *outbox_retry(Req *req)
{
    int64_t seq = 0;

    TRY(operators_only(req));
    TRY(seq_of(req, &seq));
    TRY(dead_letter_retry(req->tx, seq));
    return reply_empty(req, 204);
}

Err *outbox_delete_dead(Req *req)
{
    int64_t seq = 0;

    TRY(operators_only(req));
    TRY(seq_of(req, &seq));
    TRY(dead_letter_delete(req->tx, seq));
    return reply_empty(req, 204);
}
