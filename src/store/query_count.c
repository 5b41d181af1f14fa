// How many records match: exactly up to 10,000, beyond that by an estimate (decision 7).
#include "store/query.h"

#include <math.h>

enum {
    COUNT_CAP = 10001,
    SMALL_TABLE = 100000, // counted by its pages in less time than the first 10,000 rows by row
};

static const double ORDER_OFF_MAX = 0.05;

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

static Err *take_counted(const Row *row, void *context)
{
    int64_t total = row_int(row, 0);

    *(Counted *)context = (Counted){total, total < COUNT_CAP, row_int(row, 1)};
    return NULL;
}

typedef struct {
    double id_place; // where the row's id stands among all ids, 0..1: ids are random
    double pk_place; // the same for its pk
    int64_t table;
} Probe;

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

static double id_place(Str id)
{
    double place = 0, weight = 1;

    for (size_t i = 0; i < id.len && i < 8; i++) {
        weight /= 16;
        place += hex_digit(id.at[i]) * weight;
    }
    return place;
}

static Err *take_probe(const Row *row, void *context)
{
    int64_t table = row_int(row, 2);

    *(Probe *)context = (Probe){id_place(row_text(row, 0)),
                                (double)row_int(row, 1) / (double)(table ? table : 1), table};
    return NULL;
}

static Str where_sql(const Plan *plan)
{
    return plan->where.at ? str_fmt(" where " STR_FMT, STR_ARG(plan->where)) : S("");
}

static Err *probe(Tx *tx, const Plan *plan, int64_t n, Probe *out)
{
    Str sql = str_fmt("select id, pk, (select max(pk) from \"%s\") from \"%s\"" STR_FMT
                      " limit 1 offset %lld",
                      plan->of->table, plan->of->table, STR_ARG(where_sql(plan)), (long long)n);

    return sql_rows(tx, sql.at, plan->args, take_probe, out);
}

// How far the matches at a quarter and at half of the way stand from where they would if all came
// in this order.
static double off_order(double quarter, double half, double whole)
{
    return whole > 0 ? fabs(quarter / whole - 0.25) + fabs(half / whole - 0.5) : 1;
}

static void guess(Counted *out, double part, int64_t table)
{
    double total = COUNT_CAP / part;

    out->total = total < (double)table ? (int64_t)total : table;
    out->total = out->total < COUNT_CAP ? COUNT_CAP : out->total;
    out->table_size = table;
}

// An index gives matches in order of id, a scan in order of pk: the last counted match then tells
// which part of all was counted. Two more of them tell which order it is: one may stand right by
// chance.
static Err *estimate(Tx *tx, const Plan *plan, Counted *out)
{
    Probe quarter = {0}, half = {0}, last = {0};

    TRY(probe(tx, plan, COUNT_CAP / 4, &quarter));
    TRY(probe(tx, plan, COUNT_CAP / 2, &half));
    TRY(probe(tx, plan, COUNT_CAP - 1, &last));
    double pk_off = off_order(quarter.pk_place, half.pk_place, last.pk_place);
    double id_off = off_order(quarter.id_place, half.id_place, last.id_place);
    double part = pk_off < id_off ? last.pk_place : last.id_place;
    guess(out, fmin(pk_off, id_off) < ORDER_OFF_MAX ? part : 1, last.table);
    return NULL;
}

static Err *take_words(const Row *row, void *context)
{
    Counted *out = context;
    int64_t table = row_int(row, 2);

    *out = (Counted){row_int(row, 0), row_int(row, 0) < COUNT_CAP, table};
    if (!out->is_exact) {
        guess(out, (double)row_int(row, 1) / (double)table, table);
    }
    return NULL;
}

// A word search finds all its matches before it gives the first, in order of pk: once is enough.
static Err *count_words(Tx *tx, const Plan *plan, Counted *out)
{
    Str sql = str_fmt("select count(*), max(pk), (select max(pk) from \"%s\") from "
                      "(select pk from \"%s\"" STR_FMT " limit %d) as part",
                      plan->of->table, plan->of->table, STR_ARG(where_sql(plan)), COUNT_CAP);

    return sql_rows(tx, sql.at, plan->args, take_words, out);
}

Err *table_count(Tx *tx, const Collection *of, int64_t *out)
{
    Str sql = str_fmt("select case when (select max(pk) from \"%s\") > %d then -1 "
                      "else (select count(*) from \"%s\") end",
                      of->table, SMALL_TABLE, of->table);

    return sql_rows(tx, sql.at, NO_ARGS, take_count, out);
}

// A whole table, total -1 if it is large. Kept until the table changes, where nobody but this
// process changes it: people open the list of patrons more often than they add one.
static Err *count_table(Tx *tx, const Plan *plan, Counted *out)
{
    const void *count = NULL;
    uint64_t ignored;

    out->is_exact = true;
    if (!db_change(tx_db(tx), &ignored)) {
        return table_count(tx, plan->of, &out->total);
    }
    TRY(tx_derived(tx, &shape_of(plan->of)->count, &count));
    out->total = *(const int64_t *)count;
    return NULL;
}

Err *plan_count_capped(Tx *tx, const Plan *plan, Counted *out)
{
    *out = (Counted){0};
    if (!plan->where.at) {
        TRY(count_table(tx, plan, out));
        if (out->total >= 0) {
            return NULL;
        }
    }
    if (plan->has_words) {
        return count_words(tx, plan, out);
    }
    Str sql = str_fmt("select count(*), (select max(pk) from \"%s\") from "
                      "(select 1 from \"%s\"" STR_FMT " limit %d) as part",
                      plan->of->table, plan->of->table, STR_ARG(where_sql(plan)), COUNT_CAP);

    TRY(sql_rows(tx, sql.at, plan->args, take_counted, out));
    return out->is_exact ? NULL : estimate(tx, plan, out);
}

Err *plan_count(Tx *tx, const Plan *plan, int64_t *out)
{
    Str sql =
        str_fmt("select count(*) from \"%s\"" STR_FMT, plan->of->table, STR_ARG(where_sql(plan)));

    return sql_rows(tx, sql.at, plan->args, take_count, out);
}
