// Items as clients of /inventory see them: title and names joined. Source: spec/inventory.md 5.1.
#include "modules/mod-inventory/inventory.h"

#include "modules/mod-inventory-storage/properties.h"

enum { PARTS_MAX = 100000 };

// Ids that the representation shows as {id, name}.
static const struct {
    const char *id_member, *member;
    const Collection *of;
} named[] = {
    {"materialTypeId", "materialType", &material_types},
    {"permanentLoanTypeId", "permanentLoanType", &loan_types},
    {"temporaryLoanTypeId", "temporaryLoanType", &loan_types},
    {"permanentLocationId", "permanentLocation", &locations},
    {"temporaryLocationId", "temporaryLocation", &locations},
    {"effectiveLocationId", "effectiveLocation", &locations},
};

static Err *names_put(Tx *tx, Json *item)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        Str id = json_str(item, named[i].id_member), name;
        if (id.len) {
            TRY(inventory_name(tx, named[i].of, id, &name));
            Json *both = json_object();
            json_set_str(both, "id", id);
            json_set_str_if(both, "name", name);
            json_put(item, str_of(named[i].member), both);
        }
        json_remove(item, named[i].id_member);
    }
    return NULL;
}

static void title_put(Json *item, const ItemContext *context)
{
    Json *names = json_array();

    JSON_EACH(contributor, json_get(context->instance, "contributors"))
    {
        Json *one = json_object();
        json_take(one, "name", contributor, "name");
        json_add(names, one);
    }
    json_take(item, "title", context->instance, "title");
    json_set(item, "contributorNames", names);
    json_take(item, "callNumber", context->holdings, "callNumber");
    if (!json_has(item, "tags")) {
        json_set(item, "tags.tagList", json_array());
    }
}

// Which of the items are parts of something: the ids of items that have parts.
static Err *bound_items(Tx *tx, Json *const *records, size_t n, StrList *out)
{
    Str *ids = NEW_ARRAY(Str, n ? n : 1);
    Docs parts = {0};

    for (size_t i = 0; i < n; i++) {
        ids[i] = json_str(records[i], "id");
    }
    TRY(tx_list(tx, &bound_with_parts, cql_any_of("itemId", ids, n), PARTS_MAX, &parts));
    for (size_t i = 0; i < parts.len; i++) {
        str_list_add(out, json_str(parts.at[i], "itemId"));
    }
    return NULL;
}

static Err *represent(Tx *tx, const ItemContext *context, bool is_bound)
{
    TRY(names_put(tx, context->item));
    title_put(context->item, context);
    json_set_bool(context->item, "isBoundWith", is_bound);
    return NULL;
}

Err *items_represent(Tx *tx, Json **records, size_t n, void *context)
{
    ItemContexts contexts = {0};
    StrList bound = {0};

    (void)context;
    TRY(items_above(tx, records, n, &contexts));
    TRY(bound_items(tx, records, n, &bound));
    for (size_t i = 0; i < n; i++) {
        TRY(represent(tx, &contexts.at[i], str_list_has(&bound, json_str(records[i], "id"))));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// One item: also the titles it is bound with, in the order in which they were added

static Json *bound_title(const Json *above, const Json *instance)
{
    Json *out = json_object(), *brief = json_object(), *title = json_object();

    json_take(brief, "id", above, "id");
    json_take(brief, "hrid", above, "hrid");
    json_take(title, "id", instance, "id");
    json_take(title, "title", instance, "title");
    json_take(title, "hrid", instance, "hrid");
    json_set(out, "briefHoldingsRecord", brief);
    json_set(out, "briefInstance", title);
    return out;
}

static Err *bound_titles(Tx *tx, Str item_id, Json **out)
{
    Docs parts = {0};
    Str cql = str_fmt("itemId==\"" STR_FMT "\" sortby metadata.createdDate", STR_ARG(item_id));

    *out = json_array();
    TRY(tx_list(tx, &bound_with_parts, cql, PARTS_MAX, &parts));
    // What stands above an item stands above a part too.
    ItemContexts contexts = {0};
    TRY(items_above(tx, parts.at, parts.len, &contexts));
    for (size_t i = 0; i < contexts.len; i++) {
        json_add(*out, bound_title(contexts.at[i].holdings, contexts.at[i].instance));
    }
    return NULL;
}

Err *item_represent(Tx *tx, const ItemContext *context)
{
    Json *titles = NULL;

    TRY(bound_titles(tx, json_str(context->item, "id"), &titles));
    TRY(represent(tx, context, json_len(titles) > 0));
    json_set(context->item, "boundWithTitles", titles);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The way back

Json *item_from_body(const Json *body)
{
    Json *item = known_members(&item_record, body);

    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const Json *both = json_get(body, named[i].member);
        json_remove(item, named[i].member);
        if (json_is_object(both)) {
            json_remove(item, named[i].id_member);
            json_take(item, named[i].id_member, both, "id");
        }
    }
    return item;
}
