// Lists: the records of a query in chunks, however many they are, and how many there are.
//
// The first 1,000 records come by one statement. Beyond that a list without a filter goes on by id;
// any other notes the pk of every record (8 bytes each) and reads the records by pk as it goes.
// Between chunks a detached list holds no snapshot (decision 42). Totals: decision 7.
#include "store/query.h"

#include "base/die.h"

#include <string.h>

enum {
    CHUNK_ROWS = 1000,
    CHUNK_BYTES = 4 * 1024 * 1024,
    PKS_IN_BLOCK = 8192,
    TEXTS_MAX = 1024 * 1024 * 1024,
    SORTS_WHOLE_MAX = 100 * 1000, // records of a table that the database may sort in one go
};

typedef struct PkBlock {
    struct PkBlock *next;
    size_t len;
    int64_t pks[PKS_IN_BLOCK];
} PkBlock;

// One record of the chunk: its place in `bytes`.
typedef struct {
    int64_t pk;
    size_t from, len;
} Slot;

struct List {
    Db *db;
    Tx *tx;            // NULL: detached
    TxOptions reading; // of the next chunk then
    const Collection *of;
    const Dialect *dialect;
    Plan plan;
    int64_t offset, limit;
    Totals totals;
    int64_t total, table_size;
    int64_t given;     // records handed out
    bool is_counted;   // total is exact
    bool is_estimated; // total is what there is to say
    Way way;
    int64_t steps_max; // of a walk, where the database keeps to that; else 0

    // The chunk in memory.
    Buf bytes;
    Slot *slots;
    size_t slot_count, slot_at;
    bool is_decorated; // by on_read, from one buffer into the other
    Buf spare_bytes;
    Slot *spare_slots;

    // What is left behind it.
    bool goes_on_by_id;
    Str last_id;
    PkBlock *pks, *last_pks;
    size_t pk_at; // in the first block
    int64_t pk_count;
};

// ---------------------------------------------------------------------------------------------
// Chunks

static void pk_add(List *list, int64_t pk)
{
    if (!list->last_pks || list->last_pks->len == PKS_IN_BLOCK) {
        PkBlock *block = NEW(PkBlock);
        if (list->last_pks) {
            list->last_pks->next = block;
        } else {
            list->pks = block;
        }
        list->last_pks = block;
    }
    list->last_pks->pks[list->last_pks->len++] = pk;
    list->pk_count++;
}

static bool pk_next(List *list, int64_t *pk)
{
    if (list->pks && list->pk_at == list->pks->len) {
        list->pks = list->pks->next;
        list->pk_at = 0;
        if (!list->pks) {
            list->last_pks = NULL;
        }
    }
    if (!list->pks) {
        return false;
    }
    *pk = list->pks->pks[list->pk_at++];
    list->pk_count--;
    return true;
}

static void chunk_start(List *list)
{
    if (!list->slots) {
        size_t most = list->limit < CHUNK_ROWS ? (size_t)list->limit : CHUNK_ROWS;
        list->slots = arena_alloc_raw(arena_current(), most * sizeof *list->slots);
        list->bytes = buf_new(arena_current(), TEXTS_MAX);
    }
    buf_clear(&list->bytes);
    list->slot_count = list->slot_at = 0;
}

static Slot *chunk_add(List *list, int64_t pk, Str text)
{
    Slot *slot = &list->slots[list->slot_count++];

    *slot = (Slot){pk, list->bytes.len, text.len};
    buf_add(&list->bytes, text);
    return slot;
}

// The record with its computed members. The parsed record is given back at once; its text goes by
// way of the scratch arena, because the chunk's buffer may grow.
static Err *chunk_add_decorated(List *list, Tx *tx, int64_t pk, Str text)
{
    ArenaMark mark = arena_mark(arena_current());
    ArenaMark scratch = arena_mark(scratch_arena());
    Json *doc = json_parse_stored(text);
    Err *err = list->of->on_read(tx, doc);

    if (err) {
        return err;
    }
    Str decorated = str_copy(scratch_arena(), json_text(doc));
    arena_release(arena_current(), mark);
    chunk_add(list, pk, decorated);
    arena_release(scratch_arena(), scratch);
    return NULL;
}

