// What an event of the outbox looks like on Kafka. FOLIO's modules have different shapes; the
// records inside are taken over as text, not parsed.
// Source: spec/interop.md 6, spec/inventory.md 8, spec/circulation.md 14, decision 21.
#include "kafka/internal.h"

#include "base/buf.h"

enum {
    MESSAGE_MAX = 64 * 1024 * 1024,
};

// ---------------------------------------------------------------------------------------------
// Domain events of newer modules: the body of the outbox has their shape

static Str domain_topic(const KafkaOptions *options, Str tenant, Str topic)
{
    return str_fmt(STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(options->environment), STR_ARG(tenant),
                   STR_ARG(topic));
}

static Str default_topic(const KafkaOptions *options, Str tenant, Str name)
{
    return str_fmt(STR_FMT ".Default." STR_FMT "." STR_FMT, STR_ARG(options->environment),
                   STR_ARG(tenant), STR_ARG(name));
}

static size_t domain_event(const KafkaOptions *options, Str tenant, const Event *event,
                           Message *message)
{
    *message = (Message){domain_topic(options, tenant, event->topic), event->key, event->body};
    return 1;
}

// ---------------------------------------------------------------------------------------------
// Inventory: {"eventId","eventTs","type","tenant","old","new"}

// The members of "data" as they stand in the body: "old":{...},"new":{...}. What stands before them
// is made of ids and numbers, so that the first match is the right one.
static Str data_members(Str body)
{
    Str mark = S(",\"data\":{");
    ptrdiff_t at = str_find(body, mark, 0);

    return at < 0 ? (Str){"", 0} : str_sub(body, (size_t)at + mark.len, body.len - 2);
}

static Str inventory_type(Str type)
{
    static const struct {
        const char *ours, *theirs;
    } types[] = {{"CREATED", "CREATE"},
                 {"UPDATED", "UPDATE"},
                 {"DELETED", "DELETE"},
                 {"ALL_DELETED", "DELETE_ALL"}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (str_eq_z(type, types[i].ours)) {
            return str_of(types[i].theirs);
        }
    }
    return type;
}

static size_t inventory_event(const KafkaOptions *options, Str tenant, const Event *event,
                              Message *message)
{
    Buf out = buf_new(arena_current(), MESSAGE_MAX);
    Str members = data_members(event->body);

    buf_fmt(&out,
            "{\"eventId\":\"" STR_FMT "\",\"eventTs\":%lld,\"type\":\"" STR_FMT
            "\",\"tenant\":\"" STR_FMT "\"",
            STR_ARG(event->event_id), (long long)event->at, STR_ARG(inventory_type(event->type)),
            STR_ARG(tenant));
    if (members.len) {
        buf_char(&out, ',');
        buf_add(&out, members);
    }
    buf_char(&out, '}');
    *message = (Message){domain_topic(options, tenant, event->topic), event->key, buf_str(&out)};
    return 1;
}

// ---------------------------------------------------------------------------------------------
// Users: one topic per action with what a consortium needs to know

static Json *user_summary(const Json *user, bool is_deleted)
{
    static const char *const shown[] = {"personal.lastName", "personal.email", "personal.phone",
                                        "personal.mobilePhone"};
    Json *summary = json_object();

    json_take(summary, "id", user, "id");
    json_take(summary, "username", user, "username");
    json_take(summary, "active", user, "active");
    if (!is_deleted) {
        json_take(summary, "barcode", user, "barcode");
        json_take(summary, "externalSystemId", user, "externalSystemId");
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (json_has(user, shown[i])) {
            json_set(summary, shown[i], json_copy(json_get(user, shown[i])));
        }
    }
    return summary;
}

static Str user_value(Str tenant, const Event *event, const char *action)
{
    const Json *body = json_parse_stored(event->body);
    const Json *old = json_get(body, "data.old"), *now = json_get(body, "data.new");
    Json *json = json_object();
    Json *shown = user_summary(now ? now : old, !now), *before = user_summary(old, !now);
    Str personal = json_text(json_get(shown, "personal"));

    json_set_str(json, "id", event->event_id);
    json_set_str(json, "action", str_of(action));
    json_set_str(json, "tenantId", tenant);
    json_set_str_if(json, "performedBy", event->user_id);
    json_set_time(json, "eventDate", event->at);
    json_set_time(json, "actionDate", event->at);
    json_set(json, "userDto", shown);
    json_set_bool(json, "isPersonalDataChanged",
                  !str_eq(personal, json_text(json_get(before, "personal"))) || !old || !now);
    return json_text(json);
}

static size_t user_event(const KafkaOptions *options, Str tenant, const Event *event,
                         Message *messages)
{
    static const struct {
        const char *type, *topic, *action;
    } actions[] = {{"CREATED", "USER_CREATED", "Create"},
                   {"UPDATED", "USER_UPDATED", "Edit"},
                   {"DELETED", "USER_DELETED", "Delete"}};
    size_t n = 0;

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (str_eq_z(event->type, actions[i].type)) {
            messages[n++] = (Message){default_topic(options, tenant, str_of(actions[i].topic)),
                                      event->key, user_value(tenant, event, actions[i].action)};
        }
    }
    return n + (options->sends_latest ? domain_event(options, tenant, event, &messages[n]) : 0);
}

// ---------------------------------------------------------------------------------------------
// Events of FOLIO's publish-and-subscribe module, by type: the payload alone, or what a client
// published there as it came

static size_t published_event(const KafkaOptions *options, Str tenant, const Event *event,
                              Message *message)
{
    Str members = data_members(event->body);
    Str name = S("\"new\":");

    if (!str_starts(members, name)) {
        return 0;
    }
    *message = (Message){default_topic(options, tenant, event->type), event->event_id,
                         str_sub(members, name.len, members.len)};
    return 1;
}

// ---------------------------------------------------------------------------------------------

static const char *const published[] = {"circulation.event", "feesfines.event", "audit.log-record",
                                        "pubsub.event"};

static bool is_published(Str topic)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        if (str_eq_z(topic, published[i])) {
            return true;
        }
    }
    return false;
}

void kafka_want_topics(Store *store)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        store_want_topic(store, published[i]);
    }
    // Filled on demand by inventory's iteration jobs.
    store_want_topic(store, "inventory.instance-contribution");
}

size_t messages_of(const KafkaOptions *options, Str tenant, const Event *event,
                   Message messages[MESSAGES_PER_EVENT])
{
    if (str_starts(event->topic, S("inventory."))) {
        return inventory_event(options, tenant, event, messages);
    }
    if (str_eq(event->topic, S("users.users"))) {
        return user_event(options, tenant, event, messages);
    }
    if (is_published(event->topic)) {
        return published_event(options, tenant, event, messages);
    }
    // Other topics of mod-users came with newer releases.
    if (str_starts(event->topic, S("users.")) && !options->sends_latest) {
        return 0;
    }
    return domain_event(options, tenant, event, messages);
}
