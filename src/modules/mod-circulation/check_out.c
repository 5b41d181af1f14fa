// Check-out by barcode: finds the item and the patron, applies the circulation rules, lends.
// FOLIO: mod-circulation, POST /circulation/check-out-by-barcode. Source: spec/circulation.md 3.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-users/users.h"

typedef struct {
    Req *req;
    Tx *tx;
    Str item_barcode, user_barcode, proxy_barcode, service_point_id, forced_policy_id;
    Time loan_date;
    bool is_dry_run;
    Overrides overrides;
    Time overridden_due_at; // of itemNotLoanableBlock
    bool is_comment_refused;

    // NULL when there is none.
    Json *patron, *proxy;
    ItemView *item;
    Json *open_loan;
    Queue *queue;
    Json *first_request; // the first that the item fulfils
    const Json *policy;  // loan policy
    RuleMatch rules;
    int64_t item_limit, lent_count; // of the kind that the rule names; limit 0 = none
    Err *blocks;                    // of the patron
    Err *refusals; // what the patron's or the item's state forbids, in FOLIO's order
    Json *loan;
} CheckOut;

static void refuse(CheckOut *co, Err *err)
{
    co->refusals = err_join(co->refusals, err);
}

// --- the request

static Err *read_body(CheckOut *co)
{
    Json *body = NULL;
    Str loan_date;

    TRY(req_body_object(co->req, &body));
    co->item_barcode = json_str(body, "itemBarcode");
    co->user_barcode = json_str(body, "userBarcode");
    co->proxy_barcode = json_str(body, "proxyUserBarcode");
    co->service_point_id = str_lower(json_str(body, "servicePointId"));
    co->forced_policy_id = str_lower(json_str(body, "forceLoanPolicyId"));
    co->loan_date = co->req->now;
    loan_date = json_str(body, "loanDate");
    if (loan_date.len && !time_parse(loan_date, &co->loan_date)) {
        return err_text(400, "loanDate is no date and time: " STR_FMT, STR_ARG(loan_date));
    }
    overrides_read(body, "overrideBlocks", &co->overrides);
    return NULL;
}

static Err *find_item(Tx *tx, void *context)
{
    CheckOut *co = context;

    return item_view_by_barcode(tx, co->item_barcode, &co->item);
}

static Err *find_user(Tx *tx, Str barcode, Json **out)
{
    *out = NULL;
    return barcode.len ? user_by_barcode(tx, barcode, out) : NULL;
}

static Err *find_patron(Tx *tx, void *context)
{
    CheckOut *co = context;

    return find_user(tx, co->user_barcode, &co->patron);
}

static Err *find_proxy(Tx *tx, void *context)
{
    CheckOut *co = context;

    return find_user(tx, co->proxy_barcode, &co->proxy);
}

// Everything that the barcodes name: one round trip.
static Err *find_by_barcodes(CheckOut *co)
{
    const Read reads[] = {{find_item, co}, {find_patron, co}, {find_proxy, co}};

    return tx_together(co->tx, reads, 3);
}

// --- what the rules say

static Err *rules_choose_policies(CheckOut *co)
{
    if (!co->item || !co->patron) {
        return NULL;
    }
    TRY(rules_match_item(co->tx, co->item, co->patron, &co->rules));
    if (co->forced_policy_id.len) {
        co->rules.policy_ids[POLICY_LOAN] = co->forced_policy_id;
    }
    TRY(loan_policy_by_id(co->tx, co->rules.policy_ids[POLICY_LOAN], &co->policy));
    // A rule that names a patron group alone never limits.
    if (co->rules.names_material_type || co->rules.names_loan_type) {
        co->item_limit = json_int(co->policy, "loansPolicy.itemLimit", 0);
    }
    return NULL;
}

static Err *count_lent(Tx *tx, void *context)
{
    CheckOut *co = context;
    LoanCount kind = {.user_id = json_str(co->patron, "id")};

    if (co->item_limit <= 0 || co->overrides.item_limit) {
        return NULL;
    }
    if (co->rules.names_material_type) {
        kind.material_type_id = co->item->material_type_id;
    }
    if (co->rules.names_loan_type) {
        kind.loan_type_id = co->item->loan_type_id;
    }
    return loans_open_count_of_kind(tx, &kind, &co->lent_count);
}

// Before everything that is counted of the patron: another desk may lend to them meanwhile.
static Err *lock_patron(Tx *tx, void *context)
{
    const CheckOut *co = context;

    return co->patron ? tx_lock(tx, &users, json_str(co->patron, "id")) : NULL;
}

