// Calendars over HTTP: finding, making, changing, deleting. Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/errors.h"
#include "modules/mod-calendar/internal.h"

// ---------------------------------------------------------------------------------------------
// Reading a body: what is known is taken, times get their seconds

static Err *missing(const Req *req, const char *name)
{
    return calendar_invalid(req->now, str_fmt("%s is missing or of the wrong type", name));
}

static Err *take_text(const Req *req, Json *to, const Json *from, const char *name)
{
    if (!json_is_string(json_get(from, name))) {
        return missing(req, name);
    }
    json_take(to, name, from, name);
    return NULL;
}

static Err *take_date(const Req *req, Json *to, const Json *from, const char *name)
{
    Time date = 0;

    if (!date_parse(json_str(from, name), &date)) {
        return missing(req, name);
    }
    json_take(to, name, from, name);
    return NULL;
}

static Err *take_time(const Req *req, Json *to, const Json *from, const char *name)
{
    Str text = json_str(from, name);
    int minute = 0;

    if (!minute_parse(text, &minute)) {
        return missing(req, name);
    }
    json_set_str(to, name, text.len == 5 ? str_fmt(STR_FMT ":00", STR_ARG(text)) : text);
    return NULL;
}

static Err *take_weekday(const Req *req, Json *to, const Json *from, const char *name)
{
    if (weekday_of(json_str(from, name)) < 0) {
        return missing(req, name);
    }
    json_take(to, name, from, name);
    return NULL;
}

// A member of a calendar's lists, and how it is checked and taken over.
typedef struct {
    const char *name;
    Err *(*take)(const Req *req, Json *to, const Json *from, const char *name);
} Part;

static Err *take_list(const Req *req, Json *to, const Json *from, const char *name,
                      const Part *parts)
{
    Json *list = json_array();

    JSON_EACH(one, json_get(from, name))
    {
        Json *taken = json_object();
        for (const Part *part = parts; part->name; part++) {
            TRY(part->take(req, taken, one, part->name));
        }
        json_add(list, taken);
    }
    json_set(to, name, list);
    return NULL;
}

static const Part hours_parts[] = {
    {"startDay", take_weekday},
    {"startTime", take_time},
    {"endDay", take_weekday},
    {"endTime", take_time},
    {0},
};

static Err *take_openings(const Req *req, Json *to, const Json *from, const char *name)
{
    static const Part parts[] = {
        {"startDate", take_date},
        {"startTime", take_time},
        {"endDate", take_date},
        {"endTime", take_time},
        {0},
    };

    return take_list(req, to, from, name, parts);
}

static const Part exception_parts[] = {
    {"name", take_text},
    {"startDate", take_date},
    {"endDate", take_date},
    {"openings", take_openings},
    {0},
};

static Err *read_assignments(const Req *req, const Json *body, Json *to)
{
    Json *list = json_array();

    JSON_EACH(from, json_get(body, "assignments"))
    {
        Str id = str_lower(json_scalar_text(from));
        if (!uuid_is_uuid_shaped(id)) {
            return missing(req, "assignments");
        }
        json_add(list, json_string(id));
    }
    json_set(to, "assignments", list);
    return NULL;
}

