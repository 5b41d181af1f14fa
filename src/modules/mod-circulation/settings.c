// Settings that circulation obeys, from the places that keep them; the record changed last wins.
// Source: spec/circulation.md 11, spec/platform.md 5.3, spec/decisions.md 14, 38.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-configuration/collections.h"
#include "modules/mod-settings/collections.h"

typedef enum {
    SETTING_LOCALE,
    SETTING_TLR,
    SETTING_OTHER,
    SETTING_LOAN_HISTORY,
    SETTING_PRINT_HOLDS,
    SETTINGS_COUNT,
} SettingKind;

// Names differ between the stores.
static const struct {
    const char *name;
    SettingKind kind;
} setting_names[] = {
    {"localeSettings", SETTING_LOCALE},
    {"tenantLocaleSettings", SETTING_LOCALE},
    {"TLR", SETTING_TLR},
    {"generalTlr", SETTING_TLR},
    {"other_settings", SETTING_OTHER},
    {"loan_history", SETTING_LOAN_HISTORY},
    {"PRINT_HOLD_REQUESTS", SETTING_PRINT_HOLDS},
};

typedef struct {
    const Json *value;
    Time changed_at;
} Newest;

static void consider(Newest *newest, Str name, const Json *value, const Json *record)
{
    Time changed_at = 0;

    (void)json_time(record, "metadata.updatedDate", &changed_at);
    for (size_t i = 0; i < sizeof setting_names / sizeof *setting_names; i++) {
        Newest *one = &newest[setting_names[i].kind];
        if (str_eq_z(name, setting_names[i].name) &&
            (!one->value || changed_at >= one->changed_at)) {
            *one = (Newest){value, changed_at};
        }
    }
}

// Values of mod-configuration are JSON in a text, or a bare word.
static Err *consider_configurations(Tx *tx, Newest *newest)
{
    Docs docs = {0};

    TRY(tx_where(tx, &configurations,
                 "config_name in ('localesettings', 'tlr', 'other_settings', 'loan_history', "
                 "'print_hold_requests') and user_id is null and is_enabled = 1",
                 NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        Json *value = NULL;
        Str text = json_str(docs.at[i], "value");
        if (json_parse(text, &value)) {
            value = json_string(text);
        }
        consider(newest, json_str(docs.at[i], "configName"), value, docs.at[i]);
    }
    return NULL;
}

static Err *consider_circulation_settings(Tx *tx, Newest *newest)
{
    Docs docs = {0};

    TRY(tx_where(tx, &circulation_settings, "1 = 1", NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        consider(newest, json_str(docs.at[i], "name"), json_get(docs.at[i], "value"), docs.at[i]);
    }
    return NULL;
}

// mod-settings: the tenant's locale, and entries of the tenant in scopes of circulation.
static Err *consider_settings(Tx *tx, Newest *newest)
{
    Docs docs = {0};

    TRY(tx_where(tx, &settings_entries,
                 "scope in ('circulation', 'mod-circulation', 'stripes-core.prefs.manage') and "
                 "user_id is null",
                 NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        consider(newest, json_str(docs.at[i], "key"), json_get(docs.at[i], "value"), docs.at[i]);
    }
    TRY(tx_where(tx, &settings_locales, "1 = 1", NO_ARGS, &docs));
    if (docs.len) {
        consider(newest, S("localeSettings"), docs.at[0], docs.at[0]);
    }
    return NULL;
}

static void take_zone(Settings *settings, const Json *locale)
{
    bool is_known = false;
    Str name = json_str(locale, "timezone");

    settings->zone = zone_utc();
    settings->zone_name = S("UTC");
    if (str_is_empty(name)) {
        return;
    }
    const Zone *zone = zone_of(name, &is_known);
    if (!is_known) {
        log_line(LOG_WARN, "mod-circulation", "unknown time zone " STR_FMT " counts as UTC",
                 STR_ARG(name));
        return;
    }
    settings->zone = zone;
    settings->zone_name = name;
}

static Err *settings_build(Tx *tx, void **out)
{
    Newest newest[SETTINGS_COUNT] = {0};
    Settings *settings = NEW(Settings);

    TRY(consider_configurations(tx, newest));
    TRY(consider_circulation_settings(tx, newest));
    TRY(consider_settings(tx, newest));
    const Json *tlr = newest[SETTING_TLR].value;
    const Json *other = newest[SETTING_OTHER].value;
    take_zone(settings, newest[SETTING_LOCALE].value);
    settings->tlr_enabled = json_flag(tlr, "titleLevelRequestsFeatureEnabled", false);
    settings->tlr_hold_follows_rules = json_flag(tlr, "tlrHoldShouldFollowCirculationRules", false);
    settings->session_timeout_minutes = json_flag(other, "checkoutTimeout", true)
                                            ? json_int(other, "checkoutTimeoutDuration", 3)
                                            : 3;
    settings->print_hold_requests =
        json_flag(newest[SETTING_PRINT_HOLDS].value, "printHoldRequestsEnabled", false);
    settings->loan_history = newest[SETTING_LOAN_HISTORY].value;
    *out = settings;
    return NULL;
}

static const Collection *const settings_sources[] = {&configurations, &circulation_settings,
                                                     &settings_entries, &settings_locales, NULL};
static const Derived settings_derived = {"circulation-settings", settings_sources, settings_build};
DERIVED_IS_KNOWN(settings_derived)

Err *settings_read(Tx *tx, const Settings **out)
{
    const void *value = NULL;

    TRY(tx_derived(tx, &settings_derived, &value));
    *out = value;
    return NULL;
}
