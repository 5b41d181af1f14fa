// The format of experiment files as tables: every key with the kind of its value. Whatever is not
// in them is a problem, named by its path.
#include "experiment.h"

#include <string.h>

typedef enum {
    KIND_TEXT,
    KIND_SCALAR, // text, number, true or false
    KIND_NUMBER, // from 0 on
    KIND_COUNT,  // a whole number from `least` on
    KIND_FLAG,
    KIND_WORD,    // one of `words`
    KIND_BYTES,   // "2GiB"
    KIND_TEXTS,   // an array of texts
    KIND_RANGE,   // a number, or [from, to]
    KIND_STEPS,   // an array of rising numbers above 0
    KIND_SCALARS, // an object of scalars with any names
    KIND_OBJECT,  // with the keys of `keys`
    KIND_MAP,     // an object of any names whose members are such objects
    KIND_LIST,    // an array of them
} Kind;

typedef struct Key {
    const char *name;
    Kind kind;
    const char *words;
    const struct Key *keys;
    int64_t least;
} Key;

static const Key experiment_keys[] = {{"id", KIND_TEXT},         {"title", KIND_TEXT},
                                      {"question", KIND_TEXT},   {"seed", KIND_COUNT},
                                      {"reference", KIND_TEXTS}, {0}};

static const Key set_keys[] = {{"instances", KIND_COUNT, .least = 1},
                               {"holdings", KIND_RANGE},
                               {"one_with", KIND_COUNT, .least = 1},
                               {"from", KIND_TEXT},
                               {0}};

#define RECIPES "tiny small seed large huge"

static const Key data_keys[] = {{"recipe", KIND_WORD, RECIPES},
                                {"seed", KIND_COUNT},
                                {"rtac_sets", KIND_MAP, .keys = set_keys},
                                {"items_per_holding", KIND_COUNT, .least = 1},
                                {"on_loan_share", KIND_NUMBER},
                                {"reset", KIND_WORD, "each-run each-block never"},
                                {"inputs", KIND_TEXT},
                                {0}};

static const Key target_keys[] = {{"managed", KIND_FLAG},
                                  {"url", KIND_TEXT},
                                  {"admin_url", KIND_TEXT},
                                  {"cpuset", KIND_TEXT},
                                  {"memory_limit", KIND_BYTES},
                                  {"otlp_sink", KIND_FLAG},
                                  {0}};

static const Key configuration_keys[] = {
    {"label", KIND_TEXT},           {"options", KIND_SCALARS}, {"env", KIND_SCALARS},
    {"memory_limit", KIND_BYTES},   {"cpus", KIND_SCALAR},     {"deployment_note", KIND_TEXT},
    {"recipe", KIND_WORD, RECIPES}, {"baseline", KIND_FLAG},   {0}};

static const Key workload_data_keys[] = {
    {"marc_records", KIND_COUNT, .least = 1}, {"marc_source", KIND_TEXT}, {0}};

static const Key workload_keys[] = {{"file", KIND_TEXT},
                                    {"data", KIND_OBJECT, .keys = workload_data_keys},
                                    {"variables", KIND_SCALARS},
                                    {"think_model", KIND_WORD, "effective written none"},
                                    {"think_scale", KIND_NUMBER},
                                    {"preflights", KIND_FLAG},
                                    {"timeout_s", KIND_NUMBER},
                                    {"poll_s", KIND_NUMBER},
                                    {"stuck_after_s", KIND_NUMBER},
                                    {"verify", KIND_WORD, "holdings_count"},
                                    {0}};

static const Key load_keys[] = {{"model", KIND_WORD, "closed open"},
                                {"users", KIND_COUNT, .least = 1},
                                {"ramp_s", KIND_NUMBER},
                                {"rate", KIND_NUMBER},
                                {"arrival", KIND_WORD, "constant poisson"},
                                {"max_users", KIND_COUNT, .least = 1},
                                {"steps", KIND_STEPS},
                                {0}};

static const Key run_workload_keys[] = {{"workload", KIND_TEXT},
                                        {"load", KIND_TEXT},
                                        {"set", KIND_TEXT},
                                        {"start_offset_s", KIND_NUMBER},
                                        {"repeat", KIND_COUNT, .least = 1},
                                        {"pause_s", KIND_NUMBER},
                                        {0}};

static const Key run_keys[] = {{"workloads", KIND_LIST, .keys = run_workload_keys},
                               {"configurations", KIND_TEXTS},
                               {"warmup_s", KIND_NUMBER},
                               {"warmup_jobs", KIND_COUNT},
                               {"steady_s", KIND_NUMBER},
                               {"cooldown_s", KIND_NUMBER},
                               {"seed_row", KIND_FLAG},
                               {0}};

static const Key trend_keys[] = {{"metric", KIND_TEXT},
                                 {"by", KIND_WORD, "repetition time"},
                                 {"max_pct_per_repetition", KIND_NUMBER},
                                 {0}};

