// Settings of the tenant from memory: what other modules read of mod-configuration.
// Source: spec/platform.md 5.3.
#include "modules/mod-configuration/configuration.h"

typedef struct {
    Str module, name, code;
    Setting setting;
} Entry;

typedef struct {
    Entry *at;
    size_t len;
} Entries;

// Values are texts, often JSON in a text.
static const Json *value_of(const Json *entry)
{
    Str text = json_str(entry, "value");
    Json *value = NULL;

    return json_parse(text, &value) ? json_string(text) : value;
}

static bool is_match(const Entry *entry, const char *module, const char *name, const char *code)
{
    return (!module || str_eq_z(entry->module, module)) && (!name || str_eq_z(entry->name, name)) &&
           (!code || str_eq_z(entry->code, code));
}

static const Entry *entries_find(const Entries *entries, const char *module, const char *name,
                                 const char *code)
{
    const Entry *found = NULL;

    for (size_t i = 0; i < entries->len; i++) {
        const Entry *entry = &entries->at[i];
        if (is_match(entry, module, name, code) &&
            (!found || entry->setting.changed_at > found->setting.changed_at)) {
            found = entry;
        }
    }
    return found;
}

static Str text_or(Str text, Str fallback)
{
    return text.len ? text : fallback;
}

static Err *build_entries(Tx *tx, void **out)
{
    Docs docs = {0};
    Entries *entries = NEW(Entries);

    TRY(tx_where(tx, &configurations, "user_id is null and is_enabled = 1", NO_ARGS, &docs));
    entries->at = NEW_ARRAY(Entry, docs.len + 1);
    for (size_t i = 0; i < docs.len; i++) {
        const Json *doc = docs.at[i];
        Time changed_at = 0;
        (void)json_time(doc, "metadata.updatedDate", &changed_at);
        entries->at[entries->len++] = (Entry){
            json_str(doc, "module"),
            json_str(doc, "configName"),
            json_str(doc, "code"),
            {doc, value_of(doc), changed_at},
        };
    }
    *out = entries;
    return NULL;
}

static const Collection *const entry_sources[] = {&configurations, NULL};
static const Derived entries_derived = {"configuration entries", entry_sources, build_entries};
DERIVED_IS_KNOWN(entries_derived)

static Err *entries_read(Tx *tx, const Entries **out)
{
    const void *value = NULL;

    TRY(tx_derived(tx, &entries_derived, &value));
    *out = value;
    return NULL;
}

Err *configuration_find(Tx *tx, const char *module, const char *config_name, const char *code,
                        Setting *out)
{
    METER("mod-configuration");
    const Entries *entries = NULL;

    TRY(entries_read(tx, &entries));
    const Entry *found = entries_find(entries, module, config_name, code);
    *out = found ? found->setting : (Setting){0};
    return NULL;
}

Err *configuration_text(Tx *tx, const char *module, const char *code, Str fallback, Str *out)
{
    Setting setting = {0};

    TRY(configuration_find(tx, module, NULL, code, &setting));
    *out = text_or(json_str(setting.entry, "value"), fallback);
    return NULL;
}
