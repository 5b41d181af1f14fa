// The check of a body against its property table: one walk in the order of the body, as Jackson and
// Bean Validation go about it in FOLIO's modules. Source: spec/storage-and-cql.md 1.4, 1.5.
#include "json/properties.h"

#include "base/die.h"
#include "base/uuid.h"
#include "json/check.h"
#include "json/tree.h"

#include <limits.h>
#include <string.h>

enum {
    PROPERTIES_MAX = 256, // of one object
    FEW_ELEMENTS = 16,
};

// The pattern of raml-util's uuid.schema, which clients see in the message.
static const char UUID_PATTERN[] =
    "^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[1-5][a-fA-F0-9]{3}-[89abAB][a-fA-F0-9]{3}-[a-fA-F0-9]{12}$";

static Err *check_object(Check *check, const Place *place, const Property *table, Json *object);

Str place_text(const Place *place)
{
    if (!place->parent) {
        return (Str){"", 0};
    }
    Str before = place_text(place->parent);
    if (place->name.len == 0) {
        return str_fmt(STR_FMT "[%zu]", STR_ARG(before), place->index);
    }
    return str_fmt(STR_FMT "%s" STR_FMT, STR_ARG(before), before.len ? "." : "",
                   STR_ARG(place->name));
}

static Str capitalised(Str name)
{
    Str first = str_upper(str_sub(name, 0, 1));

    return str_fmt(STR_FMT STR_FMT, STR_ARG(first), STR_ARG(str_sub(name, 1, name.len)));
}

Str place_class(const Check *check, const Place *place)
{
    Str name = str_of(check->type->name);

    while (place->parent && place->name.len == 0) {
        place = place->parent;
    }
    if (place->parent) {
        name = capitalised(place->name);
    }
    if (str_find_char(name, '.', 0) >= 0) {
        return name;
    }
    return str_fmt("org.folio.rest.jaxrs.model." STR_FMT, STR_ARG(name));
}

static void violate(Check *check, const Place *place, Str code, Str message, Str value)
{
    Str key = place_text(place);
    Err *err = err_json(422, code, message, &(ErrParam){.key = key, .value = value}, 1);

    err->type = S("1");
    if (check->last) {
        check->last->next = err;
    } else {
        check->first = err;
    }
    check->last = err;
}

static Err *unknown_member(const Check *check, const Place *place, Str name)
{
    Str message =
        str_fmt("Unrecognized field \"" STR_FMT "\" (class " STR_FMT "), not marked as ignorable",
                STR_ARG(name), STR_ARG(place_class(check, place)));
    Err *err = err_422(S("-1"), message, P("", S("")));

    err->type = S("1");
    return err;
}

static Err *unknown_value(const Check *check, const Place *place, const Json *value)
{
    const Place *list = place->name.len ? place : place->parent;
    Str owner = place_class(check, list->parent);

    return err_text(400,
                    "Json content error Cannot construct instance of `" STR_FMT "$" STR_FMT
                    "`, problem: %s",
                    STR_ARG(owner), STR_ARG(capitalised(list->name)), value->valuestring);
}

static bool is_one_of(const char *const *allowed, const char *text)
{
    for (; *allowed; allowed++) {
        if (strcmp(*allowed, text) == 0) {
            return true;
        }
    }
    return false;
}

// Java's length of a text: UTF-16 units.
static size_t utf16_len(const char *text)
{
    size_t len = 0;

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        len += (size_t)(c < 0x80 || c >= 0xC0) + (c >= 0xF0 ? 1 : 0);
    }
    return len;
}

static void check_size(Check *check, const Place *place, const Property *property,
                       const Json *value)
{
    bool is_array = json_is_array(value);
    int max = property->max_len ? property->max_len : INT_MAX;

    if (!property->min_len && !property->max_len) {
        return;
    }
    size_t len = is_array ? json_len(value) : utf16_len(value->valuestring);
    if (len < (size_t)property->min_len || len > (size_t)max) {
        violate(check, place, S("jakarta.validation.constraints.Size.message"),
                str_fmt("size must be between %d and %d", property->min_len, max),
                is_array ? json_text(value) : str_of(value->valuestring));
    }
}

