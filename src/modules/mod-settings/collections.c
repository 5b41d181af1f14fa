// Collections of mod-settings: entries by scope and key, the tenant's locale, address of its front
// end and postal addresses.
#include "modules/mod-settings/collections.h"

#include "modules/mod-settings/properties.h"

// Scopes and keys are compared to the letter.
static const Field entry_fields[] = {
    {"scope", "scope", TEXT | INDEX | KEEP_CASE | KEEP_ACCENTS},
    {"key", "key", TEXT | INDEX | KEEP_CASE | KEEP_ACCENTS},
    {"user_id", "userId", UUID | INDEX},
    {0},
};

static const UniqueKey entry_keys[] = {
    {"scope, key", "user_id is null"},
    {"scope, key, user_id", "user_id is not null"},
    {0},
};

// Refuses as FOLIO does, without telling that somebody else's entry exists.
static Err *entry_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx, (void)kind, (void)field, (void)value, (void)doc;
    return err_text(403, "Forbidden");
}

const Collection settings_entries = {
    .table = "settings",
    .record = &settings_entry_record,
    .fields = entry_fields,
    .uniques = entry_keys,
    .not_found = "Not Found",
    .explain = entry_explain,
};

const Collection settings_locales = {
    .table = "locale",
    .record = &settings_locale_record,
};

const Collection settings_base_urls = {
    .table = "base_url",
    .record = &settings_base_url_record,
};

static const Field address_fields[] = {
    {"name", "name", TEXT | INDEX | UNIQUE | KEEP_CASE | KEEP_ACCENTS},
    {0},
};

const Collection tenant_addresses = {
    .table = "tenant_addresses",
    .path = "/tenant-addresses",
    .list_key = "addresses",
    .ops = "LCrud",
    .permission = "tenant-addresses",
    .record = &tenant_address_record,
    .fields = address_fields,
    .default_sort = "name",
    .not_found = "Not Found",
};

const Collection *const settings_collections[] = {
    &settings_entries, &settings_locales, &settings_base_urls, &tenant_addresses, NULL,
};
