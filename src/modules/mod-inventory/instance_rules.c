// What may be written to instances and holdings records: titles, deletion marks, members that MARC
// controls. Source: spec/inventory.md 5.4.
#include "modules/mod-inventory/inventory.h"

#define MARC_SOURCE_ID S("036ee84a-6afd-4c3c-9ad3-4a12ab875f59")

static const char *const instance_blocked[] = {"hrid",
                                               "source",
                                               "title",
                                               "indexTitle",
                                               "alternativeTitles",
                                               "series",
                                               "identifiers",
                                               "contributors",
                                               "subjects",
                                               "classifications",
                                               "publication",
                                               "publicationFrequency",
                                               "publicationRange",
                                               "editions",
                                               "physicalDescriptions",
                                               "instanceTypeId",
                                               "instanceFormatIds",
                                               "languages",
                                               "notes",
                                               "electronicAccess",
                                               "modeOfIssuanceId",
                                               "precedingTitles",
                                               "succeedingTitles",
                                               "dates",
                                               NULL};

static const char *const holdings_blocked[] = {"formerIds",
                                               "holdingsTypeId",
                                               "permanentLocationId",
                                               "shelvingTitle",
                                               "copyNumber",
                                               "callNumberTypeId",
                                               "callNumberPrefix",
                                               "callNumber",
                                               "callNumberSuffix",
                                               "holdingsStatements",
                                               "holdingsStatementsForIndexes",
                                               "holdingsStatementsForSupplements",
                                               "notes",
                                               "electronicAccess",
                                               NULL};

static Err *title_links_check(const Json *body, const char *member, const char *id_member)
{
    JSON_EACH(title, json_get(body, member))
    {
        if (!json_str(title, id_member).len && !str_trim(json_str(title, "title")).len) {
            return err_422(NO_CODE,
                           S("Title is required for unconnected preceding/succeeding title"),
                           P_NULL(str_z(str_fmt("%s.title", member))));
        }
    }
    return NULL;
}

Err *instance_body_check(const Json *body)
{
    if (!str_trim(json_str(body, "title")).len) {
        return err_text(400, "Title must be provided for an instance");
    }
    if (json_flag(body, "deleted", false) &&
        (!json_flag(body, "staffSuppress", true) || !json_flag(body, "discoverySuppress", true))) {
        return err_text(400, "staffSuppress and discoverySuppress cannot be set to false if "
                             "instance is marked as deleted");
    }
    TRY(title_links_check(body, "precedingTitles", "precedingInstanceId"));
    return title_links_check(body, "succeedingTitles", "succeedingInstanceId");
}

// ---------------------------------------------------------------------------------------------
// Members that the MARC record controls

static bool is_empty(const Json *value)
{
    return !value || json_is_null(value) ||
           ((json_is_array(value) || json_is_object(value)) && !json_len(value)) ||
           (json_is_string(value) && !json_scalar_text(value).len);
}

// The client's record and the stored one differ in what only one of them spells out.
static bool is_same(const Json *a, const Json *b)
{
    return (is_empty(a) && is_empty(b)) || json_equal(a, b);
}

static Err *blocked_check(const char *what, const char *const *blocked, const Json *old,
                          const Json *now)
{
    StrList changed = {0};

    for (; *blocked; blocked++) {
        bool is_link = str_ends(str_of(*blocked), S("edingTitles"));
        if (!is_link && !is_same(json_get(old, *blocked), json_get(now, *blocked))) {
            str_list_add(&changed, str_of(*blocked));
        }
    }
    if (!changed.len) {
        return NULL;
    }
    return err_422(NO_CODE,
                   str_fmt("%s is controlled by MARC record, these fields are blocked and can not "
                           "be updated: " STR_FMT,
                           what, STR_ARG(str_join(changed.at, changed.len, S(",")))));
}

Err *instance_change_check(const Json *old, const Json *now)
{
    Str source = json_str(old, "source");

    if (str_eq(source, S("MARC")) || str_eq(source, S("CONSORTIUM-MARC"))) {
        TRY(blocked_check("Instance", instance_blocked, old, now));
    }
    if (!str_eq(json_str(old, "hrid"), json_str(now, "hrid"))) {
        return err_422(NO_CODE,
                       str_fmt("HRID change detected: existing=" STR_FMT ", updated=" STR_FMT,
                               STR_ARG(json_str(old, "hrid")), STR_ARG(json_str(now, "hrid"))));
    }
    return NULL;
}

Err *holdings_change_check(const Json *old, const Json *now)
{
    return str_eq(json_str(old, "sourceId"), MARC_SOURCE_ID)
               ? blocked_check("Holdings", holdings_blocked, old, now)
               : NULL;
}

static Err *blocked_reply(Req *req, const char *const *blocked)
{
    Json *answer = json_object(), *names = json_array();

    for (; *blocked; blocked++) {
        json_add(names, json_string(str_of(*blocked)));
    }
    json_set(answer, "blockedFields", names);
    return reply_json(req, 200, answer);
}

Err *blocked_instance_fields(Req *req)
{
    return blocked_reply(req, instance_blocked);
}

Err *blocked_holdings_fields(Req *req)
{
    return blocked_reply(req, holdings_blocked);
}
