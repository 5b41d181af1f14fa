// An HTTP client for single calls (libcurl behind it): proxied interfaces, webhooks, tools, tests.
// The lab's driver has its own engine (bench/driver.h).
#pragma once

#include "http/http.h"

typedef struct {
    Method method;
    Str url;
    NameValues headers;
    Str body;
    int timeout_ms;
} HttpCall;

typedef struct {
    int status;
    NameValues headers;
    Str body;
} HttpAnswer;

// Errors: 502 text when no answer came.
WARN_UNUSED Err *http_call(const HttpCall *call, HttpAnswer *answer);
Str http_answer_header(const HttpAnswer *answer, const char *name);
