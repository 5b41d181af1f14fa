// Instances with their links to other titles, as clients of /inventory see them.
// Source: spec/inventory.md 5.4.
#include "modules/mod-inventory/inventory.h"

enum { LINKS_MAX = 100000 };

// ---------------------------------------------------------------------------------------------
// Reading: for all records of a page at once

typedef struct {
    Json **records;
    size_t n;
    Docs relations, titles, others; // others: instances that titles name
    Docs parts, part_holdings;
} Page;

static Json *page_record(const Page *page, Str id)
{
    for (size_t i = 0; id.len && i < page->n; i++) {
        if (str_eq(json_str(page->records[i], "id"), id)) {
            return page->records[i];
        }
    }
    return NULL;
}

static Err *links_read(Tx *tx, Page *page)
{
    Str *ids = NEW_ARRAY(Str, page->n);

    for (size_t i = 0; i < page->n; i++) {
        ids[i] = json_str(page->records[i], "id");
    }
    Str below = cql_any_of("superInstanceId", ids, page->n);
    Str above = cql_any_of("subInstanceId", ids, page->n);
    TRY(tx_list(tx, &instance_relationships,
                str_fmt(STR_FMT " or " STR_FMT, STR_ARG(below), STR_ARG(above)), LINKS_MAX,
                &page->relations));
    Str before = cql_any_of("precedingInstanceId", ids, page->n);
    Str after = cql_any_of("succeedingInstanceId", ids, page->n);
    TRY(tx_list(tx, &title_links, str_fmt(STR_FMT " or " STR_FMT, STR_ARG(before), STR_ARG(after)),
                LINKS_MAX, &page->titles));
    return tx_list(tx, &bound_with_parts, cql_any_of("holdingsRecord.instanceId", ids, page->n),
                   LINKS_MAX, &page->parts);
}

// The other ends of titles, the holdings records of parts: only if there are any.
static Err *ends_read(Tx *tx, Page *page)
{
    StrList ids = {0};

    for (size_t i = 0; i < page->titles.len; i++) {
        str_list_add(&ids, json_str(page->titles.at[i], "precedingInstanceId"));
        str_list_add(&ids, json_str(page->titles.at[i], "succeedingInstanceId"));
    }
    TRY(tx_get_many(tx, &instances, ids.at, ids.len, &page->others));
    return tx_get_named(tx, &holdings, &page->parts, "holdingsRecordId", &page->part_holdings);
}

static void relation_put(const Page *page, const Json *relation, const char *own, const char *other,
                         const char *list)
{
    Json *record = page_record(page, json_str(relation, own));
    Json *one = json_object();

    if (!record) {
        return;
    }
    json_take(one, "id", relation, "id");
    json_take(one, other, relation, other);
    json_take(one, "instanceRelationshipTypeId", relation, "instanceRelationshipTypeId");
    json_add(json_get(record, list), one);
}

static void title_put(const Page *page, const Json *link, const char *own, const char *other,
                      const char *list)
{
    static const char *const shown[] = {"title", "hrid", "identifiers"};
    Json *record = page_record(page, json_str(link, own));
    Json *one = json_object();

    if (!record) {
        return;
    }
    const Json *from = docs_find(&page->others, json_str(link, other));
    json_take(one, "id", link, "id");
    json_take(one, other, link, other);
    for (size_t i = 0; i < 3; i++) {
        json_take(one, shown[i], from ? from : link, shown[i]);
    }
    json_add(json_get(record, list), one);
}

static void page_fill(const Page *page)
{
    static const char *const lists[] = {"parentInstances", "childInstances", "precedingTitles",
                                        "succeedingTitles"};

    for (size_t i = 0; i < page->n; i++) {
        for (size_t l = 0; l < 4; l++) {
            json_set(page->records[i], lists[l], json_array());
        }
        json_set_bool(page->records[i], "isBoundWith", false);
    }
    for (size_t i = 0; i < page->relations.len; i++) {
        const Json *one = page->relations.at[i];
        relation_put(page, one, "subInstanceId", "superInstanceId", "parentInstances");
        relation_put(page, one, "superInstanceId", "subInstanceId", "childInstances");
    }
    for (size_t i = 0; i < page->titles.len; i++) {
        const Json *one = page->titles.at[i];
        title_put(page, one, "succeedingInstanceId", "precedingInstanceId", "precedingTitles");
        title_put(page, one, "precedingInstanceId", "succeedingInstanceId", "succeedingTitles");
    }
    for (size_t i = 0; i < page->part_holdings.len; i++) {
        Json *record = page_record(page, json_str(page->part_holdings.at[i], "instanceId"));
        if (record) {
            json_set_bool(record, "isBoundWith", true);
        }
    }
}

