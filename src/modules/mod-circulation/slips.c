// Slips that staff take along to the shelves: items to be paged, items that are searched.
// FOLIO: mod-circulation, GET /circulation/pick-slips, search-slips. Source:
// spec/circulation.md 10.
#include "modules/mod-circulation/requests.h"

#include "modules/list_view.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

// What the requests of one piece point to, and when the slips are printed.
typedef struct {
    ItemViews items;
    Docs users, instances;
} Parts;

typedef struct {
    Time now;
    Str service_point_id;
} SlipsContext;

#define AT_HOME_HERE "(select id from location where primary_service_point = $1)"
#define WAITING      "status = 'open - not yet filled' "

static Err *parts_read(Tx *tx, Json **records, size_t n, Parts *out)
{
    StrList items_of = {0}, instances_of = {0};

    for (size_t i = 0; i < n; i++) {
        if (json_has(records[i], "itemId")) {
            str_list_add(&items_of, json_str(records[i], "itemId"));
        } else {
            str_list_add(&instances_of, json_str(records[i], "instanceId"));
        }
    }
    if (items_of.len) {
        TRY(item_views_by_ids(tx, items_of.at, items_of.len, &out->items));
    }
    TRY(tx_get_named(tx, &users, &(Docs){records, n}, "requesterId", &out->users));
    return tx_get_many(tx, &instances, instances_of.at, instances_of.len, &out->instances);
}

// A title that is searched for has no copy yet: its slip knows the title alone.
static void drop_copy_tokens(Json *context)
{
    json_remove(context, "item.status");
    json_remove(context, "item.copy");
    json_remove(context, "item.yearCaption");
}

static Err *slip_of(Tx *tx, const Json *request, const Parts *parts, Time now, Json **out)
{
    ItemView title = {.instance = docs_find(&parts->instances, json_str(request, "instanceId"))};
    const ItemView *item = item_views_find(&parts->items, json_str(request, "itemId"));
    SlipParts slip = {.item = item             ? item
                              : title.instance ? &title
                                               : NULL,
                      .request = request,
                      .requester = docs_find(&parts->users, json_str(request, "requesterId"))};

    TRY(slip_context(tx, &slip, now, out));
    if (!item) {
        drop_copy_tokens(*out);
    }
    return NULL;
}

static Err *slips_enrich(Tx *tx, Json **records, size_t n, void *context)
{
    const SlipsContext *slips = context;
    Parts parts = {0};

    TRY(parts_read(tx, records, n, &parts));
    for (size_t i = 0; i < n; i++) {
        TRY(slip_of(tx, records[i], &parts, slips->now, &records[i]));
    }
    return NULL;
}

static Err *reply_slips(Req *req, const char *list_key, const char *where, int64_t limit)
{
    SlipsContext *context = NEW(SlipsContext);
    ListView view = {.list_key = list_key, .enrich = slips_enrich, .context = context};
    List *list = NULL;

    *context = (SlipsContext){req->now, str_lower(req_param(req, 0))};
    Arg *arg = NEW(Arg);
    *arg = A_TEXT(context->service_point_id);
    ListRequest request = {.query = S("cql.allRecords=1 sortby item.itemEffectiveLocationName "
                                      "searchIndex.shelvingOrder instance.title"),
                           .limit = limit,
                           .totals = TOTALS_EXACT,
                           .where = where,
                           .args = {arg, 1}};
    TRY(list_open(req->tx, &requests, &request, &list));
    return reply_view(req, list, &view);
}

Err *pick_slips(Req *req)
{
    return reply_slips(req, "pickSlips",
                       "request_type = 'page' and " WAITING "and location_id in " AT_HOME_HERE,
                       2500);
}

Err *search_slips(Req *req)
{
    const Settings *settings = NULL;

    TRY(settings_read(req->tx, &settings));
    if (!settings->print_hold_requests) {
        return reply_json_text(req, 200, S("{\"searchSlips\":[],\"totalRecords\":0}"));
    }
    return reply_slips(req, "searchSlips",
                       "request_type = 'hold' and " WAITING "and (location_id in " AT_HOME_HERE
                       " or (item_id is null and instance_id in (select instance_id from "
                       "holdings_record where effective_location_id in " AT_HOME_HERE ")))",
                       2000);
}