// on_read runs statements of its own, so it is called when the chunk's statement has ended.
static Err *chunk_decorate(List *list, Tx *tx)
{
    Buf plain = list->bytes;
    Slot *slots = list->slots;
    size_t n = list->slot_count;

    if (!list->is_decorated || !n) {
        return NULL;
    }
    list->bytes = list->spare_bytes;
    list->slots = list->spare_slots;
    chunk_start(list);
    for (size_t i = 0; i < n; i++) {
        Str text = {plain.at + slots[i].from, slots[i].len};
        TRY(chunk_add_decorated(list, tx, slots[i].pk, text));
    }
    list->spare_bytes = plain;
    list->spare_slots = slots;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The first chunk, and by id

static const char *select_sql(const List *list, const char *what, Str condition)
{
    return plan_sql(&list->plan, list->dialect, list->way, what, condition);
}

// The query's arguments, and two or three more.
static Args with_page(const List *list, int64_t limit, int64_t offset, Arg last)
{
    size_t n = list->plan.args.len;
    Arg *args = NEW_ARRAY(Arg, n + 3);

    if (n) {
        memcpy(args, list->plan.args.at, n * sizeof *args);
    }
    args[n++] = A_INT(limit);
    args[n++] = A_INT(offset);
    args[n] = last;
    return (Args){args, n + (last.kind != ARG_NULL)};
}

// When the texts get many, the rest of the chunk is only noted.
static Err *take_first(const Row *row, void *context)
{
    List *list = context;
    int64_t pk = row_int(row, 0);

    if (list->bytes.len > CHUNK_BYTES || list->pk_count) {
        pk_add(list, pk);
        return NULL;
    }
    chunk_add(list, pk, row_text(row, 2));
    if (list->slot_count == CHUNK_ROWS) {
        list->last_id = str_copy(arena_current(), row_text(row, 1));
    }
    return NULL;
}

static Err *take_by_id(const Row *row, void *context)
{
    List *list = context;

    if (list->bytes.len > CHUNK_BYTES) {
        return err_text(0, "enough");
    }
    chunk_add(list, row_int(row, 0), row_text(row, 2));
    list->last_id = str_copy(arena_current(), row_text(row, 1));
    return NULL;
}

static Err *take_pk(const Row *row, void *context)
{
    pk_add(context, row_int(row, 0));
    return NULL;
}

static Err *chunk_by_id(List *list, Tx *tx)
{
    int64_t left = list->limit - list->given;
    Str condition = str_fmt("id > $%zu", list->plan.args.len + 3);

    chunk_start(list);
    Err *err =
        sql_rows(tx, select_sql(list, "pk, id, doc", condition),
                 with_page(list, left < CHUNK_ROWS ? left : CHUNK_ROWS, 0, A_TEXT(list->last_id)),
                 take_by_id, list);
    if (err && err->status != 0) {
        return err;
    }
    list->goes_on_by_id = err != NULL || list->slot_count == CHUNK_ROWS;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// By pk

typedef struct {
    List *list;
    struct Wanted {
        int64_t pk;
        Str text;
    } at[PKS_IN_STATEMENT];
    size_t len;
} ByPk;

static Err *take_text(const Row *row, void *context)
{
    ByPk *by = context;
    int64_t pk = row_int(row, 0);

    for (size_t i = 0; i < by->len; i++) {
        if (by->at[i].pk == pk) {
            by->at[i].text = str_copy(scratch_arena(), row_text(row, 1));
        }
    }
    return NULL;
}

const char *by_pk_sql(const Collection *of, const char *what)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql, "select %s from \"%s\" where pk in (", what, of->table);
    for (int i = 1; i <= PKS_IN_STATEMENT; i++) {
        buf_fmt(&sql, "%s$%d", i > 1 ? ", " : "", i);
    }
    buf_char(&sql, ')');
    return str_z(buf_str(&sql));
}

