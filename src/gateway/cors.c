// Cross-origin requests of browsers. Source: spec/platform.md 1.3, decision 13.
#include "gateway/internal.h"

static bool is_trusted(const App *app, Str origin)
{
    Str list = app_option(app, "gateway.cors_origins", ""), one;
    while (str_next(&list, ',', &one)) {
        one = str_trim(one);
        if (str_eq(one, S("*")) || (one.len && str_eq(one, origin))) {
            return true;
        }
    }
    return false;
}

void cors_headers(Req *req)
{
    Str origin = req_header(req, "origin");
    if (!origin.len) {
        return;
    }
    reply_header(req, "access-control-allow-origin", origin);
    reply_header(req, "vary", S("Origin"));
    if (is_trusted(req->app, origin)) {
        reply_header(req, "access-control-allow-credentials", S("true"));
    }
    reply_header(req, "access-control-expose-headers",
                 S("Location,X-Okapi-Trace,X-Okapi-Token,Authorization,X-Okapi-Request-Id,"
                   "X-Okapi-Module-Id"));
}

// Only OPTIONS is a preflight: clients send Access-Control-Request-* headers with other methods
// too. Load plans replay preflights without an Origin: they are answered all the same (workloads.md
// S3).
bool cors_preflight(Req *req)
{
    if (req->method != OPTIONS) {
        return false;
    }
    reply_empty(req, 204);
    if (req_header(req, "origin").len) {
        cors_headers(req);
    } else {
        reply_header(req, "access-control-allow-origin", S("*"));
    }
    reply_header(req, "access-control-allow-methods", S("PUT,PATCH,DELETE,GET,POST"));
    reply_header(req, "access-control-allow-headers",
                 S("content-type,X-Okapi-Tenant,X-Okapi-Token,Authorization,X-Okapi-Request-Id,"
                   "X-Okapi-Module-Id,Credentials"));
    reply_header(req, "access-control-max-age", S("7200"));
    return true;
}