static void check_range(Check *check, const Place *place, const Property *property,
                        const Json *value)
{
    double number = value->valuedouble;

    if (property->has_min && number < property->min) {
        violate(check, place, S("jakarta.validation.constraints.DecimalMin.message"),
                str_fmt("must be greater than or equal to " STR_FMT,
                        STR_ARG(json_text(json_number_of(property->min)))),
                json_scalar_text(value));
    }
    if (property->has_max && number > property->max) {
        violate(check, place, S("jakarta.validation.constraints.DecimalMax.message"),
                str_fmt("must be less than or equal to " STR_FMT,
                        STR_ARG(json_text(json_number_of(property->max)))),
                json_scalar_text(value));
    }
}

static bool has_right_form(const Property *property, const Json *value)
{
    Str text = str_of(value->valuestring);

    if (property->pattern) {
        return pattern_matches(property->pattern, text);
    }
    return property->type != ID || uuid_is_uuid_shaped(text);
}

static void check_form(Check *check, const Place *place, const Property *property,
                       const Json *value)
{
    if (!has_right_form(property, value)) {
        violate(check, place, S("jakarta.validation.constraints.Pattern.message"),
                str_fmt("must match \"%s\"", property->pattern ? property->pattern : UUID_PATTERN),
                str_of(value->valuestring));
    }
}

// One value that is no array: the property's own, or an element of its array.
static Err *check_value(Check *check, const Place *place, const Property *property, Json *value)
{
    bool is_element = property->flags & ARRAY;

    TRY(value_coerce(check, place, property, value));
    if (json_is_null(value)) {
        return NULL;
    }
    if (property->type == OBJECT) {
        Place inside = *place;
        inside.is_open = property->open || check->type->open;
        return property->of ? check_object(check, &inside, property->of, value) : NULL;
    }
    if (property->type != STRING && property->type != ID) {
        if (json_is_number(value)) {
            check_range(check, place, property, value);
        }
        return NULL;
    }
    if (property->one_of && !is_one_of(property->one_of, value->valuestring)) {
        return unknown_value(check, place, value);
    }
    // Lengths and patterns of elements are the array's affair.
    if (!is_element) {
        check_form(check, place, property, value);
        check_size(check, place, property, value);
    }
    return NULL;
}

static uint64_t element_hash(const Json *element)
{
    return str_hash(json_pg_text(element));
}

// FOLIO reads such an array into a set: what comes again is silently left out.
static void drop_repeated(Json *array)
{
    Arena *scratch = scratch_arena();
    ArenaMark mark = arena_mark(scratch);
    size_t size = FEW_ELEMENTS;

    while (size < 2 * json_len(array)) {
        size *= 2;
    }
    Json **slots = arena_alloc_array(scratch, size, sizeof *slots);
    JSON_EACH(element, array)
    {
        size_t i = element_hash(element) & (size - 1);
        while (slots[i] && !json_equal(slots[i], element)) {
            i = (i + 1) & (size - 1);
        }
        if (slots[i]) {
            node_unlink(array, element);
        } else {
            slots[i] = element;
        }
    }
    arena_release(scratch, mark);
}

// RMB checks the elements of a list of texts in one go and shows the list as Java does.
static void check_element_forms(Check *check, const Place *place, const Property *property,
                                const Json *array)
{
    bool is_right = true;
    StrList texts = {0};

    if (property->type != ID && !(property->type == STRING && property->pattern)) {
        return;
    }
    JSON_EACH(element, array)
    {
        is_right = is_right && has_right_form(property, element);
    }
    if (is_right) {
        return;
    }
    JSON_EACH(element, array)
    {
        str_list_add(&texts, str_of(element->valuestring));
    }
    Str message = S("elements in list must match pattern"); // the code too, in RMB
    violate(check, place, message, message,
            str_fmt("[" STR_FMT "]", STR_ARG(str_join(texts.at, texts.len, S(", ")))));
}

