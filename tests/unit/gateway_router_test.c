// Which route a method and a path find.
#include "test.h"

#include "gateway/router.h"

static Err *unused_handler(Req *req)
{
    (void)req;
    return NULL;
}

#define ROUTE(method, path)                                                                        \
    {                                                                                              \
        method, path, READ, unused_handler, "p." path                                              \
    }

static const Route user_routes[] = {
    ROUTE(GET, "/users"),
    ROUTE(GET, "/users/{id}"),
    ROUTE(GET, "/users/expire"),
    ROUTE(POST, "/users/{id}"),
    ROUTE(GET, "/users/{id}/permissions/{name}"),
    ROUTE(GET, "/files/*"),
    ROUTE(GET, "/users/{id}/loans"),
    {0},
};

static const Route field_routes[] = {ROUTE(GET, "/custom-fields"), {0}};
static const Route timer_routes[] = {ROUTE(POST, "/users/expire/timer"), {0}};

static const Interface okapi_provides[] = {{0}};
static const Interface user_provides[] = {
    {"users", "1.0", user_routes},
    {"custom-fields", "1.0", field_routes, .type = "multiple"},
    {"_timer", "1.0", timer_routes, .type = "system"},
    {0},
};
static const Interface other_provides[] = {
    {"custom-fields", "1.0", field_routes, .type = "multiple"},
    {0},
};

static const Module okapi = {.name = "okapi", .version = "1", .provides = okapi_provides};
static const Module users = {.name = "mod-a", .version = "1", .provides = user_provides};
static const Module other = {.name = "mod-b", .version = "1", .provides = other_provides};
static const Module *const modules[] = {&okapi, &users, &other};

static const RouteTable *table;
static RouteMatch match;

static int make_table(void **state)
{
    (void)state;
    table = route_table_new(modules, 3);
    return 0;
}

static bool finds(Method method, const char *path, const char *pattern)
{
    ModuleSet enabled = {0};
    module_set_add(&enabled, 1);
    RouteQuery query = {
        .method = method, .path = str_of(path), .enabled = &enabled, .provider = SIZE_MAX};
    bool found = route_find(table, &query, &match);
    if (!pattern) {
        return !found;
    }
    return found && str_eq_z(str_of(pattern), match.route->entry.route->path);
}

static void a_literal_segment_wins_over_a_name(void **state)
{
    (void)state;
    assert_true(finds(GET, "/users/expire", "/users/expire"));
    assert_true(finds(GET, "/users/0815", "/users/{id}"));
    assert_int_equal(match.param_count, 1);
    assert_str(match.params[0], "0815");
}

static void a_literal_without_the_method_gives_way_to_a_name(void **state)
{
    (void)state;
    assert_true(finds(POST, "/users/expire", "/users/{id}"));
    assert_str(match.params[0], "expire");
    assert_true(finds(GET, "/users/expire/loans", "/users/{id}/loans"));
}

static void names_take_one_whole_segment(void **state)
{
    (void)state;
    assert_true(finds(GET, "/users/a%2Fb/permissions/x.y", "/users/{id}/permissions/{name}"));
    assert_int_equal(match.param_count, 2);
    assert_str(match.params[0], "a%2Fb");
    assert_str(match.params[1], "x.y");
    assert_true(finds(GET, "/users/", NULL));
    assert_true(finds(GET, "/users//loans", NULL));
}

static void a_star_takes_any_rest(void **state)
{
    (void)state;
    assert_true(finds(GET, "/files/", "/files/*"));
    assert_true(finds(GET, "/files/a", "/files/*"));
    assert_true(
        finds(GET, "/files/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z", "/files/*"));
    assert_true(finds(GET, "/files", NULL));
}

static void other_methods_and_paths_find_nothing(void **state)
{
    (void)state;
    assert_true(finds(DELETE, "/users", NULL));
    assert_true(finds(GET, "/", NULL));
    assert_true(finds(GET, "", NULL));
    assert_true(finds(GET, "users", NULL));
    assert_true(finds(GET, "/nothing", NULL));
}

static void system_interfaces_are_not_reachable(void **state)
{
    (void)state;
    assert_true(finds(POST, "/users/expire/timer", NULL));
}

static void modules_that_are_not_enabled_are_passed_over(void **state)
{
    (void)state;
    ModuleSet none = {0};
    RouteQuery query = {.method = GET, .path = S("/users"), .enabled = &none, .provider = SIZE_MAX};
    assert_false(route_find(table, &query, &match));
}

static void two_providers_need_a_choice(void **state)
{
    (void)state;
    ModuleSet both = {0};
    module_set_add(&both, 1);
    module_set_add(&both, 2);
    RouteQuery query = {
        .method = GET, .path = S("/custom-fields"), .enabled = &both, .provider = SIZE_MAX};
    assert_true(route_find(table, &query, &match));
    assert_non_null(match.rival);
    query.provider = 2;
    assert_true(route_find(table, &query, &match));
    assert_null(match.rival);
    assert_ptr_equal(match.route->entry.module, &other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_literal_segment_wins_over_a_name),
        cmocka_unit_test(a_literal_without_the_method_gives_way_to_a_name),
        cmocka_unit_test(names_take_one_whole_segment),
        cmocka_unit_test(a_star_takes_any_rest),
        cmocka_unit_test(other_methods_and_paths_find_nothing),
        cmocka_unit_test(system_interfaces_are_not_reachable),
        cmocka_unit_test(modules_that_are_not_enabled_are_passed_over),
        cmocka_unit_test(two_providers_need_a_choice),
    };
    return cmocka_run_group_tests(tests, make_table, NULL);
}
