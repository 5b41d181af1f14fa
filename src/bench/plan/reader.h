// Reading a plan: what its parts share while it is read.
#pragma once

#include "plan.h"

// Headers and timers that hold for all requests of a list of steps and below.
typedef struct ReadScope {
    const struct ReadScope *outer;
    const Json *headers[4]; // objects of name and value
    size_t header_len;
    Timer timers[4];
    size_t timer_len;
    bool is_hidden; // inside of a transaction with parent_only
} ReadScope;

typedef struct {
    Plan *plan;
    const PlanOptions *options;
    const Json *fragments, *transactions;
    Group *group;
    const ReadScope *scope;
    Str where; // path of the place that is being read
    uint32_t counters;
    int depth;
} PlanReader;

WARN_UNUSED Err *plan_error(const PlanReader *reader, const char *key, const char *what);
// Every member of the object must be one of the names, which stand with blanks between them.
WARN_UNUSED Err *plan_keys(const PlanReader *reader, const Json *object, const char *names);
// The text of a member; the fallback (NULL allowed) if it is absent.
WARN_UNUSED Err *plan_text(PlanReader *reader, const Json *object, const char *key,
                           const char *fallback, Text **out);
// The text of a value that is no member by a fixed name.
WARN_UNUSED Err *plan_value(PlanReader *reader, const Json *value, Text **out);
WARN_UNUSED Err *plan_on_error(PlanReader *reader, const Json *object, OnError *out);
// Follows the path to a member or element: where becomes "where.key" or "where[i]".
Str plan_enter(PlanReader *reader, const char *key, int index);

// Adds the program of a list of steps to the group (steps.c).
WARN_UNUSED Err *plan_steps(PlanReader *reader, const Json *steps);
uint32_t plan_emit(PlanReader *reader, Step step);
WARN_UNUSED Err *plan_feed(PlanReader *reader, const Json *data);
// Reads a request (request.c).
WARN_UNUSED Err *plan_request(PlanReader *reader, const Json *json, Request **out);
WARN_UNUSED Err *plan_timer(PlanReader *reader, const Json *json, Timer *timer);
uint32_t plan_label(StrList *labels, Str label);
