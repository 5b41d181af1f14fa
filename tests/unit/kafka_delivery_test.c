// From the outbox to Kafka, against librdkafka's mock cluster.
#include "kafka/kafka.h"
#include "jobs_world.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

enum {
    PRODUCE = 0, // Kafka's number of that request
    BROKERS = 2,
};

typedef struct {
    World *world;
    Kafka *kafka;
    rd_kafka_t *client; // has the cluster, and reads
    rd_kafka_mock_cluster_t *cluster;
    const char *brokers;
    Buf values; // what was read: the values, separated by blanks
    Buf last_headers;
} Case;

static rd_kafka_t *client_new(rd_kafka_type_t type, const char *brokers)
{
    char text[256] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, NULL, 0);
    rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
    if (type == RD_KAFKA_CONSUMER) {
        rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
    }
    rd_kafka_t *client = rd_kafka_new(type, conf, text, sizeof text);
    assert_non_null(client);
    return client;
}

static void kafka_begin(Case *test)
{
    KafkaOptions options = {.brokers = str_of(test->brokers),
                            .environment = S("test"),
                            .url = S("http://localhost:9130")};

    assert_ok(kafka_start(&options, test->world->scheduler, &test->kafka));
    jobs_begin(test->world->scheduler);
}

static void kafka_end(Case *test)
{
    jobs_stop(test->world->scheduler);
    kafka_stop(test->kafka);
    test->kafka = NULL;
}

// As a stop of the process, but the cluster lives on.
static void restart(Case *test)
{
    kafka_end(test);
    assert_ok(jobs_new(test->world->store, &test->world->scheduler));
    kafka_begin(test);
}

static int setup(void **state)
{
    Case *test = calloc(1, sizeof *test);

    world_setup((void **)&test->world);
    test->client = client_new(RD_KAFKA_PRODUCER, "none:1");
    test->cluster = rd_kafka_mock_cluster_new(test->client, BROKERS);
    test->brokers = rd_kafka_mock_cluster_bootstraps(test->cluster);
    rd_kafka_mock_topic_create(test->cluster, "test.diku.test.plain", 1, 1);
    test->values = buf_new(arena_current(), 1 << 20);
    test->last_headers = buf_new(arena_current(), 1 << 12);
    kafka_begin(test);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    Case *test = *state;

    kafka_end(test);
    assert_ok(jobs_new(test->world->store, &test->world->scheduler));
    world_teardown((void **)&test->world);
    rd_kafka_mock_cluster_destroy(test->cluster);
    rd_kafka_destroy(test->client);
    free(test);
    return 0;
}

// ---------------------------------------------------------------------------------------------
// Reading

static void keep(Case *test, const rd_kafka_message_t *message)
{
    const char *name = NULL;
    const void *value = NULL;
    size_t size = 0;
    rd_kafka_headers_t *headers = NULL;

    buf_fmt(&test->values, "%s%.*s", buf_str(&test->values).len ? " " : "", (int)message->key_len,
            (const char *)message->key);
    buf_clear(&test->last_headers);
    rd_kafka_message_headers(message, &headers);
    for (size_t i = 0; headers && !rd_kafka_header_get_all(headers, i, &name, &value, &size); i++) {
        buf_fmt(&test->last_headers, "%s=%.*s ", name, (int)size, (const char *)value);
    }
}

// The keys of the n messages from the begin of the topic's only partition.
static const char *read_keys(Case *test, const char *topic, int n)
{
    rd_kafka_t *reader = client_new(RD_KAFKA_CONSUMER, test->brokers);
    rd_kafka_topic_partition_list_t *from = rd_kafka_topic_partition_list_new(1);

    rd_kafka_poll_set_consumer(reader);
    rd_kafka_topic_partition_list_add(from, topic, 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    assert_int_equal(rd_kafka_assign(reader, from), 0);
    buf_clear(&test->values);
    for (int got = 0, tries = 0; got < n && tries < 600; tries++) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(reader, 100);
        if (message && !message->err) {
            keep(test, message);
            got++;
        }
        if (message) {
            rd_kafka_message_destroy(message);
        }
    }
    rd_kafka_topic_partition_list_destroy(from);
    rd_kafka_consumer_close(reader);
    rd_kafka_destroy(reader);
    return str_z(buf_str(&test->values));
}