static Err *find_blocks(Tx *tx, void *context)
{
    CheckOut *co = context;
    bool is_asked = co->patron && !co->overrides.patron;

    (void)tx; // the request's
    return is_asked ? patron_blocks(co->req, co->patron, BLOCK_BORROWING, &co->blocks) : NULL;
}

static Err *find_open_loan(Tx *tx, void *context)
{
    CheckOut *co = context;

    return co->item ? loan_open_of_item(tx, co->item->id, &co->open_loan) : NULL;
}

static Err *find_queue(Tx *tx, void *context)
{
    CheckOut *co = context;

    return co->item ? queue_of_item(tx, co->item, &co->queue) : NULL;
}

// Everything that patron and item lead to: one round trip.
static Err *find_state(CheckOut *co)
{
    const Read reads[] = {{lock_patron, co},
                          {find_blocks, co},
                          {find_open_loan, co},
                          {find_queue, co},
                          {count_lent, co}};

    return tx_together(co->tx, reads, 5);
}

// --- who borrows

static Err *unknown_user(const char *key, Str barcode)
{
    return err_422(S("USER_BARCODE_NOT_FOUND"), S("Could not find user with matching barcode"),
                   P(key, barcode));
}

static void service_point_must_be_given(CheckOut *co)
{
    if (str_is_empty(co->service_point_id) && !co->is_dry_run) {
        refuse(co, err_422(NO_CODE, S("Check out must be performed at a service point"),
                           P_NULL("servicePointId")));
    }
}

static void override_must_be_allowed(CheckOut *co, const char *block, const char *permission)
{
    Err *err = override_permission_check(co->req, block, permission);

    if (!err && str_is_empty(str_trim(co->overrides.comment)) && !co->is_comment_refused) {
        co->is_comment_refused = true;
        err = err_422(NO_CODE, S("Override should be performed with the comment specified"),
                      P_NULL("comment"));
    }
    refuse(co, err);
}

static void patron_must_not_be_blocked(CheckOut *co)
{
    if (co->overrides.patron) {
        override_must_be_allowed(co, "patronBlock", OVERRIDE_PATRON_BLOCK);
    } else {
        refuse(co, co->blocks);
    }
}

static void user_must_be_active(CheckOut *co, const Json *user, bool is_proxy)
{
    const char *key = is_proxy ? "proxyUserBarcode" : "userBarcode";
    Str barcode = is_proxy ? co->proxy_barcode : co->user_barcode;

    if (!json_has(user, "active")) {
        refuse(co, err_422(NO_CODE,
                           is_proxy ? S("Cannot determine if proxying user is active or not")
                                    : S("Cannot determine if user is active or not"),
                           P(key, barcode)));
    } else if (!patron_is_active(user, co->req->now)) {
        refuse(co, err_422(NO_CODE,
                           is_proxy ? S("Cannot check out via inactive proxying user")
                                    : S("Cannot check out to inactive user"),
                           P(key, barcode)));
    }
}

static Err *proxy_must_act_for_patron(CheckOut *co)
{
    Str patron_id = json_str(co->patron, "id"), proxy_id = json_str(co->proxy, "id");
    bool is_valid = false;

    if (!co->proxy || !co->patron) {
        return NULL;
    }
    user_must_be_active(co, co->proxy, true);
    if (str_eq(patron_id, proxy_id)) {
        refuse(co, err_422(S("USER_CANNOT_BE_PROXY_FOR_THEMSELVES"),
                           S("User cannot be proxy for themselves"), P("proxyUserId", proxy_id)));
        return NULL;
    }
    TRY(proxy_is_valid(co->tx, patron_id, proxy_id, co->req->now, &is_valid));
    if (!is_valid) {
        refuse(co,
               err_422(NO_CODE, S("Cannot check out item via proxy when relationship is invalid"),
                       P("proxyUserBarcode", co->proxy_barcode)));
    }
    return NULL;
}

static Err *patron_must_be_allowed(CheckOut *co)
{
    service_point_must_be_given(co);
    if (!co->patron) {
        refuse(co, unknown_user("userBarcode", co->user_barcode));
    }
    patron_must_not_be_blocked(co);
    if (co->proxy_barcode.len && !co->proxy) {
        refuse(co, unknown_user("proxyUserBarcode", co->proxy_barcode));
    }
    if (co->patron) {
        user_must_be_active(co, co->patron, false);
    }
    return proxy_must_act_for_patron(co);
}

