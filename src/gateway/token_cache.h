// Verified tokens, so that a request costs a look-up instead of a signature check.
#pragma once

#include "gateway/gateway.h"

typedef struct TokenCache TokenCache;

TokenCache *token_cache_new(void);
void token_cache_free(TokenCache *cache);
// Copies what is known of the token into the current arena.
bool token_cache_find(TokenCache *cache, Str token, TokenSubject *out);
void token_cache_add(TokenCache *cache, Str token, const TokenSubject *subject);
