// The producer: sends the events of one step and waits for Kafka's word on each.
//
// Messages wait in librdkafka without a time limit, in order; only a stop takes them back, and only
// what is confirmed leaves the outbox. So every event arrives at least once, and those with the
// same key in order.
#include "kafka/internal.h"

#include "base/die.h"
#include "base/log.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    POLL_MS = 100,
    PURGE_WAIT_MS = 5000,
    KAFKA_ARENA_MAX = 1 << 20,
    ERROR_TEXT_MAX = 512,
};

struct Kafka {
    Arena *arena;
    KafkaOptions options;
    rd_kafka_t *producer; // the outlet thread's; NULL until there is something to send
    _Atomic bool is_down, is_interrupted;
    _Atomic uint64_t sent, errors, refused;
};

// What became of the messages of one call. One thread sends and polls.
typedef struct {
    Kafka *kafka;
    Str *refused;
    size_t open;
    const char *error; // the first that is not for good
} Report;

// One message under way.
typedef struct {
    Report *report;
    size_t event;
} Ticket;

// ---------------------------------------------------------------------------------------------
// Callbacks

// What will not become better by trying again.
static bool is_final(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE ||
           code == RD_KAFKA_RESP_ERR_INVALID_RECORD || code == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
}

static void settle(const Ticket *ticket, rd_kafka_resp_err_t code)
{
    Report *report = ticket->report;
    Kafka *kafka = report->kafka;

    if (!code) {
        kafka->sent++;
    } else if (is_final(code)) {
        kafka->refused++;
        report->refused[ticket->event] = str_of(rd_kafka_err2str(code));
    } else {
        kafka->errors++;
        report->error = report->error ? report->error : rd_kafka_err2str(code);
    }
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    const Ticket *ticket = message->_private;
    Kafka *kafka = opaque;
    (void)producer;

    settle(ticket, message->err);
    ticket->report->open--;
    if (!message->err && atomic_exchange(&kafka->is_down, false)) {
        log_line(LOG_INFO, "kafka", "Kafka takes events again");
    }
}

static void failed(rd_kafka_t *producer, int code, const char *reason, void *opaque)
{
    Kafka *kafka = opaque;
    (void)producer;

    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !atomic_exchange(&kafka->is_down, true)) {
        log_line(LOG_WARN, "kafka", "no broker can be reached, events wait: %s", reason);
    }
}

static void logged(const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
    (void)producer;
    log_line(level <= 3 ? LOG_WARN : LOG_DEBUG, "kafka", "%s: %s", facility, text);
}

// ---------------------------------------------------------------------------------------------
// The client

static Err *conf_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[ERROR_TEXT_MAX] = "";

    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK) {
        return err_text(400, "kafka: %s", text);
    }
    return NULL;
}

static Err *conf_fill(const Kafka *kafka, rd_kafka_conf_t *conf)
{
    static const char *const settings[][2] = {
        {"client.id", "octavo"},
        {"enable.idempotence", "true"},
        {"linger.ms", "5"},
        {"compression.codec", "lz4"},
        {"message.timeout.ms", "0"},
        // Brokers say what is too large; a batch keeps to their usual limit.
        {"message.max.bytes", "100000000"},
        {"batch.size", "900000"},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        TRY(conf_set(conf, settings[i][0], settings[i][1]));
    }
    rd_kafka_conf_set_opaque(conf, (void *)kafka);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_conf_set_error_cb(conf, failed);
    rd_kafka_conf_set_log_cb(conf, logged);
    return conf_set(conf, "bootstrap.servers", str_z(kafka->options.brokers));
}

static Err *producer_new(Kafka *kafka)
{
    char text[ERROR_TEXT_MAX] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    Err *err = conf_fill(kafka, conf);

    if (!err) {
        kafka->producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
        err = kafka->producer ? NULL : err_text(400, "kafka: %s", text);
    }
    if (err) {
        rd_kafka_conf_destroy(conf); // else the client has it
    }
    return err;
}

static void producer_end(Kafka *kafka)
{
    if (kafka->producer) {
        rd_kafka_destroy(kafka->producer);
        kafka->producer = NULL;
    }
}

// ---------------------------------------------------------------------------------------------
// Sending

static rd_kafka_headers_t *headers_of(const Kafka *kafka, Str tenant, const Event *event)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(4);
    const struct {
        const char *name;
        Str value;
    } all[] = {{"x-okapi-tenant", tenant},
               {"x-okapi-url", kafka->options.url},
               {"x-okapi-user-id", event->user_id},
               {"folio.tenantId", tenant}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].value.len) {
            rd_kafka_header_add(headers, all[i].name, -1, all[i].value.at,
                                (ssize_t)all[i].value.len);
        }
    }
    return headers;
}

