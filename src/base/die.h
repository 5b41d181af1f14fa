// The end of the process for states that cannot be: a defect of ours, never of the user's input.
#pragma once

#define die(...) die_at(__FILE__, __LINE__, __VA_ARGS__)

_Noreturn void die_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