static const Key design_keys[] = {{"blocks", KIND_COUNT, .least = 1},
                                  {"order", KIND_WORD, "interleaved random sequential"},
                                  {"restart", KIND_WORD, "each-run each-block never"},
                                  {"min_blocks", KIND_COUNT, .least = 1},
                                  {"min_transactions", KIND_COUNT},
                                  {"time_limit_s", KIND_NUMBER},
                                  {0}};

static const Key kpi_keys[] = {{"metric", KIND_TEXT},
                               {"max", KIND_NUMBER},
                               {"min", KIND_NUMBER},
                               {"max_ms", KIND_NUMBER},
                               {"max_delta_pct", KIND_NUMBER},
                               {"severity", KIND_WORD, "fail warn"},
                               {"note", KIND_TEXT},
                               {0}};

static const Key compare_keys[] = {{"metric", KIND_TEXT},
                                   {"margin_pct", KIND_NUMBER},
                                   {"alpha", KIND_NUMBER},
                                   {"test", KIND_WORD, "equivalence superiority"},
                                   {0}};

static const Key sample_keys[] = {{"interval_ms", KIND_COUNT, .least = 20},
                                  {"modules", KIND_FLAG},
                                  {"database", KIND_FLAG},
                                  {"host", KIND_FLAG},
                                  {0}};

static const Key report_keys[] = {
    {"formats", KIND_TEXTS}, {"sections", KIND_TEXTS}, {"comment", KIND_TEXT}, {0}};

static const Key root_keys[] = {{"experiment", KIND_OBJECT, .keys = experiment_keys},
                                {"data", KIND_OBJECT, .keys = data_keys},
                                {"target", KIND_OBJECT, .keys = target_keys},
                                {"configuration", KIND_MAP, .keys = configuration_keys},
                                {"workload", KIND_MAP, .keys = workload_keys},
                                {"load", KIND_MAP, .keys = load_keys},
                                {"run", KIND_MAP, .keys = run_keys},
                                {"trend", KIND_LIST, .keys = trend_keys},
                                {"design", KIND_OBJECT, .keys = design_keys},
                                {"kpi", KIND_LIST, .keys = kpi_keys},
                                {"compare", KIND_LIST, .keys = compare_keys},
                                {"sample", KIND_OBJECT, .keys = sample_keys},
                                {"report", KIND_OBJECT, .keys = report_keys},
                                {0}};

// ---------------------------------------------------------------------------------------------

typedef struct {
    StrList *problems;
    const Json *workloads; // in a profile: their names are keys of its runs, too
} Checker;

static void problem(const Checker *checker, Str path, Str what)
{
    str_list_add(checker->problems, str_fmt(STR_FMT ": " STR_FMT, STR_ARG(path), STR_ARG(what)));
}

static Str member_path(Str path, Str name)
{
    return path.len ? str_fmt(STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(name)) : name;
}

static bool is_word(Str words, Str value)
{
    Str word;

    while (str_next(&words, ' ', &word)) {
        if (str_eq(word, value)) {
            return true;
        }
    }
    return false;
}

static bool is_scalar(const Json *value)
{
    return json_is_string(value) || json_is_number(value) || json_is_bool(value);
}

static bool is_all(const Json *list, bool (*is)(const Json *value))
{
    JSON_EACH(child, list)
    {
        if (!is(child)) {
            return false;
        }
    }
    return true;
}

static bool is_range(const Json *value)
{
    return json_is_number(value) ||
           (json_is_array(value) && json_len(value) == 2 && is_all(value, json_is_number) &&
            json_number(json_at(value, 0), "", 0) <= json_number(json_at(value, 1), "", 0));
}

static bool is_steps(const Json *value)
{
    double last = 0;

    JSON_EACH(step, value)
    {
        double number = json_number(step, "", 0);
        if (!json_is_number(step) || number <= last) {
            return false;
        }
        last = number;
    }
    return json_is_array(value) && json_len(value) >= 2;
}

static bool is_count(const Json *value, int64_t least)
{
    double number = json_number(value, "", -1);
    return json_is_number(value) && number >= (double)least && number < 9e15 &&
           number == (double)(int64_t)number;
}

static bool is_bytes(const Json *value)
{
    int64_t bytes = 0;
    return json_is_string(value) && experiment_bytes(json_scalar_text(value), &bytes);
}

