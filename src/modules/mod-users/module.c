// mod-users: users, groups, address types, departments, proxies.
// FOLIO: mod-users 19.3. Source: spec/platform.md 4.
#include "modules/mod-users/users.h"

static const Collection *const users_interface[] = {
    &users, &groups, &address_types, &departments, &proxies, NULL,
};

static const Collection *const tenants_interface[] = {&user_tenants, NULL};

// No consortium: nobody belongs to other tenants (spec/platform.md 6.6).
static Err *user_tenants_list(Req *req)
{
    return reply_json_text(req, 200, S("{\"userTenants\":[],\"totalRecords\":0}"));
}

static const Route tenants_routes[] = {
    {GET, "/user-tenants", NONE, user_tenants_list, "user-tenants.collection.get"},
    {0},
};

static const Interface provides[] = {
    {"users", "16.5", .collections = users_interface},
    {"user-tenants", "1.0", .routes = tenants_routes, .collections = tenants_interface},
    {0},
};

const Module mod_users = {
    .name = "mod-users",
    .version = "19.3.1",
    .provides = provides,
    .collections = users_collections,
    .user_state = user_state,
};
