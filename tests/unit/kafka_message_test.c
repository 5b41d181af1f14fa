// What events look like on Kafka.
#include "kafka/internal.h"
#include "test.h"

static const KafkaOptions baseline = {.environment = {"folio", 5}};
static const KafkaOptions latest = {.environment = {"folio", 5}, .sends_latest = true};

#define BODY(type, data)                                                                           \
    "{\"id\":\"e-1\",\"type\":\"" type "\",\"tenant\":\"diku\",\"timestamp\":1700000000000,"       \
    "\"data\":{" data "}}"

static Event event_of(const char *topic, const char *type, const char *body)
{
    return (Event){.topic = str_of(topic),
                   .type = str_of(type),
                   .key = S("k-1"),
                   .body = str_of(body),
                   .event_id = S("e-1"),
                   .user_id = S("u-1"),
                   .at = 1700000000000};
}

static Message only_message(const KafkaOptions *options, Event event)
{
    Message messages[MESSAGES_PER_EVENT];

    assert_int_equal(messages_of(options, S("diku"), &event, messages), 1);
    return messages[0];
}

static void circulation_events_keep_their_body(void **state)
{
    (void)state;
    const char *body = BODY("UPDATED", "\"old\":{\"id\":\"a\"},\"new\":{\"id\":\"a\"}");
    Message message = only_message(&baseline, event_of("circulation.loan", "UPDATED", body));

    assert_str(message.topic, "folio.diku.circulation.loan");
    assert_str(message.key, "k-1");
    assert_str(message.value, body);
}

static void inventory_events_have_their_own_members(void **state)
{
    (void)state;
    const char *body = BODY("UPDATED", "\"old\":{\"title\":\"\\\"data\\\":{\"},\"new\":{\"n\":1}");
    Message message = only_message(&baseline, event_of("inventory.instance", "UPDATED", body));

    assert_str(message.topic, "folio.diku.inventory.instance");
    assert_str(message.value,
               "{\"eventId\":\"e-1\",\"eventTs\":1700000000000,\"type\":\"UPDATE\",\"tenant\":"
               "\"diku\",\"old\":{\"title\":\"\\\"data\\\":{\"},\"new\":{\"n\":1}}");

    message = only_message(&baseline,
                           event_of("inventory.location", "ALL_DELETED", BODY("ALL_DELETED", "")));
    assert_str(message.value, "{\"eventId\":\"e-1\",\"eventTs\":1700000000000,\"type\":"
                              "\"DELETE_ALL\",\"tenant\":\"diku\"}");
}

static void user_events_have_a_topic_per_action(void **state)
{
    (void)state;
    const char *body = BODY("UPDATED", "\"old\":{\"id\":\"u\",\"personal\":{\"lastName\":\"A\"}},"
                                       "\"new\":{\"id\":\"u\",\"username\":\"n\",\"barcode\":"
                                       "\"7\",\"personal\":{\"lastName\":\"B\",\"firstName\":"
                                       "\"C\"}}");
    Event event = event_of("users.users", "UPDATED", body);
    Message message = only_message(&baseline, event);
    Message both[MESSAGES_PER_EVENT];

    assert_str(message.topic, "folio.Default.diku.USER_UPDATED");
    assert_str(message.key, "k-1");
    assert_str(message.value,
               "{\"id\":\"e-1\",\"action\":\"Edit\",\"tenantId\":\"diku\",\"performedBy\":\"u-1\","
               "\"eventDate\":\"2023-11-14T22:13:20.000+00:00\",\"actionDate\":"
               "\"2023-11-14T22:13:20.000+00:00\",\"userDto\":{\"id\":\"u\",\"username\":\"n\","
               "\"barcode\":\"7\",\"personal\":{\"lastName\":\"B\"}},"
               "\"isPersonalDataChanged\":true}");

    assert_int_equal(messages_of(&latest, S("diku"), &event, both), 2);
    assert_str(both[1].topic, "folio.diku.users.users");
    assert_str(both[1].value, body);
}

static void a_user_whose_name_stays_has_no_personal_change(void **state)
{
    (void)state;
    const char *body = BODY("UPDATED", "\"old\":{\"id\":\"u\",\"personal\":{\"lastName\":\"A\"}},"
                                       "\"new\":{\"id\":\"u\",\"personal\":{\"lastName\":\"A\"}}");
    Message message = only_message(&baseline, event_of("users.users", "UPDATED", body));

    assert_true(str_ends(message.value, S("\"isPersonalDataChanged\":false}")));
}

static void published_events_are_their_payload(void **state)
{
    (void)state;
    const char *body = BODY("LOAN_CLOSED", "\"new\":{\"loanId\":\"l\"}");
    Message message = only_message(&baseline, event_of("circulation.event", "LOAN_CLOSED", body));

    assert_str(message.topic, "folio.Default.diku.LOAN_CLOSED");
    assert_str(message.key, "e-1");
    assert_str(message.value, "{\"loanId\":\"l\"}");
}

static void patron_groups_are_news_of_later_releases(void **state)
{
    (void)state;
    Event event = event_of("users.userGroup", "CREATED", BODY("CREATED", "\"new\":{}"));
    Message messages[MESSAGES_PER_EVENT];

    assert_int_equal(messages_of(&baseline, S("diku"), &event, messages), 0);
    assert_int_equal(messages_of(&latest, S("diku"), &event, messages), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circulation_events_keep_their_body),
        cmocka_unit_test(inventory_events_have_their_own_members),
        cmocka_unit_test(user_events_have_a_topic_per_action),
        cmocka_unit_test(a_user_whose_name_stays_has_no_personal_change),
        cmocka_unit_test(published_events_are_their_payload),
        cmocka_unit_test(patron_groups_are_news_of_later_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
