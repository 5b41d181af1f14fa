// Loans: what storage refuses, their history, and what other modules ask of open loans.
// Source: spec/circulation.md 4.1, 12.1.
#include "modules/mod-circulation-storage/hooks.h"

// ---------------------------------------------------------------------------------------------
// Hooks

static bool is_open(const Json *loan)
{
    return str_eq_nocase(json_str(loan, "status.name"), S("Open"));
}

static bool is_date(const Json *loan, const char *member)
{
    Time time = 0;

    return time_parse(json_str(loan, member), &time);
}

// FOLIO's texts stand below each other when both dates are bad.
static Err *dates_check(const Json *loan)
{
    bool bad_loan = !is_date(loan, "loanDate");
    bool bad_return = json_has(loan, "returnDate") && !is_date(loan, "returnDate");

    if (!bad_loan && !bad_return) {
        return NULL;
    }
    return err_text(400, "%s%s%s",
                    bad_loan ? "loan date must be a date time (in RFC3339 format)" : "",
                    bad_loan && bad_return ? "\n" : "",
                    bad_return ? "return date must be a date time (in RFC3339 format)" : "");
}

Err *loan_check(Tx *tx, const Json *old, Json *loan)
{
    (void)tx, (void)old;
    if (!json_has(loan, "status.name")) {
        json_set_str(loan, "status.name", S("Open"));
    }
    TRY(dates_check(loan));
    if (is_open(loan) && !json_has(loan, "userId")) {
        return err_422(NO_CODE, S("Open loan must have a user ID"), P("status", S("Open")));
    }
    return NULL;
}

Err *loan_history_add(Tx *tx, const char *operation, const Json *loan)
{
    Json *row = json_object();

    json_set_str(row, "operation", str_of(operation));
    json_set_time(row, "createdDate", tx_now(tx));
    json_set(row, "loan", json_copy(loan));
    return tx_insert(tx, &loan_history, row);
}

Err *loan_record_history(Tx *tx, const Json *old, const Json *loan)
{
    if (!loan) {
        return loan_history_add(tx, "D", old);
    }
    return loan_history_add(tx, old ? "U" : "I", loan);
}

Err *loan_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *loan)
{
    (void)tx, (void)value;
    if (kind != CONFLICT_UNIQUE || !field || !str_eq_z(S("item_id"), field->column)) {
        return NULL;
    }
    return storage_error("itemId", json_str(loan, "itemId"),
                         S("Cannot have more than one open loan for the same item"));
}

// ---------------------------------------------------------------------------------------------
// Open loans

static Err *first_of(Tx *tx, const char *where, Args args, Json **out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &loans, where, args, &docs));
    *out = docs.len ? docs.at[0] : NULL;
    return NULL;
}

Err *loan_open_of_item(Tx *tx, Str item_id, Json **out)
{
    METER("mod-circulation-storage");
    return first_of(tx, "item_id = $1 and status = 'open'", ARGS(A_TEXT(str_lower(item_id))), out);
}

Err *loan_newest_of_item(Tx *tx, Str item_id, Json **out)
{
    METER("mod-circulation-storage");
    return first_of(tx, "item_id = $1 order by loaned_at desc, id limit 1",
                    ARGS(A_TEXT(str_lower(item_id))), out);
}

Err *loans_open_of_items(Tx *tx, const Str *item_ids, size_t n, Docs *out)
{
    METER("mod-circulation-storage");
    return tx_where_in(
        tx, &loans,
        &(WhereIn){.column = "item_id", .values = item_ids, .n = n, .where = "status = 'open'"},
        out);
}

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

Err *loans_open_count_of_kind(Tx *tx, const LoanCount *of, int64_t *out)
{
    METER("mod-circulation-storage");
    *out = 0;
    return tx_rows(
        tx,
        "select count(*) from loan l join item i on i.id = l.item_id "
        "where l.user_id = $1 and l.status = 'open' "
        "and coalesce(l.item_status, '') <> 'claimed returned' "
        "and ($2 = '' or i.material_type_id = $2) "
        "and ($3 = '' or coalesce(i.temporary_loan_type_id, i.permanent_loan_type_id) = $3)",
        ARGS(A_TEXT(str_lower(of->user_id)), A_TEXT(str_lower(of->material_type_id)),
             A_TEXT(str_lower(of->loan_type_id))),
        take_count, out);
}

// ---------------------------------------------------------------------------------------------
// What patron blocks count

typedef struct {
    OpenLoans *out;
    size_t cap;
} Summary;

static Err *take_summary(const Row *row, void *context)
{
    Summary *summary = context;
    OpenLoans *out = summary->out;
    Str status = row_text(row, 4);

    out->at = array_room(arena_current(), out->at, out->len, &summary->cap, sizeof *out->at);
    out->at[out->len++] = (OpenLoan){
        .loan_id = str_copy(arena_current(), row_text(row, 0)),
        .loan_policy_id = str_copy(arena_current(), row_text(row, 1)),
        .due_at = row_int(row, 2),
        .is_recalled = row_int(row, 3) != 0,
        .is_lost = str_eq(status, S("declared lost")) || str_eq(status, S("aged to lost")),
        .is_claimed_returned = str_eq(status, S("claimed returned")),
    };
    return NULL;
}

Err *loans_open_summary(Tx *tx, Str user_id, OpenLoans *out)
{
    METER("mod-circulation-storage");
    *out = (OpenLoans){0};
    Summary summary = {.out = out};

    return tx_rows(tx,
                   "select id, coalesce(loan_policy_id, ''), coalesce(due_at, 0), "
                   "coalesce(is_recalled, 0), coalesce(item_status, '') from loan "
                   "where user_id = $1 and status = 'open' order by due_at, id",
                   ARGS(A_TEXT(str_lower(user_id))), take_summary, &summary);
}

static bool period_of(const Json *period, Period *out)
{
    out->duration = json_int(period, "duration", 0);
    return out->duration > 0 && period_unit_of(json_str(period, "intervalId"), &out->unit);
}

Err *loan_grace_period(Tx *tx, Str loan_policy_id, bool is_recalled, Period *out, bool *exists)
{
    const Json *policy = NULL;

    *exists = false;
    if (loan_policy_id.len) {
        TRY(tx_ref(tx, &loan_policies, loan_policy_id, &policy));
    }
    if (!policy) {
        return NULL;
    }
    const Json *alternate = json_get(policy, "requestManagement.recalls.alternateGracePeriod");
    if (is_recalled && alternate) {
        *exists = period_of(alternate, out);
        return NULL;
    }
    const Json *period = json_get(policy, "loansPolicy.gracePeriod");
    *exists = period && period_of(period, out);
    return NULL;
}
