// Locations, their units, service points: checks, and lists that hide shadow and routing records.
// Source: spec/inventory.md 2.2.
#include "modules/mod-inventory-storage/storage.h"

// ---------------------------------------------------------------------------------------------
// Units: institutions, campuses, libraries

// Lists of records of which some are shown only on request.
static Err *list_hiding(Req *req, const char *parameter, const char *where)
{
    const Collection *of = req->route->collection;
    ListRequest request;
    List *list = NULL;

    TRY(list_request_read(req, of, &request));
    if (!req_query_flag(req, parameter)) {
        request.where = where;
    }
    TRY(list_open(req->tx, of, &request, &list));
    return reply_list(req, of, list);
}

Err *units_list(Req *req)
{
    return list_hiding(req, "includeShadow", "(is_shadow is null or is_shadow = 0)");
}

// A PUT whose body names another id than the path.
static Err *id_must_be_the_same(const Req *req, Err *different)
{
    Str id = json_str(req->json, "id");

    return !id.len || str_eq_nocase(id, req_param(req, 0)) ? NULL : different;
}

Err *unit_put(Req *req)
{
    static const char *const names[][2] = {
        {"locinstitution", "Institution"}, {"loccampus", "Campus"}, {"loclibrary", "Library"}};
    const char *name = "";

    for (size_t i = 0; i < 3; i++) {
        if (str_eq(str_of(names[i][0]), str_of(req->route->collection->table))) {
            name = names[i][1];
        }
    }
    TRY(id_must_be_the_same(req,
                            err_text(400, "Illegal operation: %s ID cannot be changed", name)));
    return collection_put(req);
}

// ---------------------------------------------------------------------------------------------
// Locations

Err *locations_list(Req *req)
{
    return list_hiding(req, "includeShadowLocations", "(is_shadow is null or is_shadow = 0)");
}

Err *location_put(Req *req)
{
    TRY(id_must_be_the_same(req, rule_error(S("Illegal operation: id cannot be changed"), "id",
                                            json_str(req->json, "id"))));
    return collection_put(req);
}

// ---------------------------------------------------------------------------------------------
// Shelf locations: the old name of locations (decision 1)

static Json *shelf_location(const Json *location)
{
    Json *out = json_object();

    json_take(out, "id", location, "id");
    json_take(out, "name", location, "name");
    return out;
}

Err *shelf_locations_list(Req *req)
{
    ListRequest request;
    List *list = NULL;
    Json *out = json_object(), *all = json_array();

    TRY(list_request_read(req, &locations, &request));
    TRY(list_open(req->tx, &locations, &request, &list));
    for (;;) {
        Str text;
        TRY(list_next(list, &text));
        if (!text.at) {
            break;
        }
        json_add(all, shelf_location(json_parse_stored(text)));
    }
    json_set(out, "shelflocations", all);
    if (list_total(list) >= 0) {
        json_set_int(out, "totalRecords", list_total(list));
    }
    return reply_json(req, 200, out);
}

Err *shelf_location_get(Req *req)
{
    const Json *location = NULL;

    if (uuid_is_uuid_shaped(req_param(req, 0))) {
        TRY(tx_ref(req->tx, &locations, str_lower(req_param(req, 0)), &location));
    }
    return location ? reply_json(req, 200, shelf_location(location)) : err_text(404, "Not found");
}

Err *shelf_location_refuse(Req *req)
{
    (void)req;
    return err_text(501, "Shelf locations are read only: use /locations");
}

// ---------------------------------------------------------------------------------------------
// Service points

Err *service_points_list(Req *req)
{
    return list_hiding(req, "includeRoutingServicePoints",
                       "(is_routing is null or is_routing = 0)");
}

Err *service_point_put(Req *req)
{
    Err *err = collection_put(req);

    return err && err->status == 404 ? err_text(404, "ServicePoint was not found") : err;
}
