// What must hold in a library at any time, whatever was played on it and however it was stopped.
#include "data.h"

#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

typedef struct {
    const char *statement; // what holds
    const char *broken;    // counts the records for which it does not
} Invariant;

#define OPEN_REQUEST "r.status like 'open - %'"

static const Invariant invariants[] = {
    {"an item on loan has an open loan",
     "select count(*) from item i where i.status = 'checked out' and not exists "
     "(select 1 from loan l where l.item_id = i.id and l.status = 'open')"},
    {"the item of an open loan is on loan, lost, or claimed returned",
     "select count(*) from loan l left join item i on i.id = l.item_id where l.status = 'open' "
     "and coalesce(i.status, '') not in ('checked out', 'declared lost', 'aged to lost', "
     "'claimed returned')"},
    {"no item has two open loans",
     "select count(*) from (select 1 from loan where status = 'open' group by item_id "
     "having count(*) > 1) as twice"},
    {"a closed loan has a return date",
     "select count(*) from loan where status = 'closed' and returned_at is null"},
    {"an open loan has a user and no return date",
     "select count(*) from loan where status = 'open' and "
     "(user_id is null or returned_at is not null)"},
    {"every loan has its history", "select count(*) from loan l where not exists "
                                   "(select 1 from audit_loan a where a.loan_id = l.id)"},
    {"positions in the queue of an item are 1 to n",
     "select count(*) from (select r.item_id from request r where " OPEN_REQUEST
     " and r.item_id is not null group by r.item_id having min(r.position) <> 1 or "
     "max(r.position) <> count(*) or count(distinct r.position) <> count(*)) as queues"},
    {"a closed request has no position",
     "select count(*) from request r where not (" OPEN_REQUEST ") and r.position is not null"},
    {"the item of an open request exists",
     "select count(*) from request r where " OPEN_REQUEST " and r.item_id is not null "
     "and not exists (select 1 from item i where i.id = r.item_id)"},
    {"an item waiting for pickup has a request that waits for pickup",
     "select count(*) from item i where i.status = 'awaiting pickup' and not exists "
     "(select 1 from request r where r.item_id = i.id and r.status = 'open - awaiting pickup')"},
    {"every item has its holdings record",
     "select count(*) from item i where not exists "
     "(select 1 from holdings_record h where h.id = i.holdings_record_id)"},
    {"every holdings record has its instance",
     "select count(*) from holdings_record h where not exists "
     "(select 1 from instance n where n.id = h.instance_id)"},
    {"no user has two records of permissions",
     "select count(*) from (select 1 from permissions_users group by user_id "
     "having count(*) > 1) as twice"},
};

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

static Err *invariants_check(Tx *tx, int *violations)
{
    for (size_t i = 0; i < sizeof invariants / sizeof *invariants; i++) {
        int64_t broken = 0;
        TRY(tx_rows(tx, invariants[i].broken, NO_ARGS, take_count, &broken));
        printf("%s  %s", broken ? "BROKEN" : "ok    ", invariants[i].statement);
        printf(broken ? " (%lld times)\n" : "\n", (long long)broken);
        *violations += broken > 0;
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Lists and tables agree

typedef struct {
    const Collection *of;
    const char *query, *count;
} Total;

static const Total totals[] = {
    {&items, "status.name==\"Checked out\"",
     "select count(*) from item where status = 'checked out'"},
    {&items, NULL, "select count(*) from item"},
    {&loans, "status.name==Open", "select count(*) from loan where status = 'open'"},
    {&loans, NULL, "select count(*) from loan"},
    {&requests, NULL, "select count(*) from request"},
    {&users, NULL, "select count(*) from users"},
};

static Err *totals_check(Tx *tx, int *violations)
{
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        const Total *total = &totals[i];
        int64_t listed = 0, counted = 0;
        const char *query = total->query ? total->query : "cql.allRecords=1";
        TRY(tx_count(tx, total->of, str_of(query), &listed));
        TRY(tx_rows(tx, total->count, NO_ARGS, take_count, &counted));
        bool is_equal = listed == counted;
        printf("%s  the list of %s (%s) counts %lld, the table %lld\n",
               is_equal ? "ok    " : "BROKEN", total->of->table, query, (long long)listed,
               (long long)counted);
        *violations += !is_equal;
    }
    return NULL;
}

static Err *check_all(Tx *tx, void *context)
{
    TRY(invariants_check(tx, context));
    return totals_check(tx, context);
}

Err *data_check(Db *db, int *violations)
{
    return tx_run(db, &(TxOptions){.kind = READ}, check_all, violations);
}
