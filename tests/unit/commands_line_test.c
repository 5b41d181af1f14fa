// Command lines: both forms of options, files, the environment, and what ends the program.
#include "test.h"

#include "commands/commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Str tenant, reference;
static const CommandOption own[] = {
    {"tenant", "which", &tenant, false}, {"reference", "load it", &reference, true}, {0}};

static CommandLine line_of(const char *const *words)
{
    int argc = 0;

    while (words[argc]) {
        argc++;
    }
    tenant = reference = (Str){0};
    return command_line(argc, (char **)(uintptr_t)words, "load FILE", own);
}

// What the program exits with when it is called so; -1: it goes on.
static int exit_of(const char *const *words)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        line_of(words);
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 99 ? -1 : WEXITSTATUS(status);
}

static void options_have_two_forms_and_words_stay_in_order(void **state)
{
    (void)state;
    CommandLine line =
        line_of((const char *const[]){"first", "--tenant", "diku", "--data=/d", "--reference",
                                      "second", "--log.level=warn", "--http.body_mib", "4", NULL});

    assert_int_equal(line.words.len, 2);
    assert_str(line.words.at[0], "first");
    assert_str(line.words.at[1], "second");
    assert_str(tenant, "diku");
    assert_str(reference, "on");
    assert_str(line.data, "/d");
    assert_str(config_text(line.config, "log.level"), "warn");
    assert_int_equal(config_int(line.config, "http.body_mib"), 4);
    config_free(line.config);
    line = line_of((const char *const[]){"--database", "postgres://x/y", "--tenant=", NULL});
    assert_str(config_text(line.config, "database.url"), "postgres://x/y");
    assert_int_equal(tenant.len, 0);
    config_free(line.config);
}

static void a_flag_beats_the_environment_and_that_the_file(void **state)
{
    (void)state;
    char dir[] = "/tmp/octavo-line-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/octavo.conf", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("[http]\nbody_mib = 1\nconnections = 11\nidle_timeout_s = 12\n", file);
    fclose(file);
    setenv("OCTAVO_HTTP_CONNECTIONS", "21", 1);
    setenv("OCTAVO_HTTP_IDLE_TIMEOUT_S", "22", 1);

    const char *const words[] = {"--data", dir, "--http.idle_timeout_s=32", NULL};
    CommandLine line = line_of(words);
    assert_int_equal(config_int(line.config, "http.body_mib"), 1);
    assert_int_equal(config_int(line.config, "http.connections"), 21);
    assert_int_equal(config_int(line.config, "http.idle_timeout_s"), 32);
    config_free(line.config);
    unsetenv("OCTAVO_HTTP_CONNECTIONS");
    unsetenv("OCTAVO_HTTP_IDLE_TIMEOUT_S");
    const char *const named[] = {"--config", path, NULL};
    line = line_of(named);
    assert_int_equal(config_int(line.config, "http.connections"), 11);
    config_free(line.config);
    unlink(path);
    rmdir(dir);
}

static void bad_lines_end_with_2_and_help_with_0(void **state)
{
    (void)state;
    assert_int_equal(exit_of((const char *const[]){"--help", NULL}), 0);
    assert_int_equal(exit_of((const char *const[]){"x", "-h", NULL}), 0);
    assert_int_equal(exit_of((const char *const[]){"--tenant", NULL}), 2);
    assert_int_equal(exit_of((const char *const[]){"--nothing", NULL}), 2);
    assert_int_equal(exit_of((const char *const[]){"--", NULL}), 2);
    assert_int_equal(exit_of((const char *const[]){"--no.such=1", NULL}), 2);
    assert_int_equal(exit_of((const char *const[]){"--http.body_mib=abc", NULL}), 2);
    assert_int_equal(exit_of((const char *const[]){"--config=/nowhere.conf", NULL}), 2);
    assert_int_equal(exit_of((const char *const[]){"--data=/nowhere", NULL}), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_two_forms_and_words_stay_in_order),
        cmocka_unit_test(a_flag_beats_the_environment_and_that_the_file),
        cmocka_unit_test(bad_lines_end_with_2_and_help_with_0),
    };
    return cmocka_run_group_tests_name("command line", tests, NULL, NULL);
}
