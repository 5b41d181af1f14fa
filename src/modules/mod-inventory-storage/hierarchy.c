// Routes of the feeds: titles with holdings and items, ids of titles that changed.
// Source: spec/inventory.md 6.1, 6.2, 6.4.
#include "modules/mod-inventory-storage/hierarchy.h"

#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-inventory-storage/storage.h"

enum {
    TITLES_AT_ONCE = 50,
    TEXT_MAX = 256 * 1024 * 1024,
    PIECE_ARENA_MAX = 256 * 1024 * 1024,
};

typedef Err *(*TitleView)(Tx *tx, const TitleStock *stock, Json **out);

typedef struct {
    StrList ids;
    bool visible_only;
    TitleView view;
} Feed;

static Err *feed_read(Req *req, Feed *feed)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(&hierarchy_request_record, body));
    feed->visible_only = json_flag(body, "skipSuppressedFromDiscoveryRecords", false);
    JSON_EACH(id, json_get(body, "instanceIds"))
    {
        Str text = json_scalar_text(id);
        if (!uuid_is_uuid_shaped(text)) {
            return err_text(400, "invalid input syntax for type uuid: \"" STR_FMT "\"",
                            STR_ARG(text));
        }
        str_list_add(&feed->ids, text);
    }
    return NULL;
}

static Err *piece_write(Tx *tx, const Feed *feed, size_t from, Buf *out)
{
    size_t n = feed->ids.len - from < TITLES_AT_ONCE ? feed->ids.len - from : TITLES_AT_ONCE;
    TitleStock *stock = NEW_ARRAY(TitleStock, n);

    TRY(stock_read(tx, feed->ids.at + from, n, feed->visible_only, stock));
    for (size_t i = 0; i < n; i++) {
        Json *view = NULL;
        if (!stock[i].instance) {
            continue;
        }
        TRY(feed->view(tx, &stock[i], &view));
        json_write(out, view);
    }
    return NULL;
}

// Objects one directly behind the other: readers of this feed use a streaming parser.
static Err *feed_reply(Req *req, const Feed *feed)
{
    Buf out = buf_new(arena_current(), TEXT_MAX);
    Arena *piece = arena_new(PIECE_ARENA_MAX);
    Err *err = NULL;

    for (size_t from = 0; from < feed->ids.len && !err; from += TITLES_AT_ONCE) {
        Arena *outer = arena_use(piece);
        err = piece_write(req->tx, feed, from, &out);
        arena_use(outer);
        err = err ? err_text(err->status, STR_FMT, STR_ARG(err->message)) : NULL;
        arena_reset(piece);
    }
    arena_free(piece);
    TRY(err);
    if (out.overflowed || arena_is_over_limit(arena_current())) {
        return err_text(413, "The answer is too large; ask for fewer titles");
    }
    return reply_json_text(req, 200, buf_str(&out));
}

Err *items_and_holdings(Req *req)
{
    Feed feed = {.view = title_stock_view};

    TRY(feed_read(req, &feed));
    return feed_reply(req, &feed);
}

Err *enriched_instances(Req *req)
{
    Feed feed = {.view = title_enriched_view};

    TRY(feed_read(req, &feed));
    return feed_reply(req, &feed);
}

// ---------------------------------------------------------------------------------------------
// Titles with their records as stored: /inventory-view. Source: spec/inventory.md 6.3.

static Json *array_of(const Docs *docs)
{
    Json *out = json_array();
    for (size_t i = 0; i < docs->len; i++) {
        json_add(out, json_copy(docs->at[i]));
    }
    return out;
}

// Items below the title's own holdings records, or all.
static Json *items_of(const TitleStock *stock, bool with_bound)
{
    Json *out = json_array();
    for (size_t i = 0; i < stock->item_count; i++) {
        const HeldItem *held = &stock->items[i];
        if (with_bound ||
            str_eq(json_str(held->item, "holdingsRecordId"), json_str(held->holdings, "id"))) {
            json_add(out, json_copy(held->item));
        }
    }
    return out;
}

static bool is_bound(const TitleStock *stock)
{
    for (size_t i = 0; i < stock->item_count; i++) {
        if (!str_eq(json_str(stock->items[i].item, "holdingsRecordId"),
                    json_str(stock->items[i].holdings, "id"))) {
            return true;
        }
    }
    return false;
}

static Err *inventory_view(Tx *tx, Json **records, size_t n, void *context)
{
    bool with_bound = *(const bool *)context;
    TitleStock *stock = NEW_ARRAY(TitleStock, n);
    Str *ids = NEW_ARRAY(Str, n);

    for (size_t i = 0; i < n; i++) {
        ids[i] = json_str(records[i], "id");
    }
    TRY(stock_read(tx, ids, n, false, stock));
    for (size_t i = 0; i < n; i++) {
        Json *view = json_object(), *below = items_of(&stock[i], with_bound);
        json_set_str(view, "instanceId", ids[i]);
        json_set_bool(view, "isBoundWith", is_bound(&stock[i]));
        json_set(view, "instance", records[i]);
        if (stock[i].holdings.len) {
            json_set(view, "holdingsRecords", array_of(&stock[i].holdings));
        }
        if (json_len(below)) {
            json_set(view, "items", below);
        }
        records[i] = view;
    }
    return NULL;
}

