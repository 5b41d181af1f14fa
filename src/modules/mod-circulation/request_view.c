// Requests as clients see them: the stored record and live data of everything it points to.
// Source: spec/circulation.md 9.1, 9.2.
#include "modules/mod-circulation/requests.h"

#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

// What a page of requests points to, read together.
typedef struct {
    ItemViews items;
    Docs users, instances, open_loans;
} Related;

static void collect(StrList *ids, Json **page, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        Str id = json_str(page[i], path);
        if (uuid_is_uuid_shaped(id) && !str_list_has(ids, id)) {
            str_list_add(ids, id);
        }
    }
}

static const Json *open_loan_of(const Related *related, Str item_id)
{
    for (size_t i = 0; item_id.len && i < related->open_loans.len; i++) {
        if (str_eq(json_str(related->open_loans.at[i], "itemId"), item_id)) {
            return related->open_loans.at[i];
        }
    }
    return NULL;
}

static Err *related_read(Tx *tx, Json **page, size_t n, Related *out)
{
    StrList item_ids = {0}, user_ids = {0}, instance_ids = {0}, missing = {0};

    collect(&item_ids, page, n, "itemId");
    collect(&user_ids, page, n, "requesterId");
    collect(&user_ids, page, n, "proxyUserId");
    collect(&instance_ids, page, n, "instanceId");
    if (item_ids.len) {
        TRY(item_views_by_ids(tx, item_ids.at, item_ids.len, &out->items));
        TRY(loans_open_of_items(tx, item_ids.at, item_ids.len, &out->open_loans));
    }
    TRY(tx_get_many(tx, &users, user_ids.at, user_ids.len, &out->users));
    // Instances came with the items; only title-level requests without item need more.
    for (size_t i = 0; i < instance_ids.len; i++) {
        bool is_known = false;
        for (size_t v = 0; v < out->items.len && !is_known; v++) {
            is_known = str_eq(out->items.at[v].instance_id, instance_ids.at[i]);
        }
        if (!is_known) {
            str_list_add(&missing, instance_ids.at[i]);
        }
    }
    return tx_get_many(tx, &instances, missing.at, missing.len, &out->instances);
}

static const Json *related_instance(const Related *related, Str id)
{
    for (size_t i = 0; i < related->items.len; i++) {
        if (str_eq(related->items.at[i].instance_id, id)) {
            return related->items.at[i].instance;
        }
    }
    return docs_find(&related->instances, id);
}

// --- members

static void add_location(Json *item, const ItemView *view)
{
    if (!view->location) {
        return;
    }
    json_set_str(item, "location.name", json_str(view->location, "name"));
    json_set_str(item, "location.libraryName", json_str(view->library, "name"));
    json_set_str(item, "location.code", json_str(view->location, "code"));
    json_set_str(item, "itemEffectiveLocationId", view->location_id);
    json_set_str(item, "itemEffectiveLocationName", json_str(view->location, "name"));
}

static Err *add_item(Tx *tx, Json *request, const ItemView *view)
{
    static const char *const taken[] = {"barcode",    "enumeration",    "volume",
                                        "chronology", "displaySummary", "copyNumber"};
    const Json *point = NULL;
    Json *item = json_object();
    const Json *number = json_get(view->item, "effectiveCallNumberComponents");

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_take(item, taken[i], view->item, taken[i]);
    }
    add_location(item, view);
    json_set_str_if(item, "loanTypeId", view->loan_type_id);
    json_set_str_if(item, "loanTypeName", json_str(view->loan_type, "name"));
    json_set_str(item, "status", view->status);
    json_set_str_if(item, "callNumber", json_str(number, "callNumber"));
    json_take(item, "callNumberComponents", view->item, "effectiveCallNumberComponents");
    json_remove(item, "callNumberComponents.typeId");
    Str primary = item_primary_service_point(view);
    if (primary.len) {
        TRY(tx_ref(tx, &service_points, primary, &point));
        json_set_str(item, "retrievalServicePointId", primary);
        json_set_str_if(item, "retrievalServicePointName", json_str(point, "name"));
    }
    json_set(request, "item", item);
    return NULL;
}

