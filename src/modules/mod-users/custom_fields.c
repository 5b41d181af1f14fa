// Custom fields: definitions with an order, and what becomes of values when a definition goes.
// Source: spec/platform.md 4.2.
#include "modules/mod-users/hooks.h"
#include "modules/mod-users/internal.h"

enum {
    CLEANUP_STEP = 100, // users of one transaction
};

// ---------------------------------------------------------------------------------------------
// Writing a definition

static Err *next_order(Tx *tx, int64_t *out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &custom_fields, "1 = 1 order by order_number desc limit 1", NO_ARGS, &docs));
    *out = docs.len ? json_int(docs.at[0], "order", 0) + 1 : 1;
    return NULL;
}

// The name's, with the next number if the name was there before.
static Err *new_ref_id(Tx *tx, Str name, Str *out)
{
    Str stem = custom_field_ref_id(name);
    Json *taken = NULL;

    *out = stem;
    for (int n = 2;; n++) {
        TRY(tx_find(tx, &custom_fields, "ref_id", *out, &taken));
        if (!taken) {
            return NULL;
        }
        *out = str_fmt(STR_FMT "_%d", STR_ARG(stem), n);
    }
}

static Err *not_changeable(const char *what, const char *key, Str now, Str before)
{
    return users_invalid(str_of(key), now,
                         str_fmt("The %s of the custom field can not be changed: new%c%s = " STR_FMT
                                 ", old%c%s = " STR_FMT,
                                 what, what[0] - 'a' + 'A', what + 1, STR_ARG(now),
                                 what[0] - 'a' + 'A', what + 1, STR_ARG(before)));
}

static Err *check_unchanged(const Json *old, const Json *doc)
{
    Str type = json_str(doc, "type"), old_type = json_str(old, "type");
    Str format = json_str(doc, "textField.fieldFormat");
    Str old_format = json_str(old, "textField.fieldFormat");

    if (!str_eq(type, old_type)) {
        return not_changeable("type", "type", type, old_type);
    }
    return str_eq(format, old_format) ? NULL
                                      : not_changeable("format", "fieldFormat", format, old_format);
}

