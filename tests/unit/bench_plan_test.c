// Reading load plans: texts, conditions, data files, refusals.
#include "test.h"

#include "bench/plan/plan.h"

#include "base/asset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const Asset assets_all[];

static char folder[] = "/tmp/bench-plan-XXXXXX";

static void write_file(const char *name, const char *content)
{
    FILE *file = fopen(str_z(str_fmt("%s/%s", folder, name)), "w");

    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static Plan *plan_of(const char *json)
{
    static const PlanVariable given[] = {{{"tenant", 6}, {"diku", 4}}};
    PlanOptions options = {.inputs = str_of(folder), .variables = given, .variable_len = 1};
    Plan *plan = NULL;

    assert_ok(plan_read(str_of(json), &options, &plan));
    return plan;
}

static void refused(const char *json, const char *message)
{
    PlanOptions options = {.inputs = str_of(folder)};
    Plan *plan = NULL;
    Err *err = plan_read(str_of(json), &options, &plan);

    assert_non_null(err);
    assert_string_equal(str_z(err->message), message);
}

static Vars *made[64]; // by actor_of, freed at the end
static size_t made_len;

// One user at the begin of a plan whose variables are given.
static Actor actor_of(const Plan *plan)
{
    Actor actor = {.plan = plan, .vars = vars_new(&plan->symbols)};
    rng_seed(&actor.rng, 1, 0);
    assert_true(made_len < sizeof made / sizeof *made);
    made[made_len++] = actor.vars;
    return actor;
}

static Plan *plan_with(const char *variables)
{
    return plan_of(str_z(str_fmt("{\"name\":\"p\",\"variables\":{%s},\"groups\":[]}", variables)));
}

static Str filled(Plan *plan, const char *source)
{
    TextScope scope = {.symbols = &plan->symbols, .where = S("here")};
    Text *text = NULL;

    assert_ok(text_compile(&scope, str_of(source), &text));
    Actor actor = actor_of(plan);
    return str_copy(arena_current(), text_str(text, &actor));
}

static void texts_are_filled_in(void **state)
{
    Plan *plan = plan_with("\"a\":\"1\",\"b\":{\"property\":\"tenant\",\"default\":\"none\"}");
    (void)state;

    assert_str(filled(plan, "x${a}y${b}"), "x1ydiku");
    assert_str(filled(plan, "${unknown}/${tenant}"), "${unknown}/diku");
    assert_str(filled(plan, "${__P(tenant,no)}${__P(other,no)}"), "dikuno");
    assert_str(filled(plan, "${__V(a)}"), "1");
    assert_str(filled(plan, "${substring(${b}-x,1,3)}"), "ik");
    assert_int_equal(filled(plan, "${uuid()}").len, 36);
    assert_int_equal(filled(plan, "${__RandomString(7,abc,)}").len, 7);
    assert_int_equal(filled(plan, "${__time(yyyy-MM-dd'T'HH:mm:ssX)}").len, 20);
    Str draw = filled(plan, "${__Random(5,6,)}");
    assert_true(str_eq_z(draw, "5") || str_eq_z(draw, "6"));
}

static void a_file_named_by_a_variable_is_filled_in(void **state)
{
    Plan *plan = plan_with("\"f\":\"ids.csv\"");
    (void)state;

    write_file("ids.csv", "\"1\",\"2\"");
    assert_str(filled(plan, "[${file(${f})}]"), "[\"1\",\"2\"]");
    assert_str(filled(plan, "[${file(../ids.csv)}]"), "[]");
}

static void an_unknown_function_is_refused(void **state)
{
    Symbols symbols = {0};
    TextScope scope = {.symbols = &symbols, .where = S("groups[0].steps[1].body")};
    Text *text = NULL;
    (void)state;

    assert_err(text_compile(&scope, S("a ${__groovy(x)}"), &text), 400,
               "groups[0].steps[1].body: ${__groovy(x)}: this function is not supported");
}

static bool holds(Plan *plan, const char *source)
{
    TextScope scope = {.symbols = &plan->symbols, .where = S("here")};
    Condition *condition = NULL;

    assert_ok(condition_compile(&scope, str_of(source), &condition));
    Actor actor = actor_of(plan);
    return condition_holds(condition, &actor);
}

static void conditions_of_the_plans_are_understood(void **state)
{
    Plan *plan = plan_with("\"s\":\"NEW\",\"n\":\"9\",\"m\":\"10\",\"no\":\"false\",\"e\":\"\"");
    (void)state;

    assert_true(holds(plan, "\"${s}\" == \"NEW\"||\"${s}\" == \"OLD\""));
    assert_true(holds(plan, "${n} <= ${m}"));
    assert_false(holds(plan, "${n} > ${m}"));
    assert_true(holds(plan, "${__groovy( !vars.get(\"s\").equals(\"NOT_FOUND\") ;)}"));
    assert_false(holds(plan, "${__groovy(\n(\"NEW\".equals(vars.get(\"x\")) ||\n\"A\".equals(vars."
                             "get(\"s\")))\n;)}\n"));
    assert_false(
        holds(plan, "${__groovy(vars.get(\"e\") != null && !vars.get(\"e\").equals(\"\"))}"));
    assert_true(holds(plan, "${__groovy(vars.get(\"x\") == null)}"));
    assert_true(holds(plan, "vars.get(\"n\").toInteger() == 9"));
    assert_false(holds(plan, "${no}"));
    assert_true(holds(plan, "${s}"));
}

static void removing_a_variable_gives_its_value_once(void **state)
{
    Plan *plan = plan_with("\"s\":\"a\"");
    TextScope scope = {.symbols = &plan->symbols, .where = S("here")};
    Condition *condition = NULL;
    (void)state;

    assert_ok(
        condition_compile(&scope, S("${__groovy(vars.remove(\"s\").equals(\"a\");)}"), &condition));
    Actor actor = actor_of(plan);
    assert_true(condition_holds(condition, &actor));
    assert_false(condition_holds(condition, &actor));
}

static void numbered_values_of_an_extractor_are_variables(void **state)
{
    Plan *plan = plan_with("");
    uint32_t list = symbol_of(&plan->symbols, S("ids"));
    uint32_t second = symbol_of(&plan->symbols, S("ids_2"));
    uint32_t count = symbol_of(&plan->symbols, S("ids_matchNr"));
    uint32_t third = symbol_of(&plan->symbols, S("ids_3"));
    Actor actor = actor_of(plan);
    Str value;
    (void)state;

    assert_false(vars_get(actor.vars, second, &value));
    vars_set_list(actor.vars, list, (Str[]){S("a"), S("b")}, 2);
    assert_true(vars_get(actor.vars, second, &value));
    assert_str(value, "b");
    assert_true(vars_get(actor.vars, count, &value));
    assert_str(value, "2");
    assert_false(vars_get(actor.vars, third, &value));
}

static const char data_plan[] =
    "{\"name\":\"p\",\"data\":[{\"file\":\"data.csv\",\"columns\":[\"x\",\"tenant\"],"
    "\"delimiter\":\",\",\"recycle\":%s,\"stop_thread_at_end\":%s,\"share\":\"%s\"}],"
    "\"loop\":[]}";

static void data_lines_are_shared_recycled_and_end(void **state)
{
    Str x;
    uint32_t number = 0;
    size_t own = 0;
    (void)state;

    write_file("data.csv", "\"a,b\",other\n\nc,other\r\n");
    Plan *plan = plan_of(str_z(str_fmt(data_plan, "true", "true", "all")));
    Actor one = actor_of(plan), two = actor_of(plan);
    assert_true(symbol_find(&plan->symbols, S("x"), &number));
    assert_true(feed_take(plan->feeds, &one, &own));
    assert_true(feed_take(plan->feeds, &two, &own));
    assert_true(vars_get(one.vars, number, &x));
    assert_str(x, "a,b");
    assert_true(vars_get(two.vars, number, &x));
    assert_str(x, "c");
    assert_true(feed_take(plan->feeds, &two, &own));
    assert_true(vars_get(two.vars, number, &x));
    assert_str(x, "a,b");
    // What the command line gave is not changed by a data file.
    assert_str(filled(plan, "${tenant}"), "diku");

    plan = plan_of(str_z(str_fmt(data_plan, "false", "true", "thread")));
    Actor three = actor_of(plan);
    own = 1;
    assert_true(feed_take(plan->feeds, &three, &own));
    assert_false(feed_take(plan->feeds, &three, &own));
}

static void a_list_tells_how_often_it_was_gone_over(void **state)
{
    size_t own = 0;
    (void)state;

    write_file("data.csv", "a\nb\nc\nd\n");
    Plan *plan = plan_of(str_z(str_fmt(data_plan, "true", "true", "all")));
    Actor one = actor_of(plan);
    feed_skip(plan->feeds, 2); // an earlier cell had them
    for (int i = 0; i < 2; i++) {
        assert_true(feed_take(plan->feeds, &one, &own));
    }
    assert_true(plan->feeds->ended_ns == 0);
    for (int i = 0; i < 4; i++) {
        assert_true(feed_take(plan->feeds, &one, &own));
    }
    assert_true(plan->feeds->ended_ns > 0);
    assert_int_equal(feed_taken(plan->feeds), 6);
    assert_true(feed_passes(plan->feeds) == 2);

    // Users that count for themselves: what the farthest took.
    plan = plan_of(str_z(str_fmt(data_plan, "false", "true", "thread")));
    Actor two = actor_of(plan);
    size_t near = 0, far = 0;
    assert_true(feed_take(plan->feeds, &two, &near));
    for (int i = 0; i < 4; i++) {
        assert_true(feed_take(plan->feeds, &two, &far));
    }
    assert_false(feed_take(plan->feeds, &two, &far));
    assert_int_equal(feed_taken(plan->feeds), 4);
}

static void what_is_not_understood_is_refused_with_its_place(void **state)
{
    (void)state;
    refused("{\"name\":\"p\",\"loops\":[]}", "loops: unknown key");
    refused("{\"name\":\"p\"}", "groups: a plan has either \"loop\" or \"groups\"");
    refused("{\"name\":\"p\",\"loop\":[{\"method\":\"GET\",\"path\":\"/\",\"boddy\":\"x\"}]}",
            "loop[0].boddy: unknown key");
    refused("{\"name\":\"p\",\"loop\":[{\"method\":\"FETCH\",\"path\":\"/\"}]}",
            "loop[0].method: is none of HTTP's");
    refused(
        "{\"name\":\"p\",\"groups\":[{\"group\":\"g\",\"steps\":[{\"loop\":2,\"steps\":[{\"sleep\":"
        "1}]}]}]}",
        "groups[0].steps[0].steps[0]: is no step that a plan knows");
    refused("{\"name\":\"p\",\"loop\":[{\"method\":\"GET\",\"path\":\"/\",\"extract\":[{\"kind\":"
            "\"json\",\"var\":\"v\",\"path\":\"$.[\"}]}]}",
            "loop[0].extract[0].path: JSON path \"$.[\", character 4: expected a number, *, a "
            "quoted name or ?(filter)");
    refused("{\"name\":\"p\",\"loop\":[],\"data\":[{\"file\":\"none.csv\",\"columns\":[\"c\"]}]}",
            str_z(str_fmt("%s/none.csv: No such file or directory", folder)));
    refused("{\"name\":\"p\",\"loop\":[{\"call\":\"x\"}]}",
            "loop[0].call: there is no fragment of that name");
}

static void headers_of_inner_scopes_replace_outer_ones(void **state)
{
    Plan *plan = plan_of(
        "{\"name\":\"p\",\"headers\":{\"Accept\":\"a\",\"X-Okapi-Tenant\":\"${tenant}\"},\"loop\":["
        "{\"method\":\"GET\",\"path\":\"/1\"},"
        "{\"headers\":{\"accept\":\"b\"}},"
        "{\"method\":\"POST\",\"path\":\"/2\",\"body\":\"{}\",\"headers\":{\"ACCEPT\":\"c\"}},"
        "{\"method\":\"GET\",\"path\":\"/3\"}]}");
    const Program *program = &plan->groups[0].program;
    (void)state;

    assert_int_equal(program->at[1].op, OP_REQUEST);
    assert_int_equal(program->at[1].request->header_set, program->at[3].request->header_set);
    const HeaderSet *set = &plan->header_sets[program->at[2].request->header_set];
    Actor actor = actor_of(plan);
    assert_int_equal(set->len, 3);
    assert_str(text_str(set->at[0].value, &actor), "c");
    assert_str(text_str(set->at[1].value, &actor), "diku");
    assert_str(text_str(set->at[2].value, &actor), "application/json");
}

static void every_built_in_plan_is_understood_but_for_its_data(void **state)
{
    (void)state;
    for (size_t i = 0; asset_at("bench/workloads/", i); i++) {
        const Asset *asset = asset_at("bench/workloads/", i);
        PlanOptions options = {.inputs = S("/none")};
        Plan *plan = NULL;
        Err *err = plan_read((Str){asset->at, (size_t)(asset->end - asset->at)}, &options, &plan);
        if (err && !str_ends(err->message, S("No such file or directory"))) {
            fail_msg("%s: " STR_FMT, asset->name, STR_ARG(err->message));
        }
    }
}

static int make_folder(void **state)
{
    (void)state;
    asset_use(assets_all);
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    while (made_len > 0) {
        vars_free(made[--made_len]);
    }
    unlink(str_z(str_fmt("%s/data.csv", folder)));
    unlink(str_z(str_fmt("%s/ids.csv", folder)));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_filled_in),
        cmocka_unit_test(a_file_named_by_a_variable_is_filled_in),
        cmocka_unit_test(an_unknown_function_is_refused),
        cmocka_unit_test(conditions_of_the_plans_are_understood),
        cmocka_unit_test(removing_a_variable_gives_its_value_once),
        cmocka_unit_test(numbered_values_of_an_extractor_are_variables),
        cmocka_unit_test(data_lines_are_shared_recycled_and_end),
        cmocka_unit_test(a_list_tells_how_often_it_was_gone_over),
        cmocka_unit_test(what_is_not_understood_is_refused_with_its_place),
        cmocka_unit_test(headers_of_inner_scopes_replace_outer_ones),
        cmocka_unit_test(every_built_in_plan_is_understood_but_for_its_data),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
