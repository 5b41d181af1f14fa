// The head of a request checked before anything believes it. Only for src/http.
#pragma once

#include "http/http.h"

enum {
    HEADER_COUNT_MAX = 100,
};

typedef struct {
    int status;       // 0: fine, else the refusal
    const char *text; // of the refusal
    bool has_length;
    uint64_t length; // of the body as it travels
    bool is_chunked;
    bool is_packed; // Content-Encoding: gzip
    bool is_forwarded;
    bool accepts_gzip;
} Head;

// Splits the target at '?' and takes off scheme and host of the absolute form. 400 for a target
// that is no path or holds a control character, NUL (raw or escaped) among them,
// or bytes that are no UTF-8.
Head head_of_target(Str target, Str *path, Str *query_text);

// Judges the header fields: framing (both lengths, repeated ones, unknown codings), two hosts,
// names that are no names. What it refuses is what two readers of the same bytes could understand
// differently.
Head head_of_headers(const NameValues *headers);

// Whether the fields fill the bytes between `from` (behind the request line) and `end` without a
// gap. The library ends names and values by writing NULs over the colons and line ends; a NUL that
// came from outside, or a folded line, leaves a gap. The library itself would read on behind it.
bool head_is_gapless(const char *from, const char *end, const NameValues *headers);

// Accept-Encoding names gzip (or *) with a weight above 0.
bool accepts_gzip(Str accept_encoding);
