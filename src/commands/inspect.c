// octavo routes, config, version: what this program offers and how it is set.
#include "commands/commands.h"
#include "modules/octavo/native.h"

#include <stdio.h>

int routes_main(int argc, char **argv)
{
    Str format = S("text");
    const CommandOption own[] = {
        {"format", "text (columns) or csv (as FOLIO's route lists)", &format, false}, {0}};
    CommandLine line = command_line(argc, argv, "routes [--format text|csv]", own);
    const RouteEntry *entries = NULL;
    size_t n = gateway_routes(all_modules, &entries);
    bool csv = str_eq(format, S("csv"));

    if (csv) {
        printf("module,interface,version,method,path,permissionsRequired\n");
    }
    for (size_t i = 0; i < n; i++) {
        const RouteEntry *e = &entries[i];
        const char *permission = e->route->permission ? e->route->permission : "";
        if (csv) {
            printf("%s,%s,%s,%s,%s,%s\n", e->module->name, e->interface->id, e->interface->version,
                   method_name(e->route->method), e->route->path, permission);
        } else {
            printf("%-7s %-70s %-60s %s\n", method_name(e->route->method), e->route->path,
                   permission, e->module->name);
        }
    }
    config_free(line.config);
    return 0;
}

int config_main(int argc, char **argv)
{
    CommandLine line = command_line(argc, argv, "config [--data DIR] [--config FILE]", NULL);
    const Option *option = NULL;
    const char *origin = NULL;
    Str value;

    for (size_t i = 0; config_at(line.config, i, &option, &value, &origin); i++) {
        printf("%-30s %-20s %-10s %s\n", option->name,
               option->is_secret && value.len ? "***" : str_z(value), origin, option->help);
    }
    config_free(line.config);
    return 0;
}

// As GET /octavo/ops/deployment answers, of a server that would be started like this.
static int version_json(const CommandLine *line)
{
    App app = {.modules = all_modules, .config = line->config};
    Json *deployment = NULL;

    Err *err = deployment_of(&app, &deployment);
    if (err) {
        return command_fail(err);
    }
    Str text = json_text_indented(deployment);
    printf(STR_FMT "\n", STR_ARG(text));
    return 0;
}

int version_main(int argc, char **argv)
{
    Str as_json = {0};
    const CommandOption own[] = {
        {"json", "build, options, modules and machine, as JSON", &as_json, true}, {0}};
    CommandLine line = command_line(argc, argv, "version [--json]", own);
    int code = 0;

    if (as_json.len) {
        code = version_json(&line);
    } else {
        printf("octavo %s (%s)\n", OCTAVO_VERSION, str_z(build_name()));
    }
    config_free(line.config);
    return code;
}
