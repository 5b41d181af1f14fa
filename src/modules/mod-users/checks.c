// What a user record must be beyond its shape. Source: spec/platform.md 4.1.
#include "modules/mod-users/hooks.h"
#include "modules/mod-users/internal.h"

Err *users_invalid(Str key, Str value, Str message)
{
    const ErrParam param = {.key = key, .value = value};
    Err *err = err_json(422, S("-1"), message, &param, 1);

    err->type = S("1");
    return err;
}

static Err *check_date_of_birth(const Json *doc)
{
    Time born = 0, first = 0;

    (void)date_parse(S("0001-01-01"), &first);
    if (json_time(doc, "personal.dateOfBirth", &born) && born < first) {
        return err_text(400, "dateOfBirth must be at least 0001-01-01");
    }
    return NULL;
}

static Err *check_addresses(Tx *tx, const Json *doc, bool is_new)
{
    StrList types = {0};
    Str missing = {0};

    JSON_EACH(address, json_get(doc, "personal.addresses"))
    {
        Str type = json_str(address, "addressTypeId");
        if (str_list_has(&types, type)) {
            return err_text(400, "Users are limited to one address per addresstype");
        }
        str_list_add(&types, type);
    }
    TRY(tx_hold(tx, &address_types, &types, &missing));
    if (!missing.at) {
        return NULL;
    }
    return err_text(400, "%s",
                    is_new ? "You cannot add addresses with non-existent address types"
                           : "All addresses types defined for users must be existing");
}

static Err *check_departments(Tx *tx, const Json *doc, bool is_new)
{
    StrList ids = {0};
    Str missing = {0};

    JSON_EACH(id, json_get(doc, "departments"))
    {
        str_list_add(&ids, json_scalar_text(id));
    }
    TRY(tx_hold(tx, &departments, &ids, &missing));
    if (!missing.at) {
        return NULL;
    }
    Str message = str_fmt("Cannot set users.departments = " STR_FMT
                          " because it does not exist in departments.id.",
                          STR_ARG(missing));
    return is_new ? users_invalid(S("users.departments"), missing, message)
                  : err_text(400, STR_FMT, STR_ARG(message));
}

static Err *check_picture(const Json *doc)
{
    if (str_eq(json_str(doc, "type"), S("shadow")) &&
        json_has(doc, "personal.profilePictureLink")) {
        return err_text(500, "Profile Picture feature is not applicable for user's type SHADOW");
    }
    return NULL;
}

// The dates beside `metadata` are older than it; clients may still read them.
static void stamp(Tx *tx, const Json *old, Json *doc)
{
    json_set_time(doc, "updatedDate", tx_now(tx));
    if (!old) {
        json_set_time(doc, "createdDate", tx_now(tx));
    } else {
        json_remove(doc, "createdDate");
        json_take(doc, "createdDate", old, "createdDate");
    }
}

Err *user_before_write(Tx *tx, const Json *old, Json *doc)
{
    Str name = json_str(doc, "username");

    TRY(check_picture(doc));
    TRY(check_date_of_birth(doc));
    TRY(custom_values_check(tx, doc));
    TRY(check_addresses(tx, doc, !old));
    TRY(check_departments(tx, doc, !old));
    if (!old && str_trim(name).len != name.len && str_trim(name).len) {
        json_set_str(doc, "username", str_trim(name));
    }
    stamp(tx, old, doc);
    return NULL;
}

Err *user_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    Str column = field ? str_of(field->column) : S("");
    (void)tx;

    if (kind == CONFLICT_MISSING_REFERENCE && str_eq(column, S("patron_group"))) {
        return err_text(400, "Cannot add " STR_FMT ". Patron group not found", STR_ARG(value));
    }
    if (kind == CONFLICT_ID) {
        return users_invalid(S("id"), value, S("User with this id already exists"));
    }
    if (kind == CONFLICT_UNIQUE && str_eq(column, S("username"))) {
        return users_invalid(S("username"), json_str(doc, "username"),
                             S("User with this username already exists"));
    }
    if (kind == CONFLICT_UNIQUE && str_eq(column, S("barcode"))) {
        return users_invalid(S("barcode"), json_str(doc, "barcode"),
                             S("This barcode has already been taken"));
    }
    return NULL;
}
