// Property tables: the shape of a record type, in our notation, from the facts of FOLIO's schemas.
//
// One table checks a body (422 with FOLIO's texts), fills defaults, drops read-only members, turns
// date-times into FOLIO's form, and tells the descriptor what a record holds.
#pragma once

#include "json/json.h"

typedef enum {
    STRING = 1,
    ID,         // UUID of any version, put in lower case; `pattern` may ask for more
    DATE_TIME,  // string, normalised to ...+00:00
    DATE,       // string yyyy-mm-dd
    PLAIN_DATE, // date-time that keeps the client's text (loanDate, returnDate)
    INTEGER,
    DECIMAL,
    BOOLEAN,
    OBJECT,
    ANY,      // not looked into
    METADATA, // the metadata object, set by the server: the client's is dropped
} PropertyType;

// Flags of a property.
enum {
    REQUIRED = 1 << 0,     // an absent array without NO_EMPTY counts as [], which is enough
    READ_ONLY = 1 << 1,    // silently dropped from input
    ARRAY = 1 << 2,        // array of the type; absent in the request comes back as []
    NO_EMPTY = 1 << 3,     // array that is left out when absent instead of []
    UNIQUE_ITEMS = 1 << 4, // array read as a set: repeated elements are silently dropped
};

typedef struct Property Property;

struct Property {
    const char *name;
    PropertyType type;
    unsigned flags;
    const Property *of;        // OBJECT: its members; NULL = any members
    const char *const *one_of; // STRING: allowed values, NULL at the end
    const char *pattern;       // STRING: POSIX extended regular expression of FOLIO's pattern
    const char *fallback;      // default as JSON text
    int min_len, max_len;      // of a string (UTF-16 units) or of the array; 0 = no limit
    double min, max;           // of a number, when has_min / has_max
    bool has_min, has_max;
    bool open; // OBJECT: unknown members pass
};

typedef struct {
    const char *name;           // FOLIO's class name in messages: "Item", "Usergroup"
    bool open;                  // unknown members pass (business routes): kept as they are
    const Property *properties; // {0} at the end
} RecordType;

// Checks and normalises `doc` in place; null counts as absent and is dropped. Errors: 422 errors[]
// with one entry per violation (err->next), an unknown member alone; 400 text for a wrong JSON
// type, unknown enum value or bad date. Texts: spec/storage-and-cql.md 1.4.
WARN_UNUSED Err *properties_check(const RecordType *type, Json *doc);
// The property at a dotted path ("personal.lastName"), or NULL.
const Property *property_find(const RecordType *type, const char *path);
