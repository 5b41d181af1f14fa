// What the reports of fees share.
// Source: spec/fees-fines.md 9.
#include "modules/mod-feesfines/reports.h"

#include "base/sort.h"

#include "modules/mod-circulation/circulation.h"

#include <stdlib.h>

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

Str report_patron_name(const Json *user)
{
    Str last = json_str(user, "personal.lastName"), first = json_str(user, "personal.firstName");
    Str middle = json_str(user, "personal.middleName");

    return str_fmt(STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(last), first.len ? ", " : "",
                   STR_ARG(first), middle.len ? " " : "", STR_ARG(middle));
}

void report_put(Json *entry, const char *name, Str text)
{
    json_set_str(entry, name, text);
}

// ---------------------------------------------------------------------------------------------
// Actions, sorted so that each account finds its own quickly

static Time acted_at(const Json *action)
{
    Time at = 0;

    (void)json_time(action, "dateAction", &at);
    return at;
}

static int compare_actions(const void *a, const void *b)
{
    const Json *first = *(Json *const *)a, *second = *(Json *const *)b;
    int order = str_cmp(json_str(first, "accountId"), json_str(second, "accountId"));
    Time left = acted_at(first), right = acted_at(second);

    return order ? order : (left > right) - (left < right);
}

Err *report_actions(Tx *tx, const Docs *of_accounts, Docs *out)
{
    StrList ids = {0};

    for (size_t i = 0; i < of_accounts->len; i++) {
        str_list_add(&ids, json_str(of_accounts->at[i], "id"));
    }
    TRY(tx_where_in(tx, &feefine_actions,
                    &(WhereIn){.column = "account_id", .values = ids.at, .n = ids.len}, out));
    if (out->len) {
        sort_array(out->at, out->len, sizeof *out->at, compare_actions);
    }
    return NULL;
}

size_t report_first_action(const Docs *actions, Str account_id)
{
    size_t low = 0, high = actions->len;

    account_id = str_lower(account_id);
    while (low < high) {
        size_t middle = (low + high) / 2;
        bool is_before = str_cmp(json_str(actions->at[middle], "accountId"), account_id) < 0;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

// ---------------------------------------------------------------------------------------------
// Totals

typedef struct {
    Str name;
    Money amount;
    int64_t count;
} Total;

static void total_add(Total *total, Money amount)
{
    total->amount += amount;
    total->count++;
}

static void total_put(Json *array, const Total *total)
{
    Json *one = json_object();

    json_set_str(one, "name", total->name);
    json_set_str(one, "totalAmount", money_text(total->amount));
    json_set_str(one, "totalCount", str_fmt("%lld", (long long)total->count));
    json_add(array, one);
}

Json *report_totals(const Json *rows, const char *column, const char *amount_column,
                    const char *name)
{
    Total *totals = NEW_ARRAY(Total, json_len(rows) + 1), all = {.name = str_of(name)};
    Json *array = json_array();
    size_t n = 0;

    JSON_EACH(row, rows)
    {
        Str value = json_str(row, column);
        Money amount = 0;
        size_t i = 0;
        if (!value.len) {
            continue;
        }
        (void)money_parse(json_str(row, amount_column), &amount);
        while (i < n && !str_eq(totals[i].name, value)) {
            i++;
        }
        if (i == n) {
            totals[n++] = (Total){.name = value};
        }
        total_add(&totals[i], amount);
        total_add(&all, amount);
    }
    for (size_t i = 0; i < n; i++) {
        total_put(array, &totals[i]);
    }
    total_put(array, &all);
    return array;
}
