// What went wrong and what the client is told. NULL means fine.
//
// What the user did wrong is an Err with status, text and FOLIO's code; what we did wrong is die()
// or a 500. An Err lives in the current arena of the thread that made it. Never ignore one.
#pragma once

#include "base/str.h"

#define WARN_UNUSED __attribute__((warn_unused_result))

#define TRY(call)                                                                                  \
    do {                                                                                           \
        Err *try_err_ = (call);                                                                    \
        if (try_err_) {                                                                            \
            return try_err_;                                                                       \
        }                                                                                          \
    } while (0)

typedef struct {
    Str key;
    Str value;
    bool is_null; // written as JSON null
} ErrParam;

typedef struct Err Err;

struct Err {
    int status;
    bool is_json;    // errors[] body; otherwise the message alone as text/plain
    bool may_repeat; // two transactions met: done again at once the same work may succeed
    // Nothing of the transaction is stored, and the reason is this node's: another one may do it.
    bool other_node_may;
    Str message;
    Str code; // empty: the member is left out
    Str type; // empty: the member is left out
    const ErrParam *params;
    size_t param_count;
    // Business API of circulation: the block an override could lift, and what the caller lacks for
    // it.
    Str overridable_block;
    StrList missing_permissions;
    // A whole body of another shape (rules editor, calendar ...); if set it is sent as JSON as it
    // is.
    Str body;
    Err *next; // further errors of the same answer, in order
};

#define NO_CODE   ((Str){"", 0})
#define P(k, v)   ((ErrParam){.key = str_of(k), .value = (v)})
#define P_NULL(k) ((ErrParam){.key = str_of(k), .is_null = true})

// The sentence as text/plain with any status.
Err *err_text(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
// One entry of errors[]; parameters may be none.
Err *err_json(int status, Str code, Str message, const ErrParam *params, size_t n);
// err_422(S("CODE") or NO_CODE, message, P("key", value) ...)
#define err_422(code, message, ...)                                                                \
    err_json(422, (code), (message), (const ErrParam[]){{{0}, {0}, false}, ##__VA_ARGS__} + 1,     \
             sizeof((const ErrParam[]){{{0}, {0}, false}, ##__VA_ARGS__}) / sizeof(ErrParam) - 1)
// A whole JSON body of its own shape.
Err *err_body(int status, Str json);
// The second behind the first; either may be NULL. Used where FOLIO collects all failures.
Err *err_join(Err *first, Err *second);
