// An HTTP client for single calls (libcurl behind it): proxied interfaces, webhooks, tools, tests.
// The lab's driver has its own engine (bench/driver/driver.h).
#pragma once

#include "http/http.h"

typedef struct {
    Method method;
    Str url;
    NameValues headers;
    Str body;
    int timeout_ms;               // of the whole call; 0 = 30,000
    size_t answer_max;            // bytes of the answer's body; 0 = 64 MiB
    bool packs;                   // sends the body as gzip
    const _Atomic bool *gives_up; // ends the call soon when it becomes true; NULL: never
    Str trusted; // file of the certificates to trust instead of the system's; "" = those
} HttpCall;

typedef struct {
    int status;
    NameValues headers;
    Str body;
} HttpAnswer;

// A call on behalf of a traced request carries its traceparent and tracestate. Redirections are
// answers like any other. A thread keeps its connections for its next calls. Errors: 502 text when
// no whole answer came.
WARN_UNUSED Err *http_call(const HttpCall *call, HttpAnswer *answer);
Str http_answer_header(const HttpAnswer *answer, const char *name);
