// The ISBNs of a title as queries see them: the computed fields isbn, invalidIsbn and itemIsbn.
#pragma once

#include "json/json.h"

// Values of the identifiers of that type, digits run together, joined by a blank; "" if none.
Str isbn_text(const Json *instance);
Str invalid_isbn_text(const Json *instance);
Str item_isbn_text(const Json *request); // of request.instance
// The same treatment for a query's term.
Str isbn_term(Str term);