// Up to 100 of the noted records in their order; some may be gone.
static Err *add_by_pk(List *list, Tx *tx, const char *sql)
{
    ByPk by = {.list = list};
    Arg args[PKS_IN_STATEMENT];
    int64_t pk;

    while (by.len < PKS_IN_STATEMENT && list->slot_count + by.len < CHUNK_ROWS &&
           pk_next(list, &pk)) {
        by.at[by.len++].pk = pk;
    }
    for (size_t i = 0; i < PKS_IN_STATEMENT; i++) {
        args[i] = A_INT(by.at[i < by.len ? i : 0].pk);
    }
    ArenaMark mark = arena_mark(scratch_arena());
    TRY(sql_rows(tx, sql, (Args){args, PKS_IN_STATEMENT}, take_text, &by));
    for (size_t i = 0; i < by.len; i++) {
        if (by.at[i].text.at) {
            chunk_add(list, by.at[i].pk, by.at[i].text);
        }
    }
    arena_release(scratch_arena(), mark);
    return NULL;
}

static Err *chunk_by_pk(List *list, Tx *tx)
{
    const char *sql = by_pk_sql(list->of, "pk, doc");

    chunk_start(list);
    while (list->pk_count && list->slot_count < CHUNK_ROWS && list->bytes.len < CHUNK_BYTES) {
        TRY(add_by_pk(list, tx, sql));
    }
    return NULL;
}

static Err *first_chunk(List *list, Tx *tx)
{
    int64_t want = list->limit < CHUNK_ROWS ? list->limit : CHUNK_ROWS;
    Arg steps = list->steps_max ? A_INT(list->steps_max) : A_NULL;

    // Sorting carries no documents over what is skipped.
    if (list->offset && list->way != WALKING &&
        (list->plan.has_filter || list->plan.key_count > 1)) {
        TRY(sql_walk(tx, select_sql(list, "pk", (Str){0}),
                     with_page(list, list->limit, list->offset, A_NULL), take_pk, list));
        return list->pk_count ? chunk_by_pk(list, tx) : NULL;
    }
    chunk_start(list);
    TRY(sql_rows(tx, select_sql(list, "pk, id, doc", (Str){0}),
                 with_page(list, want, list->offset, steps), take_first, list));
    int64_t read = (int64_t)list->slot_count + list->pk_count;
    if (read < CHUNK_ROWS || list->limit <= CHUNK_ROWS) {
        return NULL;
    }
    if (list->plan.is_by_id && !list->plan.has_filter && !list->pk_count) {
        list->goes_on_by_id = true;
        return NULL;
    }
    return sql_walk(tx, select_sql(list, "pk", (Str){0}),
                    with_page(list, list->limit - CHUNK_ROWS, list->offset + CHUNK_ROWS, A_NULL),
                    take_pk, list);
}

// A walk that went as far as collecting would have cost, and the page is not full: the matches
// stand farther along.
static Err *first_chunk_surely(List *list, Tx *tx)
{
    if (list->is_counted && list->total <= list->offset) {
        return NULL;
    }
    TRY(first_chunk(list, tx));
    int64_t read = (int64_t)list->slot_count + list->pk_count;
    if (!list->steps_max || read == list->limit || list->steps_max >= list->table_size) {
        return NULL;
    }
    list->pks = list->last_pks = NULL;
    list->pk_count = 0;
    list->steps_max = 0;
    list->way = COLLECTING;
    return first_chunk(list, tx);
}

// ---------------------------------------------------------------------------------------------
// Totals

static Err *list_count_capped(List *list, Tx *tx)
{
    Counted counted;

    TRY(plan_count_capped(tx, &list->plan, &counted));
    list->total = counted.total;
    list->is_counted = counted.is_exact;
    list->is_estimated = !counted.is_exact;
    list->table_size = counted.table_size;
    return NULL;
}

// Many matches, few wanted: on the way along the index the page is full before as many records were
// looked at as would have to be sorted. Where a walk ends after that many, and the number of
// matches is only estimated, trying costs no more than collecting them.
static bool walk_is_short(const List *list)
{
    double total = list->total ? (double)list->total : 1;
    double wanted = (double)list->offset + (double)list->limit;
    bool may_try = list->is_estimated && list->dialect->fence;

    return may_try ? wanted <= total : wanted * (double)list->table_size / total < total;
}