// --- what is borrowed

static void item_must_be_loanable(CheckOut *co)
{
    static const char *const refused[] = {"Declared lost", "Claimed returned", "Intellectual item",
                                          "Aged to lost"};
    const ItemView *item = co->item;

    // FOLIO sends no code here: its clients match the message, so the message is part of the API.
    if (str_eq(item->status, S("Checked out"))) {
        refuse(co, err_422(NO_CODE, S("Item is already checked out"),
                           P("itemBarcode", co->item_barcode)));
        return;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (str_eq_z(item->status, refused[i])) {
            Str text = str_fmt(STR_FMT " has the item status %s and cannot be checked out",
                               STR_ARG(item_sentence(item)), refused[i]);
            refuse(co, err_422(NO_CODE, text, P("itemBarcode", co->item_barcode)));
            return;
        }
    }
}

static Err *item_must_not_be_requested_by_others(CheckOut *co)
{
    TRY(queue_first_fulfillable(co->tx, co->queue, co->item, false, &co->first_request));
    if (!co->first_request || !co->patron ||
        str_eq(json_str(co->first_request, "requesterId"), json_str(co->patron, "id"))) {
        return NULL;
    }
    Str text = str_fmt(STR_FMT " (Barcode: " STR_FMT ") cannot be checked out to user " STR_FMT
                               " because it has been requested by another patron",
                       STR_ARG(item_title(co->item)), STR_ARG(co->item->barcode),
                       STR_ARG(patron_name(co->patron)));
    refuse(co, err_422(NO_CODE, text, P("userBarcode", co->user_barcode)));
    return NULL;
}

static Err *item_must_be_available(CheckOut *co)
{
    if (!co->item) {
        Str text =
            str_fmt("No item with barcode " STR_FMT " could be found", STR_ARG(co->item_barcode));
        refuse(co, err_422(NO_CODE, text, P("itemBarcode", co->item_barcode)));
        return NULL;
    }
    item_must_be_loanable(co);
    if (co->open_loan) {
        refuse(co, err_422(S("ITEM_HAS_OPEN_LOAN"),
                           S("Cannot check out item that already has an open loan"),
                           P("itemBarcode", co->item_barcode)));
    }
    return item_must_not_be_requested_by_others(co);
}

// --- what the policy allows

typedef struct {
    bool group, material, loan_type;
    const char *what, *code;
} LimitWords;

static const LimitWords limit_words[] = {
    {true, true, true, "combination of patron group, material type and loan type",
     "ITEM_LIMIT_PATRON_GROUP_MATERIAL_TYPE_LOAN_TYPE"},
    {true, true, false, "combination of patron group and material type",
     "ITEM_LIMIT_PATRON_GROUP_MATERIAL_TYPE"},
    {true, false, true, "combination of patron group and loan type",
     "ITEM_LIMIT_PATRON_GROUP_LOAN_TYPE"},
    {false, true, true, "combination of material type and loan type",
     "ITEM_LIMIT_MATERIAL_TYPE_LOAN_TYPE"},
    {false, true, false, "material type", "ITEM_LIMIT_MATERIAL_TYPE"},
    {false, false, true, "loan type", "ITEM_LIMIT_LOAN_TYPE"},
};

static Err *limit_refusal(const CheckOut *co)
{
    int64_t limit = co->item_limit;

    for (size_t i = 0; i < sizeof limit_words / sizeof *limit_words; i++) {
        const LimitWords *words = &limit_words[i];
        if (words->group == co->rules.names_patron_group &&
            words->material == co->rules.names_material_type &&
            words->loan_type == co->rules.names_loan_type) {
            Str text = str_fmt("Patron has reached maximum limit of %lld items for %s",
                               (long long)limit, words->what);
            Err *err = err_422(str_of(words->code), text, P("itemBarcode", co->item_barcode),
                               P("itemLimit", str_fmt("%lld", (long long)limit)));
            return err_overridable(co->req, err, "itemLimitBlock", OVERRIDE_ITEM_LIMIT);
        }
    }
    return NULL;
}

static void limit_must_not_be_reached(CheckOut *co)
{
    if (co->overrides.item_limit) {
        override_must_be_allowed(co, "itemLimitBlock", OVERRIDE_ITEM_LIMIT);
    } else if (co->item_limit > 0 && co->lent_count >= co->item_limit) {
        refuse(co, limit_refusal(co));
    }
}

