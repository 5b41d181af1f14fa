// Scheduled notices: which are planned for a loan's due date and a request's expiry.
// Source: spec/circulation.md 13.1, 13.3.
#include "modules/mod-circulation/notices.h"

#include "modules/mod-feesfines/feesfines.h"

Err *notice_policy_find(Tx *tx, const NoticeParts *parts, const Json **out)
{
    RuleMatch match;

    *out = NULL;
    if (!parts->item || !parts->recipient || !json_has(parts->recipient, "patronGroup") ||
        str_is_empty(parts->item->location_id)) {
        return NULL;
    }
    TRY(rules_match_item(tx, parts->item, parts->recipient, &match));
    Str id = str_lower(match.policy_ids[POLICY_NOTICE]);
    return uuid_is_uuid_shaped(id) ? tx_ref(tx, &patron_notice_policies, id, out) : NULL;
}

// An instant moved by a notice's distance to it.
static Time moved(const Json *options, Time at)
{
    Str timing = json_str(options, "sendHow");
    Period period;

    if (!period_at(options, "sendBy", &period) || str_eq(timing, S("Upon At"))) {
        return at;
    }
    if (str_eq(timing, S("Before"))) {
        period.duration = -period.duration;
    }
    return zone_add(zone_utc(), at, period);
}

static Err *plan(Tx *tx, const NoticeParts *parts, const Json *notice, const char *event, Time at)
{
    Json *doc = json_object();

    json_take(doc, "loanId", parts->loan, "id");
    json_take(doc, "requestId", parts->request, "id");
    json_take(doc, "recipientUserId", parts->recipient, "id");
    json_set_str(doc, "triggeringEvent", str_of(event));
    json_set_time(doc, "nextRunTime", moved(json_get(notice, "sendOptions"), at));
    json_take(doc, "noticeConfig.timing", notice, "sendOptions.sendHow");
    if (!json_has(doc, "noticeConfig.timing")) {
        json_set_str(doc, "noticeConfig.timing", S("Upon At"));
    }
    if (str_eq(json_str(notice, "frequency"), S("Recurring"))) {
        json_take(doc, "noticeConfig.recurringPeriod", notice, "sendOptions.sendEvery");
    }
    json_take(doc, "noticeConfig.templateId", notice, "templateId");
    json_take(doc, "noticeConfig.format", notice, "format");
    json_set_bool(doc, "noticeConfig.sendInRealTime", json_flag(notice, "realTime", false));
    return tx_insert(tx, &scheduled_notices, doc);
}

static Err *plan_group(Tx *tx, const NoticeParts *parts, const Json *notices, const char *event,
                       Time at)
{
    JSON_EACH(notice, notices)
    {
        if (str_eq_z(json_str(notice, "sendOptions.sendWhen"), event) &&
            uuid_is_uuid_shaped(json_str(notice, "templateId"))) {
            TRY(plan(tx, parts, notice, event, at));
        }
    }
    return NULL;
}

// The first reminder with a fee, if the overdue policy sends any.
static Err *plan_reminder(Tx *tx, const NoticeParts *parts, Time due_at)
{
    const Json *policy = NULL;
    Json *doc = json_object();

    TRY(overdue_fine_policy_by_id(tx, json_str(parts->loan, "overdueFinePolicyId"), &policy));
    const Json *first = json_get(policy, "reminderFeesPolicy.reminderSchedule.0");
    Str format = json_str(first, "noticeFormat"), unit = json_str(first, "timeUnitId");
    if (!first || !json_has(first, "noticeTemplateId") ||
        (!str_eq(format, S("Email")) && !str_eq(format, S("Print")))) {
        return NULL;
    }
    Period period = {.duration = json_int(first, "interval", 0), .unit = DAYS};
    period.unit = str_eq(unit, S("minute")) ? MINUTES : str_eq(unit, S("week")) ? WEEKS : DAYS;
    json_take(doc, "loanId", parts->loan, "id");
    json_take(doc, "recipientUserId", parts->loan, "userId");
    json_set_str(doc, "triggeringEvent", S("Due date - with reminder fee"));
    json_set_time(doc, "nextRunTime", zone_add(zone_utc(), due_at, period));
    json_set_str(doc, "noticeConfig.timing", S("After"));
    json_take(doc, "noticeConfig.templateId", first, "noticeTemplateId");
    json_set_str(doc, "noticeConfig.format", format);
    json_set_bool(doc, "noticeConfig.sendInRealTime", true);
    return tx_insert(tx, &scheduled_notices, doc);
}

Err *notices_plan_due_date(Tx *tx, const NoticeParts *parts, bool is_new_loan)
{
    const Json *policy = NULL;
    Time due_at = 0;

    if (!is_new_loan) {
        TRY(scheduled_notices_drop_of_loan(tx, json_str(parts->loan, "id"), NULL));
    }
    if (str_eq(json_str(parts->loan, "status.name"), S("Closed")) ||
        !json_time(parts->loan, "dueDate", &due_at)) {
        return NULL;
    }
    TRY(notice_policy_find(tx, parts, &policy));
    TRY(plan_group(tx, parts, json_get(policy, "loanNotices"), "Due date", due_at));
    return plan_reminder(tx, parts, due_at);
}

Err *notices_plan_request(Tx *tx, const NoticeParts *parts)
{
    const Json *policy = NULL, *notices = NULL;
    Time expires_at = 0;

    TRY(scheduled_notices_drop_of_request(tx, json_str(parts->request, "id")));
    if (!request_is_open(parts->request)) {
        return NULL;
    }
    TRY(notice_policy_find(tx, parts, &policy));
    notices = json_get(policy, "requestNotices");
    if (json_time(parts->request, "requestExpirationDate", &expires_at)) {
        TRY(plan_group(tx, parts, notices, "Request expiration", expires_at));
    }
    if (json_time(parts->request, "holdShelfExpirationDate", &expires_at)) {
        TRY(plan_group(tx, parts, notices, "Hold expiration", expires_at));
    }
    return NULL;
}
