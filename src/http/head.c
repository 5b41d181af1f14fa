// The head of a request: target, framing, and what the library lets pass but we do not.
#include "http/head.h"

#include <string.h>

static Head refusal(int status, const char *text)
{
    return (Head){.status = status, .text = text};
}

static bool has_control_character(Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return true;
        }
    }
    return str_find(text, S("%00"), 0) >= 0;
}

Head head_of_target(Str target, Str *path, Str *query_text)
{
    // Blanks before the version belong to the request line, not to the target.
    while (target.len && target.at[target.len - 1] == ' ') {
        target.len--;
    }
    ptrdiff_t scheme = str_find(target, S("://"), 0);
    if (target.len && target.at[0] != '/' && scheme > 0) {
        ptrdiff_t slash = str_find_char(target, '/', (size_t)scheme + 3);
        target = slash < 0 ? S("/") : str_sub(target, (size_t)slash, target.len);
    }
    if (!target.len || (target.at[0] != '/' && !str_eq(target, S("*")))) {
        return refusal(400, "The request target is not a path");
    }
    if (has_control_character(target)) {
        return refusal(400, "The request target holds a control character");
    }
    if (!str_is_utf8(target)) {
        return refusal(400, "The request target is no valid UTF-8");
    }
    ptrdiff_t mark = str_find_char(target, '?', 0);
    size_t end = mark < 0 ? target.len : (size_t)mark;
    *path = str_sub(target, 0, end);
    *query_text = str_sub(target, end + (mark >= 0), target.len);
    return (Head){0};
}

static bool is_token(Str name)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && (!c || !strchr(others, c))) {
            return false;
        }
    }
    return name.len > 0;
}

bool accepts_gzip(Str accept_encoding)
{
    Str rest = accept_encoding, part;

    while (accept_encoding.len && str_next(&rest, ',', &part)) {
        ptrdiff_t semicolon = str_find_char(part, ';', 0);
        Str coding = str_trim(str_sub(part, 0, semicolon < 0 ? part.len : (size_t)semicolon));
        if (!str_eq_nocase(coding, S("gzip")) && !str_eq(coding, S("*"))) {
            continue;
        }
        ptrdiff_t weight = semicolon < 0 ? -1 : str_find(part, S("q="), (size_t)semicolon);
        double q = 1;
        if (weight >= 0 && !str_double(str_trim(str_sub(part, (size_t)weight + 2, part.len)), &q)) {
            q = 1;
        }
        return q > 0;
    }
    return false;
}

static bool length_of(Str text, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || *length > INT64_MAX / 10 - 1) {
            return false;
        }
        *length = *length * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.len > 0;
}

// One field that steers how the request is read; sets head->status if it may not stand there.
static void steering_field(Head *head, const NameValue *field)
{
    if (str_eq_nocase(field->name, S("content-length"))) {
        if (head->has_length || !length_of(str_trim(field->value), &head->length)) {
            *head = refusal(400, "Content-Length is repeated or no number");
        }
        head->has_length = true;
    } else if (str_eq_nocase(field->name, S("transfer-encoding"))) {
        // A blank behind it the library takes for another coding, and waits for the end.
        if (head->is_chunked || !str_eq_nocase(field->value, S("chunked"))) {
            *head = refusal(400, "Transfer-Encoding must be chunked");
        }
        head->is_chunked = true;
    } else if (str_eq_nocase(field->name, S("content-encoding"))) {
        Str coding = str_trim(field->value);
        bool is_gzip = str_eq_nocase(coding, S("gzip")) || str_eq_nocase(coding, S("x-gzip"));
        if (head->is_packed || (!is_gzip && !str_eq_nocase(coding, S("identity")))) {
            *head = refusal(415, "Content-Encoding must be gzip");
        }
        head->is_packed = is_gzip;
    }
}

// The length of a name tells most fields apart; only those that can matter are compared.
static void field_look_at(Head *head, const NameValue *field, size_t *host_count)
{
    static const char forwarded[] = "x-forwarded-";
    size_t prefix = sizeof forwarded - 1;

    switch (field->name.at[0] | 0x20) {
    case 'h':
        *host_count += str_eq_nocase(field->name, S("host"));
        break;
    case 'c':
    case 't':
        steering_field(head, field);
        break;
    case 'a':
        if (str_eq_nocase(field->name, S("accept-encoding"))) {
            head->accepts_gzip = head->accepts_gzip || accepts_gzip(field->value);
        }
        break;
    case 'f':
        head->is_forwarded = head->is_forwarded || str_eq_nocase(field->name, S("forwarded"));
        break;
    case 'x':
        head->is_forwarded =
            head->is_forwarded ||
            (field->name.len >= prefix && strncasecmp(field->name.at, forwarded, prefix) == 0);
        break;
    default:
        break;
    }
}

Head head_of_headers(const NameValues *headers)
{
    Head head = {0};
    size_t host_count = 0;

    if (headers->len > HEADER_COUNT_MAX) {
        return refusal(431, "Too many header fields");
    }
    for (size_t i = 0; i < headers->len && !head.status; i++) {
        if (!is_token(headers->at[i].name)) {
            return refusal(400, "A header field has no valid name");
        }
        if (memchr(headers->at[i].value.at, '\r', headers->at[i].value.len)) {
            return refusal(400, "A header field holds a line end");
        }
        field_look_at(&head, &headers->at[i], &host_count);
    }
    if (head.status) {
        return head;
    }
    if (host_count > 1) {
        return refusal(400, "More than one Host");
    }
    if (head.has_length && head.is_chunked) {
        return refusal(400, "Content-Length and Transfer-Encoding exclude each other");
    }
    return head;
}

// Behind a line: NUL NUL (was CR LF) or NUL (was LF).
static const char *line_end_skip(const char *at, const char *end)
{
    for (int i = 0; i < 2 && at < end && !*at; i++) {
        at++;
    }
    return at;
}

bool head_is_gapless(const char *from, const char *end, const NameValues *headers)
{
    const char *at = line_end_skip(from, end);

    for (size_t i = 0; i < headers->len; i++) {
        const NameValue *field = &headers->at[i];
        const char *colon = field->name.at + field->name.len;
        if (field->name.at != at || field->value.at <= colon || field->value.at > end) {
            return false;
        }
        for (const char *blank = colon + 1; blank < field->value.at; blank++) {
            if (*blank != ' ' && *blank != '\t') {
                return false;
            }
        }
        at = line_end_skip(field->value.at + field->value.len, end);
    }
    // The empty line.
    return line_end_skip(at, end) == end;
}
