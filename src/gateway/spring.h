// The habits of FOLIO's modules built on Spring (notes, tags ...): 422 where others say 400, errors
// with codes, limits of 32 bits. Source: spec/platform.md 6.
#pragma once

#include "gateway/gateway.h"

// {"errors":[{"message","type":"-1","code"}],"total_records":1}
Err *spring_error(int status, const char *code, Str message);
// The same error in Spring's form; what is wrong with a member is told with its name: 404
// NOT_FOUND_ERROR, 400, 409 and 422 as 422 VALIDATION_ERROR; what has a body of its own, and
// anything else, stays as it is. NULL stays NULL, when all writes so far are answered.
Err *spring_error_of(Req *req, Err *err);

// The i-th parameter of the path as UUID in lower case; 422.
WARN_UNUSED Err *spring_id(const Req *req, size_t i, Str *out);
// The body as JSON object: 422 if missing or unreadable, 415 if it is called something else. For
// routes with takes_any_body.
WARN_UNUSED Err *spring_body(Req *req, Json **out);
// A number of 32 bits not below min; 422.
WARN_UNUSED Err *spring_int(const Req *req, const char *name, int64_t fallback, int64_t min,
                            int64_t *out);

// The routes of a collection with `is_spring`, made as the engine makes its own (collections.c).
Err *spring_list(Req *req);
Err *spring_create(Req *req);
Err *spring_get(Req *req);
Err *spring_put(Req *req);
Err *spring_delete(Req *req);
// For Collection.explain: PostgreSQL's detail texts, as FOLIO shows them.
Err *spring_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
