// mod-settings: entries by scope and key, locale, addresses of the tenant.
// FOLIO: mod-settings 1.0, with what newer releases added. Source: spec/platform.md 5.2.
#include "modules/mod-settings/internal.h"

#define READ_RIGHTS "mod-settings.global.read.* mod-settings.users.read.* mod-settings.owner.read.*"
#define WRITE_RIGHTS                                                                               \
    "mod-settings.global.write.* mod-settings.users.write.* mod-settings.owner.write.*"

static const Route entry_routes[] = {
    {GET, "/settings/entries", READ, entries_list, "mod-settings.entries.collection.get",
     .desired = READ_RIGHTS},
    {POST, "/settings/entries", WRITE, entries_post, "mod-settings.entries.item.post",
     .desired = WRITE_RIGHTS},
    {GET, "/settings/entries/{id}", READ, entries_get, "mod-settings.entries.item.get",
     .desired = READ_RIGHTS},
    {PUT, "/settings/entries/{id}", WRITE, entries_put, "mod-settings.entries.item.put",
     .desired = WRITE_RIGHTS},
    {DELETE, "/settings/entries/{id}", WRITE, entries_delete, "mod-settings.entries.item.delete",
     .desired = WRITE_RIGHTS},
    {PUT, "/settings/upload", WRITE, entries_upload, "mod-settings.entries.upload",
     .later_permission = "mod-settings.entries.put", .desired = WRITE_RIGHTS},
    {0},
};

static const Route locale_routes[] = {
    {GET, "/locale", READ, locale_get, "locale.item.get"},
    {PUT, "/locale", WRITE, locale_put, "locale.item.put"},
    {0},
};

static const Route base_url_routes[] = {
    {GET, "/base-url", READ, base_url_get, "base-url.item.get"},
    {PUT, "/base-url", WRITE, base_url_put, "base-url.item.put"},
    {0},
};

static const Collection *const address_collections[] = {&tenant_addresses, NULL};

static const Interface provides[] = {
    {"settings", "1.2", .routes = entry_routes},
    {"locale", "1.0", .routes = locale_routes},
    {"base-url", "1.0", .routes = base_url_routes},
    {"tenant-addresses", "1.0", .collections = address_collections},
    {0},
};

const Module mod_settings = {
    .name = "mod-settings",
    .version = "1.0.3",
    .provides = provides,
    .collections = settings_collections,
};
