// A loan while it is changed: read with what belongs to it, stored after its item, announced.
// Source: spec/circulation.md 4.4, 6, 7.6.
#include "modules/mod-circulation/loans.h"

#include "modules/mod-notes/collections.h"
#include "modules/mod-users/collections.h"

Err *loan_work_read_parts(LoanWork *work)
{
    Str item_id = json_str(work->loan, "itemId"), user_id = json_str(work->loan, "userId");

    if (uuid_is_uuid_shaped(item_id)) {
        TRY(item_view_by_id(work->tx, item_id, &work->item));
    }
    return uuid_is_uuid_shaped(user_id) ? tx_get(work->tx, &users, user_id, &work->patron) : NULL;
}

Err *loan_work_open(LoanWork *work, Str id)
{
    TRY(tx_get_locked(work->tx, &loans, id, &work->loan));
    if (!work->loan) {
        return err_text(404, "loan record with ID \"" STR_FMT "\" cannot be found", STR_ARG(id));
    }
    work->stored = json_copy(work->loan);
    return loan_work_read_parts(work);
}

Err *loan_work_read_queue(LoanWork *work)
{
    if (work->queue) {
        return NULL;
    }
    if (work->item) {
        return queue_of_item(work->tx, work->item, &work->queue);
    }
    work->queue = NEW(Queue);
    return NULL;
}

Err *loan_must_be_open(const Json *loan)
{
    if (!str_eq_nocase(json_str(loan, "status.name"), S("Closed"))) {
        return NULL;
    }
    return err_422(NO_CODE, S("Loan is closed"), P("loanId", json_str(loan, "id")));
}

Err *loan_work_save(LoanWork *work)
{
    if (work->item) {
        TRY(item_save(work->tx, work->item));
        json_set_str_if(work->loan, "itemStatus", work->item->status);
    }
    return work->stored ? tx_change(work->tx, &loans, work->stored, work->loan)
                        : tx_insert(work->tx, &loans, work->loan);
}

Err *loan_forget_recall(LoanWork *work)
{
    if (!json_flag(work->loan, "dueDateChangedByRecall", false)) {
        return NULL;
    }
    TRY(loan_work_read_queue(work));
    if (!work->item || !queue_recall_of(work->queue, work->item)) {
        json_remove(work->loan, "dueDateChangedByRecall");
    }
    return NULL;
}

Err *loan_due_date_announce(LoanWork *work)
{
    Json *extra = json_object();
    NoticeParts notice = {
        .loan = work->loan, .item = work->item, .recipient = work->patron, .now = work->req->now};

    json_take(extra, "dueDate", work->loan, "dueDate");
    json_set_bool(extra, "dueDateChangedByRecall",
                  json_flag(work->loan, "dueDateChangedByRecall", false));
    TRY(emit_loan_event(work->tx, "LOAN_DUE_DATE_CHANGED", work->loan, extra));
    return notices_plan_due_date(work->tx, &notice, false);
}

void loan_close_without_return(LoanWork *work, const char *action, Str comment)
{
    json_set_str(work->loan, "status.name", S("Closed"));
    loan_set_action(work->loan, action, comment);
}

Err *loan_closed_announce(LoanWork *work)
{
    TRY(scheduled_notices_drop_of_loan(work->tx, json_str(work->loan, "id"), NULL));
    return emit_loan_event(work->tx, "LOAN_CLOSED", work->loan, NULL);
}

// Of the type "General note", or whatever type there is; a library without types gets no note.
static Err *note_type(Tx *tx, Str *id)
{
    Json *type = NULL;
    Docs any = {0};

    TRY(tx_find(tx, &note_types, "name", S("General note"), &type));
    if (!type) {
        TRY(tx_where(tx, &note_types, "1 = 1 order by name limit 1", NO_ARGS, &any));
        type = any.len ? any.at[0] : NULL;
    }
    *id = json_str(type, "id");
    return NULL;
}

Err *loan_note_add(LoanWork *work, const char *title)
{
    Json *note = json_object(), *links = json_array(), *link = json_object();
    Str type_id;

    TRY(note_type(work->tx, &type_id));
    if (str_is_empty(type_id) || !json_has(work->loan, "userId")) {
        return NULL;
    }
    json_set_str(note, "typeId", type_id);
    json_set_str(note, "domain", S("users"));
    json_set_str(note, "title", str_of(title));
    json_set_str(note, "content", str_of(title));
    json_take(link, "id", work->loan, "userId");
    json_set_str(link, "type", S("user"));
    json_add(links, link);
    json_set(note, "links", links);
    return tx_insert(work->tx, &notes, note);
}
