// Marking items: missing, withdrawn and the like. Source: spec/inventory.md 5.2.
#include "modules/mod-inventory/inventory.h"

#include "modules/mod-circulation-storage/circulation_storage.h"

// S: from here every status but the target itself may be left.
static const char *const most[] = {
    "Aged to lost",    "Available",         "Awaiting delivery",
    "Awaiting pickup", "Checked out",       "Claimed returned",
    "Declared lost",   "Intellectual item", "In process (non-requestable)",
    "In transit",      "Long missing",      "Lost and paid",
    "Missing",         "On order",          "Order closed",
    "Paged",           "Restricted",        "Unavailable",
    "Unknown",         "Withdrawn",         NULL};

static const char *const to_missing[] = {"Available",
                                         "Awaiting delivery",
                                         "Awaiting pickup",
                                         "Intellectual item",
                                         "In transit",
                                         "In process",
                                         "In process (non-requestable)",
                                         "Long missing",
                                         "Paged",
                                         "Restricted",
                                         "Unavailable",
                                         "Unknown",
                                         "Withdrawn",
                                         NULL};

static const char *const to_withdrawn[] = {"Available",
                                           "Awaiting delivery",
                                           "Awaiting pickup",
                                           "Lost and paid",
                                           "In process",
                                           "Intellectual item",
                                           "In process (non-requestable)",
                                           "In transit",
                                           "Long missing",
                                           "Missing",
                                           "Paged",
                                           "Restricted",
                                           "Unavailable",
                                           "Unknown",
                                           NULL};

static const struct {
    const char *action; // end of the route's path
    const char *status;
    const char *const *from;
} marks[] = {
    {"mark-in-process", "In process", most},
    {"mark-in-process-non-requestable", "In process (non-requestable)", most},
    {"mark-intellectual-item", "Intellectual item", most},
    {"mark-long-missing", "Long missing", most},
    {"mark-missing", "Missing", to_missing},
    {"mark-restricted", "Restricted", most},
    {"mark-unavailable", "Unavailable", most},
    {"mark-unknown", "Unknown", most},
    {"mark-withdrawn", "Withdrawn", to_withdrawn},
};

static bool may_leave(const char *const *from, Str status)
{
    for (; *from; from++) {
        if (str_eq_z(status, *from)) {
            return true;
        }
    }
    return false;
}

static bool is_in_fulfilment(const Json *request)
{
    Str status = json_str(request, "status");

    return str_eq(status, S("Open - Awaiting pickup")) ||
           str_eq(status, S("Open - Awaiting delivery")) || str_eq(status, S("Open - In transit"));
}

// The request that the item was set aside for waits again, unless its time on the shelf is over.
Err *requests_put_back(Req *req, Str item_id)
{
    Docs open = {0};

    if (!tenant_has_module(req->tenant, "mod-circulation-storage")) {
        return NULL;
    }
    TRY(requests_open_of_item(req->tx, item_id, &open));
    for (size_t i = 0; i < open.len; i++) {
        Time until = 0;
        bool has_end = json_time(open.at[i], "holdShelfExpirationDate", &until);
        if (!is_in_fulfilment(open.at[i]) || (has_end && until <= req->now)) {
            continue;
        }
        Json *request = json_copy(open.at[i]);
        json_set_str(request, "status", S("Open - Not yet filled"));
        TRY(tx_change(req->tx, &requests, open.at[i], request));
    }
    return NULL;
}

Err *inventory_item_mark(Req *req)
{
    Str path = str_of(req->route->path);
    ItemContext found;
    size_t i = 0;

    while (!str_ends(path, str_fmt("/%s", marks[i].action))) {
        i++;
    }
    TRY(item_by_id(req->tx, req_param(req, 0), &found));
    if (!found.item) {
        return err_text(404, "Not Found");
    }
    Str status = json_str(found.item, "status.name");
    if (str_eq_z(status, marks[i].status) || !may_leave(marks[i].from, status)) {
        return inventory_error(str_fmt("Item is not allowed to be marked as %s", marks[i].status),
                               "status.name", status);
    }
    TRY(item_status_set(req->tx, found.item, str_of(marks[i].status)));
    TRY(requests_put_back(req, json_str(found.item, "id")));
    TRY(item_represent(req->tx, &found));
    return reply_json(req, 200, found.item);
}
