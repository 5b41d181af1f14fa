// Conversions and checks of ISBNs. Source: spec/inventory.md 5 (/isbn).
#include "modules/mod-inventory/inventory.h"

// Digits (and a last X) of a number without hyphens and blanks; longer than any ISBN if it is none.
typedef struct {
    char at[14];
    size_t len;
} Digits;

static Digits digits_of(Str text)
{
    Digits out = {.len = 0};

    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool is_digit = c >= '0' && c <= '9';
        if (c == '-' || c == ' ') {
            continue;
        }
        if (out.len == sizeof out.at || !(is_digit || ((c == 'X' || c == 'x') && out.len == 9))) {
            return (Digits){.len = sizeof out.at};
        }
        out.at[out.len++] = is_digit ? c : 'X';
    }
    return out;
}

static char check_10(const Digits *digits)
{
    int sum = 0;
    for (int i = 0; i < 9; i++) {
        sum += (10 - i) * (digits->at[i] - '0');
    }
    int check = (11 - sum % 11) % 11;
    return check == 10 ? 'X' : (char)('0' + check);
}

static char check_13(const Digits *digits)
{
    int sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += (i % 2 ? 3 : 1) * (digits->at[i] - '0');
    }
    return (char)('0' + (10 - sum % 10) % 10);
}

static bool is_10(Str text)
{
    Digits digits = digits_of(text);
    return digits.len == 10 && check_10(&digits) == digits.at[9];
}

static bool is_13(Str text)
{
    Digits digits = digits_of(text);
    bool has_prefix = digits.len == 13 && digits.at[0] == '9' && digits.at[1] == '7' &&
                      (digits.at[2] == '8' || digits.at[2] == '9');
    return has_prefix && check_13(&digits) == digits.at[12];
}

static Err *parameters(Req *req, Str *isbn, bool *hyphens)
{
    Str flag;

    *isbn = str_trim(req_query_text(req, "isbn"));
    *hyphens = false;
    if (!isbn->len) {
        return err_text(400, "Isbn must be specified");
    }
    if (req_query(req, "hyphens", &flag)) {
        *hyphens = str_eq_nocase(flag, S("true"));
        if (!*hyphens && !str_eq_nocase(flag, S("false"))) {
            return err_text(400, "Hyphens must be true or false");
        }
    }
    return is_10(*isbn) || is_13(*isbn)
               ? NULL
               : err_text(400, "ISBN value " STR_FMT " is invalid", STR_ARG(*isbn));
}

static Err *reply(Req *req, Str digits, bool hyphens, Str input)
{
    Json *answer = json_object();
    Str text = digits;

    // Where the hyphens go is known only from the input: ranges of publishers are not built in.
    if (hyphens && str_find_char(input, '-', 0) >= 0) {
        Buf buf = buf_new(arena_current(), 64);
        bool to_longer = digits_of(input).len < digits.len;
        size_t next = to_longer ? 3 : 0, skip = digits_of(input).len > digits.len ? 4 : 0;
        buf_add(&buf, to_longer ? S("978-") : (Str){0});
        for (size_t i = skip; i < input.len && next < digits.len; i++) {
            buf_char(&buf, input.at[i] == '-' ? '-' : digits.at[next]);
            next += input.at[i] != '-';
        }
        text = buf_str(&buf);
    }
    json_set_str(answer, "isbn", text);
    return reply_json(req, 200, answer);
}

Err *isbn_to_13(Req *req)
{
    Str isbn;
    bool hyphens;

    TRY(parameters(req, &isbn, &hyphens));
    Digits in = digits_of(isbn), out = {.at = {'9', '7', '8'}, .len = 13};
    if (in.len == 13) {
        out = in;
    } else {
        for (size_t i = 0; i < 9; i++) {
            out.at[3 + i] = in.at[i];
        }
        out.at[12] = check_13(&out);
    }
    return reply(req, str_copy(arena_current(), (Str){out.at, 13}), hyphens, isbn);
}

Err *isbn_to_10(Req *req)
{
    Str isbn;
    bool hyphens;

    TRY(parameters(req, &isbn, &hyphens));
    Digits in = digits_of(isbn), out = {.len = 10};
    if (in.len == 13 && in.at[2] != '8') {
        return err_text(400, "ISBN value " STR_FMT " is invalid", STR_ARG(isbn));
    }
    for (size_t i = 0; i < 9; i++) {
        out.at[i] = in.at[in.len == 13 ? i + 3 : i];
    }
    out.at[9] = check_10(&out);
    return reply(req, str_copy(arena_current(), (Str){out.at, 10}), hyphens, isbn);
}

Err *isbn_validate(Req *req)
{
    Str any = req_query_text(req, "isbn"), ten = req_query_text(req, "isbn10");
    Str thirteen = req_query_text(req, "isbn13");
    Json *answer = json_object();

    if ((any.len > 0) + (ten.len > 0) + (thirteen.len > 0) != 1) {
        return err_text(400, "Only one of following query params must be specified: isbn, isbn10, "
                             "isbn13");
    }
    bool is_valid = any.len ? is_10(any) || is_13(any) : ten.len ? is_10(ten) : is_13(thirteen);
    json_set_bool(answer, "isValid", is_valid);
    return reply_json(req, 200, answer);
}
