// Reading a request: methods, headers, parameters, cookies.
#include "http/http.h"

#include <string.h>

static const char *const method_names[] = {
    [GET] = "GET",     [POST] = "POST",       [PUT] = "PUT",   [DELETE] = "DELETE",
    [PATCH] = "PATCH", [OPTIONS] = "OPTIONS", [HEAD] = "HEAD", [METHOD_OTHER] = "OTHER",
};

const char *method_name(Method method)
{
    return method_names[method];
}

bool method_of(Str name, Method *out)
{
    for (Method method = GET; method < METHOD_OTHER; method++) {
        if (str_eq_z(name, method_names[method])) {
            *out = method;
            return true;
        }
    }
    return false;
}

void name_values_add(NameValues *list, Str name, Str value)
{
    list->at = array_room(arena_current(), list->at, list->len, &list->cap, sizeof *list->at);
    list->at[list->len++] = (NameValue){name, value};
}

Str req_header(const Req *req, const char *name)
{
    Str wanted = str_of(name);

    for (size_t i = 0; i < req->headers.len; i++) {
        if (str_eq_nocase(req->headers.at[i].name, wanted)) {
            return req->headers.at[i].value;
        }
    }
    return S("");
}

bool req_query(const Req *req, const char *name, Str *value)
{
    Str wanted = str_of(name);

    for (size_t i = 0; i < req->query.len; i++) {
        if (str_eq(req->query.at[i].name, wanted)) {
            *value = req->query.at[i].value;
            return true;
        }
    }
    return false;
}

Str req_query_text(const Req *req, const char *name)
{
    Str value = S("");

    req_query(req, name, &value);
    return value;
}

Err *req_query_int(const Req *req, const char *name, int64_t fallback, int64_t *out)
{
    Str text;
    int64_t value = 0;

    if (!req_query(req, name, &text)) {
        *out = fallback;
        return NULL;
    }
    if (!text.len) {
        return err_text(
            400, "%s does not have a default value in the RAML and has been passed empty", name);
    }
    if (!str_int64(text, &value) || value > INT32_MAX || value < INT32_MIN) {
        return err_text(400, "For input string: \"" STR_FMT "\"", STR_ARG(text));
    }
    if (value < 0) {
        // The blank at the beginning is FOLIO's.
        return err_text(
            400,
            " '%s' parameter is incorrect. parameter value {%lld} is not valid: must be "
            "greater than or equal to 0",
            name, (long long)value);
    }
    *out = value;
    return NULL;
}

bool req_query_flag(const Req *req, const char *name)
{
    return str_eq_nocase(req_query_text(req, name), S("true"));
}

Str req_param(const Req *req, size_t i)
{
    return i < req->param_count ? req->params[i] : S("");
}

static Str unquoted(Str value)
{
    if (value.len >= 2 && value.at[0] == '"' && value.at[value.len - 1] == '"') {
        return str_sub(value, 1, value.len - 1);
    }
    return value;
}

static bool cookie_find(Str line, Str name, Str *value)
{
    Str rest = line, pair;

    while (str_next(&rest, ';', &pair)) {
        ptrdiff_t equals = str_find_char(pair, '=', 0);
        if (equals >= 0 && str_eq(str_trim(str_sub(pair, 0, (size_t)equals)), name)) {
            *value = unquoted(str_trim(str_sub(pair, (size_t)equals + 1, pair.len)));
            return true;
        }
    }
    return false;
}

Str req_cookie(const Req *req, const char *name)
{
    Str wanted = str_of(name), value = S("");

    for (size_t i = 0; i < req->headers.len; i++) {
        const NameValue *header = &req->headers.at[i];
        if (str_eq_nocase(header->name, S("cookie")) &&
            cookie_find(header->value, wanted, &value)) {
            break;
        }
    }
    return value;
}

bool req_has_permission(const Req *req, const char *permission)
{
    return str_list_has(&req->permissions, str_of(permission));
}
