// What the parts of mod-inventory share.
#include "modules/mod-inventory/inventory.h"

enum { CQL_MAX = 1024 * 1024 };

Err *inventory_error(Str message, const char *key, Str value)
{
    return err_json(422, NO_CODE, message, &P(key, value), 1);
}

Err *inventory_list_request(Req *req, const Collection *of, ListRequest *out)
{
    static const char *const names[] = {"limit", "offset"};

    for (size_t i = 0; i < 2; i++) {
        Str text;
        int64_t number;
        if (req_query(req, names[i], &text) && !str_int64(text, &number)) {
            return err_text(400, "limit and offset must be numeric when supplied");
        }
    }
    return list_request_read(req, of, out);
}

Str cql_any_of(const char *path, const Str *ids, size_t n)
{
    Buf cql = buf_new(arena_current(), CQL_MAX);

    for (size_t i = 0; i < n; i++) {
        buf_fmt(&cql, "%s%s", i ? " or " : path, i ? "" : "==(");
        buf_fmt(&cql, "\"" STR_FMT "\"", STR_ARG(ids[i]));
    }
    if (n) {
        buf_char(&cql, ')');
    }
    return buf_str(&cql);
}

Json *known_members(const RecordType *type, const Json *from)
{
    Json *out = json_object();

    JSON_EACH(member, from)
    {
        if (property_find(type, str_z(json_key(member)))) {
            json_put(out, json_key(member), json_copy(member));
        }
    }
    return out;
}