Err *instances_represent(Tx *tx, Json **records, size_t n, void *context)
{
    Page page = {.records = records, .n = n};

    (void)context;
    TRY(links_read(tx, &page));
    TRY(ends_read(tx, &page));
    page_fill(&page);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Writing: stored links become those of the representation

typedef struct {
    const Collection *of;
    const char *list;            // of the representation
    const char *own, *other;     // members of the link: this instance, the other end
    const char *const *compared; // further members
} LinkKind;

static const char *const relation_members[] = {"instanceRelationshipTypeId", NULL};
static const char *const title_members[] = {"title", "hrid", "identifiers", NULL};

static const LinkKind kinds[] = {
    {&instance_relationships, "parentInstances", "subInstanceId", "superInstanceId",
     relation_members},
    {&instance_relationships, "childInstances", "superInstanceId", "subInstanceId",
     relation_members},
    {&title_links, "precedingTitles", "succeedingInstanceId", "precedingInstanceId", title_members},
    {&title_links, "succeedingTitles", "precedingInstanceId", "succeedingInstanceId",
     title_members},
};

static Json *link_wanted(const LinkKind *kind, Str instance_id, const Json *one)
{
    Json *link = json_object();
    bool is_connected = json_str(one, kind->other).len > 0;

    json_set_str(link, kind->own, instance_id);
    if (is_connected) {
        json_set_str(link, kind->other, str_lower(json_str(one, kind->other)));
    }
    for (const char *const *member = kind->compared; *member; member++) {
        // Title and hrid of a connected instance are its own.
        if (!is_connected || kind->of == &instance_relationships) {
            json_take(link, *member, one, *member);
        }
    }
    return link;
}

static bool link_is_same(const LinkKind *kind, const Json *a, const Json *b)
{
    bool same = str_eq(json_str(a, kind->own), json_str(b, kind->own)) &&
                str_eq(json_str(a, kind->other), json_str(b, kind->other));

    for (const char *const *member = kind->compared; *member && same; member++) {
        const Json *left = json_get(a, *member), *right = json_get(b, *member);
        same = (!json_len(left) && !json_len(right) && !json_is_string(left) &&
                !json_is_string(right)) ||
               json_equal(left, right);
    }
    return same;
}

// Stored links of the kind: those that are wanted stay, the others go. A wanted one that is there
// is taken out of the list.
static Err *links_remove(Tx *tx, const LinkKind *kind, const Docs *stored, Docs *wanted)
{
    for (size_t i = 0; i < stored->len; i++) {
        size_t w = 0;
        while (w < wanted->len && !link_is_same(kind, stored->at[i], wanted->at[w])) {
            w++;
        }
        if (w < wanted->len) {
            wanted->at[w] = wanted->at[--wanted->len];
        } else {
            TRY(tx_delete(tx, kind->of, json_str(stored->at[i], "id")));
        }
    }
    return NULL;
}

static Err *links_of_kind(Tx *tx, const LinkKind *kind, Str instance_id, const Json *list)
{
    Docs stored = {0};
    Docs wanted = {NEW_ARRAY(Json *, json_len(list) + 1), 0};

    JSON_EACH(one, list)
    {
        wanted.at[wanted.len++] = link_wanted(kind, instance_id, one);
    }
    TRY(tx_list(tx, kind->of, cql_any_of(kind->own, &instance_id, 1), LINKS_MAX, &stored));
    TRY(links_remove(tx, kind, &stored, &wanted));
    for (size_t i = 0; i < wanted.len; i++) {
        TRY(tx_insert(tx, kind->of, wanted.at[i]));
    }
    return NULL;
}

Err *instance_links_write(Tx *tx, Str instance_id, const Json *body)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        TRY(links_of_kind(tx, &kinds[i], instance_id, json_get(body, kinds[i].list)));
    }
    return NULL;
}
