// A small library for the tests of the collection engine: shelves (cached), authors, books, and a
// database of it that each test gets fresh.
#pragma once

#include "test_store.h"

#include "base/uuid.h"
#include "store/backend.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const Collection shelves, authors, books;

static const Property metadata_properties[] = {{0}};

static const Property shelf_properties[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"zone", STRING},
    {"metadata", METADATA, .of = metadata_properties},
    {0},
};
static const RecordType shelf_record = {"Shelf", .properties = shelf_properties};

static const Property author_properties[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"born", STRING},
    {0},
};
static const RecordType author_record = {"Author", .properties = author_properties};

static const Property status_properties[] = {
    {"name", STRING, REQUIRED},
    {"date", DATE_TIME},
    {0},
};
static const Property identifier_properties[] = {
    {"value", STRING},
    {"typeId", STRING},
    {0},
};
static const Property book_properties[] = {
    {"id", ID},
    {"_version", INTEGER},
    {"title", STRING, REQUIRED},
    {"barcode", STRING},
    {"status", OBJECT, .of = status_properties},
    {"shelfId", ID},
    {"authorId", ID},
    {"dueDate", DATE_TIME},
    {"pages", INTEGER},
    {"price", DECIMAL},
    {"lost", BOOLEAN},
    {"place", STRING},
    {"donor", STRING},
    {"position", INTEGER},
    {"note", STRING},
    {"lang", STRING, ARRAY},
    {"identifiers", OBJECT, ARRAY, .of = identifier_properties},
    {"metadata", METADATA, .of = metadata_properties},
    {0},
};
static const RecordType book_record = {"Book", .properties = book_properties};

static const Field shelf_fields[] = {{"name", "name", TEXT | UNIQUE}, {0}};

const Collection shelves = {
    .table = "shelf",
    .path = "/shelves",
    .list_key = "shelves",
    .record = &shelf_record,
    .fields = shelf_fields,
    .is_cached = true,
};

static const Field author_fields[] = {
    {"name", "name", TEXT | INDEX | WORDS},
    {0},
};
static const Join author_joins[] = {{"book", &books, .child_column = "author_id"}, {0}};

const Collection authors = {
    .table = "author",
    .path = "/authors",
    .list_key = "authors",
    .record = &author_record,
    .fields = author_fields,
    .joins = author_joins,
};

static const Field book_fields[] = {
    {"barcode", "barcode", TEXT | UNIQUE},
    {"title", "title", TEXT | INDEX | WORDS},
    {"status", "status.name", TEXT | INDEX | COARSE},
    {"shelf_id", "shelfId", UUID, .references = &shelves},
    {"author_id", "authorId", UUID | INDEX, .references = &authors},
    {"due_at", "dueDate", TIME | INDEX},
    {"pages", "pages", NUMBER | INDEX},
    {"is_lost", "lost", FLAG | INDEX},
    {"place", "place", TEXT | KEEP_CASE},
    {"donor", "donor", TEXT | INDEX | SPARSE},
    {"position", "position", NUMBER},
    {"lang", "lang", TREE | WORDS},
    {"identifiers", "identifiers", TREE | WORDS | NO_COLUMN, .elements = "value typeId"},
    {"keywords", "title,barcode,identifiers[*].value", TEXT | WORDS | NO_COLUMN,
     .cql_name = "keywords"},
    {0},
};
static const UniqueKey book_uniques[] = {
    {"shelf_id, position", .where = "is_lost = 0"},
    {0},
};
static const Join book_joins[] = {
    {"author", &authors, .own_column = "author_id"},
    {0},
};

const Collection books = {
    .table = "book",
    .path = "/books",
    .list_key = "books",
    .record = &book_record,
    .fields = book_fields,
    .uniques = book_uniques,
    .joins = book_joins,
    .locking = FAIL_ON_CONFLICT,
    .event = "library.book",
    .not_found = "Book %s not found",
};

static const Collection *const library[] = {&shelves, &authors, &books};

typedef struct {
    char dir[64];
    Store *store;
    Db *db;
    Tx *tx; // open transaction of the test
} Library;

static inline void library_open(Library *lib)
{
    StoreOptions options = test_store_options(lib->dir);

    assert_ok(store_open(&options, &lib->store));
    assert_ok(db_open(lib->store, S("town"), true, &lib->db));
}

static inline int library_setup(void **state)
{
    Library *lib = calloc(1, sizeof *lib);

    strcpy(lib->dir, "/tmp/octavo-library-XXXXXX");
    test_store_make(lib->dir);
    library_open(lib);
    assert_ok(db_migrate(lib->db, library, 3));
    *state = lib;
    return 0;
}

static inline int library_teardown(void **state)
{
    Library *lib = *state;

    if (lib->tx) {
        tx_rollback(lib->tx);
    }
    store_close(lib->store);
    test_store_remove(lib->dir);
    free(lib);
    arena_reset(arena_current());
    return 0;
}

static inline Tx *begin(Library *lib, TxKind kind)
{
    TxOptions options = {.kind = kind, .now = 1714567890123, .user_id = S("operator")};

    assert_null(lib->tx);
    assert_ok(tx_begin(lib->db, &options, &lib->tx));
    return lib->tx;
}

static inline void commit(Library *lib)
{
    Tx *tx = lib->tx;

    lib->tx = NULL;
    assert_ok(tx_commit(tx));
}

static inline Json *json_of(const char *text)
{
    Json *doc = NULL;

    assert_ok(json_parse(str_of(text), &doc));
    return doc;
}

// 00000000-0000-4000-8000-000000000007
static inline Str id_of(int n)
{
    return str_fmt("00000000-0000-4000-8000-%012d", n);
}

static inline void insert(Tx *tx, const Collection *of, int n, const char *members)
{
    assert_ok(tx_insert(
        tx, of, json_of(str_fmt("{\"id\":\"" STR_FMT "\",%s}", STR_ARG(id_of(n)), members).at)));
}
