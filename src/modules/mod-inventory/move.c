// Moving items to another holdings record, holdings records to another instance.
// Source: spec/inventory.md 5.3.
#include "modules/mod-inventory/inventory.h"

#include "modules/mod-inventory-storage/properties.h"

typedef struct {
    const Collection *of, *to;
    const char *target_member, *ids_member; // of the body
    const char *parent_member;              // of the moved record
    const char *no_target, *no_ids, *target_name;
} Move;

static Err *missing(const char *message, const char *key)
{
    return err_422(NO_CODE, str_of(message), P_NULL(key));
}

static Err *target_check(Tx *tx, const Move *move, Str target)
{
    Str text = {0};

    if (uuid_is_uuid_shaped(target)) {
        TRY(tx_get_text(tx, move->to, str_lower(target), &text));
    }
    if (text.at) {
        return NULL;
    }
    // Here the errors are plain texts.
    Json *body = json_object(), *errors = json_array();
    json_add(errors, json_string(str_fmt("%s with id=" STR_FMT " not found", move->target_name,
                                         STR_ARG(target))));
    json_set(body, "errors", errors);
    return err_body(422, json_text(body));
}

static Err *move_one(Tx *tx, const Move *move, Json *old, Str target)
{
    Json *record = json_copy(old);

    json_set_str(record, move->parent_member, target);
    return tx_change(tx, move->of, old, record);
}

static Err *move_all(Req *req, const Move *move)
{
    Json *body = NULL, *answer = json_object(), *left = json_array();

    TRY(req_body_object(req, &body));
    Str target = str_lower(json_str(body, move->target_member));
    if (!target.len) {
        return missing(move->no_target, move->target_member);
    }
    if (!json_len(json_get(body, move->ids_member))) {
        return missing(move->no_ids, move->ids_member);
    }
    TRY(target_check(req->tx, move, target));
    JSON_EACH(id, json_get(body, move->ids_member))
    {
        Json *record = NULL;
        Str text = str_lower(json_scalar_text(id));
        if (uuid_is_uuid_shaped(text)) {
            TRY(tx_get(req->tx, move->of, text, &record));
        }
        if (record) {
            TRY(move_one(req->tx, move, record, target));
        } else {
            json_add(left, json_string(json_scalar_text(id)));
        }
    }
    json_set(answer, "nonUpdatedIds", left);
    return reply_json(req, 200, answer);
}

Err *inventory_items_move(Req *req)
{
    static const Move move = {
        .of = &items,
        .to = &holdings,
        .target_member = "toHoldingsRecordId",
        .ids_member = "itemIds",
        .parent_member = "holdingsRecordId",
        .no_target = "toHoldingsRecordId is a required field",
        .no_ids = "Item ids aren't specified",
        .target_name = "Holding",
    };

    return move_all(req, &move);
}

Err *inventory_holdings_move(Req *req)
{
    static const Move move = {
        .of = &holdings,
        .to = &instances,
        .target_member = "toInstanceId",
        .ids_member = "holdingsRecordIds",
        .parent_member = "instanceId",
        .no_target = "toInstanceId is a required field",
        .no_ids = "Holdings record ids aren't specified",
        .target_name = "Instance",
    };

    return move_all(req, &move);
}

Err *inventory_holdings_put(Req *req)
{
    Json *body = NULL, *old = NULL;
    Str id = str_lower(req_param(req, 0));

    TRY(req_body_object(req, &body));
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &holdings, id, &old));
    }
    if (!old) {
        return err_text(404, "Not Found");
    }
    Json *now = known_members(&holdings_record, body);
    json_set_str(now, "id", id);
    TRY(holdings_change_check(old, now));
    TRY(tx_update(req->tx, &holdings, now));
    return reply_empty(req, 204);
}
