// Users of a recipe: active patrons, each with an empty record of permissions.
#include "data.h"

#include "modules/mod-permissions/collections.h"
#include "modules/mod-users/users.h"

enum {
    BARCODES = 900000,     // six digits
    BARCODE_STEP = 524287, // without a common divisor, so that no barcode comes twice
};

static const char *const groups_of_reference[] = {
    "503a81cd-6c26-400f-b620-14c08943697c", "ad0bc554-d5bc-463c-85d1-5562127ae91b",
    "3684a786-6671-4268-8ed0-9db82ebca60b", "bdc2b6d4-5ceb-4a12-ab46-249b9a68473e"};

#define HOME_ADDRESS "93d3d88d-499b-45d0-9bc7-ac73c3a19880"

Str user_id_of(const Maker *maker, int64_t n)
{
    return maker_id(maker, "user", n);
}

Str user_barcode_of(const Maker *maker, int64_t n)
{
    int64_t number = ((int64_t)(maker->seed % BARCODES) + n * BARCODE_STEP) % BARCODES;
    return str_fmt("%lld", (long long)(100000 + number));
}

Str user_group_of(int64_t n)
{
    return str_of(groups_of_reference[n % 4]);
}

static void add_address(const Maker *maker, Json *user, int64_t n)
{
    Json *address = json_object(), *list = json_array();
    uint64_t number = 1 + maker_draw(maker, n, "house", 200);

    json_set_str(address, "addressTypeId", S(HOME_ADDRESS));
    json_set_str(address, "addressLine1", str_fmt("%llu Mill Lane", (unsigned long long)number));
    json_set_str(address, "city", words_place(maker, n));
    json_set_str(address, "countryId", S("US"));
    json_set_bool(address, "primaryAddress", true);
    json_add(list, address);
    json_set(user, "personal.addresses", list);
}

static Json *user_of(const Maker *maker, int64_t n)
{
    Json *user = json_object();
    Str last = words_last_name(maker, n);

    json_set_str(user, "id", user_id_of(maker, n));
    json_set_str(user, "username", str_fmt("patron%06lld", (long long)n + 1));
    json_set_str(user, "barcode", user_barcode_of(maker, n));
    json_set_bool(user, "active", true);
    json_set_str(user, "type", S("patron"));
    json_set_str(user, "patronGroup", user_group_of(n));
    json_set(user, "departments", json_array());
    json_set(user, "proxyFor", json_array());
    json_set_str(user, "personal.lastName",
                 str_fmt(STR_FMT " %lld", STR_ARG(last), (long long)n + 1));
    json_set_str(user, "personal.firstName", words_first_name(maker, n));
    json_set_str(user, "personal.email", str_fmt("patron%06lld@library.example", (long long)n + 1));
    add_address(maker, user, n);
    json_set_str(user, "personal.preferredContactTypeId", S("002"));
    json_set_str(user, "enrollmentDate", S("2020-01-01T00:00:00.000+00:00"));
    json_set_str(user, "expirationDate", S("2099-12-31T23:59:59.000+00:00"));
    return user;
}

Err *people_make(Maker *maker)
{
    maker_stage(maker, "users");
    for (int64_t n = 0; n < maker->recipe->users; n++) {
        ArenaMark mark = arena_mark(arena_current());
        TRY(maker_put(maker, &users, user_of(maker, n)));
        arena_release(arena_current(), mark);
    }
    maker_stage(maker, "permissions of users");
    for (int64_t n = 0; n < maker->recipe->users; n++) {
        ArenaMark mark = arena_mark(arena_current());
        Json *own = json_object();
        json_set_str(own, "id", maker_id(maker, "permissions", n));
        json_set_str(own, "userId", user_id_of(maker, n));
        json_set(own, "permissions", json_array());
        TRY(maker_put(maker, &permission_users, own));
        arena_release(arena_current(), mark);
    }
    return NULL;
}
