// What the reports of fees share: their days, texts, and the records that actions belong to.
#pragma once

#include "modules/mod-feesfines/fees.h"

typedef struct {
    const Zone *zone; // of the tenant
    Time from, to;    // of the first day to behind the last; the whole time if not given
} ReportDays;

// 422 text for days that are none.
WARN_UNUSED Err *report_days_read(Tx *tx, const Json *body, ReportDays *out);
// A time in the tenant's zone, short: "3/1/26 2:05 PM". "" for none.
Str report_time(const ReportDays *days, const Json *doc, const char *path);
// What staff wrote for themselves ("STAFF") or for the patron ("PATRON") into a comment.
Str report_comment(const Json *action, const char *reader);
// Puts the text, "" if absent.
void report_put(Json *entry, const char *name, Str text);

// All actions of the accounts, by account and date; where those of one account begin.
WARN_UNUSED Err *report_actions(Tx *tx, const Docs *of_accounts, Docs *out);
size_t report_first_action(const Docs *actions, Str account_id);
// One line {name, totalAmount, totalCount} per value of a column, and one for all of them. Rows
// without a value are left out.
Json *report_totals(const Json *rows, const char *column, const char *amount_column,
                    const char *name);
// "Last, First Middle" of what there is.
Str report_patron_name(const Json *user);
