// Loans as clients see them: the stored record and the names of everything it points to.
// Source: spec/circulation.md 4.2, 4.3.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

// --- parts

static Err *add_name(Tx *tx, Json *doc, const char *path, const Collection *of, Str id)
{
    const Json *record = NULL;

    if (str_is_empty(id)) {
        return NULL;
    }
    TRY(tx_ref(tx, of, id, &record));
    if (record) {
        json_set_str(doc, path, json_str(record, "name"));
    }
    return NULL;
}

Err *service_point_show(Tx *tx, Json *doc, const char *member, Str id)
{
    static const char *const taken[] = {
        "name", "code", "discoveryDisplayName", "description", "shelvingLagTime", "pickupLocation"};
    const Json *point = NULL;

    if (str_is_empty(id)) {
        return NULL;
    }
    TRY(tx_ref(tx, &service_points, id, &point));
    if (point) {
        Json *shown = json_object();
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            json_take(shown, taken[i], point, taken[i]);
        }
        json_set(doc, member, shown);
    }
    return NULL;
}

static void add_borrower(Json *doc, const Json *patron)
{
    Json *borrower = json_object();

    json_take(borrower, "firstName", patron, "personal.firstName");
    json_take(borrower, "lastName", patron, "personal.lastName");
    json_take(borrower, "middleName", patron, "personal.middleName");
    json_take(borrower, "preferredFirstName", patron, "personal.preferredFirstName");
    json_take(borrower, "barcode", patron, "barcode");
    json_take(borrower, "patronGroup", patron, "patronGroup");
    json_set(doc, "borrower", borrower);
}

static Err *add_group(Tx *tx, Json *doc, Str id)
{
    const Json *group = NULL;

    if (str_is_empty(id)) {
        return NULL;
    }
    TRY(tx_ref(tx, &groups, id, &group));
    json_set_str(doc, "patronGroupAtCheckout.id", id);
    if (group) {
        json_set_str(doc, "patronGroupAtCheckout.name", json_str(group, "group"));
    }
    return NULL;
}

static Err *represent(Tx *tx, const Json *loan, const ItemView *item, const Json *patron,
                      Money owed, Json **out)
{
    Json *doc = json_copy(loan), *shown = NULL;

    json_remove(doc, "itemStatus");
    json_remove(doc, "agedToLostDelayedBilling");
    json_remove(doc, "patronGroupIdAtCheckout");
    if (item) {
        TRY(item_representation(tx, item, &shown));
        json_set(doc, "item", shown);
    } else {
        json_set_str(doc, "item.id", json_str(loan, "itemId"));
    }
    if (patron && json_has(loan, "userId")) {
        add_borrower(doc, patron);
    }
    TRY(add_group(tx, doc, json_str(loan, "patronGroupIdAtCheckout")));
    TRY(service_point_show(tx, doc, "checkoutServicePoint",
                           json_str(loan, "checkoutServicePointId")));
    TRY(service_point_show(tx, doc, "checkinServicePoint",
                           json_str(loan, "checkinServicePointId")));
    TRY(add_name(tx, doc, "loanPolicy.name", &loan_policies, json_str(loan, "loanPolicyId")));
    TRY(add_name(tx, doc, "overdueFinePolicy.name", &overdue_fine_policies,
                 json_str(loan, "overdueFinePolicyId")));
    TRY(add_name(tx, doc, "lostItemPolicy.name", &lost_item_fee_policies,
                 json_str(loan, "lostItemPolicyId")));
    money_set(doc, "feesAndFines.amountRemainingToPay", owed);
    *out = doc;
    return NULL;
}

Err *loan_representation(Tx *tx, const Json *loan, const LoanParts *parts, Json **out)
{
    const ItemView *item = parts ? parts->item : NULL;
    const Json *patron = parts ? parts->patron : NULL;
    LoanDebts debts = {0};
    Str id = json_str(loan, "id");

    if (!item) {
        ItemView *read = NULL;
        TRY(item_view_by_id(tx, json_str(loan, "itemId"), &read));
        item = read;
    }
    if (!patron && json_has(loan, "userId")) {
        Json *read = NULL;
        TRY(tx_get(tx, &users, json_str(loan, "userId"), &read));
        patron = read;
    }
    Money owed = parts ? parts->owed : 0;
    if (!parts || !parts->is_owed_known) {
        TRY(loan_debts(tx, &id, 1, &debts));
        owed = loan_debt_of(&debts, id);
    }
    return represent(tx, loan, item, patron, owed, out);
}

// --- pages

static void collect(StrList *ids, const Docs *page, const char *path)
{
    Str last = {0};

    for (size_t i = 0; i < page->len; i++) {
        Str id = json_str(page->at[i], path);
        // Pages mostly belong to one patron.
        if (uuid_is_uuid_shaped(id) && !str_eq(id, last)) {
            str_list_add(ids, id);
            last = id;
        }
    }
}

// Items come in the order of the loans, without those that are gone.
static const ItemView *next_item(const ItemViews *views, size_t *at, Str id)
{
    if (*at < views->len && str_eq(views->at[*at].id, id)) {
        return &views->at[(*at)++];
    }
    return item_views_find(views, id);
}

Err *loan_representations(Tx *tx, const Docs *page, Json *out)
{
    StrList item_ids = {0}, loan_ids = {0};
    ItemViews item_views = {0};
    Docs patrons = {0};
    LoanDebts debts = {0};
    size_t at = 0;

    if (page->len == 0) {
        return NULL;
    }
    collect(&item_ids, page, "itemId");
    collect(&loan_ids, page, "id");
    TRY(item_views_by_ids(tx, item_ids.at, item_ids.len, &item_views));
    TRY(tx_get_named(tx, &users, page, "userId", &patrons));
    TRY(loan_debts(tx, loan_ids.at, loan_ids.len, &debts));
    for (size_t i = 0; i < page->len; i++) {
        const Json *loan = page->at[i];
        Json *doc = NULL;
        TRY(represent(tx, loan, next_item(&item_views, &at, json_str(loan, "itemId")),
                      docs_find(&patrons, json_str(loan, "userId")),
                      loan_debt_of(&debts, json_str(loan, "id")), &doc));
        json_add(out, doc);
    }
    return NULL;
}

// --- records

void loan_set_action(Json *loan, const char *action, Str comment)
{
    json_set_str(loan, "action", str_of(action));
    json_remove(loan, "actionComment");
    json_set_str_if(loan, "actionComment", comment);
}
