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
