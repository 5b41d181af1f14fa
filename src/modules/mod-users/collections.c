// Collections of mod-users: users and what belongs to them.
#include "modules/mod-users/collections.h"

#include "modules/mod-users/hooks.h"
#include "modules/mod-users/properties.h"

static const Field groups_fields[] = {
    {"group_name", "group", TEXT | UNIQUE},
    {0},
};

const Collection groups = {
    .table = "groups",
    .path = "/groups",
    .list_key = "usergroups",
    .ops = "LCrud",
    .permission = "usergroups",
    .record = &user_group_record,
    .fields = groups_fields,
    .is_cached = true,
    .event = "users.userGroup",
};

static const Field address_types_fields[] = {
    {"address_type", "addressType", TEXT | UNIQUE},
    {0},
};

// Deleting looks for users with such addresses first: a route of the module.
const Collection address_types = {
    .table = "addresstype",
    .path = "/addresstypes",
    .list_key = "addressTypes",
    .ops = "LCru",
    .permission = "addresstypes",
    .record = &address_type_record,
    .fields = address_types_fields,
    .is_cached = true,
};

static const Field unique_name_and_code[] = {
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | UNIQUE},
    {0},
};

const Collection departments = {
    .table = "departments",
    .path = "/departments",
    .list_key = "departments",
    .ops = "LCrud",
    .permission = "departments",
    .record = &department_record,
    .fields = unique_name_and_code,
    .is_cached = true,
    .on_read = department_read,
    .before_delete = department_before_delete,
    .explain = department_explain,
};

static const Field users_fields[] = {
    {"patron_group", "patronGroup", UUID | INDEX, .references = &groups},
    {"external_system_id", "externalSystemId", TEXT | UNIQUE | WORDS},
    {"username", "username", TEXT | UNIQUE | WORDS},
    {"barcode", "barcode", TEXT | UNIQUE | WORDS},
    {"first_name", "personal.firstName", TEXT | INDEX | WORDS},
    {"last_name", "personal.lastName", TEXT | INDEX | WORDS},
    {"middle_name", "personal.middleName", TEXT | INDEX | WORDS},
    {"type", "type", TEXT | INDEX | COARSE | WORDS},
    {"expires_at", "expirationDate", TIME | INDEX},
    {"email", "personal.email", TEXT | INDEX | WORDS},
    {"is_active", "active", FLAG | INDEX},
    {"preferred_first_name", "personal.preferredFirstName", TEXT | WORDS | NO_COLUMN},
    {"custom_fields", "customFields", TREE | WORDS | NO_COLUMN},
    {"keywords",
     "username,personal.firstName,personal.preferredFirstName,personal.lastName,personal."
     "middleName,personal.email,barcode,id,externalSystemId,customFields",
     TEXT | WORDS | NO_COLUMN, .cql_name = "keywords"},
    {"departments", "departments", TREE | WORDS | NO_COLUMN},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {"phone", "personal.phone", TEXT | WORDS | NO_COLUMN},
    {"mobile_phone", "personal.mobilePhone", TEXT | WORDS | NO_COLUMN},
    {0},
};

static const Join users_joins[] = {
    {"patronGroup", &groups, .own_column = "patron_group", .sorts = true},
    {0},
};

// PUT and deleting many have texts of their own: routes of the module.
const Collection users = {
    .table = "users",
    .path = "/users",
    .list_key = "users",
    .ops = "LCrd",
    .permission = "users",
    .record = &user_record,
    .fields = users_fields,
    .joins = users_joins,
    .event = "users.users",
    .put_errors_are_text = true,
    .has_result_info = true,
    .not_found = "%s",
    .before_write = user_before_write,
    .explain = user_explain,
};

static const Field proxies_fields[] = {
    {"proxy_user_id", "proxyUserId", TEXT | INDEX},
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

static const UniqueKey proxies_keys[] = {
    {"user_id, proxy_user_id"},
    {0},
};

const Collection proxies = {
    .table = "proxyfor",
    .path = "/proxiesfor",
    .list_key = "proxiesFor",
    .ops = "LCrud",
    .permission = "proxiesfor",
    .record = &proxy_record,
    .fields = proxies_fields,
    .uniques = proxies_keys,
    .explain = proxy_explain,
};

// Listing and deleting go by parameters instead of CQL, POST answers no body: routes of the module.
static const Field user_tenants_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {"username", "username", TEXT | INDEX},
    {"tenant_id", "tenantId", TEXT | INDEX},
    {"email", "email", TEXT | INDEX},
    {0},
};

const Collection user_tenants = {
    .table = "user_tenant",
    .path = "/user-tenants",
    .list_key = "userTenants",
    .ops = "",
    .permission = "user-tenants",
    .record = &user_tenant_record,
    .fields = user_tenants_fields,
};

const Collection patron_pins = {
    .table = "patronpin",
    .record = &patron_pin_record,
};

static const Field custom_fields_fields[] = {
    {"ref_id", "refId", TEXT | UNIQUE},
    {"entity_type", "entityType", TEXT | INDEX},
    {"order_number", "order", NUMBER | INDEX},
    {0},
};

const Collection custom_fields = {
    .table = "custom_fields",
    .path = "/custom-fields",
    .list_key = "customFields",
    .ops = "LCrud",
    .permission = "user-settings.custom-fields",
    .record = &custom_field_record,
    .fields = custom_fields_fields,
    .is_cached = true,
    .default_sort = "order/number",
    .before_write = custom_field_before_write,
    .after_write = custom_field_after_write,
};

static const Field staging_users_fields[] = {
    {"external_system_id", "externalSystemId", TEXT | UNIQUE},
    {"email", "contactInfo.email", TEXT | INDEX},
    {"first_name", "generalInfo.firstName", TEXT | INDEX},
    {"last_name", "generalInfo.lastName", TEXT | INDEX},
    {"middle_name", "generalInfo.middleName", TEXT | INDEX},
    {"keywords",
     "generalInfo.firstName,generalInfo.preferredFirstName,generalInfo.middleName,generalInfo."
     "lastName,contactInfo.phone,contactInfo.mobilePhone,contactInfo.email,"
     "preferredEmailCommunication,id,isEmailVerified,externalSystemId",
     TEXT | WORDS | NO_COLUMN, .cql_name = "keywords"},
    {0},
};

const Collection staging_users = {
    .table = "staging_users",
    .path = "/staging-users",
    .list_key = "staging_users",
    .ops = "LC",
    .permission = "staging-users",
    .record = &staging_user_record,
    .fields = staging_users_fields,
    .before_write = staging_before_write,
};

static const Field user_settings_fields[] = {
    {"key_name", "key", TEXT | UNIQUE | KEEP_ACCENTS},
    {0},
};

const Collection user_settings = {
    .table = "users_settings",
    .path = "/user/settings",
    .list_key = "settings",
    .ops = "LCrud",
    .permission = "users.settings",
    .record = &user_setting_record,
    .fields = user_settings_fields,
    .locking = FAIL_ON_CONFLICT,
};

const Collection profile_pictures = {
    .table = "profile_picture",
    .record = &profile_picture_record,
};

const Collection picture_settings = {
    .table = "users_configuration",
    .record = &picture_settings_record,
    .is_cached = true,
};

const Collection *const users_collections[] = {
    &groups,           &address_types,    &departments,   &users,         &proxies,
    &user_tenants,     &patron_pins,      &custom_fields, &staging_users, &user_settings,
    &profile_pictures, &picture_settings, NULL,
};