Err *custom_field_before_write(Tx *tx, const Json *old, Json *doc)
{
    Str type = json_str(doc, "type"), ref_id;
    int64_t order = 0;

    TRY(custom_definition_check(doc));
    if (str_starts(type, S("TEXTBOX")) && !json_has(doc, "textField")) {
        json_set_str(doc, "textField.fieldFormat", S("TEXT"));
    }
    custom_options_prepare(doc);
    if (old) {
        json_set_str(doc, "refId", json_str(old, "refId"));
        if (!json_has(doc, "order")) {
            json_take(doc, "order", old, "order");
        }
        return check_unchanged(old, doc);
    }
    TRY(new_ref_id(tx, json_str(doc, "name"), &ref_id));
    json_set_str(doc, "refId", ref_id);
    if (!json_has(doc, "order")) {
        TRY(next_order(tx, &order));
        json_set_int(doc, "order", order);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Values whose definition or option is gone

// The job's state: {"refId", "options": [ids that are gone], "defaults": [...]}; no options: all.
static Json *cleanup_of(const Json *old, const Json *doc)
{
    Json *job = json_object(), *gone = json_array(), *defaults = json_array();

    json_set_str(job, "refId", json_str(old, "refId"));
    if (!doc) {
        return job;
    }
    JSON_EACH(option, json_get(old, "selectField.options.values"))
    {
        bool is_kept = false;
        JSON_EACH(now, json_get(doc, "selectField.options.values"))
        {
            is_kept = is_kept || str_eq(json_str(now, "id"), json_str(option, "id"));
        }
        if (!is_kept) {
            json_add(gone, json_string(json_str(option, "id")));
        }
    }
    JSON_EACH(option, json_get(doc, "selectField.options.values"))
    {
        if (json_flag(option, "default", false)) {
            json_add(defaults, json_string(json_str(option, "id")));
        }
    }
    if (!json_len(gone)) {
        return NULL;
    }
    json_set(job, "options", gone);
    json_set(job, "defaults", defaults);
    return job;
}

static bool is_in(const Json *list, const Json *value)
{
    JSON_EACH(one, list)
    {
        if (json_equal(one, value)) {
            return true;
        }
    }
    return false;
}

// What is left of a value: NULL if nothing; several as array.
static Json *rest_of(const Json *value, const Json *job)
{
    const Json *gone = json_get(job, "options"), *defaults = json_get(job, "defaults");
    Json *rest = json_array();

    if (!gone) {
        return NULL;
    }
    if (json_is_array(value)) {
        JSON_EACH(one, value)
        {
            if (!is_in(gone, one)) {
                json_add(rest, json_copy(one));
            }
        }
    } else if (!is_in(gone, value)) {
        return json_copy(value);
    }
    if (!json_len(rest)) {
        rest = json_copy(defaults);
    }
    if (json_len(rest) > 1) {
        return rest;
    }
    return json_len(rest) ? json_copy(json_first(rest)) : NULL;
}

static Json *value_of(const Json *user, Str ref_id)
{
    JSON_EACH(value, json_get(user, "customFields"))
    {
        if (str_eq(json_key(value), ref_id)) {
            return value;
        }
    }
    return NULL;
}

static Err *clean_user(Tx *tx, const Json *user, const Json *job)
{
    Json *doc = json_copy(user), *kept = json_object();
    Str ref_id = json_str(job, "refId");

    JSON_EACH(value, json_get(user, "customFields"))
    {
        Json *now = str_eq(json_key(value), ref_id) ? rest_of(value, job) : json_copy(value);
        if (now) {
            json_put(kept, json_key(value), now);
        }
    }
    json_set(doc, "customFields", kept);
    return tx_change(tx, &users, user, doc);
}

// Users whose values hold the words of the name, or of one of the options beside it.
static Str candidates_of(const Json *job)
{
    Buf query = buf_new(arena_current(), 1 << 20);
    const char *between = " and (";

    buf_fmt(&query, "customFields adj \"" STR_FMT "\"", STR_ARG(json_str(job, "refId")));
    JSON_EACH(option, json_get(job, "options"))
    {
        buf_fmt(&query, "%scustomFields adj \"" STR_FMT "\"", between,
                STR_ARG(json_scalar_text(option)));
        between = " or ";
    }
    buf_add_z(&query, json_get(job, "options") ? ")" : "");
    buf_fmt(&query, " and id > \"" STR_FMT "\" sortby id",
            STR_ARG(json_has(job, "after") ? json_str(job, "after")
                                           : S("00000000-0000-0000-0000-000000000000")));
    return buf_str(&query);
}

// One step; the job remembers how far it came. *done: no further users.
static Err *clean_step(Tx *tx, Json *job, bool *done)
{
    Docs docs = {0};
    Str ref_id = json_str(job, "refId");

    TRY(tx_list(tx, &users, candidates_of(job), CLEANUP_STEP, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        const Json *value = value_of(docs.at[i], ref_id);
        Json *rest = value ? rest_of(value, job) : NULL;
        if (value && !(rest && json_equal(rest, value))) {
            TRY(clean_user(tx, docs.at[i], job));
        }
        json_set_str(job, "after", json_str(docs.at[i], "id"));
    }
    *done = docs.len < CLEANUP_STEP;
    return NULL;
}

Err *custom_fields_cleanup(Tx *tx, Job *job, bool *done)
{
    return clean_step(tx, job->doc, done);
}

// The first users at once, the others by and by: a client that looks sees its change.
Err *custom_field_after_write(Tx *tx, const Json *old, const Json *doc)
{
    Json *job = old ? cleanup_of(old, doc) : NULL;
    bool is_done = false;

    if (!job) {
        return NULL;
    }
    TRY(clean_step(tx, job, &is_done));
    return is_done ? NULL : job_enqueue_at(tx, CUSTOM_FIELDS_CLEANUP, tx_now(tx), job);
}

// ---------------------------------------------------------------------------------------------
// PUT of the whole list

static Err *check_entity_types(const Json *body)
{
    Str type = json_str(body, "entityType");

    JSON_EACH(field, json_get(body, "customFields"))
    {
        Str own = json_str(field, "entityType");
        if (!str_eq(own, type)) {
            return users_invalid(S("null"), S("null"),
                                 str_fmt("Collection entityType '" STR_FMT
                                         "' does not match custom fields entityType '" STR_FMT "'",
                                         STR_ARG(type), STR_ARG(own)));
        }
    }
    return NULL;
}

static bool list_has_id(const Json *list, Str id)
{
    JSON_EACH(field, list)
    {
        if (str_eq_nocase(json_str(field, "id"), id)) {
            return true;
        }
    }
    return false;
}

static Err *save_field(Tx *tx, const Json *field, int64_t order)
{
    Json *doc = json_copy(field), *old = NULL;
    Str id = str_lower(json_str(field, "id"));

    json_set_int(doc, "order", order);
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(tx, &custom_fields, id, &old));
    }
    return old ? tx_update(tx, &custom_fields, doc) : tx_insert(tx, &custom_fields, doc);
}

Err *custom_fields_put_all(Req *req)
{
    Json *body = NULL;
    Docs docs = {0};
    int64_t order = 0;

    TRY(req_body_object(req, &body));
    const Json *list = json_get(body, "customFields");
    if (!json_is_array(list)) {
        return users_invalid(S("customFields"), S("null"), S("must not be null"));
    }
    TRY(check_entity_types(body));
    TRY(tx_where(req->tx, &custom_fields, "entity_type = $1",
                 ARGS(A_TEXT(fold(json_str(body, "entityType")))), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        if (!list_has_id(list, json_str(docs.at[i], "id"))) {
            TRY(tx_delete(req->tx, &custom_fields, json_str(docs.at[i], "id")));
        }
    }
    JSON_EACH(field, list)
    {
        TRY(save_field(req->tx, field, ++order));
    }
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Statistics

static Err *existing(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &custom_fields, id, out));
    }
    return *out
               ? NULL
               : err_text(404, "CustomField not found by id: " STR_FMT, STR_ARG(req_param(req, 0)));
}

