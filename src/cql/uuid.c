// Clauses on ids and references, which are UUID columns in FOLIO and have rules of their own.
// Source: spec/storage-and-cql.md 2.5.
#include "cql/parse.h"

#include "base/uuid.h"

static Err *order_of(const Cql *clause, CqlUuid *out)
{
    if (!uuid_is_uuid_shaped(clause->term)) {
        return err_text(400, "CQL: Invalid UUID after '" STR_FMT STR_FMT "': " STR_FMT,
                        STR_ARG(clause->index), STR_ARG(clause->relation_text),
                        STR_ARG(clause->term));
    }
    out->kind = CQL_UUID_ORDER;
    out->text = str_lower(clause->term);
    return NULL;
}

// Equality, with a prefix if the term ends in "*".
static Err *equality_of(const Cql *clause, CqlUuid *out)
{
    Str term = clause->term;
    ptrdiff_t star = str_find_char(term, '*', 0);

    if (star >= 0 && (size_t)star + 1 < term.len) {
        return err_text(400, "CQL: only right truncation supported for " STR_FMT ":  " STR_FMT,
                        STR_ARG(clause->index), STR_ARG(term));
    }
    if (star >= 0) {
        out->kind = star == 0 ? CQL_UUID_ALL : CQL_UUID_PREFIX;
        out->text = str_lower(str_sub(term, 0, (size_t)star));
    } else if (str_is_empty(term)) {
        out->kind = clause->relation == CQL_EXACT ? CQL_UUID_NONE : CQL_UUID_ALL;
    } else {
        out->kind = uuid_is_uuid_shaped(term) ? CQL_UUID_EQUAL : CQL_UUID_NONE;
        out->text = str_lower(term);
    }
    // <>"" asks for what is set, like =""; <>* for the opposite of all.
    if (clause->relation == CQL_NOT_EQUAL && !str_is_empty(term)) {
        static const CqlUuidKind opposite[] = {
            [CQL_UUID_ALL] = CQL_UUID_NONE,
            [CQL_UUID_NONE] = CQL_UUID_ALL,
            [CQL_UUID_EQUAL] = CQL_UUID_NOT_EQUAL,
            [CQL_UUID_PREFIX] = CQL_UUID_NOT_PREFIX,
        };
        out->kind = opposite[out->kind];
    }
    return NULL;
}

static bool is_plain_equality(const Cql *clause)
{
    return clause->relation == CQL_WORDS && str_eq(clause->relation_text, S("="));
}

Err *cql_uuid(const Cql *clause, CqlUuid *out)
{
    *out = (CqlUuid){.relation = clause->relation};
    if (clause->modifier_count) {
        const CqlModifier *modifier = &clause->modifiers[0];
        return err_text(400, "CQL: Unsupported modifier %s" STR_FMT, modifier->is_array ? "@" : "",
                        STR_ARG(modifier->name));
    }
    switch (clause->relation) {
    case CQL_LESS:
    case CQL_LESS_EQUAL:
    case CQL_GREATER:
    case CQL_GREATER_EQUAL:
        return order_of(clause, out);
    case CQL_EXACT:
    case CQL_NOT_EQUAL:
        return equality_of(clause, out);
    default:
        break;
    }
    if (is_plain_equality(clause)) {
        return equality_of(clause, out);
    }
    return err_text(400,
                    "CQL: Unsupported operator '" STR_FMT "', UUID " STR_FMT
                    " only supports '=', '==', and '<>' (possibly with right truncation)",
                    STR_ARG(clause->relation_text), STR_ARG(clause->index));
}

CqlTruth cql_uuid_test(const CqlUuid *uuid, Str value)
{
    bool matches = false;

    if (!value.at) {
        return CQL_UNKNOWN;
    }
    switch (uuid->kind) {
    case CQL_UUID_ALL:
        matches = true;
        break;
    case CQL_UUID_NONE:
        break;
    case CQL_UUID_EQUAL:
    case CQL_UUID_NOT_EQUAL:
        matches = str_eq_nocase(value, uuid->text) == (uuid->kind == CQL_UUID_EQUAL);
        break;
    case CQL_UUID_PREFIX:
    case CQL_UUID_NOT_PREFIX:
        matches = str_eq_nocase(str_sub(value, 0, uuid->text.len), uuid->text) ==
                  (uuid->kind == CQL_UUID_PREFIX);
        break;
    case CQL_UUID_ORDER:
        matches = relation_holds(uuid->relation, str_cmp(str_lower(value), uuid->text));
        break;
    }
    return matches ? CQL_TRUE : CQL_FALSE;
}

Err *cql_uuid_matches(const Cql *clause, Str value, bool is_key, CqlTruth *out)
{
    CqlUuid uuid;

    TRY(cql_uuid(clause, &uuid));
    // A record always has its id; where a reference is not set nothing is known about it.
    *out = is_key && uuid.kind == CQL_UUID_ALL ? CQL_TRUE : cql_uuid_test(&uuid, value);
    return NULL;
}