// What a plain value must be, if it is not.
static Str plain_fault(const Key *key, const Json *value)
{
    switch (key->kind) {
    case KIND_TEXT:
        return json_is_string(value) ? S("") : S("must be a text");
    case KIND_SCALAR:
        return is_scalar(value) ? S("") : S("must be a text, a number, true or false");
    case KIND_NUMBER:
        return json_is_number(value) && json_number(value, "", -1) >= 0
                   ? S("")
                   : S("must be a number, 0 or more");
    case KIND_COUNT:
        return is_count(value, key->least)
                   ? S("")
                   : str_fmt("must be a whole number, %lld or more", (long long)key->least);
    case KIND_FLAG:
        return json_is_bool(value) ? S("") : S("must be true or false");
    case KIND_WORD:
        return json_is_string(value) && is_word(str_of(key->words), json_scalar_text(value))
                   ? S("")
                   : str_fmt("must be one of: %s", key->words);
    case KIND_BYTES:
        return is_bytes(value) ? S("") : S("must be a size like \"256MiB\" or \"2GiB\"");
    case KIND_TEXTS:
        return json_is_array(value) && is_all(value, json_is_string) ? S("")
                                                                     : S("must be a list of texts");
    case KIND_RANGE:
        return is_range(value) ? S("") : S("must be a number or [from, to]");
    case KIND_STEPS:
        return is_steps(value) ? S("") : S("must be a list of two or more rising numbers above 0");
    case KIND_SCALARS:
        return json_is_object(value) && is_all(value, is_scalar)
                   ? S("")
                   : S("must be an object of texts, numbers, true or false");
    default:
        return S("");
    }
}

static void check_value(const Checker *checker, Str path, const Key *key, const Json *value);

static const Key *find_key(const Key *keys, Str name)
{
    for (; keys->name; keys++) {
        if (str_eq_z(name, keys->name)) {
            return keys;
        }
    }
    return NULL;
}

static Str known_keys(const Key *keys)
{
    StrList names = {0};

    for (; keys->name; keys++) {
        str_list_add(&names, str_of(keys->name));
    }
    return str_join(names.at, names.len, S(", "));
}

static void check_object(const Checker *checker, Str path, const Key *keys, const Json *object)
{
    static const Key entry = {"", KIND_OBJECT, .keys = run_workload_keys};

    if (!json_is_object(object)) {
        problem(checker, path, S("must be an object"));
        return;
    }
    JSON_EACH(member, object)
    {
        Str name = json_key(member);
        const Key *key = find_key(keys, name);
        if (!key && keys == run_keys && experiment_member(checker->workloads, name)) {
            key = &entry;
        }
        if (key) {
            check_value(checker, member_path(path, name), key, member);
        } else {
            problem(checker, member_path(path, name),
                    str_fmt("unknown key; known are: " STR_FMT, STR_ARG(known_keys(keys))));
        }
    }
}

static void check_value(const Checker *checker, Str path, const Key *key, const Json *value)
{
    Str fault = plain_fault(key, value);
    size_t i = 0;

    if (fault.len) {
        problem(checker, path, fault);
    } else if (key->kind == KIND_OBJECT) {
        check_object(checker, path, key->keys, value);
    } else if (key->kind == KIND_MAP && !json_is_object(value)) {
        problem(checker, path, S("must be an object of named entries"));
    } else if (key->kind == KIND_LIST && !json_is_array(value)) {
        problem(checker, path, S("must be a list"));
    } else if (key->kind == KIND_MAP) {
        JSON_EACH(member, value)
        {
            check_object(checker, member_path(path, json_key(member)), key->keys, member);
        }
    } else if (key->kind == KIND_LIST) {
        JSON_EACH(child, value)
        {
            check_object(checker, str_fmt(STR_FMT "[%zu]", STR_ARG(path), i++), key->keys, child);
        }
    }
}

void experiment_check_keys(const Json *json, StrList *problems)
{
    Checker plain = {.problems = problems};
    Checker in_profile = {.problems = problems, .workloads = json_get(json, "workload")};

    if (!json_is_object(json)) {
        problem(&plain, S("experiment file"), S("must be a JSON object"));
        return;
    }
    JSON_EACH(member, json)
    {
        Str name = json_key(member);
        const Key *key = find_key(root_keys, name);
        if (key) {
            check_value(&plain, name, key, member);
        } else if (!str_eq(name, S("profile"))) {
            problem(&plain, name,
                    str_fmt("unknown key; known are: " STR_FMT ", profile",
                            STR_ARG(known_keys(root_keys))));
        } else if (!json_is_object(member)) {
            problem(&plain, name, S("must be an object of named profiles"));
        } else {
            JSON_EACH(profile, member)
            {
                check_object(&in_profile, member_path(name, json_key(profile)), root_keys, profile);
            }
        }
    }
}

bool experiment_bytes(Str text, int64_t *out)
{
    static const struct {
        const char *name;
        int shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"", 0}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        Str unit = str_of(units[i].name);
        if (!str_ends(text, unit)) {
            continue;
        }
        Str number = str_trim(str_sub(text, 0, text.len - unit.len));
        int64_t count = 0;
        if (!str_int64(number, &count) || count < 1 || count > INT64_MAX >> units[i].shift) {
            return false;
        }
        *out = count << units[i].shift;
        return true;
    }
    return false;
}