// Queries name "instance.title", "holdingsRecords.x", "item.x": the instance's own members lose
// their prefix.
static Str view_query(Str query)
{
    Buf out = buf_new(arena_current(), query.len + 1);
    bool is_quoted = false;

    for (size_t i = 0; i < query.len; i++) {
        char before = i ? query.at[i - 1] : ' ';
        bool begins = before == ' ' || before == '(' || before == '\t';
        if (query.at[i] == '"' && before != '\\') {
            is_quoted = !is_quoted;
        }
        if (!is_quoted && begins && str_starts(str_sub(query, i, query.len), S("instance."))) {
            i += S("instance.").len - 1;
        } else {
            buf_char(&out, query.at[i]);
        }
    }
    return buf_str(&out);
}

Err *inventory_view_instances(Req *req)
{
    bool *with_bound = NEW(bool);
    ListView view = {.list_key = "instances", .enrich = inventory_view, .context = with_bound};
    ListRequest request;
    List *list = NULL;

    *with_bound = req_query_flag(req, "withBoundedItems");
    TRY(list_request_read(req, &instances, &request));
    if (request.query.at) {
        request.query = view_query(request.query);
    }
    TRY(list_open(req->tx, &instances, &request, &list));
    return reply_view(req, list, &view);
}

// ---------------------------------------------------------------------------------------------
// Sets: one instance with what the flags ask for

enum { SET_MAX = 10 };

typedef struct {
    bool instance, holdings, items, preceding, succeeding, above, below;
} SetParts;

static Err *links_put(Tx *tx, Json *set, const char *member, const Collection *of,
                      const char *where)
{
    Docs found = {0};

    TRY(tx_where(tx, of, where, ARGS(A_TEXT(json_str(set, "id"))), &found));
    json_set(set, member, array_of(&found));
    return NULL;
}

static Err *set_links(Tx *tx, Json *set, const SetParts *parts)
{
    if (parts->preceding) {
        TRY(links_put(tx, set, "precedingTitles", &title_links, "succeeding_instance_id = $1"));
    }
    if (parts->succeeding) {
        TRY(links_put(tx, set, "succeedingTitles", &title_links, "preceding_instance_id = $1"));
    }
    if (parts->above) {
        TRY(links_put(tx, set, "superInstanceRelationships", &instance_relationships,
                      "sub_instance_id = $1"));
    }
    if (parts->below) {
        TRY(links_put(tx, set, "subInstanceRelationships", &instance_relationships,
                      "super_instance_id = $1"));
    }
    return NULL;
}

static Err *instance_sets(Tx *tx, Json **records, size_t n, void *context)
{
    const SetParts *parts = context;
    TitleStock *stock = NEW_ARRAY(TitleStock, n);
    Str *ids = NEW_ARRAY(Str, n);

    for (size_t i = 0; i < n; i++) {
        ids[i] = json_str(records[i], "id");
    }
    if (parts->holdings || parts->items) {
        TRY(stock_read(tx, ids, n, false, stock));
    }
    for (size_t i = 0; i < n; i++) {
        Json *set = json_object();
        json_set_str(set, "id", ids[i]);
        if (parts->instance) {
            json_set(set, "instance", json_copy(records[i]));
        }
        if (parts->holdings) {
            json_set(set, "holdingsRecords", array_of(&stock[i].holdings));
        }
        if (parts->items) {
            json_set(set, "items", items_of(&stock[i], false));
        }
        TRY(set_links(tx, set, parts));
        records[i] = set;
    }
    return NULL;
}

Err *inventory_view_sets(Req *req)
{
    SetParts *parts = NEW(SetParts);
    ListView view = {.list_key = "instanceSets", .enrich = instance_sets, .context = parts};
    ListRequest request;
    List *list = NULL;

    *parts = (SetParts){.instance = req_query_flag(req, "instance"),
                        .holdings = req_query_flag(req, "holdingsRecords"),
                        .items = req_query_flag(req, "items"),
                        .preceding = req_query_flag(req, "precedingTitles"),
                        .succeeding = req_query_flag(req, "succeedingTitles"),
                        .above = req_query_flag(req, "superInstanceRelationships"),
                        .below = req_query_flag(req, "subInstanceRelationships")};
    TRY(list_request_read(req, &instances, &request));
    if (!req_query_text(req, "limit").len || request.limit < 1 || request.limit > SET_MAX) {
        return err_text(400, "'limit' parameter is incorrect: must be between 1 and %d", SET_MAX);
    }
    request.totals = TOTALS_NONE;
    TRY(list_open(req->tx, &instances, &request, &list));
    return reply_view(req, list, &view);
}
