// What a tenant has once: its locale and the address of its front end. Source:
// spec/platform.md 5.2.
#include "modules/mod-settings/internal.h"

// The one record of either collection.
#define ONLY_ID S("00000000-0000-4000-8000-000000000001")

static const char *const locale_members[] = {"locale", "currency", "timezone", "numberingSystem"};

// Replaces the record, or makes it.
static Err *store_only(Tx *tx, const Collection *of, Json *doc)
{
    Json *stored = NULL;

    json_set_str(doc, "id", ONLY_ID);
    TRY(tx_get(tx, of, ONLY_ID, &stored));
    return stored ? tx_update(tx, of, doc) : tx_insert(tx, of, doc);
}

Err *locale_get(Req *req)
{
    Json *stored = NULL, *shown = json_object();

    TRY(tx_get(req->tx, &settings_locales, ONLY_ID, &stored));
    json_set_str(shown, "locale", S("en-US"));
    json_set_str(shown, "currency", S("USD"));
    json_set_str(shown, "timezone", S("UTC"));
    for (size_t i = 0; stored && i < sizeof locale_members / sizeof *locale_members; i++) {
        json_take(shown, locale_members[i], stored, locale_members[i]);
    }
    return reply_json(req, 200, shown);
}

static Err *locale_check(const Json *body)
{
    static const char *const required[] = {"locale", "timezone", "currency"};
    Str digits = json_str(body, "numberingSystem");
    bool is_known = false;

    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        if (!str_trim(json_str(body, required[i])).len) {
            return err_text(400, "%s missing", required[i]);
        }
    }
    if (json_has(body, "numberingSystem") && !str_eq_z(digits, "latn") &&
        !str_eq_z(digits, "arab")) {
        return err_text(400, "numberingSystem must be latn or arab, or not defined");
    }
    // Due dates follow this zone: one that nobody knows is refused (decision 38).
    (void)zone_of(json_str(body, "timezone"), &is_known);
    return is_known
               ? NULL
               : err_text(400, "timezone unknown: " STR_FMT, STR_ARG(json_str(body, "timezone")));
}

Err *locale_put(Req *req)
{
    Json *body = NULL, *doc = json_object();

    TRY(req_body_object(req, &body));
    TRY(locale_check(body));
    for (size_t i = 0; i < sizeof locale_members / sizeof *locale_members; i++) {
        json_take(doc, locale_members[i], body, locale_members[i]);
    }
    TRY(store_only(req->tx, &settings_locales, doc));
    return reply_empty(req, 201);
}

Err *base_url_get(Req *req)
{
    Json *stored = NULL, *shown = json_object();

    TRY(tx_get(req->tx, &settings_base_urls, ONLY_ID, &stored));
    json_set_str(shown, "baseUrl",
                 stored ? json_str(stored, "baseUrl") : S("http://localhost:3000"));
    return reply_json(req, 200, shown);
}

Err *base_url_put(Req *req)
{
    Json *body = NULL, *doc = json_object();

    TRY(req_body_object(req, &body));
    if (!str_trim(json_str(body, "baseUrl")).len) {
        return err_text(400, "baseUrl missing");
    }
    json_set_str(doc, "baseUrl", json_str(body, "baseUrl"));
    TRY(store_only(req->tx, &settings_base_urls, doc));
    return reply_empty(req, 204);
}
