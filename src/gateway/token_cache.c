// A bounded table of verified tokens: one slot per hash, the newer token takes it.
#include "gateway/token_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 4096,
    LOCKS = 32,
    TOKEN_MAX = 4096, // longer ones are verified each time
};

typedef struct {
    char *text; // token, tenant, user id, user name, type, one behind the other
    size_t lens[5];
    Time issued_at, expires_at;
} Slot;

struct TokenCache {
    pthread_mutex_t locks[LOCKS]; // locks[i] guards the slots with number % LOCKS == i
    Slot slots[SLOTS];
};

TokenCache *token_cache_new(void)
{
    TokenCache *cache = calloc(1, sizeof *cache);
    for (int i = 0; cache && i < LOCKS; i++) {
        pthread_mutex_init(&cache->locks[i], NULL);
    }
    return cache;
}

void token_cache_free(TokenCache *cache)
{
    for (int i = 0; cache && i < SLOTS; i++) {
        free(cache->slots[i].text);
    }
    free(cache);
}

static void copy_out(const Slot *slot, TokenSubject *out)
{
    Str parts[5];
    const char *at = slot->text;
    for (int i = 0; i < 5; i++) {
        parts[i] = str_copy(arena_current(), (Str){at, slot->lens[i]});
        at += slot->lens[i];
    }
    *out = (TokenSubject){.tenant = parts[1],
                          .user_id = parts[2],
                          .user_name = parts[3],
                          .type = parts[4],
                          .issued_at = slot->issued_at,
                          .expires_at = slot->expires_at};
}

bool token_cache_find(TokenCache *cache, Str token, TokenSubject *out)
{
    size_t number = str_hash(token) % SLOTS;
    Slot *slot = &cache->slots[number];
    pthread_mutex_lock(&cache->locks[number % LOCKS]);
    bool found = slot->text && str_eq_secret((Str){slot->text, slot->lens[0]}, token);
    if (found) {
        copy_out(slot, out);
    }
    pthread_mutex_unlock(&cache->locks[number % LOCKS]);
    return found;
}

void token_cache_add(TokenCache *cache, Str token, const TokenSubject *subject)
{
    // Tokens with rights of their own are rare and not kept.
    if (token.len > TOKEN_MAX || subject->extra_permissions.len || subject->id.len) {
        return;
    }
    Str parts[5] = {token, subject->tenant, subject->user_id, subject->user_name, subject->type};
    Slot made = {.issued_at = subject->issued_at, .expires_at = subject->expires_at};
    size_t size = 0;
    for (int i = 0; i < 5; i++) {
        size += parts[i].len;
    }
    made.text = malloc(size + 1);
    if (!made.text) {
        return;
    }
    char *to = made.text;
    for (int i = 0; i < 5; i++) {
        memcpy(to, parts[i].at ? parts[i].at : "", parts[i].len);
        made.lens[i] = parts[i].len;
        to += parts[i].len;
    }
    size_t number = str_hash(token) % SLOTS;
    pthread_mutex_lock(&cache->locks[number % LOCKS]);
    char *old = cache->slots[number].text;
    cache->slots[number] = made;
    pthread_mutex_unlock(&cache->locks[number % LOCKS]);
    free(old);
}
