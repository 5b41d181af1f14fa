// Definitions of custom fields: what they must be. Source: spec/platform.md 4.2.
#include "modules/mod-users/internal.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_LEN = 65,
    HELP_MAX_LEN = 100,
    OPTION_MAX_LEN = 100,
    RADIO_OPTIONS_MAX = 5,
    LIST_OPTIONS_MAX = 200,
};

static Err *invalid(Str message)
{
    const ErrParam param = {.key = S("null"), .is_null = true};
    Err *err = err_json(422, S("-1"), message, &param, 1);

    err->type = S("1");
    return err;
}

// Characters as Java counts the common ones: bytes that begin one.
static size_t length_of(Str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.at[i] & 0xC0) != 0x80;
    }
    return n;
}

static bool is_type(const Json *definition, const char *type)
{
    return str_eq_z(json_str(definition, "type"), type);
}

bool custom_field_is_select(const Json *definition)
{
    return is_type(definition, "SINGLE_SELECT_DROPDOWN") ||
           is_type(definition, "MULTI_SELECT_DROPDOWN") || is_type(definition, "RADIO_BUTTON");
}

static bool is_text(const Json *definition)
{
    return is_type(definition, "TEXTBOX_SHORT") || is_type(definition, "TEXTBOX_LONG");
}

// The object of another type of field is refused.
static Err *check_parts(const Json *definition)
{
    static const char *const parts[] = {"checkboxField", "selectField", "textField"};
    const char *own = is_text(definition)                  ? "textField"
                      : custom_field_is_select(definition) ? "selectField"
                      : is_type(definition, "DATE_PICKER") ? ""
                                                           : "checkboxField";

    for (size_t i = 0; i < 3; i++) {
        if (json_has(definition, parts[i]) && strcmp(parts[i], own) != 0) {
            return invalid(str_fmt(
                "Attribute %s is not allowed, following attributes are allowed for field of "
                "type " STR_FMT
                " : [id, name, refId, type, entityType, visible, required, isRepeatable, order, "
                "helpText, metadata, displayInAccordion%s%s]",
                parts[i], STR_ARG(json_str(definition, "type")), *own ? ", " : "", own));
        }
    }
    return NULL;
}

static Err *check_not_repeatable(const Json *definition)
{
    if (!json_flag(definition, "isRepeatable", false)) {
        return NULL;
    }
    return invalid(str_fmt("Repeatable is not supported by custom field of type " STR_FMT,
                           STR_ARG(json_str(definition, "type"))));
}

static Err *check_option_values(const Json *values)
{
    StrList texts = {0}, ids = {0};

    JSON_EACH(option, values)
    {
        Str text = json_str(option, "value"), id = json_str(option, "id");
        if (!str_trim(text).len || length_of(text) > OPTION_MAX_LEN) {
            return invalid(S("The option value cannot be blank or have more than 100 length"));
        }
        if (str_list_has(&texts, text)) {
            return invalid(S("Option values should be unique"));
        }
        if (id.len && str_list_has(&ids, id)) {
            return invalid(S("Option IDs should be unique"));
        }
        str_list_add(&texts, text);
        str_list_add(&ids, id);
    }
    return NULL;
}

static Err *check_select(const Json *definition)
{
    const Json *values = json_get(definition, "selectField.options.values");
    bool is_multiple = is_type(definition, "MULTI_SELECT_DROPDOWN");
    size_t max = is_type(definition, "RADIO_BUTTON") ? RADIO_OPTIONS_MAX : LIST_OPTIONS_MAX;
    size_t defaults = 0;

    if (!json_has(definition, "selectField")) {
        return invalid(S("The 'selectField' property should be defined"));
    }
    if (!json_is_array(values)) {
        return invalid(S("The 'values' property should not be null"));
    }
    if (json_len(values) < 1 || json_len(values) > max) {
        return invalid(str_fmt("The options amount should be in range 1 - %zu", max));
    }
    TRY(check_option_values(values));
    JSON_EACH(option, values)
    {
        defaults += json_flag(option, "default", false);
    }
    if (!is_multiple && defaults > 1) {
        return invalid(S("The max defaults amount is 1"));
    }
    if (json_flag(definition, "selectField.multiSelect", !is_multiple) != is_multiple) {
        return invalid(
            str_fmt("The 'multiSelect' property should be '%s'", is_multiple ? "true" : "false"));
    }
    return is_type(definition, "SINGLE_SELECT_DROPDOWN") ? NULL : check_not_repeatable(definition);
}

static Err *check_accordion(const Json *definition)
{
    static const char *const allowed[] = {
        "user_information", "extended_information", "contact_information",
        "default",          "fees_fines",           "loans",
        "requests"};
    Str value = json_str(definition, "displayInAccordion");

    if (!json_has(definition, "displayInAccordion")) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        if (str_eq_z(value, allowed[i])) {
            return NULL;
        }
    }
    return invalid(S("Display in accordion value must be one of: [user_information, "
                     "extended_information, contact_information, default, fees_fines, loans, "
                     "requests]"));
}