static void due_date_must_be_overridden(CheckOut *co)
{
    const Json *due = json_get(co->overrides.blocks, "itemNotLoanableBlock.dueDate");

    override_must_be_allowed(co, "itemNotLoanableBlock", OVERRIDE_ITEM_NOT_LOANABLE);
    if (!due || !time_parse(json_scalar_text(due), &co->overridden_due_at)) {
        refuse(co, err_422(NO_CODE, S("Override should be performed with due date specified"),
                           P_NULL("dueDate")));
    } else if (co->overridden_due_at <= co->loan_date) {
        refuse(co, err_422(NO_CODE, S("Due date should be later than loan date"),
                           P("dueDate", json_scalar_text(due))));
    }
}

static void policy_must_be_loanable(CheckOut *co)
{
    if (co->overrides.item_not_loanable) {
        due_date_must_be_overridden(co);
        return;
    }
    if (!json_flag(co->policy, "loanable", false)) {
        Err *err = err_422(S("ITEM_NOT_LOANABLE"), S("Item is not loanable"),
                           P("loanPolicyId", json_str(co->policy, "id")),
                           P("loanPolicyName", json_str(co->policy, "name")),
                           P("itemBarcode", co->item_barcode));
        refuse(co,
               err_overridable(co->req, err, "itemNotLoanableBlock", OVERRIDE_ITEM_NOT_LOANABLE));
    }
}

static void policy_must_allow(CheckOut *co)
{
    if (co->policy) {
        limit_must_not_be_reached(co);
        policy_must_be_loanable(co);
    }
}

// --- lending

static Err *due_date_set(CheckOut *co)
{
    DueDateInput input = {.policy = co->policy,
                          .patron = co->patron,
                          .service_point_id = co->service_point_id,
                          .loan_date = co->loan_date,
                          .now = co->req->now,
                          .has_pending_hold = queue_has_pending_hold(co->queue, co->item)};
    DueDate due = {.at = co->overridden_due_at};

    if (!co->overrides.item_not_loanable) {
        TRY(due_date_at_check_out(co->tx, &input, &due));
    }
    if (due.is_cut_by_patron_expiry) {
        json_set_bool(co->loan, "dueDateChangedByNearExpireUser", true);
    }
    json_set_time(co->loan, "dueDate", due.at);
    return NULL;
}

static Err *recall_must_be_honoured(CheckOut *co)
{
    DueDateInput input = {.policy = co->policy,
                          .service_point_id = co->service_point_id,
                          .loan_date = co->loan_date,
                          .now = co->req->now};
    Time due_at = 0;

    if (!queue_recall_of(co->queue, co->item) ||
        !json_time(co->loan, "dueDate", &input.current_due_at)) {
        return NULL;
    }
    TRY(due_date_recalled(co->tx, &input, &due_at));
    if (due_at != input.current_due_at) {
        json_set_time(co->loan, "dueDate", due_at);
        json_set_bool(co->loan, "dueDateChangedByRecall", true);
    }
    return NULL;
}

static Err *request_queue_fulfil(CheckOut *co)
{
    if (!co->first_request) {
        return NULL;
    }
    queue_fill(co->queue, co->first_request);
    TRY(scheduled_notices_drop_of_request(co->tx, json_str(co->first_request, "id")));
    return queue_save(co->tx, co->queue);
}

static void set_policy_id(Json *loan, const char *member, Str id)
{
    if (uuid_is_uuid_shaped(id)) {
        json_set_str(loan, member, str_lower(id));
    }
}

static void loan_begin(CheckOut *co)
{
    Json *loan = json_object();

    co->loan = loan;
    json_set_str(loan, "id", uuid_new());
    json_set_str(loan, "status.name", S("Open"));
    loan_set_action(loan,
                    overrides_any(&co->overrides) ? "checkedOutThroughOverride" : "checkedout",
                    overrides_any(&co->overrides) ? co->overrides.comment : (Str){0});
    json_set_str(loan, "userId", json_str(co->patron, "id"));
    if (co->proxy) {
        json_set_str(loan, "proxyUserId", json_str(co->proxy, "id"));
    }
    json_set_str(loan, "itemId", co->item->id);
    json_set_str(loan, "loanDate", time_format_z(co->loan_date));
    json_set_str(loan, "checkoutServicePointId", co->service_point_id);
    json_set_str_if(loan, "itemEffectiveLocationIdAtCheckOut", co->item->location_id);
    json_set_str_if(loan, "patronGroupIdAtCheckout", json_str(co->patron, "patronGroup"));
    set_policy_id(loan, "loanPolicyId", co->rules.policy_ids[POLICY_LOAN]);
    set_policy_id(loan, "overdueFinePolicyId", co->rules.policy_ids[POLICY_OVERDUE]);
    set_policy_id(loan, "lostItemPolicyId", co->rules.policy_ids[POLICY_LOST]);
    json_set_str(loan, "itemStatus", S("Checked out"));
    if (json_flag(co->policy, "loansPolicy.forUseAtLocation", false)) {
        json_set_str(loan, "forUseAtLocation.status", S("In use"));
        json_set_time(loan, "forUseAtLocation.statusDate", co->req->now);
    }
}

