// Holdings records on their way into the store, and what of their changes reaches their items.
// Source: spec/inventory.md 3.2, 3.4, 4.1, 4.7.
#include "modules/mod-inventory-storage/storage.h"

enum { ITEMS_AT_ONCE = 200 };

static const char *const holdings_lists[] = {"administrativeNotes", "statisticalCodeIds",
                                             "formerIds", "tags.tagList", NULL};

static const RecordRules holdings_rules = {HRID_HOLDINGS, holdings_lists};

Err *holdings_before_write(Tx *tx, const Json *old, Json *doc)
{
    TRY(record_rules_apply(tx, &holdings_rules, old, doc));
    Str temporary = json_str(doc, "temporaryLocationId");
    json_set_str(doc, "effectiveLocationId",
                 temporary.len ? temporary : json_str(doc, "permanentLocationId"));
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Items follow

static bool items_follow(const Json *old, const Json *doc)
{
    static const char *const paths[] = {
        "instanceId",       "permanentLocationId", "temporaryLocationId", "callNumber",
        "callNumberPrefix", "callNumberSuffix",    "callNumberTypeId",
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!str_eq(json_str(old, paths[i]), json_str(doc, paths[i]))) {
            return true;
        }
    }
    return false;
}

static Err *items_change(Tx *tx, const Docs *some, const Json *above)
{
    for (size_t i = 0; i < some->len; i++) {
        Json *item = json_copy(some->at[i]);
        item_compute(item, above);
        TRY(tx_change(tx, &items, some->at[i], item));
    }
    return NULL;
}

// In pieces whose memory is given back: a serial may have thousands of items.
static Err *items_update(Tx *tx, const Json *above)
{
    Str holdings_id = json_str(above, "id");
    char last[64] = "";

    for (;;) {
        ArenaMark mark = arena_mark(arena_current());
        Docs some = {0};
        TRY(tx_where(tx, &items, "holdings_record_id = $1 and id > $2 order by id limit $3",
                     ARGS(A_TEXT(holdings_id), A_TEXT(str_of(last)), A_INT(ITEMS_AT_ONCE)), &some));
        TRY(items_change(tx, &some, above));
        if (some.len < ITEMS_AT_ONCE) {
            return NULL;
        }
        Str id = json_str(some.at[some.len - 1], "id");
        size_t n = id.len < sizeof last ? id.len : sizeof last - 1;
        for (size_t i = 0; i < n; i++) {
            last[i] = id.at[i];
        }
        last[n] = '\0';
        arena_release(arena_current(), mark);
    }
}

Err *holdings_after_write(Tx *tx, const Json *old, const Json *doc)
{
    if (!doc) {
        return deleted_note(tx, &deleted_holdings, old);
    }
    return old && items_follow(old, doc) ? items_update(tx, doc) : NULL;
}

// ---------------------------------------------------------------------------------------------
// Events and conflicts

// Readers of events want them in order per title (decision 21).
Err *holdings_event_key(Tx *tx, const Json *doc, Str *key)
{
    (void)tx;
    *key = json_str(doc, "instanceId");
    return NULL;
}

Err *holdings_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)doc;
    return hrid_explain(tx, &holdings, kind, field, value);
}