static Err *read_body(const Req *req, Json **out)
{
    Json *body = NULL, *calendar = json_object();
    Err *err = json_parse(req->body, &body);

    if (err) {
        return err->status == 400 ? calendar_invalid(req->now, err->message) : err;
    }
    if (!json_is_object(body)) {
        return calendar_invalid(req->now, S("the body is no calendar"));
    }
    TRY(take_text(req, calendar, body, "name"));
    TRY(take_date(req, calendar, body, "startDate"));
    TRY(take_date(req, calendar, body, "endDate"));
    TRY(read_assignments(req, body, calendar));
    TRY(take_list(req, calendar, body, "normalHours", hours_parts));
    TRY(take_list(req, calendar, body, "exceptions", exception_parts));
    *out = calendar;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Parameters

static Err *id_param(const Req *req, Str *out)
{
    Str id = req_param(req, 0);

    if (!uuid_is_uuid_shaped(id)) {
        return calendar_invalid(req->now, str_fmt("Invalid UUID string: " STR_FMT, STR_ARG(id)));
    }
    *out = str_lower(id);
    return NULL;
}

// Values of a parameter that may be repeated or hold several with commas.
static Err *ids_query(const Req *req, const char *name, StrList *out)
{
    for (size_t i = 0; i < req->query.len; i++) {
        Str rest = req->query.at[i].value, id;
        if (!str_eq_z(req->query.at[i].name, name)) {
            continue;
        }
        while (str_next(&rest, ',', &id)) {
            if (!uuid_is_uuid_shaped(id)) {
                return calendar_invalid(req->now,
                                        str_fmt("Invalid UUID string: " STR_FMT, STR_ARG(id)));
            }
            str_list_add(out, str_lower(id));
        }
    }
    return NULL;
}

Err *calendar_int_query(const Req *req, const char *name, int64_t fallback, int64_t *out)
{
    Str text = req_query_text(req, name);

    *out = fallback;
    if (text.len && (!str_int64(text, out) || *out < 0 || *out > INT32_MAX)) {
        return calendar_invalid(req->now, str_fmt("%s: " STR_FMT, name, STR_ARG(text)));
    }
    return NULL;
}

Err *calendar_date_query(const Req *req, const char *name, bool is_needed, Time *out)
{
    Str text = req_query_text(req, name);

    if (!text.len && !is_needed) {
        return NULL;
    }
    if (!date_parse(text, out)) {
        return calendar_invalid(req->now, str_fmt("%s: " STR_FMT, name, STR_ARG(text)));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes

static bool is_assigned(const Json *calendar, const StrList *service_points)
{
    JSON_EACH(id, json_get(calendar, "assignments"))
    {
        if (str_list_has(service_points, json_scalar_text(id))) {
            return true;
        }
    }
    return false;
}

static Err *find_calendars(Req *req, const StrList *ids, const StrList *points, Docs *docs)
{
    Time start = 0, end = 0;

    TRY(calendar_date_query(req, "startDate", false, &start));
    TRY(calendar_date_query(req, "endDate", false, &end));
    TRY(tx_where(
        req->tx, &calendars,
        "($1 = '' or end_date >= $1) and ($2 = '' or start_date <= $2) "
        "order by start_date, id",
        ARGS(A_TEXT(req_query_text(req, "startDate")), A_TEXT(req_query_text(req, "endDate"))),
        docs));
    size_t kept = 0;
    for (size_t i = 0; i < docs->len; i++) {
        if ((!ids->len || str_list_has(ids, json_str(docs->at[i], "id"))) &&
            (!points->len || is_assigned(docs->at[i], points))) {
            docs->at[kept++] = docs->at[i];
        }
    }
    docs->len = kept;
    return NULL;
}

Err *calendars_list(Req *req)
{
    StrList ids = {0}, points = {0};
    int64_t offset = 0, limit = 0;
    Docs docs = {0};
    Json *body = json_object(), *list = json_array();

    TRY(ids_query(req, "id", &ids));
    TRY(ids_query(req, "servicePointId", &points));
    TRY(calendar_int_query(req, "offset", 0, &offset));
    TRY(calendar_int_query(req, "limit", 10, &limit));
    TRY(find_calendars(req, &ids, &points, &docs));
    for (int64_t i = offset; i < (int64_t)docs.len && i - offset < limit; i++) {
        json_add(list, docs.at[i]);
    }
    json_set(body, "calendars", list);
    json_set_int(body, "totalRecords", (int64_t)docs.len);
    return reply_json(req, 200, body);
}

Err *calendars_post(Req *req)
{
    Json *calendar = NULL;

    TRY(read_body(req, &calendar));
    TRY(calendar_validate(req->tx, calendar));
    TRY(tx_insert(req->tx, &calendars, calendar));
    return reply_json(req, 201, calendar);
}

static Err *existing(Req *req, Str id, Json **out)
{
    TRY(tx_get(req->tx, &calendars, id, out));
    if (*out) {
        return NULL;
    }
    Json *ids = json_array();
    json_add(ids, json_string(id));
    return calendar_not_found(req->now, ids);
}

Err *calendars_get(Req *req)
{
    Str id;
    Json *calendar = NULL;

    TRY(id_param(req, &id));
    TRY(existing(req, id, &calendar));
    return reply_json(req, 200, calendar);
}

Err *calendars_put(Req *req)
{
    Str id;
    Json *old = NULL, *calendar = NULL;

    TRY(id_param(req, &id));
    TRY(existing(req, id, &old));
    TRY(read_body(req, &calendar));
    json_set_str(calendar, "id", id);
    TRY(calendar_validate(req->tx, calendar));
    TRY(tx_update(req->tx, &calendars, calendar));
    return reply_json(req, 200, calendar);
}

Err *calendars_delete(Req *req)
{
    Str id;
    Json *calendar = NULL;

    TRY(id_param(req, &id));
    TRY(existing(req, id, &calendar));
    TRY(tx_delete(req->tx, &calendars, id));
    return reply_empty(req, 204);
}

// All or none.
Err *calendars_delete_many(Req *req)
{
    StrList ids = {0};
    Json *absent = json_array();

    TRY(ids_query(req, "id", &ids));
    if (!ids.len) {
        return calendar_invalid(
            req->now, S("Required request parameter 'id' for method parameter type List is not "
                        "present"));
    }
    for (size_t i = 0; i < ids.len; i++) {
        const Json *calendar = NULL;
        TRY(tx_ref(req->tx, &calendars, ids.at[i], &calendar));
        if (!calendar) {
            json_add(absent, json_string(ids.at[i]));
        }
    }
    if (json_len(absent)) {
        return calendar_not_found(req->now, absent);
    }
    for (size_t i = 0; i < ids.len; i++) {
        const Json *calendar = NULL;
        TRY(tx_ref(req->tx, &calendars, ids.at[i], &calendar));
        if (calendar) { // named twice: gone already
            TRY(tx_delete(req->tx, &calendars, ids.at[i]));
        }
    }
    return reply_empty(req, 204);
}
