// A load plan, read from its JSON file and turned into small programs that virtual users run.
//
// Format: spec/workloads.md 14. All parts live in the arena that was current when the plan was
// read, are shared by all users and not changed during a run, except feeds and properties, which
// guard themselves.
#pragma once

#include "condition.h"
#include "feed.h"
#include "jsonpath.h"
#include "regexp.h"
#include "text.h"

#include "json/json.h"

enum {
    REQUEST_PARTS_MAX = 64, // query parameters, extractors, checks, timers of one request
    TRANSACTION_DEPTH_MAX = 8,
    COUNTERS_MAX = 64, // loops of one group
    METER_NONE = -1,
};

typedef enum {
    ON_ERROR_CONTINUE,
    ON_ERROR_NEXT_LOOP,
    ON_ERROR_STOP_THREAD,
    ON_ERROR_STOP_TEST
} OnError;
typedef enum { THINK_EFFECTIVE, THINK_WRITTEN, THINK_NONE } ThinkModel;

// A pause before a request: think times and the pacing of a scope.
typedef struct {
    enum { TIMER_CONSTANT, TIMER_UNIFORM, TIMER_GAUSSIAN, TIMER_THROUGHPUT } kind;
    Text *offset_ms;  // constant: the pause itself
    Text *written_ms; // offset that the plan meant, for THINK_WRITTEN; NULL = offset_ms
    Text *spread_ms;  // uniform: range; gaussian: deviation
    Text *per_minute; // throughput: requests a minute and user, or of all users if it is shared
    bool is_shared;
    uint32_t pace; // throughput: its place among the plan's pacers
} Timer;

enum { MATCH_RANDOM = 0, MATCH_ALL = -1 }; // else: which one, from 1

typedef struct {
    enum { EXTRACT_JSON, EXTRACT_REGEX, EXTRACT_BOUNDARY } kind;
    uint32_t variable;
    int match;
    bool from_headers;
    Text *path; // json: as text when it holds variables, else compiled
    JsonPath *compiled;
    Regexp *regex;
    uint32_t groups[REGEXP_GROUPS_MAX]; // variables v_g1 ...
    Str template_;                      // regex: "$1$"
    Text *left, *right;                 // boundary
    Text *fallback;                     // NULL = none
} Extract;

typedef struct {
    enum { CHECK_STATUS, CHECK_BODY, CHECK_HEADERS, CHECK_JSON } kind;
    enum { TEST_EQUALS, TEST_CONTAINS_TEXT, TEST_CONTAINS_REGEX, TEST_MATCHES } test;
    bool is_not, is_any;
    Text **values;
    Regexp **regexes; // of the values, for the two regex tests
    size_t value_count;
    Text *path; // json
    JsonPath *compiled;
    bool has_value; // json: values[0], a regex if the test is TEST_MATCHES
    Str shown;      // for messages
} Check;

typedef struct {
    Text *name, *value;
} TextPair;

// The headers of a scope; requests with the same ones share a set, so that users can keep the list
// they built last.
typedef struct {
    TextPair *at;
    size_t len;
} HeaderSet;

typedef struct {
    Str id;
    int32_t meter; // its place among the measured requests; METER_NONE: not listed one by one
    const char *method;
    bool is_preflight;
    bool needs_body, needs_headers; // of the answer
    Text *path;
    TextPair *query;
    size_t query_len;
    uint32_t header_set;
    Text *body, *body_file;
    Timer *timers;
    size_t timer_len;
    Extract *extracts;
    size_t extract_len;
    Check *checks;
    size_t check_len;
    OnError on_error;
} Request;

typedef enum {
    OP_ITERATION, // the begin of a pass; the user may end here
    OP_DATA,      // take a line of `feed`
    OP_SETUP,     // skip to `target` unless the user has to log in
    OP_SETUP_DONE,
    OP_REQUEST,
    OP_BEGIN,  // of transaction `number`
    OP_COMMIT, // its end
    OP_IF,     // to `target` if `condition` is false
    OP_JUMP,
    OP_LOOP,      // sets `counter` to `count`; to `target` if there is nothing to do
    OP_LOOP_NEXT, // back to `target` while the counter is not used up
    OP_EACH,      // sets the counter before the first value of list `variable`
    OP_EACH_NEXT, // takes the next value into `number`, or goes to `target`
    OP_PAUSE,     // `count` milliseconds
    OP_CHOOSE,    // draws by the weights in `count`, goes to targets[i]
    OP_SET,       // variable `number` becomes `count`
    OP_END,
} Op;

typedef struct {
    Op op;
    uint32_t target;
    uint32_t number;
    uint32_t variable;
    uint32_t counter;
    Feed *feed;
    Request *request;
    Condition *condition;
    Text *count;
    Text *from, *to; // OP_EACH, OP_EACH_NEXT
    uint32_t *targets;
    size_t target_len;
} Step;

typedef struct {
    Step *at;
    uint32_t len, cap;
} Program;

typedef struct {
    Str name;
    bool is_setup;
    Text *users, *ramp_s, *duration_s, *start_delay_s, *iterations;
    OnError on_error;
    Program program;
} Group;

typedef struct Plan {
    Str name, title;
    Symbols symbols;
    Group *groups;
    size_t group_len;
    StrList requests;     // labels, by meter number
    StrList transactions; // by number
    HeaderSet *header_sets;
    size_t header_set_len;
    StrList header_labels; // their texts, to find equal ones
    Feed *feeds;           // linked
    uint32_t feed_len;
    uint32_t pace_len;
    Regexp *regexps; // of all extractors and checks
    struct PlanFiles *files;
    struct PlanProperties *properties;
} Plan;

typedef struct PlanVariable {
    Str name, value;
} PlanVariable;

typedef struct {
    Str inputs;                    // folder of the data files; empty: a plan that is only checked
    const PlanVariable *variables; // --var
    size_t variable_len;
    // A list whose lines serve once ends its users although it recycles: JMeter would go over it
    // again.
    bool stops_at_end;
} PlanOptions;

// Reads a plan from its text. 400 with the path of the place for anything that is not understood.
WARN_UNUSED Err *plan_read(Str text, const PlanOptions *options, Plan **out);

const Symbols *plan_symbols(const Plan *plan);
// A file of the inputs folder, loaded once and kept. The name may hold no "..".
WARN_UNUSED Err *plan_file(const Plan *plan, Str name, Str *content);
void plan_open_files(Plan *plan, Str folder);
// Files and regular expressions: nothing may use the plan any more.
void plan_close_files(Plan *plan);
// Properties: what --var gave, and the variables of setup groups after these have run.
bool plan_property(const Plan *plan, Str name, Str *value);
void plan_set_property(const Plan *plan, Str name, Str value);
// Variables that requests use and nothing sets: likely missing --var. In the current arena.
StrList plan_unset_variables(const Plan *plan);
