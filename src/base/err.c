// Errors as values.
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Err *err_text(int status, const char *format, ...)
{
    va_list args, again;
    Err *err = NEW(Err);

    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *at = arena_alloc(arena_current(), (size_t)(len < 0 ? 0 : len) + 1);
    vsnprintf(at, (size_t)(len < 0 ? 0 : len) + 1, format, again);
    va_end(again);
    err->status = status;
    err->message = (Str){at, (size_t)(len < 0 ? 0 : len)};
    return err;
}

Err *err_json(int status, Str code, Str message, const ErrParam *params, size_t n)
{
    Err *err = NEW(Err);
    ErrParam *copy = n ? NEW_ARRAY(ErrParam, n) : NULL;

    if (n) {
        memcpy(copy, params, n * sizeof *copy);
    }
    err->status = status;
    err->is_json = true;
    err->code = code;
    err->message = message;
    err->params = copy;
    err->param_count = n;
    return err;
}

Err *err_body(int status, Str json)
{
    Err *err = NEW(Err);

    err->status = status;
    err->is_json = true;
    err->body = json;
    return err;
}

Err *err_join(Err *first, Err *second)
{
    if (!first) {
        return second;
    }
    Err *last = first;
    while (last->next) {
        last = last->next;
    }
    last->next = second;
    return first;
}