Err *custom_definition_check(const Json *definition)
{
    if (length_of(json_str(definition, "name")) > NAME_MAX_LEN) {
        return invalid(S("The 'name' length cannot be more than 65"));
    }
    if (length_of(json_str(definition, "helpText")) > HELP_MAX_LEN) {
        return invalid(S("The 'helpText' length cannot be more than 100"));
    }
    TRY(check_accordion(definition));
    TRY(check_parts(definition));
    if (custom_field_is_select(definition)) {
        return check_select(definition);
    }
    if (!is_type(definition, "SINGLE_CHECKBOX")) {
        return NULL;
    }
    TRY(check_not_repeatable(definition));
    if (!json_has(definition, "checkboxField")) {
        return invalid(S("The 'checkBox' property should be defined for 'SINGLE_CHECKBOX' custom "
                         "field type."));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Options

typedef struct {
    Str key;
    Json *option;
} Sorted;

static int sorted_order(const void *a, const void *b)
{
    return str_cmp(((const Sorted *)a)->key, ((const Sorted *)b)->key);
}

static void sort_options(Json *definition)
{
    Json *values = json_get(definition, "selectField.options.values"), *list = json_array();
    Str order = json_str(definition, "selectField.options.sortingOrder");
    size_t n = json_len(values), i = 0;
    bool is_descending = str_eq(order, S("DESC"));

    if (!is_descending && !str_eq(order, S("ASC"))) {
        return;
    }
    Sorted *sorted = NEW_ARRAY(Sorted, n + 1);
    JSON_EACH(option, values)
    {
        sorted[i++] = (Sorted){fold_case(json_str(option, "value")), option};
    }
    sort_array(sorted, n, sizeof(Sorted), sorted_order);
    for (i = 0; i < n; i++) {
        json_add(list, json_copy(sorted[is_descending ? n - 1 - i : i].option));
    }
    json_set(definition, "selectField.options.values", list);
}

static bool has_option(const Json *values, Str id)
{
    JSON_EACH(option, values)
    {
        if (str_eq(json_str(option, "id"), id)) {
            return true;
        }
    }
    return false;
}

void custom_options_prepare(Json *definition)
{
    if (!custom_field_is_select(definition)) {
        return;
    }
    sort_options(definition);
    Json *values = json_get(definition, "selectField.options.values");
    size_t next = 0;
    JSON_EACH(option, values)
    {
        if (json_str(option, "id").len) {
            continue;
        }
        Str id = str_fmt("opt_%zu", next);
        while (has_option(values, id)) {
            id = str_fmt("opt_%zu", ++next);
        }
        json_set_str(option, "id", id);
    }
}

// ---------------------------------------------------------------------------------------------
// Names of values

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static Str base64_of(Str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Buf out = buf_new(arena_current(), 1024);

    for (size_t i = 0; i < text.len; i += 3) {
        unsigned bits = 0;
        for (size_t k = 0; k < 3; k++) {
            bits = bits << 8 | (i + k < text.len ? (unsigned char)text.at[i + k] : 0);
        }
        size_t n = text.len - i < 3 ? text.len - i + 1 : 4;
        for (size_t k = 0; k < n; k++) {
            buf_char(&out, digits[bits >> (18 - 6 * k) & 63]);
        }
    }
    return buf_str(&out);
}

// The letter under an accent; 0 for everything that is none, such as ß and ø.
static char letter_under(Str character)
{
    static const char own_letters[] = "øØłŁđĐħĦıŧŦ";

    if (character.len == 1) {
        return is_letter(character.at[0]) ? character.at[0] : 0;
    }
    Str plain = fold(character);
    bool is_own = str_find(str_of(own_letters), character, 0) >= 0;
    return plain.len == 1 && is_letter(plain.at[0]) && !is_own ? plain.at[0] : 0;
}

static size_t character_len(Str text, size_t at)
{
    size_t n = 1;

    while (at + n < text.len && ((unsigned char)text.at[at + n] & 0xC0) == 0x80) {
        n++;
    }
    return n;
}

Str custom_field_ref_id(Str name)
{
    Str plain = fold_case(name);
    Buf out = buf_new(arena_current(), 1024);
    bool begins = false; // a word

    for (size_t i = 0; i < plain.len;) {
        size_t n = character_len(plain, i);
        char c = letter_under(str_sub(plain, i, i + n));
        char first = plain.at[i];
        if (first == ' ' || first == '\t' || first == '\n') {
            begins = true;
        } else {
            // What is dropped still was the beginning of its word.
            bool is_capital = begins && out.len > 0;
            begins = false;
            if (c) {
                buf_char(&out, is_capital ? (char)(c - 'a' + 'A') : c);
            }
        }
        i += n;
    }
    return out.len ? buf_str(&out) : base64_of(name);
}
