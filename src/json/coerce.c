// Values into the JSON type that a property has, the way Jackson turns them for FOLIO's modules.
#include "json/check.h"
#include "json/tree.h"

#include <math.h>
#include <string.h>

static const char *java_type(const Property *property)
{
    switch (property->type) {
    case INTEGER:
        return "java.lang.Integer";
    case DECIMAL:
        return "java.lang.Double";
    case BOOLEAN:
        return "java.lang.Boolean";
    case DATE_TIME:
    case DATE:
    case PLAIN_DATE:
        return "java.util.Date";
    case STRING:
    case ID:
    case OBJECT:
    case ANY:
    case METADATA:
    default:
        return "java.lang.String";
    }
}

// The value as Jackson's messages show it.
static Str value_shown(const Json *value)
{
    switch (node_type(value)) {
    case cJSON_Object:
        return S("Object value (token `JsonToken.START_OBJECT`)");
    case cJSON_Array:
        return S("Array value (token `JsonToken.START_ARRAY`)");
    case cJSON_True:
        return S("Boolean value (token `JsonToken.VALUE_TRUE`)");
    case cJSON_False:
        return S("Boolean value (token `JsonToken.VALUE_FALSE`)");
    case cJSON_String:
        return str_fmt("String \"%s\"", value->valuestring);
    default:
        return str_fmt("Number value (" STR_FMT ")", STR_ARG(json_scalar_text(value)));
    }
}

Err *value_refuse(const Check *check, const Place *place, const Property *property,
                  const Json *value)
{
    Str type = str_of(java_type(property));
    Str shown = value_shown(value), path = place_text(place);

    // An element is an object of its own; where an array is asked for, the place is the array's.
    if (property->flags & ARRAY && place->name.len > 0) {
        type = S("java.util.ArrayList");
    } else if (property->type == OBJECT) {
        type = place_class(check, place);
    }
    return err_text(400,
                    "Json content error Cannot deserialize value of type `" STR_FMT
                    "` from " STR_FMT " (through reference chain: " STR_FMT ")",
                    STR_ARG(type), STR_ARG(shown), STR_ARG(path));
}

static void become_string(Json *value, Str text)
{
    value->type = cJSON_String;
    value->valuestring = (char *)str_z(text);
}

static void become_number(Json *value, double number)
{
    value->type = cJSON_Number;
    value->valuedouble = number;
}

static Str text_of(const Json *value)
{
    return str_trim(str_of(value->valuestring));
}

// An empty text for anything that is no text means null to Jackson.
static bool is_blank_text(Json *value)
{
    if (!json_is_string(value) || text_of(value).len > 0) {
        return false;
    }
    value->type = cJSON_NULL;
    return true;
}

static bool coerce_text(Json *value)
{
    if (json_is_number(value) || json_is_bool(value)) {
        become_string(value, json_scalar_text(value));
    }
    return json_is_string(value);
}

// Ids are stored in lower case.
static bool coerce_id(Json *value)
{
    if (!coerce_text(value)) {
        return false;
    }
    for (char *at = value->valuestring; *at; at++) {
        *at = (char)(*at >= 'A' && *at <= 'F' ? *at - 'A' + 'a' : *at);
    }
    return true;
}

static bool coerce_integer(Json *value)
{
    int64_t number = 0;

    if (json_is_number(value)) {
        become_number(value, trunc(value->valuedouble));
        return fabs(value->valuedouble) <= INTEGER_MAX;
    }
    if (!json_is_string(value) || !str_int64(text_of(value), &number) ||
        fabs((double)number) > INTEGER_MAX) {
        return false;
    }
    become_number(value, (double)number);
    return true;
}

static bool coerce_decimal(Json *value)
{
    double number = 0;

    if (json_is_number(value)) {
        return true;
    }
    if (!json_is_string(value) || !str_double(text_of(value), &number) || !isfinite(number)) {
        return false;
    }
    become_number(value, number);
    return true;
}

static bool coerce_flag(Json *value)
{
    if (json_is_number(value)) {
        value->type = value->valuedouble != 0 ? cJSON_True : cJSON_False;
    } else if (json_is_string(value)) {
        Str text = text_of(value);
        bool is_true = str_eq_nocase(text, S("true"));
        if (!is_true && !str_eq_nocase(text, S("false"))) {
            return false;
        }
        value->type = is_true ? cJSON_True : cJSON_False;
    }
    return json_is_bool(value);
}

static bool coerce_date_time(Json *value)
{
    Time time = 0;

    if (json_is_number(value) && fabs(value->valuedouble) < INTEGER_MAX) {
        time = (Time)value->valuedouble; // Jackson takes milliseconds
    } else if (!json_is_string(value) || !time_parse(text_of(value), &time)) {
        return false;
    }
    become_string(value, time_format(time));
    return true;
}

static bool coerce(const Property *property, Json *value)
{
    Time time = 0;

    switch (property->type) {
    case STRING:
        return coerce_text(value);
    case ID:
        return coerce_id(value);
    case DATE_TIME:
        return coerce_date_time(value);
    case DATE:
        return json_is_string(value) && date_parse(text_of(value), &time);
    case PLAIN_DATE:
        return json_is_string(value) && time_parse(text_of(value), &time);
    case INTEGER:
        return coerce_integer(value);
    case DECIMAL:
        return coerce_decimal(value);
    case BOOLEAN:
        return coerce_flag(value);
    case OBJECT:
        return json_is_object(value);
    case ANY:
    case METADATA:
    default:
        return true;
    }
}

Err *value_coerce(const Check *check, const Place *place, const Property *property, Json *value)
{
    bool is_text = property->type == STRING || property->type == ID || property->type == ANY ||
                   property->type == OBJECT;

    if ((!is_text && is_blank_text(value)) || coerce(property, value)) {
        return NULL;
    }
    return value_refuse(check, place, property, value);
}
