// What the reports of fees share.
// Source: spec/fees-fines.md 9.
#include "modules/mod-feesfines/reports.h"

#include "modules/mod-circulation/circulation.h"

static bool day_read(const Json *body, const char *member, const Zone *zone, int offset, Time *out)
{
    Time utc = 0;

    if (!json_has(body, member)) {
        return true;
    }
    if (!date_parse(str_sub(json_str(body, member), 0, 10), &utc)) {
        return false;
    }
    // The day's number is what was sent; its midnight is the library's.
    LocalTime day = zone_local(zone_utc(), utc + offset * DAY_MS);
    *out = zone_time(zone, (LocalTime){.year = day.year, .month = day.month, .day = day.day});
    return true;
}

Err *report_days_read(Tx *tx, const Json *body, ReportDays *out)
{
    const Settings *settings = NULL;

    TRY(settings_read(tx, &settings));
    *out = (ReportDays){.zone = settings->zone, .from = INT64_MIN, .to = INT64_MAX};
    bool has_end_only = json_has(body, "endDate") && !json_has(body, "startDate");
    if (has_end_only || !day_read(body, "startDate", out->zone, 0, &out->from) ||
        !day_read(body, "endDate", out->zone, 1, &out->to)) {
        return err_text(422, "Invalid startDate or endDate parameter");
    }
    return NULL;
}

Str report_time(const ReportDays *days, const Json *doc, const char *path)
{
    Time time = 0;

    if (!json_time(doc, path, &time)) {
        return (Str){"", 0};
    }
    LocalTime local = zone_local(days->zone, time);
    int hour = local.hour % 12 ? local.hour % 12 : 12;
    return str_fmt("%d/%d/%02d %d:%02d %s", local.month, local.day, local.year % 100, hour,
                   local.minute, local.hour < 12 ? "AM" : "PM");
}

Str report_comment(const Json *action, const char *reader)
{
    Str comment = json_str(action, "comments"), key = str_fmt("%s : ", reader);
    ptrdiff_t begin = str_find(comment, key, 0);

    if (begin < 0) {
        return (Str){"", 0};
    }
    Str rest = str_sub(comment, (size_t)begin + key.len, comment.len);
    ptrdiff_t end = str_find(rest, S(" \n "), 0);
    return end < 0 ? rest : str_sub(rest, 0, (size_t)end);
}

void report_put(Json *entry, const char *name, Str text)
{
    json_set_str(entry, name, text);
}

const Json *report_find(const Docs *docs, Str id)
{
    for (size_t i = 0; i < docs->len && id.len; i++) {
        if (str_eq_nocase(json_str(docs->at[i], "id"), id)) {
            return docs->at[i];
        }
    }
    return NULL;
}

Err *report_fetch(Tx *tx, const Collection *of, const Docs *from, const char *member, Docs *out)
{
    StrList ids = {0};

    for (size_t i = 0; i < from->len; i++) {
        if (json_has(from->at[i], member)) {
            str_list_add(&ids, str_lower(json_str(from->at[i], member)));
        }
    }
    *out = (Docs){0};
    return ids.len ? tx_get_many(tx, of, ids.at, ids.len, out) : NULL;
}
