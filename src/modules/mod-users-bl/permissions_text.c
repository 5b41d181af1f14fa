// All permissions of a user as text: thousands of records for an administrator, asked for at every
// log-in and page load. Source: spec/platform.md 2.4.
#include "modules/mod-users-bl/internal.h"

#include "modules/mod-permissions/collections.h"
#include "modules/mod-permissions/permissions.h"

#include <pthread.h>

enum {
    USERS_MAX = 64, // users whose text is kept
    TEXT_MAX = 64 << 20,
};

typedef struct {
    Str user_id, text;
} UserText;

// Filled by the transactions that share it: all of them see the same permissions.
typedef struct {
    pthread_mutex_t lock; // guards everything below
    Arena *arena;
    size_t count;
    UserText users[USERS_MAX];
} TextTable;

static Err *build_table(Tx *tx, void **value)
{
    (void)tx;
    TextTable *table = NEW(TextTable);

    pthread_mutex_init(&table->lock, NULL);
    table->arena = arena_current();
    *value = table;
    return NULL;
}

static const Collection *const table_sources[] = {&permissions, &permission_users, NULL};
static const Derived texts = {"texts of permissions", table_sources, build_table};
DERIVED_IS_KNOWN(texts)

static Str find_text(TextTable *table, Str user_id)
{
    Str text = {0};

    pthread_mutex_lock(&table->lock);
    for (size_t i = 0; i < table->count; i++) {
        if (str_eq(table->users[i].user_id, user_id)) {
            text = table->users[i].text;
        }
    }
    pthread_mutex_unlock(&table->lock);
    return text;
}

// Kept only while there is room: what does not fit is made anew each time.
static void keep_text(TextTable *table, Str user_id, Str text)
{
    pthread_mutex_lock(&table->lock);
    if (table->count < USERS_MAX && arena_left(table->arena) > 2 * text.len + 4096) {
        table->users[table->count++] =
            (UserText){str_copy(table->arena, user_id), str_copy(table->arena, text)};
    }
    pthread_mutex_unlock(&table->lock);
}

static Err *make_text(Tx *tx, Str user_id, Str *out)
{
    const PermissionSet *set = NULL;
    Docs docs = {0};
    Buf text = buf_new(arena_current(), TEXT_MAX);
    const char *between = "";

    TRY(permissions_of_user(tx, user_id, &set));
    TRY(tx_where(tx, &permissions, "1 = 1", NO_ARGS, &docs));
    buf_char(&text, '[');
    for (size_t i = 0; i < docs.len; i++) {
        if (set && permission_set_has(set, json_str(docs.at[i], "permissionName"))) {
            buf_add_z(&text, between);
            json_write(&text, docs.at[i]);
            between = ",";
        }
    }
    buf_char(&text, ']');
    *out = buf_str(&text);
    return NULL;
}

Err *permissions_text(Tx *tx, Str user_id, Str *out)
{
    const void *value = NULL;

    TRY(tx_derived(tx, &texts, &value));
    TextTable *table = (TextTable *)value;
    *out = find_text(table, user_id);
    if (out->at) {
        return NULL;
    }
    TRY(make_text(tx, user_id, out));
    keep_text(table, user_id, *out);
    return NULL;
}
