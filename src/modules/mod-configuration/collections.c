// Collections of mod-configuration: entries and their history.
#include "modules/mod-configuration/collections.h"

#include "modules/mod-configuration/hooks.h"
#include "modules/mod-configuration/properties.h"

// Of the enabled entries one per module, name and code for the tenant, and one for each user.
static const Field configurations_fields[] = {
    {"module", "module", TEXT | INDEX},      {"config_name", "configName", TEXT | INDEX},
    {"code", "code", TEXT | INDEX},          {"user_id", "userId", TEXT | INDEX},
    {"is_default", "default", FLAG | INDEX}, {"value_text", "value", TEXT | WORDS | NO_COLUMN},
    {"is_enabled", "enabled", FLAG},         {0},
};

static const UniqueKey configurations_keys[] = {
    {"module, config_name, code", "code is not null and user_id is null and is_enabled = 1"},
    {"module, config_name", "code is null and user_id is null and is_enabled = 1"},
    {"module, config_name, code, user_id",
     "code is not null and user_id is not null and is_enabled = 1"},
    {"module, config_name, user_id", "code is null and user_id is not null and is_enabled = 1"},
    {0},
};

const Collection configurations = {
    .table = "config_data",
    .path = "/configurations/entries",
    .list_key = "configs",
    .ops = "LCrud",
    .permission = "configuration.entries",
    .record = &configuration_record,
    .fields = configurations_fields,
    .uniques = configurations_keys,
    .has_result_info = true,
    .after_write = configuration_written,
    .explain = configuration_explain,
};

const Collection configuration_audits = {
    .table = "audit_config_data",
    .path = "/configurations/audit",
    .list_key = "audits",
    .ops = "L",
    .permission = "configuration.audit",
    .record = &configuration_audit_record,
};

const Collection *const configuration_collections[] = {
    &configurations,
    &configuration_audits,
    NULL,
};