// Users that have a value; with an option: that hold it.
static Err *count_users(Tx *tx, const Json *field, Str option, int64_t *out)
{
    Str ref_id = json_str(field, "refId");
    Json *job = json_object(), *wanted = json_string(option);
    Docs docs = {0};

    json_set_str(job, "refId", ref_id);
    if (option.len) {
        json_set(job, "options", json_array());
        json_add(json_get(job, "options"), json_string(option));
    }
    do {
        TRY(tx_list(tx, &users, candidates_of(job), 1000, &docs));
        for (size_t i = 0; i < docs.len; i++) {
            const Json *value = value_of(docs.at[i], ref_id);
            *out += value && (!option.len || json_equal(value, wanted) || is_in(value, wanted));
            json_set_str(job, "after", json_str(docs.at[i], "id"));
        }
    } while (docs.len == 1000);
    return NULL;
}

Err *custom_fields_stats(Req *req)
{
    Json *field = NULL, *body = json_object();
    int64_t count = 0;

    TRY(existing(req, &field));
    TRY(count_users(req->tx, field, S(""), &count));
    json_take(body, "fieldId", field, "id");
    json_take(body, "entityType", field, "entityType");
    json_set_int(body, "count", count);
    return reply_json(req, 200, body);
}

Err *custom_fields_option_stats(Req *req)
{
    Json *field = NULL, *body = json_object();
    Str option = req_param(req, 1);
    bool is_known = false;
    int64_t count = 0;

    TRY(existing(req, &field));
    if (!custom_field_is_select(field)) {
        return users_invalid(S("type"), json_str(field, "type"),
                             S("The type of the custom field must be one of:"
                               "SINGLE_SELECT_DROPDOWN, MULTI_SELECT_DROPDOWN, RADIO_BUTTON"));
    }
    JSON_EACH(one, json_get(field, "selectField.options.values"))
    {
        is_known = is_known || str_eq(json_str(one, "id"), option);
    }
    if (!is_known) {
        return users_invalid(S("optId"), option,
                             str_fmt("Option with id '" STR_FMT
                                     "' not found in custom field '" STR_FMT "'",
                                     STR_ARG(option), STR_ARG(json_str(field, "id"))));
    }
    TRY(count_users(req->tx, field, option, &count));
    json_set_str(body, "optionId", option);
    json_take(body, "customFieldId", field, "id");
    json_take(body, "entityType", field, "entityType");
    json_set_int(body, "count", count);
    return reply_json(req, 200, body);
}