static Err *tell_others(CheckOut *co)
{
    Json *extra = json_object(), *log = json_object();
    const Settings *settings = NULL;

    json_take(extra, "dueDate", co->loan, "dueDate");
    json_take(extra, "gracePeriod", co->policy, "loansPolicy.gracePeriod");
    TRY(emit_loan_event(co->tx, "ITEM_CHECKED_OUT", co->loan, extra));
    TRY(settings_read(co->tx, &settings));
    json_set_str(log, "servicePointId", co->service_point_id);
    json_set_str(log, "itemId", co->item->id);
    json_set_str(log, "itemBarcode", co->item->barcode);
    json_set_str(log, "itemStatusName", co->item->status);
    json_set_str(log, "holdingsRecordId", co->item->holdings_record_id);
    json_set_str(log, "instanceId", co->item->instance_id);
    json_take(log, "loanId", co->loan, "id");
    json_take(log, "userId", co->patron, "id");
    json_take(log, "userBarcode", co->patron, "barcode");
    json_take(log, "proxyBarcode", co->proxy, "barcode");
    json_take(log, "dueDate", co->loan, "dueDate");
    json_set_str(log, "zoneId", settings->zone_name);
    return emit_log_record(co->tx,
                           overrides_any(&co->overrides) ? "CHECK_OUT_THROUGH_OVERRIDE_EVENT"
                                                         : "CHECK_OUT_EVENT",
                           log);
}

// Item before loan: the loan's history keeps the item's status, and both are one transaction.
static Err *lend(CheckOut *co)
{
    loan_begin(co);
    TRY(due_date_set(co));
    TRY(request_queue_fulfil(co));
    if (!co->overrides.item_not_loanable) {
        TRY(recall_must_be_honoured(co));
    }
    item_set_status(co->item, S("Checked out"));
    item_set_destination(co->item, (Str){0});
    TRY(item_save(co->tx, co->item));
    TRY(tx_insert(co->tx, &loans, co->loan));
    TRY(session_record(co->tx, co->loan, "Check-out", (Str){0}));
    TRY(tell_others(co));
    NoticeParts notice = {
        .loan = co->loan, .item = co->item, .recipient = co->patron, .now = co->req->now};
    return notices_plan_due_date(co->tx, &notice, true);
}

static Err *check(CheckOut *co)
{

    co->tx = co->req->tx;
    TRY(read_body(co));
    TRY(find_by_barcodes(co));
    TRY(rules_choose_policies(co));
    TRY(find_state(co));
    TRY(patron_must_be_allowed(co));
    TRY(item_must_be_available(co));
    policy_must_allow(co);
    return co->refusals;
}

Err *check_out_by_barcode(Req *req)
{
    CheckOut co = {.req = req};
    Json *shown = NULL;

    TRY(check(&co));
    TRY(lend(&co));
    LoanParts parts = {.item = co.item, .patron = co.patron, .is_owed_known = true};
    TRY(loan_representation(req->tx, co.loan, &parts, &shown));
    reply_header(req, "Location",
                 str_fmt("/circulation/loans/" STR_FMT, STR_ARG(json_str(co.loan, "id"))));
    return reply_json_text(req, 201, json_text_indented(shown));
}

Err *check_out_dry_run(Req *req)
{
    CheckOut co = {.req = req, .is_dry_run = true};
    Json *answer = json_object();

    TRY(check(&co));
    json_set_str(answer, "loanPolicyId", co.rules.policy_ids[POLICY_LOAN]);
    json_set_str(answer, "overdueFinePolicyId", co.rules.policy_ids[POLICY_OVERDUE]);
    json_set_str(answer, "lostItemPolicyId", co.rules.policy_ids[POLICY_LOST]);
    json_set_str(answer, "patronNoticePolicyId", co.rules.policy_ids[POLICY_NOTICE]);
    return reply_json(req, 201, answer);
}
