// What every unit test includes: cmocka, and asserts for Octavo's own types.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/err.h"

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        Err *assert_err_ = (call);                                                                 \
        if (assert_err_) {                                                                         \
            fail_msg("%s: %d " STR_FMT, #call, assert_err_->status,                                \
                     STR_ARG(assert_err_->message));                                               \
        }                                                                                          \
    } while (0)

#define assert_err(call, status_, text_)                                                           \
    do {                                                                                           \
        Err *assert_err_ = (call);                                                                 \
        assert_non_null(assert_err_);                                                              \
        assert_int_equal(assert_err_->status, (status_));                                          \
        assert_str(assert_err_->message, (text_));                                                 \
    } while (0)

#define assert_str(str_, z_)                                                                       \
    do {                                                                                           \
        Str assert_str_ = (str_);                                                                  \
        assert_string_equal(str_z(assert_str_), (z_));                                             \
    } while (0)

// Says why a test cannot run here; everything else about the same behaviour runs all the same.
#define skip_because(reason)                                                                       \
    do {                                                                                           \
        print_message("skipped: %s\n", (reason));                                                  \
        skip();                                                                                    \
    } while (0)
