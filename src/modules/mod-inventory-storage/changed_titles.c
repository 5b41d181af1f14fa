// Ids of titles that changed in a span of time, deleted ones included: what harvesters ask for.
//
// Streamed in the order of ids, in pieces of their own short transactions.
// Source: spec/inventory.md 6.2, 6.4.
#include "modules/mod-inventory-storage/storage.h"

#include <string.h>

enum {
    AT_ONCE = 1000,
    TEXT_MAX = 4 * 1024 * 1024,
};

#define TIME_MIN 0
#define TIME_MAX INT64_MAX

typedef struct {
    Time from, to;
    bool has_span;      // without dates every title counts
    bool visible_only;  // no suppressed titles
    bool own_date_only; // changes of holdings and items do not count
    bool with_deleted;
    Str source; // "" = any
} Span;

typedef struct {
    StreamText out;
    Span span;
    Tenant *tenant;
    bool is_in_deleted; // deleted titles follow those that exist
    char last_id[40];
    size_t row_count;
} Feed;

// ---------------------------------------------------------------------------------------------
// Parameters

static Err *date_read(const Req *req, const char *name, Time fallback, Time *out, bool *has)
{
    Str text;

    *out = fallback;
    if (!req_query(req, name, &text) || !text.len) {
        return NULL;
    }
    *has = true;
    return time_parse(text, out) ? NULL
                                 : err_text(400,
                                            "'%s' parameter is incorrect. parameter value {" STR_FMT
                                            "} is not valid: must be a date",
                                            name, STR_ARG(text));
}

static bool flag(const Req *req, const char *name, bool fallback)
{
    Str text;
    return req_query(req, name, &text) ? str_eq_nocase(text, S("true")) : fallback;
}

static Err *span_read(const Req *req, Span *out)
{
    *out = (Span){.visible_only = flag(req, "skipSuppressedFromDiscoveryRecords", true),
                  .own_date_only = flag(req, "onlyInstanceUpdateDate", true),
                  .with_deleted = flag(req, "deletedRecordSupport", true),
                  .source = req_query_text(req, "source")};
    TRY(date_read(req, "startDate", TIME_MIN, &out->from, &out->has_span));
    return date_read(req, "endDate", TIME_MAX, &out->to, &out->has_span);
}

// ---------------------------------------------------------------------------------------------
// One piece: rows of (id, document, time of the change), in the order of ids

// The instance's own date counts, or that of a record below it.
static const char own_dates[] = "select n.id, n.doc, n.updated_at from instance n where n.id > $1 "
                                "and n.updated_at between $2 and $3 order by n.id limit 1000";

// Suppressed holdings and items do not count when suppressed titles do not ($4 = 0).
static const char all_dates[] =
    "select n.id, n.doc, n.updated_at, "
    "(select max(h.updated_at) from holdings_record h where h.instance_id = n.id "
    " and ($4 = 1 or coalesce(h.is_discovery_suppressed, 0) = 0)), "
    "(select max(i.updated_at) from holdings_record h join item i on i.holdings_record_id = h.id "
    " where h.instance_id = n.id "
    " and ($4 = 1 or coalesce(i.is_discovery_suppressed, 0) = 0)), "
    "(select max(a.deleted_at) from audit_holdings_record a where a.instance_id = n.id "
    " and a.deleted_at between $2 and $3), "
    "(select max(a.deleted_at) from audit_item a join holdings_record h "
    " on h.id = a.holdings_record_id where h.instance_id = n.id "
    " and a.deleted_at between $2 and $3) "
    "from instance n where n.id > $1 order by n.id limit 1000";

static const char deleted_titles[] =
    "select a.id, a.doc, a.deleted_at from audit_instance a where a.id > $1 "
    "and a.deleted_at between $2 and $3 order by a.id limit 1000";

static void row_write(Feed *feed, const Json *instance, Time at)
{
    Json *out = json_object();
    bool is_hidden = json_flag(instance, "discoverySuppress", false);

    if ((feed->span.visible_only && is_hidden) ||
        (feed->span.source.len && !str_eq(json_str(instance, "source"), feed->span.source))) {
        return;
    }
    json_take(out, "instanceId", instance, "id");
    json_take(out, "source", instance, "source");
    json_set_str(out, "updatedDate", time_format_z(at));
    json_set_str(out, "suppressFromDiscovery", is_hidden ? S("true") : S("false"));
    json_set_str(out, "deleted", feed->is_in_deleted ? S("true") : S("false"));
    json_write(&feed->out.text, out);
}

static Err *take_row(const Row *row, void *context)
{
    Feed *feed = context;
    Str id = row_text(row, 0);
    Time at = row_int(row, 2);
    int columns = feed->is_in_deleted || feed->span.own_date_only ? 3 : 7;
    size_t n = id.len < sizeof feed->last_id ? id.len : sizeof feed->last_id - 1;

    memcpy(feed->last_id, id.at, n);
    feed->last_id[n] = '\0';
    feed->row_count++;
    for (int i = 3; i < columns; i++) {
        Time other = row_is_null(row, i) ? 0 : row_int(row, i);
        at = other > at ? other : at;
    }
    if (at < feed->span.from || at > feed->span.to) {
        return NULL;
    }
    ArenaMark mark = arena_mark(arena_current());
    Json *doc = json_parse_stored(row_text(row, 1));
    row_write(feed, feed->is_in_deleted ? json_get(doc, "record") : doc, at);
    arena_release(arena_current(), mark); // the text grows in the request's memory
    return NULL;
}

static Err *piece_read(Feed *feed, Tx *tx)
{
    const Span *span = &feed->span;
    Arg shows_hidden = A_INT(!span->visible_only);
    Arg args[] = {A_TEXT(str_of(feed->last_id)), A_INT(span->from), A_INT(span->to), shows_hidden};
    const char *sql = feed->is_in_deleted   ? deleted_titles
                      : span->own_date_only ? own_dates
                                            : all_dates;
    size_t count = sql == all_dates ? 4 : 3;

    feed->row_count = 0;
    TRY(tx_rows(tx, sql, (Args){args, count}, take_row, feed));
    if (feed->row_count == AT_ONCE) {
        return NULL;
    }
    feed->out.is_ended = feed->is_in_deleted || !span->with_deleted;
    feed->is_in_deleted = true;
    feed->last_id[0] = '\0';
    return NULL;
}

static Err *fill(StreamText *out)
{
    Feed *feed = (Feed *)out;
    Tx *tx = NULL;
    Arena *scratch = arena_new(TEXT_MAX * 16);
    Arena *outer = arena_use(scratch);
    Err *err = tx_begin(tenant_db(feed->tenant), &(TxOptions){.kind = READ}, &tx);

    if (!err) {
        err = piece_read(feed, tx);
        tx_rollback(tx);
    }
    arena_use(outer);
    arena_free(scratch);
    return err;
}

Err *changed_titles(Req *req)
{
    Feed *feed = NEW(Feed);

    TRY(span_read(req, &feed->span));
    feed->tenant = req->tenant;
    feed->out = (StreamText){.text = buf_new(arena_current(), TEXT_MAX), .more = fill};
    return reply_stream(req, 200, "application/json", stream_text_read, NULL, feed);
}
