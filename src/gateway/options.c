// Options as the gateway and the modules read them; without a configuration all have their default.
#include "gateway/gateway.h"

Str app_option(const App *app, const char *name, const char *fallback)
{
    return app->config ? config_text(app->config, name) : str_of(fallback);
}

bool app_flag(const App *app, const char *name, bool fallback)
{
    return app->config ? config_flag(app->config, name) : fallback;
}

int64_t app_int(const App *app, const char *name, int64_t fallback)
{
    return app->config ? config_int(app->config, name) : fallback;
}
