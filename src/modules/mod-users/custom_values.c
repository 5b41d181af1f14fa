// Values of custom fields in user records. Source: spec/platform.md 4.2.
#include "modules/mod-users/internal.h"

enum {
    SHORT_MAX_LEN = 150,
    LONG_MAX_LEN = 1500,
    EMAIL_LOCAL_MAX = 64,
};

static size_t length_of(Str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    }
    return n;
}

// ---------------------------------------------------------------------------------------------
// Formats

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Labels of letters, digits and inner hyphens; the last one has two letters or more.
static bool is_domain(Str text)
{
    Str label = {0};
    size_t labels = 0;

    while (str_next(&text, '.', &label)) {
        if (!label.len || label.len > 63 || label.at[0] == '-' || label.at[label.len - 1] == '-') {
            return false;
        }
        for (size_t i = 0; i < label.len; i++) {
            if (!is_alphanumeric(label.at[i]) && label.at[i] != '-') {
                return false;
            }
        }
        labels++;
    }
    return labels >= 2 && label.len >= 2 && !(label.at[0] >= '0' && label.at[0] <= '9');
}

static bool is_email(Str text)
{
    ptrdiff_t at = str_find_char(text, '@', 0);

    if (at <= 0 || at > EMAIL_LOCAL_MAX || str_find_char(text, '@', (size_t)at + 1) >= 0) {
        return false;
    }
    Str local = str_sub(text, 0, (size_t)at);
    for (size_t i = 0; i < local.len; i++) {
        char c = local.at[i];
        bool is_dot_outside = c == '.' && (i == 0 || i + 1 == local.len || local.at[i + 1] == '.');
        if (c <= ' ' || c == 127 || is_dot_outside ||
            str_find_char(S("()<>,;:\\\"[]"), c, 0) >= 0) {
            return false;
        }
    }
    return is_domain(str_sub(text, (size_t)at + 1, text.len));
}

static bool is_url(Str text)
{
    static const char *const schemes[] = {"http://", "https://", "ftp://"};

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        Str scheme = str_of(schemes[i]);
        if (!str_starts(str_lower(text), scheme)) {
            continue;
        }
        size_t end = scheme.len;
        while (end < text.len && str_find_char(S("/?#:"), text.at[end], 0) < 0) {
            end++;
        }
        Str host = str_sub(text, scheme.len, end);
        bool has_blank = str_find_char(text, ' ', 0) >= 0;
        return !has_blank && (is_domain(host) || str_eq(host, S("localhost")));
    }
    return false;
}

static Err *check_format(Str format, Str text)
{
    double number = 0;

    if (str_eq(format, S("EMAIL")) && !is_email(text)) {
        return err_text(422, "Invalid Email format: " STR_FMT, STR_ARG(text));
    }
    if (str_eq(format, S("URL")) && !is_url(text)) {
        return err_text(422, "Invalid URL: " STR_FMT, STR_ARG(text));
    }
    if (str_eq(format, S("NUMBER")) && !str_double(text, &number)) {
        return err_text(422, "Invalid Number format: " STR_FMT, STR_ARG(text));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// One value; the text of the Err is taken, its status is not

static Err *must_be(const Json *definition, const char *what)
{
    return err_text(422, "Field with type " STR_FMT " must be %s",
                    STR_ARG(json_str(definition, "type")), what);
}

static Err *check_text(const Json *value, const Json *definition)
{
    bool is_long = str_eq(json_str(definition, "type"), S("TEXTBOX_LONG"));
    size_t max = is_long ? LONG_MAX_LEN : SHORT_MAX_LEN;
    Str text = json_scalar_text(value);

    if (!json_is_string(value)) {
        return must_be(definition, "a string");
    }
    TRY(check_format(json_str(definition, "textField.fieldFormat"), text));
    return length_of(text) <= max ? NULL : err_text(422, "Maximum length of the value is %zu", max);
}

static Err *check_option(const Json *value, const Json *definition)
{
    Buf ids = buf_new(arena_current(), 1 << 16);

    if (!json_is_string(value)) {
        return must_be(definition, "a string");
    }
    JSON_EACH(option, json_get(definition, "selectField.options.values"))
    {
        Str id = json_str(option, "id");
        if (str_eq(id, json_scalar_text(value))) {
            return NULL;
        }
        buf_fmt(&ids, "%s" STR_FMT, ids.len ? ", " : "", STR_ARG(id));
    }
    return err_text(422, "Field " STR_FMT " can only have following values: [" STR_FMT "]",
                    STR_ARG(json_str(definition, "refId")), STR_ARG(buf_str(&ids)));
}

static Err *check_each(const Json *value, const Json *definition,
                       Err *(*check)(const Json *, const Json *))
{
    if (!json_is_array(value)) {
        return check(value, definition);
    }
    JSON_EACH(one, value)
    {
        TRY(check(one, definition));
    }
    return NULL;
}

static Err *check_value(const Json *value, const Json *definition)
{
    Str type = json_str(definition, "type");
    bool is_repeatable = json_flag(definition, "isRepeatable", false);
    Time date = 0;

    if (custom_field_is_select(definition)) {
        bool takes_many = is_repeatable || str_eq(type, S("MULTI_SELECT_DROPDOWN"));
        if (is_repeatable && !json_is_array(value)) {
            return must_be(definition, "an array");
        }
        return takes_many ? check_each(value, definition, check_option)
                          : check_option(value, definition);
    }
    if (str_eq(type, S("SINGLE_CHECKBOX"))) {
        return json_is_bool(value) ? NULL : must_be(definition, "a boolean");
    }
    if (str_eq(type, S("DATE_PICKER"))) {
        Str text = json_scalar_text(value);
        if (!json_is_string(value)) {
            return must_be(definition, "a string");
        }
        return date_parse(text, &date)
                   ? NULL
                   : err_text(422, "Invalid date format: " STR_FMT, STR_ARG(text));
    }
    return is_repeatable ? check_each(value, definition, check_text)
                         : check_text(value, definition);
}

// ---------------------------------------------------------------------------------------------
// All values of a user

static void drop_empty(Json *user)
{
    Json *values = json_get(user, "customFields"), *kept = json_object();

    JSON_EACH(value, values)
    {
        bool is_empty = (json_is_string(value) && !json_scalar_text(value).len) ||
                        (json_is_array(value) && !json_len(value)) || json_is_null(value);
        if (!is_empty) {
            json_put(kept, json_key(value), json_copy(value));
        }
    }
    if (json_len(kept) != json_len(values)) {
        json_set(user, "customFields", kept);
    }
}

static Err *check_named(Tx *tx, const Json *value)
{
    Str ref_id = json_key(value);
    Json *definition = NULL;

    TRY(tx_find(tx, &custom_fields, "ref_id", ref_id, &definition));
    if (!definition || !str_eq(json_str(definition, "refId"), ref_id)) {
        return users_invalid(
            S("customFields"), ref_id,
            str_fmt("Custom field with refId " STR_FMT " is not found", STR_ARG(ref_id)));
    }
    Err *err = check_value(value, definition);
    return err ? users_invalid(ref_id, json_text(value), err->message) : NULL;
}

Err *custom_values_check(Tx *tx, Json *user)
{
    Err *errors = NULL;

    if (!json_is_object(json_get(user, "customFields"))) {
        return NULL;
    }
    drop_empty(user);
    JSON_EACH(value, json_get(user, "customFields"))
    {
        errors = err_join(errors, check_named(tx, value));
    }
    return errors;
}
