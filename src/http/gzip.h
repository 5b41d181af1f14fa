// gzip both ways. Only for src/http.
#pragma once

#include "http/body.h"

// The text packed at the fastest level, in the current arena; false if that would not be shorter.
bool gzip_pack(Str text, Str *packed);
// Unpacks into `body`, which limits it. False when the data are no gzip or the body refuses.
bool gzip_unpack(Str packed, Body *body);
