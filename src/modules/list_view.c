// Lists whose records are enriched before they go out.
#include "modules/list_view.h"

enum {
    TEXT_MAX = 256 * 1024 * 1024,
    PIECE_ARENA_MAX = 256 * 1024 * 1024,
};

typedef struct {
    StreamText out;
    const ListView *view;
    List *list;
    Tenant *tenant;
    Arena *scratch; // one piece of records
    bool is_begun;
} Viewing;

static void write_end(Viewing *viewing)
{
    Buf *text = &viewing->out.text;
    long long total = list_total(viewing->list);

    buf_char(text, ']');
    if (total >= 0) {
        buf_fmt(text, ",\"totalRecords\":%lld", total);
    }
    if (total >= 0 && viewing->view->has_result_info) {
        buf_fmt(text, ",\"resultInfo\":{\"totalRecords\":%lld,\"facets\":[],\"diagnostics\":[]}",
                total);
    }
    buf_char(text, '}');
    viewing->out.is_ended = true;
}

// The list keeps its place in the request's memory, the records live in that of the piece.
static Err *read_piece(Viewing *viewing, Json **records, size_t *n)
{
    *n = 0;
    while (*n < VIEW_AT_ONCE) {
        Str text;
        TRY(list_next(viewing->list, &text));
        if (!text.at) {
            break;
        }
        Arena *outer = arena_use(viewing->scratch);
        records[(*n)++] = json_parse_stored(text);
        arena_use(outer);
    }
    return NULL;
}

static Err *write_records(Viewing *viewing, Tx *tx, Json **records, size_t n)
{
    if (n) {
        TRY(viewing->view->enrich(tx, records, n, viewing->view->context));
    }
    for (size_t i = 0; i < n; i++) {
        if (viewing->is_begun) {
            buf_char(&viewing->out.text, ',');
        }
        viewing->is_begun = true;
        json_write(&viewing->out.text, records[i]);
    }
    return NULL;
}

// An error outlives the memory of the piece.
static Err *err_keep(const Err *err)
{
    Err *kept = NEW(Err);

    *kept = *err;
    kept->message = str_copy(arena_current(), err->message);
    kept->params = NULL;
    kept->param_count = 0;
    kept->next = NULL;
    kept->code = kept->type = kept->overridable_block = kept->body = (Str){0};
    return kept;
}

static Err *write_piece(Viewing *viewing, Tx *tx)
{
    Json *records[VIEW_AT_ONCE];
    size_t n = 0;

    TRY(read_piece(viewing, records, &n));
    Arena *outer = arena_use(viewing->scratch);
    Err *err = write_records(viewing, tx, records, n);
    arena_use(outer);
    err = err ? err_keep(err) : NULL;
    arena_reset(viewing->scratch);
    TRY(err);
    if (n < VIEW_AT_ONCE) {
        write_end(viewing);
    }
    return NULL;
}

static Err *write_more(StreamText *out)
{
    Viewing *viewing = (Viewing *)out;
    Tx *tx = NULL;

    TRY(tx_begin(tenant_db(viewing->tenant), &(TxOptions){.kind = READ}, &tx));
    Err *err = write_piece(viewing, tx);
    tx_rollback(tx);
    return err;
}

static void stream_end(void *context)
{
    Viewing *viewing = context;
    arena_free(viewing->scratch);
}

static void viewing_start(Viewing *viewing, Req *req, List *list, const ListView *view)
{
    ListView *kept = NEW(ListView);

    *kept = *view;
    *viewing = (Viewing){.out = {.text = buf_new(arena_current(), TEXT_MAX), .more = write_more},
                         .view = kept,
                         .list = list,
                         .tenant = req->tenant,
                         .scratch = arena_new(PIECE_ARENA_MAX)};
    buf_fmt(&viewing->out.text, "{\"%s\":[", view->list_key);
}

static Err *write_all(Viewing *viewing, Tx *tx)
{
    while (!viewing->out.is_ended) {
        TRY(write_piece(viewing, tx));
    }
    return NULL;
}

Err *reply_view(Req *req, List *list, const ListView *view)
{
    Viewing *viewing = NEW(Viewing);

    viewing_start(viewing, req, list, view);
    if (!list_is_whole(list)) {
        list_detach(list);
        return reply_stream(req, 200, "application/json", stream_text_read, stream_end, viewing);
    }
    Err *err = write_all(viewing, req->tx);
    arena_free(viewing->scratch);
    TRY(err);
    if (viewing->out.text.overflowed || arena_is_over_limit(arena_current())) {
        return err_text(413, "The answer is too large; ask for fewer records");
    }
    return reply_json_text(req, 200, buf_str(&viewing->out.text));
}
