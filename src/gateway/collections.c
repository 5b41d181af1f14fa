// The HTTP interface of a collection: list, create, get, put, delete one, delete many.
// Source: spec/storage-and-cql.md 1.1-1.4.
#include "gateway/internal.h"

#include "base/uuid.h"

#include <string.h>

enum {
    STREAM_CHUNK = 64 * 1024,
    LIST_TEXT_MAX = 256 * 1024 * 1024,
};

// ---------------------------------------------------------------------------------------------
// Lists

static Err *read_totals(const Req *req, Totals *out)
{
    Str value;
    *out = TOTALS_AUTO;
    if (!req_query(req, "totalRecords", &value) || str_eq(value, S("auto")) ||
        str_eq(value, S("estimated"))) {
        return NULL;
    }
    if (str_eq(value, S("exact"))) {
        *out = TOTALS_EXACT;
        return NULL;
    }
    if (str_eq(value, S("none"))) {
        *out = TOTALS_NONE;
        return NULL;
    }
    return err_text(400,
                    "'totalRecords' parameter is incorrect. parameter value {" STR_FMT
                    "} is not valid: must match \"exact|estimated|none|auto\"",
                    STR_ARG(value));
}

Err *list_request_read(const Req *req, const Collection *of, ListRequest *out)
{
    *out = (ListRequest){0};
    TRY(req_query_int(req, "limit", of->default_limit ? of->default_limit : 10, &out->limit));
    TRY(req_query_int(req, "offset", 0, &out->offset));
    TRY(read_totals(req, &out->totals));
    if (!req_query(req, "query", &out->query)) {
        out->query = (Str){NULL, 0};
    }
    return NULL;
}

// Decorates a stored text if the collection wants it.
static Err *decorated(Tx *tx, const Collection *of, Str *doc)
{
    if (!of->on_read) {
        return NULL;
    }
    Json *json = json_parse_stored(*doc);
    TRY(of->on_read(tx, json));
    *doc = json_text(json);
    return NULL;
}

static void write_end(Buf *buf, const Collection *of, const List *list, Str facets)
{
    int64_t total = list_total(list);
    buf_char(buf, ']');
    if (total >= 0) {
        buf_fmt(buf, ",\"totalRecords\":%lld", (long long)total);
    }
    if (of->has_result_info && total >= 0) {
        buf_fmt(buf,
                ",\"resultInfo\":{\"totalRecords\":%lld,\"facets\":" STR_FMT ",\"diagnostics\":[]}",
                (long long)total, STR_ARG(facets));
    }
    buf_char(buf, '}');
}

static Err *reply_whole(Req *req, const Collection *of, List *list, Str facets)
{
    Buf buf = buf_new(arena_current(), LIST_TEXT_MAX);
    const char *between = "";
    buf_fmt(&buf, "{\"%s\":[", of->list_key);
    for (;;) {
        Str doc;
        TRY(list_next(list, &doc));
        if (!doc.at) {
            break;
        }
        TRY(decorated(req->tx, of, &doc));
        buf_add_z(&buf, between);
        buf_add(&buf, doc);
        between = ",";
    }
    write_end(&buf, of, list, facets);
    if (buf.overflowed || arena_is_over_limit(arena_current())) {
        return err_text(413, "The answer is too large; ask for fewer records");
    }
    return reply_json_text(req, 200, buf_str(&buf));
}

typedef struct {
    StreamText out;
    const Collection *of;
    List *list;
    Tenant *tenant;
    Str facets;
    Arena *scratch; // for decorating one record
    bool is_begun;
} Streaming;

static Err *add_decorated(Streaming *streaming, Tx *tx, Str doc)
{
    if (!streaming->of->on_read) {
        buf_add(&streaming->out.text, doc);
        return NULL;
    }
    Arena *former = arena_use(streaming->scratch);
    Err *err = decorated(tx, streaming->of, &doc);
    arena_use(former);
    buf_add(&streaming->out.text, doc);
    arena_reset(streaming->scratch);
    return err;
}

static Err *fill_in(Streaming *streaming, Tx *tx)
{
    Buf *chunk = &streaming->out.text;
    while (chunk->len < STREAM_CHUNK && !streaming->out.is_ended) {
        Str doc;
        TRY(list_next(streaming->list, &doc));
        if (!doc.at) {
            write_end(chunk, streaming->of, streaming->list, streaming->facets);
            streaming->out.is_ended = true;
            return NULL;
        }
        if (streaming->is_begun) {
            buf_char(chunk, ',');
        }
        streaming->is_begun = true;
        TRY(add_decorated(streaming, tx, doc));
    }
    return NULL;
}

static Err *fill(StreamText *out)
{
    Streaming *streaming = (Streaming *)out;
    Tx *tx = NULL;
    if (!streaming->of->on_read) {
        return fill_in(streaming, NULL);
    }
    TRY(tx_begin(tenant_db(streaming->tenant), &(TxOptions){.kind = READ}, &tx));
    Err *err = fill_in(streaming, tx);
    tx_rollback(tx);
    return err;
}

static void stream_end(void *context)
{
    Streaming *streaming = context;
    arena_free(streaming->scratch);
}

