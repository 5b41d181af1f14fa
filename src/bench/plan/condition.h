// Conditions of `if` and `while`: the forms that FOLIO's plans use, without a script engine.
//
//   "${status}" == "NEW" || ${n} <= 5           also wrapped in ${__jexl3(...)} or ${__groovy(...)}
//   !vars.get("x").equals("NOT_FOUND")   vars.remove("x")   "a".equals(vars.get("x"))   null
//   ${flag}                               a text other than "false" and "" is true
// Two numbers compare as numbers, all else as text. Source: spec/workloads.md 13.
#pragma once

#include "text.h"

typedef struct Condition Condition;

WARN_UNUSED Err *condition_compile(const TextScope *scope, Str source, Condition **out);
bool condition_holds(const Condition *condition, Actor *actor);
