// /circulation/settings: the records of circulation-settings-storage under their business path.
// Source: spec/circulation.md 11.
#include "modules/mod-circulation/circulation.h"

// A name that exists already gets the new value instead of an error.
Err *settings_create(Req *req)
{
    Json *body = NULL, *stored = NULL;

    TRY(req_body_object(req, &body));
    if (!json_has(body, "id")) {
        json_set_str(body, "id", uuid_new());
    }
    TRY(tx_find(req->tx, &circulation_settings, "name", json_str(body, "name"), &stored));
    if (stored) {
        json_set_str(body, "id", json_str(stored, "id"));
        TRY(tx_update(req->tx, &circulation_settings, body));
    } else {
        TRY(tx_insert(req->tx, &circulation_settings, body));
    }
    reply_header(req, "Location",
                 str_fmt("/circulation/settings/" STR_FMT, STR_ARG(json_str(body, "id"))));
    return reply_json(req, 201, body);
}