// Not where an index gives the matches in order already.
static Err *choose_way(List *list, Tx *tx)
{
    const Plan *plan = &list->plan;
    const Dialect *dialect = list->dialect;
    bool is_page = list->limit <= CHUNK_ROWS, sorts = false;

    if (!plan->walk_index || (!is_page && !dialect->fence)) {
        return NULL;
    }
    list->way = COLLECTING;
    if (plan->finds_few) {
        return NULL;
    }
    TRY(list_count_capped(list, tx));
    if (!walk_is_short(list)) {
        return NULL;
    }
    list->way = FREELY;
    if (dialect->fence && is_page && !plan->walks_part) {
        list->way = WALKING;
        list->steps_max = list->total;
    }
    if (!dialect->fence && list->is_estimated) {
        Args args = with_page(list, list->limit, list->offset, A_NULL);
        TRY(dialect->sorts(tx, select_sql(list, "pk, id, doc", (Str){0}), args, &sorts));
        list->way = sorts ? WALKING : FREELY;
    }
    return NULL;
}

// Only when the page does not tell by itself that it is the last one.
static Err *list_count(List *list, Tx *tx)
{
    int64_t read = (int64_t)list->slot_count + list->pk_count;
    bool is_last = read < list->limit && !list->goes_on_by_id && (read || !list->offset);

    if (list->is_counted) {
        return NULL;
    }
    if (is_last) {
        list->total = list->offset + read;
        list->is_counted = true;
        return NULL;
    }
    if (list->totals == TOTALS_NONE) {
        return NULL;
    }
    if (list->totals == TOTALS_EXACT || !list->limit) {
        list->is_counted = true;
        return plan_count(tx, &list->plan, &list->total);
    }
    if (!list->is_estimated) {
        TRY(list_count_capped(list, tx));
    }
    if (!read && list->total > list->offset) {
        list->total = list->offset;
    }
    if (read && list->total < list->offset + read) {
        list->total = list->offset + read;
    }
    return NULL;
}

int64_t list_total(const List *list)
{
    if (list->totals == TOTALS_NONE) {
        return -1;
    }
    int64_t seen = list->given ? list->offset + list->given : 0;

    return list->total < seen ? seen : list->total;
}

// ---------------------------------------------------------------------------------------------
// Lists

static Err *take_scanned(int64_t pk, void *context)
{
    pk_add(context, pk);
    return NULL;
}

static Err *list_scan(List *list, Tx *tx)
{
    Scan scan = {
        .offset = list->offset, .limit = list->limit, .each = take_scanned, .context = list};

    TRY(query_scan(tx, &list->plan, &scan));
    list->total = scan.total;
    list->is_counted = true;
    // More than one chunk goes on without this transaction.
    return list->pk_count && list->pk_count <= CHUNK_ROWS ? chunk_by_pk(list, tx) : NULL;
}

