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

const Json *report_find(const Docs *docs, Str id);
// Records that a member of the documents names, in few statements.
WARN_UNUSED Err *report_fetch(Tx *tx, const Collection *of, const Docs *from, const char *member,
                              Docs *out);
