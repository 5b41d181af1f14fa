// What the files of mod-users share.
#pragma once

#include "modules/mod-users/users.h"

// RMB's validation error: 422 with one parameter, code -1.
Err *users_invalid(Str key, Str value, Str message);

// user_routes.c
Err *users_put(Req *req);
Err *users_delete_many(Req *req);
Err *users_expire_post(Req *req);
// Deactivates the users whose time is over, in transactions of its own.
WARN_UNUSED Err *users_expire(Db *db, Time now);
// When the next one expires.
WARN_UNUSED Err *users_expire_due(Db *db, Time now, Time *at);
Err *nothing_to_do(Req *req);

// satellites.c
Err *address_types_delete(Req *req);

// pins.c
Err *pin_post(Req *req);
Err *pin_delete(Req *req);
Err *pin_verify(Req *req);

// tenants.c
Err *user_tenants_list(Req *req);
Err *user_tenants_post(Req *req);
Err *user_tenants_delete(Req *req);

// staging.c
Err *staging_put(Req *req);
Err *staging_merge(Req *req);

// custom_fields.c
Err *custom_fields_put_all(Req *req);
Err *custom_fields_stats(Req *req);
Err *custom_fields_option_stats(Req *req);
Err *custom_fields_cleanup(Tx *tx, Job *job, bool *done);
#define CUSTOM_FIELDS_CLEANUP "custom-fields-cleanup"

// custom_definitions.c: what a definition must be (422); ids for new options, order of options.
WARN_UNUSED Err *custom_definition_check(const Json *definition);
bool custom_field_is_select(const Json *definition);
void custom_options_prepare(Json *definition);
// The name that values have in user records, without a number behind it.
Str custom_field_ref_id(Str name);

// custom_values.c: what a user's values must be: 422, one error per value, joined.
WARN_UNUSED Err *custom_values_check(Tx *tx, Json *user);

// pictures.c
Err *picture_config_get(Req *req);
Err *picture_config_put(Req *req);
Err *picture_post(Req *req);
Err *picture_get(Req *req);
Err *picture_put(Req *req);
Err *picture_delete(Req *req);
WARN_UNUSED Err *picture_config_init(Tx *tx);
