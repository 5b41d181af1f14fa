// How much is logged, in all and per module: GET and PUT /octavo/ops/loglevel. Until the process
// ends; log.level is what it begins with. Source: spec/native-api.md 2.
#include "modules/octavo/native.h"

enum {
    MODULES_MAX_SET = 64,
    NAME_MAX_SET = 64,
};

static Json *levels_json(void)
{
    const LogModule *modules = NULL;
    size_t n = log_modules(&modules);
    Json *body = json_object(), *own = json_object();

    for (size_t i = 0; i < n; i++) {
        json_put(own, modules[i].module, json_string(str_of(log_level_name(modules[i].level))));
    }
    json_set_str(body, "level", str_of(log_level_name(log_level())));
    json_set(body, "modules", own);
    return body;
}

Err *loglevel_show(Req *req)
{
    TRY(operators_only(req));
    return reply_json(req, 200, levels_json());
}

static Err *level_read(Str name, LogLevel *level)
{
    if (!log_level_of(name, level)) {
        return err_text(400, "a level must be debug, info, warn, error or off");
    }
    return NULL;
}

Err *loglevel_set(Req *req)
{
    LogModule modules[MODULES_MAX_SET];
    LogLevel level = log_level();
    Json *body = NULL;
    size_t n = 0;

    TRY(operators_only(req));
    TRY(req_body_object(req, &body));
    if (json_get(body, "level")) {
        TRY(level_read(json_str(body, "level"), &level));
    }
    JSON_EACH(one, json_get(body, "modules"))
    {
        Str name = json_key(one);
        if (n == MODULES_MAX_SET || !name.len || name.len > NAME_MAX_SET) {
            return err_text(400, "modules must be at most %d names with their levels",
                            MODULES_MAX_SET);
        }
        modules[n].module = name;
        TRY(level_read(json_scalar_text(one), &modules[n].level));
        n++;
    }
    log_set(level, log_is_json());
    log_set_modules(modules, n);
    return reply_json(req, 200, levels_json());
}
