// Human-readable ids: "in00000000001" from a counter per kind, the settings of the counters.
// Source: spec/inventory.md 4.6.
#include "modules/mod-inventory-storage/storage.h"

#define HRID_NUMBER_MAX 99999999999

// Each counts the numbers given since the settings were stored.
const HridCounter hrid_counters[HRID_COUNTERS] = {
    {"instances", "hrid.instances"},
    {"holdings", "hrid.holdings"},
    {"items", "hrid.items"},
};

typedef struct {
    const char *prefix;   // where the tenant has no settings
    const char *is_taken; // a record with a (folded) hrid of a range
    const char *last;     // the last hrid between two texts
} HridRow;

static const HridRow rows[] = {
    {"in", "select 1 from instance where hrid >= $1 and hrid <= $2 limit 1",
     "select max(hrid) from instance where hrid >= $1 and hrid < $2"},
    {"ho", "select 1 from holdings_record where hrid >= $1 and hrid <= $2 limit 1",
     "select max(hrid) from holdings_record where hrid >= $1 and hrid < $2"},
    {"it", "select 1 from item where hrid >= $1 and hrid <= $2 limit 1",
     "select max(hrid) from item where hrid >= $1 and hrid < $2"},
};

typedef struct {
    const HridRow *row;
    const char *sequence;
    Str prefix;
    int64_t start;
    bool has_zeroes;
} HridFormat;

static Err *format_read(Tx *tx, HridKind kind, HridFormat *out)
{
    const Json *settings = NULL;
    const HridRow *row = &rows[kind];

    TRY(tx_ref(tx, &hrid_settings, HRID_SETTINGS_ID, &settings));
    const Json *part = json_get(settings, hrid_counters[kind].member);
    *out = (HridFormat){.row = row,
                        .sequence = hrid_counters[kind].sequence,
                        .prefix = part ? json_str(part, "prefix") : str_of(row->prefix),
                        .start = json_int(part, "startNumber", 1),
                        .has_zeroes = json_flag(settings, "commonRetainLeadingZeroes", true)};
    return NULL;
}

static Str hrid_text(const HridFormat *format, int64_t number)
{
    return format->has_zeroes
               ? str_fmt(STR_FMT "%011lld", STR_ARG(format->prefix), (long long)number)
               : str_fmt(STR_FMT "%lld", STR_ARG(format->prefix), (long long)number);
}

static Err *take_flag(const Row *row, void *context)
{
    (void)row;
    *(bool *)context = true;
    return NULL;
}

static Err *take_text(const Row *row, void *context)
{
    *(Str *)context = row_is_null(row, 0) ? (Str){0} : str_copy(arena_current(), row_text(row, 0));
    return NULL;
}

// Loaded records may bear numbers ahead of the counter: the number behind the last such one.
static Err *number_behind_loaded(Tx *tx, const HridFormat *format, int64_t *out)
{
    Str last = {0};
    Str from = fold(str_fmt(STR_FMT "0", STR_ARG(format->prefix)));
    Str to = fold(str_fmt(STR_FMT ":", STR_ARG(format->prefix)));

    TRY(tx_rows(tx, format->row->last, ARGS(A_TEXT(from), A_TEXT(to)), take_text, &last));
    if (last.len <= format->prefix.len ||
        !str_int64(str_sub(last, format->prefix.len, last.len), out)) {
        *out = 0;
    }
    (*out)++;
    return NULL;
}

// The first of n numbers of which none is in use.
static Err *numbers_draw(Tx *tx, const HridFormat *format, int64_t n, int64_t *first)
{
    int64_t drawn = 0, behind = 0;
    bool is_taken = false;

    TRY(tx_sequence(tx, format->sequence, n, &drawn));
    *first = format->start + drawn - 1;
    Str from = fold(hrid_text(format, *first)), to = fold(hrid_text(format, *first + n - 1));
    TRY(tx_rows(tx, format->row->is_taken, ARGS(A_TEXT(from), A_TEXT(to)), take_flag, &is_taken));
    if (is_taken) {
        TRY(number_behind_loaded(tx, format, &behind));
        int64_t step = behind > *first ? behind - *first : 1;
        TRY(tx_sequence(tx, format->sequence, step, &drawn));
        *first = format->start + drawn - 1 + step - n;
    }
    if (*first + n - 1 > HRID_NUMBER_MAX) {
        return err_text(500, "hrid numbers are used up: the last is 99999999999");
    }
    return NULL;
}

static bool has_no_hrid(const Json *doc)
{
    return !str_trim(json_str(doc, "hrid")).len;
}

Err *hrids_assign(Tx *tx, HridKind kind, Json *const *docs, size_t n)
{
    HridFormat format;
    int64_t missing = 0, number = 0;

    for (size_t i = 0; i < n; i++) {
        missing += has_no_hrid(docs[i]);
    }
    if (!missing) {
        return NULL;
    }
    TRY(format_read(tx, kind, &format));
    TRY(numbers_draw(tx, &format, missing, &number));
    for (size_t i = 0; i < n; i++) {
        if (has_no_hrid(docs[i])) {
            json_set_str(docs[i], "hrid", hrid_text(&format, number++));
        }
    }
    return NULL;
}
