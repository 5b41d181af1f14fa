// Prints where and why, then aborts so that a core dump or a sanitizer shows the stack.
#include "base/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void die_at(const char *file, int line, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "octavo: %s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
