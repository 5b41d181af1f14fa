// The whole program without its listeners, on a database in memory, for fuzz targets: one tenant
// with every module, and a token that may do everything.
#pragma once

#include "fuzz.h"

#include "base/log.h"
#include "commands/commands.h"
#include "gateway/internal.h"
#include "modules/administrator.h"
#include "octavo.h"

#include <ftw.h>
#include <unistd.h>

#define TENANT "fuzz"

typedef struct {
    App app;
    Tenant *tenant;
    char dir[64];
    Str token;
} World;

static World world;

static inline int world_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

static inline void world_end(void)
{
    gateway_stop(&world.app);
    store_close(world.app.store);
    nftw(world.dir, world_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline Str world_token(void)
{
    Req req = {.method = POST,
               .path = S("/authn/login"),
               .body = S("{\"username\":\"fuzz\",\"password\":\"fuzz\"}"),
               .has_body = true,
               .arena = arena_current(),
               .now = time_now()};

    name_values_add(&req.headers, S("x-okapi-tenant"), S(TENANT));
    gateway_handle(&req, &world.app);
    HOLDS(req.reply.status == 201);
    for (size_t i = 0; i < req.reply.headers.len; i++) {
        if (str_eq_nocase(req.reply.headers.at[i].name, S("x-okapi-token"))) {
            return req.reply.headers.at[i].value;
        }
    }
    abort();
}

static inline void world_begin(void)
{
    if (world.tenant) {
        return;
    }
    Arena *arena = arena_new((size_t)256 << 20), *before = arena_use(arena);
    log_set(LOG_OFF, false);
    snprintf(world.dir, sizeof world.dir, "%s/octavo-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    HOLDS(mkdtemp(world.dir));
    world.app = (App){.modules = all_modules, .config = config_new(process_options)};
    HOLDS(!config_set((Config *)(uintptr_t)world.app.config, S("login.rounds"), S("1"), "fuzz"));
    StoreOptions options = {.dir = str_of(world.dir), .cache_bytes = 8 << 20, .readers_max = 4};
    HOLDS(!store_open(&options, &world.app.store));
    HOLDS(!gateway_start(&world.app));
    HOLDS(!tenant_create(&world.app, S(TENANT), S("fuzz"), S("")));
    HOLDS(!tenant_enable(&world.app, S(TENANT), NULL, true, false));
    HOLDS(!administrator_create(&world.app, S(TENANT), S("fuzz"), S("fuzz")));
    HOLDS(!tenant_find(&world.app, S(TENANT), &world.tenant));
    world.token = world_token();
    atexit(world_end);
    arena_use(before);
}
