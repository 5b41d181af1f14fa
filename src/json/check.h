// Inside of src/json/: the check of one body against a property table.
#pragma once

#include "json/properties.h"

// Where in the body the check is: a list from the inside out, made into text only for an error.
typedef struct Place Place;

struct Place {
    const Place *parent; // NULL: the body itself
    Str name;            // member; empty for an element of an array
    size_t index;        // element
    bool is_open;        // unknown members of the object here pass
};

typedef struct {
    const RecordType *type;
    Err *first, *last; // violations so far
} Check;

// Path as Bean Validation writes it: personal.addresses[0].city
Str place_text(const Place *place);
// Java's name of the class of the object at the place, as FOLIO's messages have it.
Str place_class(const Check *check, const Place *place);

// Turns the value into the property's JSON type the way Jackson does: 5 to "5", "5" to 5, dates to
// FOLIO's form. An empty text for a number, flag or date becomes null. Errors: 400 text.
WARN_UNUSED Err *value_coerce(const Check *check, const Place *place, const Property *property,
                              Json *value);
// The 400 text for a value of the wrong type.
Err *value_refuse(const Check *check, const Place *place, const Property *property,
                  const Json *value);

// Whether the whole text matches the extended regular expression. Patterns are compiled once; they
// must stay where they are (string constants).
bool pattern_matches(const char *pattern, Str text);