// ---------------------------------------------------------------------------------------------

static void events_arrive_in_order_with_headers_and_leave_the_outbox(void **state)
{
    Case *test = *state;

    emit(test->world->db, "test.plain", 1, 5);
    assert_soon(outbox_count(test->world->db) == 0);
    assert_string_equal(read_keys(test, "test.diku.test.plain", 5), "1 2 3 4 5");
    assert_str(buf_str(&test->last_headers),
               "x-okapi-tenant=diku x-okapi-url=http://localhost:9130 folio.tenantId=diku ");
    assert_soon(kafka_figures(test->kafka).sent == 5);
}

static void all_down(Case *test, bool is_down)
{
    for (int i = 1; i <= BROKERS; i++) {
        if (is_down) {
            rd_kafka_mock_broker_set_down(test->cluster, i);
        } else {
            rd_kafka_mock_broker_set_up(test->cluster, i);
        }
    }
}

static void with_kafka_down_events_wait_and_nothing_is_lost(void **state)
{
    Case *test = *state;

    all_down(test, true);
    emit(test->world->db, "test.plain", 1, 3);
    assert_soon(kafka_figures(test->kafka).is_down);
    assert_int_equal(outbox_count(test->world->db), 3);
    all_down(test, false);
    assert_soon(outbox_count(test->world->db) == 0);
    assert_string_equal(read_keys(test, "test.diku.test.plain", 3), "1 2 3");
    assert_soon(!kafka_figures(test->kafka).is_down);
}

static void a_restart_while_kafka_is_down_loses_nothing(void **state)
{
    Case *test = *state;

    all_down(test, true);
    emit(test->world->db, "test.plain", 1, 3);
    assert_soon(kafka_figures(test->kafka).is_down);
    restart(test);
    assert_int_equal(outbox_count(test->world->db), 3);
    emit(test->world->db, "test.plain", 4, 2);
    all_down(test, false);
    assert_soon(outbox_count(test->world->db) == 0);
    assert_string_equal(read_keys(test, "test.diku.test.plain", 5), "1 2 3 4 5");
}

static void errors_that_pass_keep_the_order(void **state)
{
    Case *test = *state;

    rd_kafka_mock_push_request_errors(
        test->cluster, PRODUCE, 3, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
    for (int i = 0; i < 20; i++) {
        emit(test->world->db, "test.plain", i + 1, 1);
    }
    assert_soon(outbox_count(test->world->db) == 0);
    assert_string_equal(read_keys(test, "test.diku.test.plain", 20),
                        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20");
}

static Err *count_dead(Tx *tx, void *out)
{
    return tx_rows(tx, "select count(*) from octavo_dead_letter", NO_ARGS, take_int, out);
}

static void what_kafka_refuses_goes_to_the_dead_letters(void **state)
{
    Case *test = *state;
    int64_t dead = 0;

    rd_kafka_mock_push_request_errors(test->cluster, PRODUCE, 1,
                                      RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    emit(test->world->db, "test.plain", 1, 1);
    assert_soon(outbox_count(test->world->db) == 0);
    emit(test->world->db, "test.plain", 2, 1);
    assert_soon(outbox_count(test->world->db) == 0);
    assert_string_equal(read_keys(test, "test.diku.test.plain", 1), "2");
    assert_ok(tx_run(test->world->db, &(TxOptions){.kind = READ}, count_dead, &dead));
    assert_int_equal(dead, 1);
}

static void options_without_sense_are_refused(void **state)
{
    Case *test = *state;
    Kafka *kafka = NULL;

    assert_err(kafka_start(&(KafkaOptions){.brokers = S("a:1"), .environment = S("a b")},
                           test->world->scheduler, &kafka),
               400, "kafka.environment must be of letters, digits, - and _");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(events_arrive_in_order_with_headers_and_leave_the_outbox),
        CASE(with_kafka_down_events_wait_and_nothing_is_lost),
        CASE(a_restart_while_kafka_is_down_loses_nothing),
        CASE(errors_that_pass_keep_the_order),
        CASE(what_kafka_refuses_goes_to_the_dead_letters),
        CASE(options_without_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