static rd_kafka_resp_err_t produce(Kafka *kafka, rd_kafka_headers_t *headers,
                                   const Message *message, Ticket *ticket)
{
    // clang-format off
    return rd_kafka_producev(kafka->producer, RD_KAFKA_V_TOPIC(str_z(message->topic)),
                             RD_KAFKA_V_KEY(message->key.at, message->key.len),
                             RD_KAFKA_V_VALUE((void *)message->value.at, message->value.len),
                             RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(ticket),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    // clang-format on
}

static void send_message(Kafka *kafka, rd_kafka_headers_t *headers, const Message *message,
                         Ticket *ticket)
{
    rd_kafka_resp_err_t code = produce(kafka, headers, message, ticket);

    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL && !kafka->is_interrupted) {
        rd_kafka_poll(kafka->producer, POLL_MS);
        code = produce(kafka, headers, message, ticket);
    }
    if (code) {
        rd_kafka_headers_destroy(headers); // else the message has them
        settle(ticket, code);
    } else {
        ticket->report->open++;
    }
}

static void send_event(Kafka *kafka, Str tenant, const Event *event, Ticket *ticket)
{
    Message messages[MESSAGES_PER_EVENT];
    ArenaMark mark = arena_mark(arena_current());
    size_t n = messages_of(&kafka->options, tenant, event, messages);

    for (size_t i = 0; i < n; i++) {
        send_message(kafka, headers_of(kafka, tenant, event), &messages[i], ticket);
    }
    arena_release(arena_current(), mark);
}

// Takes back what is not confirmed: tickets must not be used after their call.
static void take_back(Kafka *kafka, const Report *report)
{
    rd_kafka_purge(kafka->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    for (int waited = 0; report->open && waited < PURGE_WAIT_MS; waited += POLL_MS) {
        rd_kafka_poll(kafka->producer, POLL_MS);
    }
    if (report->open) {
        die("librdkafka keeps %zu messages after a purge", report->open);
    }
}

// A client that lost its place among its own messages must be made anew; it says so itself.
static void check_fatal(Kafka *kafka)
{
    char text[ERROR_TEXT_MAX] = "";

    if (rd_kafka_fatal_error(kafka->producer, text, sizeof text)) {
        log_line(LOG_ERROR, "kafka", "the client begins anew: %s", text);
        producer_end(kafka);
    }
}

static Err *kafka_send(void *context, const Event *events, size_t n, Str tenant, Str *refused)
{
    Kafka *kafka = context;
    Report report = {.kafka = kafka, .refused = refused};
    Ticket *tickets = NEW_ARRAY(Ticket, n);

    if (!kafka->producer) {
        TRY(producer_new(kafka));
    }
    for (size_t i = 0; i < n && !report.error; i++) {
        tickets[i] = (Ticket){&report, i};
        send_event(kafka, tenant, &events[i], &tickets[i]);
    }
    while (report.open && !kafka->is_interrupted &&
           !rd_kafka_fatal_error(kafka->producer, NULL, 0)) {
        rd_kafka_poll(kafka->producer, POLL_MS);
    }
    if (report.open) {
        take_back(kafka, &report);
    }
    check_fatal(kafka);
    return report.error ? err_text(503, "Kafka: %s", report.error) : NULL;
}

static void kafka_interrupt(void *context)
{
    ((Kafka *)context)->is_interrupted = true;
}

// ---------------------------------------------------------------------------------------------

static bool is_environment(Str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') {
            return false;
        }
    }
    return name.len > 0;
}

Err *kafka_start(const KafkaOptions *options, Scheduler *scheduler, Kafka **out)
{
    if (!is_environment(options->environment)) {
        return err_text(400, "kafka.environment must be of letters, digits, - and _");
    }
    Arena *arena = arena_new(KAFKA_ARENA_MAX);
    Kafka *kafka = arena_alloc(arena, sizeof *kafka);
    kafka->arena = arena;
    kafka->options = (KafkaOptions){
        .brokers = str_copy(arena, options->brokers),
        .environment = str_copy(arena, options->environment),
        .url = str_copy(arena, options->url),
        .sends_latest = options->sends_latest,
    };
    Err *err = producer_new(kafka); // shows at the start what the options are worth
    if (err) {
        arena_free(arena);
        return err;
    }
    jobs_sink(scheduler, &(EventSink){kafka, kafka_send, kafka_interrupt});
    *out = kafka;
    return NULL;
}

void kafka_stop(Kafka *kafka)
{
    if (kafka) {
        producer_end(kafka);
        arena_free(kafka->arena);
    }
}

KafkaFigures kafka_figures(const Kafka *kafka)
{
    return (KafkaFigures){kafka->is_down, kafka->sent, kafka->errors, kafka->refused};
}
