// octavo tenant: makes a library with its first administrator, before anybody could log in.
#include "commands/commands.h"

#include "modules/administrator.h"

#include <stdio.h>

typedef struct {
    Str admin, name, modules, reference, sample;
} TenantOptions;

static const char *const *module_names(Str list)
{
    StrList names = {0};
    Str one;
    while (str_next(&list, ',', &one)) {
        str_list_add(&names, str_trim(one));
    }
    const char **out = NEW_ARRAY(const char *, names.len + 1);
    for (size_t i = 0; i < names.len; i++) {
        out[i] = str_z(names.at[i]);
    }
    return out;
}

static Err *create(App *app, Str id, const TenantOptions *options)
{
    Tenant *tenant = NULL;
    Str password = options->admin, username;
    if (tenant_find(app, id, &tenant)) {
        TRY(tenant_create(app, id, options->name.len ? options->name : id, (Str){"", 0}));
    }
    TRY(tenant_enable(app, id, options->modules.len ? module_names(options->modules) : NULL,
                      options->reference.len > 0, options->sample.len > 0));
    if (!options->admin.len) {
        return NULL;
    }
    if (!str_next(&password, ':', &username) || !username.len || !password.len) {
        return err_text(400, "--admin wants NAME:PASSWORD");
    }
    return administrator_create(app, id, username, password);
}

int tenant_main(int argc, char **argv)
{
    TenantOptions options = {0};
    const CommandOption own[] = {
        {"admin", "NAME:PASSWORD of a user who may do everything", &options.admin, false},
        {"name", "name shown to people", &options.name, false},
        {"modules", "modules to enable, by commas; all if not given", &options.modules, false},
        {"reference", "load the reference data", &options.reference, true},
        {"sample", "load the sample data", &options.sample, true},
        {0}};
    CommandLine line =
        command_line(argc, argv, "tenant create ID --data DIR [--admin NAME:PASSWORD]", own);
    App app;

    if (line.words.len != 2 || !str_eq(line.words.at[0], S("create"))) {
        return command_fail(err_text(400, "say which: octavo tenant create ID --data DIR"));
    }
    Err *err = command_open(&line, false, &app);
    if (err) {
        return command_fail(err);
    }
    err = create(&app, line.words.at[1], &options);
    command_close(&app);
    return err ? command_fail(err) : 0;
}