static void add_instance(Json *request, const Json *record)
{
    Json *instance = json_object(), *identifiers = json_array(), *names = json_array();

    json_take(instance, "title", record, "title");
    JSON_EACH(one, json_get(record, "identifiers"))
    {
        Json *identifier = json_object();
        json_take(identifier, "value", one, "value");
        json_take(identifier, "identifierTypeId", one, "identifierTypeId");
        json_add(identifiers, identifier);
    }
    JSON_EACH(contributor, json_get(record, "contributors"))
    {
        Json *name = json_object();
        json_take(name, "name", contributor, "name");
        json_add(names, name);
    }
    json_set(instance, "identifiers", identifiers);
    json_set(instance, "contributorNames", names);
    json_take(instance, "publication", record, "publication");
    json_take(instance, "editions", record, "editions");
    json_take(instance, "hrid", record, "hrid");
    json_set(request, "instance", instance);
}

static Err *add_person(Tx *tx, Json *request, const char *member, const Json *user)
{
    static const char *const names[] = {"firstName", "lastName", "middleName",
                                        "preferredFirstName"};
    const Json *group = NULL;
    Json *person = json_object();
    Str group_id = json_str(user, "patronGroup");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_take(person, names[i], json_get(user, "personal"), names[i]);
    }
    json_take(person, "barcode", user, "barcode");
    json_set_str_if(person, "patronGroupId", group_id);
    if (group_id.len) {
        TRY(tx_ref(tx, &groups, group_id, &group));
    }
    if (group) {
        json_set_str(person, "patronGroup.id", group_id);
        json_take(person, "patronGroup.group", group, "group");
        json_take(person, "patronGroup.desc", group, "desc");
    }
    json_set(request, member, person);
    return NULL;
}

static void add_delivery_address(Json *request, const Json *user)
{
    Str type = json_str(request, "deliveryAddressTypeId");

    JSON_EACH(address, json_get(user, "personal.addresses"))
    {
        if (type.len && str_eq(json_str(address, "addressTypeId"), type)) {
            Json *shown = json_copy(address);
            json_remove(shown, "id");
            json_remove(shown, "primaryAddress");
            json_set(request, "deliveryAddress", shown);
            return;
        }
    }
}

static Err *add_pickup(Tx *tx, Json *request)
{
    json_remove(request, "pickupServicePoint");
    return service_point_show(tx, request, "pickupServicePoint",
                              json_str(request, "pickupServicePointId"));
}

static Err *represent(Tx *tx, Json *request, const Related *related)
{
    const ItemView *view = item_views_find(&related->items, json_str(request, "itemId"));
    const Json *instance = related_instance(related, json_str(request, "instanceId"));
    const Json *user = docs_find(&related->users, json_str(request, "requesterId"));
    const Json *proxy = docs_find(&related->users, json_str(request, "proxyUserId"));
    const Json *loan = open_loan_of(related, json_str(request, "itemId"));

    json_remove(request, "searchIndex");
    if (view) {
        TRY(add_item(tx, request, view));
    }
    if (instance) {
        add_instance(request, instance);
    }
    if (user) {
        TRY(add_person(tx, request, "requester", user));
        add_delivery_address(request, user);
    }
    if (proxy) {
        TRY(add_person(tx, request, "proxy", proxy));
    }
    if (json_has(loan, "dueDate")) {
        json_take(request, "loan.dueDate", loan, "dueDate");
    }
    return add_pickup(tx, request);
}

Err *request_representations(Tx *tx, Json **page, size_t n)
{
    Related related = {0};

    TRY(related_read(tx, page, n, &related));
    for (size_t i = 0; i < n; i++) {
        TRY(represent(tx, page[i], &related));
    }
    return NULL;
}
