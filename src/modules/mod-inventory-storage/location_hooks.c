// Locations and service points on their way into the store. Source: spec/inventory.md 2.2.
#include "modules/mod-inventory-storage/storage.h"

Err *location_before_write(Tx *tx, const Json *old, Json *doc)
{
    const Json *points = json_get(doc, "servicePointIds");
    Str primary = json_str(doc, "primaryServicePoint");
    StrList seen = {0};

    (void)tx, (void)old;
    if (!json_len(points)) {
        return rule_error(S("A location must have at least one Service Point assigned."),
                          "servicePointIds", (Str){0});
    }
    JSON_EACH(point, points)
    {
        Str id = json_scalar_text(point);
        if (str_list_has(&seen, id)) {
            return rule_error(S("A Service Point can only appear once on a Location."),
                              "servicePointIds", id);
        }
        str_list_add(&seen, id);
    }
    if (!str_list_has(&seen, primary)) {
        return rule_error(
            S("A Location's Primary Service point must be included as a Service Point."),
            "primaryServicePoint", primary);
    }
    return NULL;
}

Err *service_point_before_write(Tx *tx, const Json *old, Json *doc)
{
    bool is_pickup = json_flag(doc, "pickupLocation", false);
    bool has_period = json_has(doc, "holdShelfExpiryPeriod");
    Str name = json_str(doc, "name");

    (void)tx, (void)old;
    if (is_pickup && !has_period) {
        return rule_error(
            S("Hold shelf expiry period must be specified when service point can be used "
              "for pickup."),
            "name", name);
    }
    if (!is_pickup && has_period) {
        return rule_error(
            S("Hold shelf expiry period cannot be specified when service point cannot be "
              "used for pickup"),
            "name", name);
    }
    return NULL;
}

Err *service_point_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx, (void)field, (void)value;
    if (kind != CONFLICT_UNIQUE) {
        return NULL;
    }
    return rule_error(S("Service Point Exists"), "name", json_str(doc, "name"));
}