static Err *check_array(Check *check, const Place *place, const Property *property, Json *array)
{
    Place element_place = {.parent = place};

    if (!json_is_array(array)) {
        return value_refuse(check, place, property, array);
    }
    JSON_EACH(element, array)
    {
        if (!json_is_null(element)) {
            TRY(check_value(check, &element_place, property, element));
        }
        if (json_is_null(element)) {
            node_unlink(array, element);
        }
        element_place.index++;
    }
    if (property->flags & UNIQUE_ITEMS && array->child && array->child->next) {
        drop_repeated(array);
    }
    check_size(check, place, property, array);
    check_element_forms(check, place, property, array);
    return NULL;
}

static void violate_not_null(Check *check, const Place *place)
{
    violate(check, place, S("jakarta.validation.constraints.NotNull.message"),
            S("must not be null"), S("null"));
}

static Err *check_member(Check *check, const Place *place, const Property *property, Json *member)
{
    if (property->flags & READ_ONLY || property->type == METADATA) {
        member->type = cJSON_NULL; // leaves as any null does
        return NULL;
    }
    if (json_is_null(member)) {
        // An absent array is an empty one to FOLIO, null is not. The rest is told by fill_absent.
        if ((property->flags & (REQUIRED | ARRAY | NO_EMPTY)) == (REQUIRED | ARRAY)) {
            violate_not_null(check, place);
        }
        return NULL;
    }
    return property->flags & ARRAY ? check_array(check, place, property, member)
                                   : check_value(check, place, property, member);
}

// Bodies mostly keep the order of the table: the search begins behind the last hit.
static const Property *property_named(const Property *table, const Property *from, const char *name)
{
    for (const Property *at = from; at->name; at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    for (const Property *at = table; at != from; at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    return NULL;
}

static size_t property_count(const Property *table)
{
    size_t count = 0;

    while (table[count].name) {
        count++;
    }
    return count;
}

static void fill_absent(Check *check, const Place *place, const Property *property, Json *object)
{
    Place member_place = {.parent = place, .name = str_of(property->name)};
    unsigned flags = property->flags;

    if (property->type == METADATA) {
        return;
    }
    if (property->fallback) {
        json_put(object, member_place.name, json_parse_stored(str_of(property->fallback)));
    } else if (flags & ARRAY && !(flags & NO_EMPTY)) {
        json_put(object, member_place.name, json_array());
        check_size(check, &member_place, property, node_member(object, member_place.name));
    } else if (flags & REQUIRED && !(flags & READ_ONLY)) {
        violate_not_null(check, &member_place);
    }
}

static Err *check_object(Check *check, const Place *place, const Property *table, Json *object)
{
    bool seen[PROPERTIES_MAX] = {false};
    const Property *from = table;

    if (property_count(table) > PROPERTIES_MAX) {
        die("more than %d properties in a table of %s", PROPERTIES_MAX, check->type->name);
    }
    JSON_EACH(member, object)
    {
        const Property *property = property_named(table, from, member->string);
        if (!property && !place->is_open) {
            return unknown_member(check, place, json_key(member));
        }
        if (!property) {
            continue;
        }
        Place member_place = {.parent = place, .name = json_key(member)};
        TRY(check_member(check, &member_place, property, member));
        if (json_is_null(member)) {
            node_unlink(object, member);
        } else {
            seen[property - table] = true;
        }
        from = property + 1;
    }
    for (const Property *property = table; property->name; property++) {
        if (!seen[property - table]) {
            fill_absent(check, place, property, object);
        }
    }
    return NULL;
}

Err *properties_check(const RecordType *type, Json *doc)
{
    Check check = {.type = type};
    Place place = {.is_open = type->open};

    if (!json_is_object(doc)) {
        return err_text(400, "Json content error Cannot construct instance of `" STR_FMT "`",
                        STR_ARG(place_class(&check, &place)));
    }
    TRY(check_object(&check, &place, type->properties, doc));
    return check.first;
}

const Property *property_find(const RecordType *type, const char *path)
{
    const Property *table = type->properties, *found = NULL;

    while (*path) {
        size_t len = strcspn(path, ".");
        found = NULL;
        for (const Property *at = table; at && at->name; at++) {
            if (strncmp(at->name, path, len) == 0 && at->name[len] == '\0') {
                found = at;
                break;
            }
        }
        if (!found) {
            return NULL;
        }
        table = found->of;
        path += len + (path[len] == '.');
    }
    return found;
}