static Err *take_last_pk(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

// Sorting much without an index would take one snapshot for long: it is done piece by piece. A page
// of few matches is not worth asking.
static Err *choose_scan(List *list, Tx *tx, bool *scans)
{
    const Plan *plan = &list->plan;
    const Field *first = plan->key_count ? plan->keys[0].field : NULL;
    bool has_index = first && first->flags & (INDEX | UNIQUE);
    bool is_much = list->limit > CHUNK_ROWS || (!plan->has_filter && !has_index);
    Str sql = str_fmt("select max(pk) from \"%s\"", list->of->table);
    int64_t last_pk = 0;

    *scans = !plan->is_exact || (!plan->sorts_in_sql && list->limit);
    if (*scans || !list->limit || plan->is_by_id || !is_much || !list->dialect->sorts) {
        return NULL;
    }
    TRY(sql_rows(tx, sql.at, NO_ARGS, take_last_pk, &last_pk));
    if (last_pk <= SORTS_WHOLE_MAX) {
        return NULL;
    }
    Args args = with_page(list, list->limit, list->offset, A_NULL);
    return list->dialect->sorts(tx, select_sql(list, "pk", (Str){0}), args, scans);
}

static Err *list_start(Tx *tx, const Collection *of, const ListRequest *request, bool is_decorated,
                       List **out)
{
    List *list = NEW(List);

    *list = (List){
        .db = tx_db(tx),
        .tx = tx,
        .reading = {.kind = READ},
        .of = of,
        .dialect = tx_dialect(tx),
        .offset = request->offset,
        .limit = request->limit,
        .totals = request->totals,
        .is_decorated = is_decorated,
    };
    TRY(query_plan(tx, of, request, &list->plan));
    tx_plan_anew(tx, list->plan.has_filter && !list->plan.finds_few);
    bool scans = false;
    TRY(choose_scan(list, tx, &scans));
    if (scans) {
        TRY(list_scan(list, tx));
    } else if (list->limit) {
        TRY(choose_way(list, tx));
        TRY(first_chunk_surely(list, tx));
    }
    TRY(list_count(list, tx));
    tx_plan_anew(tx, false);
    TRY(chunk_decorate(list, tx));
    *out = list;
    return NULL;
}

Err *list_open(Tx *tx, const Collection *of, const ListRequest *request, List **out)
{
    tx_note_query(tx, request->query);
    Err *err = list_start(tx, of, request, of->on_read != NULL, out);
    tx_note_query(tx, (Str){0});
    return err;
}

static Err *chunk_read(List *list, Tx *tx)
{
    if (list->pk_count) {
        TRY(chunk_by_pk(list, tx));
    } else {
        TRY(chunk_by_id(list, tx));
    }
    return chunk_decorate(list, tx);
}

static Err *chunk_read_alone(List *list)
{
    TxOptions options = list->reading;
    Tx *tx = NULL;

    options.is_scattered = list->pk_count > 0;
    TRY(tx_begin(list->db, &options, &tx));
    Err *err = chunk_read(list, tx);
    if (err) {
        tx_rollback(tx);
        return err;
    }
    return tx_commit(tx);
}

// From a replica while that goes well: nothing of the chunk has been handed out when it fails.
static Err *chunk_read_anywhere(List *list)
{
    const List before = *list;
    Err *err = chunk_read_alone(list);

    if (!err || !err->may_repeat || !before.reading.not_before_ns) {
        return err;
    }
    *list = before;
    list->reading.not_before_ns = 0;
    // The buffers may have grown, or changed places.
    list->slots = list->spare_slots = NULL;
    list->slot_count = list->slot_at = 0;
    return chunk_read_alone(list);
}

// The end of a walk by id tells the total.
static void list_ended(List *list)
{
    if (!list->is_counted && list->given < list->limit && (list->given || !list->offset)) {
        list->total = list->offset + list->given;
        list->is_counted = true;
    }
}

Err *list_next(List *list, Str *doc)
{
    *doc = (Str){0};
    // A chunk may come out empty when its records were deleted meanwhile.
    while (list->slot_at == list->slot_count) {
        bool has_more = list->pk_count || (list->goes_on_by_id && list->given < list->limit);
        if (!has_more) {
            list_ended(list);
            return NULL;
        }
        TRY(list->tx ? chunk_read(list, list->tx) : chunk_read_anywhere(list));
    }
    const Slot *slot = &list->slots[list->slot_at++];
    *doc = (Str){list->bytes.at + slot->from, slot->len};
    list->given++;
    return NULL;
}

bool list_is_whole(const List *list)
{
    return !list->pk_count && !list->goes_on_by_id;
}

void list_detach(List *list)
{
    list->reading = tx_reading(list->tx);
    list->tx = NULL;
}

// ---------------------------------------------------------------------------------------------
// For module code

Err *tx_list(Tx *tx, const Collection *of, Str cql, int64_t limit, Docs *out)
{
    ListRequest request = {.query = cql, .limit = limit, .totals = TOTALS_NONE};
    Docs docs = {0};
    size_t cap = 0;
    List *list = NULL;
    Str text;

    TRY(list_start(tx, of, &request, false, &list));
    for (;;) {
        TRY(list_next(list, &text));
        if (!text.at) {
            break;
        }
        docs.at = array_room(arena_current(), docs.at, docs.len, &cap, sizeof *docs.at);
        Json *doc = json_parse_stored(text);
        known_put(tx, of, json_str(doc, "id"), list->slots[list->slot_at - 1].pk, text);
        docs.at[docs.len++] = doc;
    }
    *out = docs;
    return NULL;
}

static Err *ignore_pk(int64_t pk, void *context)
{
    (void)pk, (void)context;
    return NULL;
}

Err *tx_count(Tx *tx, const Collection *of, Str cql, int64_t *out)
{
    ListRequest request = {.query = cql};
    Scan scan = {.each = ignore_pk};
    Plan plan;

    TRY(query_plan(tx, of, &request, &plan));
    if (plan.is_exact) {
        return plan_count(tx, &plan, out);
    }
    TRY(query_scan(tx, &plan, &scan));
    *out = scan.total;
    return NULL;
}
