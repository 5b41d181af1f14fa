// What the library has of titles, read for many titles at once.
#include "modules/mod-inventory-storage/stock.h"

#include "base/sort.h"

#include "octavo.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// From records to titles

// One line of the answer: an item under a title, by way of a holdings record.
typedef struct {
    Str instance_id;
    HeldItem held;
} Line;

typedef struct {
    Docs instances, holdings, items, parts, bound;
    Line *lines;
    size_t line_count;
} Reading;

static bool is_hidden(const Json *record)
{
    return json_flag(record, "discoverySuppress", false);
}

static StrList ids_of(const Docs *records, const char *path)
{
    StrList ids = {0};
    for (size_t i = 0; i < records->len; i++) {
        str_list_add(&ids, json_str(records->at[i], path));
    }
    return ids;
}

static void records_drop_hidden(Docs *records)
{
    size_t kept = 0;
    for (size_t i = 0; i < records->len; i++) {
        if (!is_hidden(records->at[i])) {
            records->at[kept++] = records->at[i];
        }
    }
    records->len = kept;
}

static Err *those_below(Tx *tx, const Collection *of, const char *column, const StrList *above,
                        Docs *out)
{
    return tx_where_in(tx, of, &(WhereIn){column, above->at, above->len, NULL}, out);
}

static Err *reading_read(Tx *tx, Reading *reading, const StrList *ids, bool visible_only)
{
    TRY(tx_get_many(tx, &instances, ids->at, ids->len, &reading->instances));
    StrList known = ids_of(&reading->instances, "id");
    TRY(those_below(tx, &holdings, "instance_id", &known, &reading->holdings));
    if (visible_only) {
        records_drop_hidden(&reading->holdings);
    }
    docs_sort(&reading->holdings);
    StrList above = ids_of(&reading->holdings, "id");
    TRY(those_below(tx, &items, "holdings_record_id", &above, &reading->items));
    TRY(those_below(tx, &bound_with_parts, "holdings_record_id", &above, &reading->parts));
    TRY(tx_get_named(tx, &items, &reading->parts, "itemId", &reading->bound));
    if (visible_only) {
        records_drop_hidden(&reading->items);
        records_drop_hidden(&reading->bound);
    }
    return NULL;
}

static void line_add(Reading *reading, Json *item, Json *above)
{
    if (item && above) {
        reading->lines[reading->line_count++] =
            (Line){json_str(above, "instanceId"), {item, above}};
    }
}

// By title, then item; of the ways to one item its own holdings record goes first.
static int compare_lines(const void *a, const void *b)
{
    const Line *left = a, *right = b;
    int order = str_cmp(left->instance_id, right->instance_id);

    order =
        order ? order : str_cmp(json_str(left->held.item, "id"), json_str(right->held.item, "id"));
    if (order) {
        return order;
    }
    bool left_own =
        str_eq(json_str(left->held.item, "holdingsRecordId"), json_str(left->held.holdings, "id"));
    bool right_own = str_eq(json_str(right->held.item, "holdingsRecordId"),
                            json_str(right->held.holdings, "id"));
    return right_own - left_own;
}

static void lines_make(Reading *reading)
{
    reading->lines = NEW_ARRAY(Line, reading->items.len + reading->parts.len + 1);
    for (size_t i = 0; i < reading->items.len; i++) {
        Json *item = reading->items.at[i];
        line_add(reading, item, docs_find(&reading->holdings, json_str(item, "holdingsRecordId")));
    }
    for (size_t i = 0; i < reading->parts.len; i++) {
        const Json *part = reading->parts.at[i];
        line_add(reading, docs_find(&reading->bound, json_str(part, "itemId")),
                 docs_find(&reading->holdings, json_str(part, "holdingsRecordId")));
    }
    if (reading->line_count) {
        sort_array(reading->lines, reading->line_count, sizeof *reading->lines, compare_lines);
    }
}

static bool is_repeated(const Reading *reading, size_t i)
{
    return i && str_eq(reading->lines[i - 1].instance_id, reading->lines[i].instance_id) &&
           str_eq(json_str(reading->lines[i - 1].held.item, "id"),
                  json_str(reading->lines[i].held.item, "id"));
}

static size_t first_line(const Reading *reading, Str instance_id)
{
    size_t low = 0, high = reading->line_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(reading->lines[middle].instance_id, instance_id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int compare_instances(const void *a, const void *b)
{
    return str_cmp(json_str(*(Json *const *)a, "instanceId"),
                   json_str(*(Json *const *)b, "instanceId"));
}

static void title_fill(const Reading *reading, const Docs *by_title, Str id, TitleStock *out)
{
    size_t from = first_line(reading, id), n = from;

    while (n < reading->line_count && str_eq(reading->lines[n].instance_id, id)) {
        n++;
    }
    out->items = NEW_ARRAY(HeldItem, n - from + 1);
    for (size_t i = from; i < n; i++) {
        if (!is_repeated(reading, i)) {
            out->items[out->item_count++] = reading->lines[i].held;
        }
    }
    size_t low = 0, high = by_title->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(json_str(by_title->at[middle], "instanceId"), id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t end = low;
    while (end < by_title->len && str_eq(json_str(by_title->at[end], "instanceId"), id)) {
        end++;
    }
    out->holdings = (Docs){by_title->at + low, end - low};
}

Err *stock_read(Tx *tx, const Str *ids, size_t n, bool visible_only, TitleStock *out)
{
    Reading reading = {0};
    StrList wanted = {0};
    Docs by_title = {0};

    for (size_t i = 0; i < n; i++) {
        out[i] = (TitleStock){0};
        if (uuid_is_uuid_shaped(ids[i])) {
            str_list_add(&wanted, str_lower(ids[i]));
        }
    }
    TRY(reading_read(tx, &reading, &wanted, visible_only));
    lines_make(&reading);
    by_title.len = reading.holdings.len;
    by_title.at = NEW_ARRAY(Json *, by_title.len + 1);
    if (by_title.len) {
        memcpy(by_title.at, reading.holdings.at, by_title.len * sizeof *by_title.at);
        sort_array(by_title.at, by_title.len, sizeof *by_title.at, compare_instances);
    }
    for (size_t i = 0; i < n; i++) {
        out[i].instance = docs_find(&reading.instances, ids[i]);
        if (out[i].instance) {
            title_fill(&reading, &by_title, json_str(out[i].instance, "id"), &out[i]);
        }
    }
    return NULL;
}
