// mod-configuration: entries of a tenant or of a user, kept under module, name and code.
// FOLIO: mod-configuration 5.10. Source: spec/platform.md 5.1.
#include "modules/mod-configuration/configuration.h"
#include "modules/mod-configuration/hooks.h"

static const char *operation_of(const Json *old, const Json *doc)
{
    if (!old) {
        return "I";
    }
    return doc ? "U" : "D";
}

Err *configuration_written(Tx *tx, const Json *old, const Json *doc)
{
    Json *audit = json_object();
    const Json *entry = doc ? doc : old;

    json_set_str(audit, "orig_id", json_str(entry, "id"));
    json_set_str(audit, "operation", str_of(operation_of(old, doc)));
    json_set(audit, "jsonb", json_copy(entry));
    json_set_str(audit, "createdDate", time_format(tx_now(tx)));
    return tx_insert(tx, &configuration_audits, audit);
}

// FOLIO's entry of errors[] names the key beside the message instead of in parameters.
Err *configuration_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    static const char *const members[] = {"module", "configName", "code", "userId"};
    (void)tx, (void)field, (void)value;

    if (kind != CONFLICT_UNIQUE) {
        return NULL;
    }
    Json *error = json_object(), *errors = json_array(), *body = json_object();
    json_set_str(error, "message",
                 S("Cannot have more than one tenant or user record with the same module, config "
                   "name and code"));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_take(error, members[i], doc, members[i]);
    }
    json_set(error, "parameters", json_array());
    json_add(errors, error);
    json_set(body, "errors", errors);
    return err_body(422, json_text(body));
}

static const Interface provides[] = {
    {"configuration", "2.0", .collections = configuration_collections},
    {0},
};

const Module mod_configuration = {
    .name = "mod-configuration",
    .version = "5.10.0",
    .provides = provides,
    .collections = configuration_collections,
};
