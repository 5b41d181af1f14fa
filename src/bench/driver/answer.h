// What is done with the answer to a request: values taken from it, checks.
#pragma once

#include "bench/plan/plan.h"

typedef struct {
    int status; // 0: there was none
    Str body, headers;
} Answer;

// Sets the variables of the request's extractors. Returns how many found nothing and have no
// default.
size_t answer_extract(const Request *request, Actor *actor, const Answer *answer);
// Do all checks hold? Else `why` says which did not, in the current arena.
bool answer_holds(const Request *request, Actor *actor, const Answer *answer, Str *why);
