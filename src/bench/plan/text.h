// Texts of a plan with ${...} in them: read once, filled in for each request.
//
//   ${name}                 a variable; without a value it stays as it is written
//   ${uuid()} ${now_iso()} ${now_ms()} ${file(name)} ${substring(text,from,to)}
//   ${__P(name,default)} ${__property(name,,default)} ${__V(name)} ${__UUID} ${__threadNum}
//   ${__Random(low,high,var)} ${__RandomString(n,chars,var)} ${__time(format,var)}
//   ${__timeShift(format,,shift,,var)} is not supported, nor is any other function: reading fails.
// Source: spec/workloads.md 14.
#pragma once

#include "actor.h"
#include "base/buf.h"
#include "base/err.h"

typedef struct Text Text;

// What a text needs while it is read.
typedef struct {
    Symbols *symbols;
    Str where; // place in the plan, for messages
} TextScope;

enum {
    TEXT_MAX = 64 << 20, // bytes of one filled-in text
};

WARN_UNUSED Err *text_compile(const TextScope *scope, Str source, Text **out);
// A text that means itself.
Text *text_literal(Str literal);
bool text_is_literal(const Text *text, Str *literal);

void text_write(const Text *text, Actor *actor, Buf *buf);
// Borrowed until the actor's variables change; else in the current arena. NULL gives "".
Str text_str(const Text *text, Actor *actor);
// The fallback if the text is no integer.
int64_t text_int(const Text *text, Actor *actor, int64_t fallback);
