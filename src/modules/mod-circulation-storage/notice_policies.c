// Patron notice policies: options that exclude each other are refused.
// Source: spec/circulation.md 12.4, 13.1.
#include "modules/mod-circulation-storage/hooks.h"

static Err *option_error(const char *option, const Json *value, const char *of)
{
    Str shown = json_is_object(value) ? json_text(value) : json_scalar_text(value);

    return storage_error(option, shown, str_fmt("This option is not valid for selected %s", of));
}

static Err *refuse_if_given(const Json *options, const char *option)
{
    const Json *value = json_get(options, option);

    return value ? option_error(option, value, "Triggering event") : NULL;
}

static bool is_scheduled(Str event)
{
    return str_eq(event, S("Due date")) || str_eq(event, S("Aged to lost"));
}

// Events at a known time may be sent before, at or after it; all others only when they happen.
static Err *timing_check(const Json *notice, const Json *options)
{
    const Json *frequency = json_get(notice, "frequency");
    Str how = json_str(options, "sendHow");

    if (is_scheduled(json_str(options, "sendWhen"))) {
        bool is_around = str_eq(how, S("Before")) || str_eq(how, S("After"));
        return frequency && !is_around ? option_error("frequency", frequency, "Send") : NULL;
    }
    Err *err = refuse_if_given(options, "sendHow");
    err = err ? err : refuse_if_given(options, "sendBy");
    return err ? err : refuse_if_given(options, "sendEvery");
}

static Err *notice_check(const Json *notice)
{
    const Json *options = json_get(notice, "sendOptions");
    const Json *every = json_get(options, "sendEvery");

    if (!options) {
        return NULL;
    }
    Err *err = timing_check(notice, options);
    if (every && str_eq(json_str(notice, "frequency"), S("One time"))) {
        err = err_join(err, option_error("sendEvery", every, "Frequency"));
    }
    return err;
}

Err *notice_policy_check(Tx *tx, const Json *old, Json *policy)
{
    Err *all = NULL;

    (void)tx, (void)old;
    JSON_EACH(notice, json_get(policy, "loanNotices"))
    {
        all = err_join(all, notice_check(notice));
    }
    return all;
}

Err *notice_policy_must_be_unused(Tx *tx, const Json *policy)
{
    return policy_must_be_unused(tx, policy, "notice");
}

Err *notice_policy_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *policy)
{
    (void)tx, (void)field, (void)value;
    if (kind != CONFLICT_UNIQUE) {
        return NULL;
    }
    return err_422(S("duplicate.name"),
                   str_fmt("'" STR_FMT "' name in not unique", STR_ARG(json_str(policy, "name"))));
}
