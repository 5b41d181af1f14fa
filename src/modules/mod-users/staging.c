// People who registered themselves and wait to become users. Source: spec/platform.md 4.2.
#include "modules/mod-users/hooks.h"
#include "modules/mod-users/internal.h"

Err *staging_before_write(Tx *tx, const Json *old, Json *doc)
{
    (void)tx;
    if (old) {
        return NULL;
    }
    json_set_str(doc, "externalSystemId", uuid_new());
    if (!json_has(doc, "status")) {
        json_set_str(doc, "status", S("TIER-1"));
    }
    if (!json_has(doc, "isEmailVerified")) {
        json_set_bool(doc, "isEmailVerified", false);
    }
    return NULL;
}

// E-mail and ids stay as they were registered.
Err *staging_put(Req *req)
{
    Json *body = NULL, *old = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(&staging_user_record, body));
    TRY(tx_find(req->tx, &staging_users, "external_system_id", req_param(req, 0), &old));
    if (!old) {
        return err_text(404, "No matching user found for update.");
    }
    Json *doc = json_copy(old);
    json_remove(body, "id");
    json_remove(body, "externalSystemId");
    json_remove(body, "contactInfo.email");
    json_merge(doc, body);
    TRY(tx_update(req->tx, &staging_users, doc));
    return reply_json(req, 200, doc);
}

// ---------------------------------------------------------------------------------------------
// Becoming a user

static void set_or_remove(Json *doc, const char *to, const Json *from, const char *path)
{
    json_remove(doc, to);
    json_take(doc, to, from, path);
}

static void take_person(Json *user, const Json *staging)
{
    set_or_remove(user, "personal.email", staging, "contactInfo.email");
    set_or_remove(user, "personal.phone", staging, "contactInfo.phone");
    set_or_remove(user, "personal.mobilePhone", staging, "contactInfo.mobilePhone");
    set_or_remove(user, "personal.firstName", staging, "generalInfo.firstName");
    set_or_remove(user, "personal.lastName", staging, "generalInfo.lastName");
    set_or_remove(user, "personal.middleName", staging, "generalInfo.middleName");
    set_or_remove(user, "personal.preferredFirstName", staging, "generalInfo.preferredFirstName");
    json_set_str(user, "personal.preferredContactTypeId", S("002")); // e-mail
}

// The home address becomes the primary one.
static void take_address(Json *user, const Json *staging, Str home_id)
{
    Json *list = json_get(user, "personal.addresses"), *home = NULL;

    if (!json_is_array(list)) {
        json_set(user, "personal.addresses", json_array());
        list = json_get(user, "personal.addresses");
    }
    JSON_EACH(address, list)
    {
        json_set_bool(address, "primaryAddress", false);
        if (str_eq(json_str(address, "addressTypeId"), home_id)) {
            home = address;
        }
    }
    if (!home) {
        json_add(list, json_object());
        home = json_at(list, json_len(list) - 1);
    }
    json_set_str(home, "addressTypeId", home_id);
    json_set_bool(home, "primaryAddress", true);
    set_or_remove(home, "addressLine1", staging, "addressInfo.addressLine0");
    set_or_remove(home, "addressLine2", staging, "addressInfo.addressLine1");
    set_or_remove(home, "city", staging, "addressInfo.city");
    set_or_remove(home, "region", staging, "addressInfo.province");
    set_or_remove(home, "postalCode", staging, "addressInfo.zip");
    set_or_remove(home, "countryId", staging, "addressInfo.country");
}

static void set_expiry(Json *user, const Json *group)
{
    int64_t days = json_int(group, "expirationOffsetInDays", -1);
    Time enrolled_at = 0;

    if (days >= 0 && json_time(user, "enrollmentDate", &enrolled_at)) {
        json_set_time(user, "expirationDate", enrolled_at + days * DAY_MS);
    }
}

static Err *group_by_name(Tx *tx, Str name, Json **out)
{
    TRY(tx_find(tx, &groups, "group_name", name, out));
    return *out ? NULL
                : err_text(500, "unable to find patron group with " STR_FMT " as group",
                           STR_ARG(name));
}

// New ones and minors get their group by its name; others keep theirs.
static Err *choose_group(Tx *tx, const Json *staging, bool is_new, Json *user)
{
    const Json *group = NULL;
    Json *named = NULL;

    if (json_flag(staging, "minor", false)) {
        TRY(group_by_name(tx, S("Basic -- Minor (INTERNAL)"), &named));
    } else if (is_new) {
        TRY(group_by_name(tx, S("Remote Non-circulating"), &named));
    } else {
        TRY(tx_ref(tx, &groups, json_str(user, "patronGroup"), &group));
    }
    if (named) {
        json_set_str(user, "patronGroup", json_str(named, "id"));
        group = named;
    }
    set_expiry(user, group);
    return NULL;
}

static Err *read_merge(Req *req, Json **staging, Json **home, Json **user)
{
    Str id = str_lower(req_param(req, 0)), user_id = req_query_text(req, "userId");

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &staging_users, id, staging));
    }
    if (!*staging) {
        return err_text(404, "staging user with id " STR_FMT " not found",
                        STR_ARG(req_param(req, 0)));
    }
    TRY(tx_find(req->tx, &address_types, "address_type", S("Home"), home));
    if (!*home) {
        return err_text(500, "unable to find address with home as address type");
    }
    if (user_id.len) {
        TRY(user_by_id(req->tx, user_id, user));
        if (!*user) {
            return err_text(404, "user with id " STR_FMT " not found", STR_ARG(user_id));
        }
    }
    return NULL;
}

Err *staging_merge(Req *req)
{
    Json *staging = NULL, *home = NULL, *old = NULL, *answer = json_object();

    TRY(read_merge(req, &staging, &home, &old));
    Json *user = old ? json_copy(old) : json_object();
    json_set_bool(user, "active", true);
    json_set_str(user, "type", old ? json_str(old, "type") : S("patron"));
    set_or_remove(user, "preferredEmailCommunication", staging, "preferredEmailCommunication");
    set_or_remove(user, "externalSystemId", staging, "externalSystemId");
    set_or_remove(user, "enrollmentDate", staging, "metadata.updatedDate");
    take_person(user, staging);
    take_address(user, staging, json_str(home, "id"));
    TRY(choose_group(req->tx, staging, !old, user));
    TRY(old ? tx_update(req->tx, &users, user) : tx_insert(req->tx, &users, user));
    TRY(tx_delete(req->tx, &staging_users, json_str(staging, "id")));
    json_set_str(answer, "userId", json_str(user, "id"));
    return reply_json(req, 200, answer);
}
