// In which tenants a user is at home: asked for by other modules, empty without a consortium.
// Source: spec/platform.md 4.2, 6.6.
#include "modules/mod-users/internal.h"

// Parameters and members have the same names.
static const char *const names[] = {
    "userId",      "username",          "tenantId", "email",
    "phoneNumber", "mobilePhoneNumber", "barcode",  "externalSystemId",
};

enum {
    USERNAME = 1, // its place among the names
    NAMES = sizeof names / sizeof names[0],
};

typedef struct {
    Str values[NAMES];
    size_t count; // of those that are not empty
} Wanted;

static Wanted read_wanted(const Req *req)
{
    Wanted wanted = {0};

    for (size_t i = 0; i < NAMES; i++) {
        wanted.values[i] = req_query_text(req, names[i]);
        wanted.count += wanted.values[i].len > 0;
    }
    return wanted;
}

static bool is_one(const Json *doc, const Wanted *wanted, bool any)
{
    size_t hits = 0;

    for (size_t i = 0; i < NAMES; i++) {
        Str value = json_str(doc, names[i]);
        bool fits = i == USERNAME ? str_eq(fold_case(value), fold_case(wanted->values[i]))
                                  : str_eq(value, wanted->values[i]);
        hits += wanted->values[i].len && fits;
    }
    return any ? hits > 0 : hits == wanted->count;
}

Err *user_tenants_list(Req *req)
{
    Json *body = json_object(), *list = json_array();
    Wanted wanted = read_wanted(req);
    bool any = str_eq_nocase(req_query_text(req, "queryOp"), S("OR"));
    int64_t limit = 0, offset = 0, total = 0;
    Docs docs = {0};

    TRY(req_query_int(req, "limit", 10, &limit));
    TRY(req_query_int(req, "offset", 0, &offset));
    TRY(tx_where(req->tx, &user_tenants,
                 "($1 = '' or user_id = $1) and ($2 = '' or username = $2) order by id",
                 any && wanted.count > 1
                     ? ARGS(A_TEXT(S("")), A_TEXT(S("")))
                     : ARGS(A_TEXT(wanted.values[0]), A_TEXT(fold(wanted.values[USERNAME]))),
                 &docs));
    for (size_t i = 0; i < docs.len; i++) {
        if (wanted.count && !is_one(docs.at[i], &wanted, any)) {
            continue;
        }
        if (total >= offset && total - offset < limit) {
            json_add(list, docs.at[i]);
        }
        total++;
    }
    json_set(body, "userTenants", list);
    json_set_int(body, "totalRecords", total);
    return reply_json(req, 200, body);
}

Err *user_tenants_post(Req *req)
{
    Json *doc = NULL;

    TRY(req_body_object(req, &doc));
    TRY(tx_insert(req->tx, &user_tenants, doc));
    return reply_empty(req, 201);
}

Err *user_tenants_delete(Req *req)
{
    Str tenant = req_query_text(req, "tenantId");
    int64_t n = 0;

    TRY(tx_exec(req->tx, "delete from user_tenant where $1 = '' or tenant_id = $1",
                ARGS(A_TEXT(fold(tenant))), &n));
    return reply_empty(req, 204);
}