static Err *reply_streamed(Req *req, const Collection *of, List *list, Str facets)
{
    Streaming *streaming = NEW(Streaming);
    *streaming = (Streaming){.out.more = fill,
                             .of = of,
                             .list = list,
                             .facets = facets,
                             .tenant = req->tenant,
                             .scratch = arena_new((size_t)LIST_TEXT_MAX)};
    streaming->out.text = buf_new(arena_current(), LIST_TEXT_MAX);
    buf_fmt(&streaming->out.text, "{\"%s\":[", of->list_key);
    list_detach(list);
    return reply_stream(req, 200, "application/json", stream_text_read, stream_end, streaming);
}

Err *reply_list(Req *req, const Collection *of, List *list)
{
    Str facets = {0};
    if (of->has_result_info) {
        TRY(facets_read(req, of, &facets));
    }
    return list_is_whole(list) ? reply_whole(req, of, list, facets)
                               : reply_streamed(req, of, list, facets);
}

Err *reply_docs(Req *req, const char *list_key, const Docs *docs)
{
    Json *answer = json_object(), *list = json_array();

    for (size_t i = 0; i < docs->len; i++) {
        json_add(list, docs->at[i]);
    }
    json_set(answer, list_key, list);
    json_set_int(answer, "totalRecords", (int64_t)docs->len);
    return reply_json(req, 200, answer);
}

Err *collection_list(Req *req)
{
    const Collection *of = req->route->collection;
    ListRequest request;
    List *list = NULL;
    TRY(list_request_read(req, of, &request));
    TRY(list_open(req->tx, of, &request, &list));
    return reply_list(req, of, list);
}

// ---------------------------------------------------------------------------------------------
// Single records

Err *reply_created(Req *req, const Collection *of, const Json *doc)
{
    const Json *shown = doc;
    if (of->on_read) {
        Json *copy = json_copy(doc);
        TRY(of->on_read(req->tx, copy));
        shown = copy;
    }
    reply_header(req, "Location", str_fmt("%s/" STR_FMT, of->path, STR_ARG(json_str(doc, "id"))));
    return reply_json(req, 201, shown);
}

Err *collection_create(Req *req)
{
    const Collection *of = req->route->collection;
    Json *doc = NULL;
    TRY(req_body_object(req, &doc));
    TRY(tx_insert(req->tx, of, doc));
    return reply_created(req, of, doc);
}

static Err *not_found(const Collection *of, Str id)
{
    if (!of->not_found) {
        return err_text(404, "Not found");
    }
    Str text = str_of(of->not_found);
    ptrdiff_t at = str_find(text, S("%s"), 0);
    if (at < 0) {
        return err_text(404, "%s", of->not_found);
    }
    return err_text(404, STR_FMT STR_FMT STR_FMT, STR_ARG(str_sub(text, 0, (size_t)at)),
                    STR_ARG(id), STR_ARG(str_sub(text, (size_t)at + 2, SIZE_MAX)));
}

Err *collection_get(Req *req)
{
    const Collection *of = req->route->collection;
    Str id = str_lower(req_param(req, 0)), text = {0};
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get_text(req->tx, of, id, &text));
    }
    if (!text.at) {
        return not_found(of, req_param(req, 0));
    }
    TRY(decorated(req->tx, of, &text));
    return reply_json_text(req, 200, text);
}

static Err *write_put(Req *req, const Collection *of, Json *doc, bool *created)
{
    *created = false;
    if (!of->put_creates) {
        return tx_update(req->tx, of, doc);
    }
    Str text = {0};
    TRY(tx_get_text(req->tx, of, json_str(doc, "id"), &text));
    *created = !text.at;
    return text.at ? tx_update(req->tx, of, doc) : tx_insert(req->tx, of, doc);
}

Err *collection_put(Req *req)
{
    const Collection *of = req->route->collection;
    Json *doc = NULL;
    bool created = false;
    TRY(req_body_object(req, &doc));
    json_set_str(doc, "id", str_lower(req_param(req, 0)));
    TRY(write_put(req, of, doc, &created));
    if (!of->put_status || of->put_status == 204) {
        return reply_empty(req, 204);
    }
    if (of->on_read) {
        TRY(of->on_read(req->tx, doc));
    }
    return reply_json(req, of->put_status, doc);
}

Err *collection_delete(Req *req)
{
    const Collection *of = req->route->collection;
    TRY(tx_delete(req->tx, of, str_lower(req_param(req, 0))));
    return reply_empty(req, of->delete_status ? of->delete_status : 204);
}

Err *reply_deleted(Req *req, const Collection *of, Str query)
{
    TxOptions writer = {.kind = WRITE, .is_batch = true, .now = req->now, .user_id = req->user_id};
    int64_t n = 0;
    TRY(db_delete_query(tenant_db(req->tenant), &writer, of, query, &n));
    return reply_empty(req, 204);
}

Err *collection_delete_all(Req *req)
{
    const Collection *of = req->route->collection;
    Str query;
    if (!req_query(req, "query", &query) || (of->delete_needs_query && !str_trim(query).len)) {
        if (of->delete_needs_query) {
            return err_text(400, "query with CQL expression is required");
        }
        query = S("cql.allRecords=1");
    }
    return reply_deleted(req, of, query);
}
