// Keys by which call numbers sort on the shelf: Library of Congress, Dewey, SuDoc.
//
// Small hand-written matchers stand for FOLIO's regular expressions; all of them read ASCII letters
// and digits, other characters pass as they are. Source: spec/inventory.md 4.3.
#include "modules/mod-inventory-storage/shelving_order.h"

#include "base/buf.h"

enum { KEY_MAX = 64 * 1024 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static char at(Str s, size_t i)
{
    return i < s.len ? s.at[i] : '\0';
}

// How many characters from `from` on are of the kind.
static size_t run(Str s, size_t from, bool (*kind)(char))
{
    size_t n = 0;
    while (from + n < s.len && kind(s.at[from + n])) {
        n++;
    }
    return n;
}

static void add_space(Buf *key)
{
    if (!key->len || key->at[key->len - 1] != ' ') {
        buf_char(key, ' ');
    }
}

// ---------------------------------------------------------------------------------------------
// Building blocks

// The number of digits before the point, then the number without leading zeros.
static void add_number(Buf *key, Str number)
{
    size_t zeros = 0;
    while (zeros < number.len && number.at[zeros] == '0') {
        zeros++;
    }
    number = str_sub(number, zeros, number.len);
    ptrdiff_t point = str_find_char(number, '.', 0);
    buf_fmt(key, "%zu", point < 0 ? number.len : (size_t)point);
    buf_add(key, number);
}

typedef enum { AT_START, IN_WORD, IN_NUMBER, IN_GAP } Walking;

typedef struct {
    Buf *key;
    Walking state;
    Str text;
    size_t number_at; // where the number in hand begins
} Sorter;

static void take_letter(Sorter *sorter, size_t i)
{
    if (sorter->state == IN_NUMBER) {
        add_number(sorter->key, str_sub(sorter->text, sorter->number_at, i));
    }
    buf_char(sorter->key, upper(sorter->text.at[i]));
    sorter->state = IN_WORD;
}

static void take_digit(Sorter *sorter, size_t i)
{
    if (sorter->state == IN_NUMBER) {
        return;
    }
    if (sorter->state == IN_WORD) {
        buf_char(sorter->key, ' ');
    }
    sorter->number_at = i;
    sorter->state = IN_NUMBER;
}

static void take_other(Sorter *sorter, size_t i)
{
    bool is_point = sorter->text.at[i] == '.';

    if (sorter->state == IN_NUMBER && !is_point) {
        add_number(sorter->key, str_sub(sorter->text, sorter->number_at, i));
    }
    if (sorter->state == IN_WORD || (sorter->state == IN_NUMBER && !is_point)) {
        buf_char(sorter->key, ' ');
        sorter->state = IN_GAP;
    }
}

// Words in capitals, numbers so that they sort by value: "v.3 no.2" -> "V 13 NO 12".
static void add_sortable(Buf *key, Str text)
{
    Sorter sorter = {.key = key, .text = text};

    for (size_t i = 0; i < text.len; i++) {
        if (is_letter(text.at[i])) {
            take_letter(&sorter, i);
        } else if (is_digit(text.at[i])) {
            take_digit(&sorter, i);
        } else {
            take_other(&sorter, i);
        }
    }
    if (sorter.state == IN_NUMBER) {
        add_number(key, str_sub(text, sorter.number_at, text.len));
    }
}

// ---------------------------------------------------------------------------------------------
// Library of Congress (and NLM)

// A letter and digits at i: the end behind them, else 0.
static size_t cutter_end(Str s, size_t i)
{
    size_t digits = is_ascii_letter(at(s, i)) ? run(s, i + 1, is_digit) : 0;
    return digits ? i + 1 + digits : 0;
}

static bool first_cutter_is_at(Str s, size_t i)
{
    if (cutter_end(s, i) || (at(s, i) == '.' && cutter_end(s, i + 1))) {
        return true;
    }
    if (i == 0 && at(s, 0) == '.' && is_ascii_letter(at(s, 1))) {
        return true;
    }
    return at(s, i) == ' ' && at(s, i + 1) == '.' && is_ascii_letter(at(s, i + 2));
}

static size_t first_cutter(Str s)
{
    size_t i = 0;
    while (i < s.len && !first_cutter_is_at(s, i)) {
        i++;
    }
    return i;
}

static void add_cutters(Buf *key, Str part)
{
    size_t done = 0;

    for (size_t i = 0; i < part.len; i++) {
        size_t end = cutter_end(part, i);
        if (!end) {
            continue;
        }
        add_space(key);
        add_sortable(key, str_sub(part, done, i));
        add_space(key);
        buf_add(key, str_sub(part, i, end));
        done = end;
        i = end - 1;
    }
    buf_char(key, ' ');
    add_sortable(key, str_sub(part, done, part.len));
}

// Class letters, digits and decimals at the start of the text; what follows them is `rest`.
static void add_lc_class(Buf *key, Str text, Str *rest)
{
    size_t letters = run(text, 0, is_ascii_letter), i = letters;

    *rest = text;
    if (!letters) {
        return;
    }
    buf_add(key, str_upper(str_sub(text, 0, letters)));
    while (at(text, i) == ' ') {
        i++;
    }
    size_t digits = run(text, i, is_digit);
    if (digits) {
        buf_fmt(key, " %zu" STR_FMT, digits, STR_ARG(str_sub(text, i, i + digits)));
        i += digits;
        size_t decimals = at(text, i) == '.' ? run(text, i + 1, is_digit) : 0;
        buf_add(key, decimals ? str_sub(text, i, i + 1 + decimals) : (Str){0});
        i += decimals ? decimals + 1 : 0;
    }
    *rest = str_trim(str_sub(text, i, text.len));
}

Str shelving_key_lc(Str text)
{
    Buf key = buf_new(arena_current(), KEY_MAX);
    Str rest;

    add_lc_class(&key, str_trim(text), &rest);
    size_t cut = first_cutter(rest);
    Str suffix = str_trim(str_sub(rest, 0, cut));
    if (suffix.len) {
        buf_char(&key, ' ');
        if (is_letter(suffix.at[0])) {
            buf_char(&key, '_');
        }
        add_sortable(&key, str_upper(suffix));
    }
    if (cut < rest.len) {
        add_cutters(&key, str_upper(str_sub(rest, cut, rest.len)));
    }
    return str_trim(buf_str(&key));
}

// ---------------------------------------------------------------------------------------------
// Dewey

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

// " *\.?([A-Z]\d{1,3}[A-Z]*) *(.+)?": false if the text does not begin so.
static bool dewey_cutter(Str text, Str *cutter, Str *suffix)
{
    size_t i = 0;

    while (at(text, i) == ' ') {
        i++;
    }
    i += at(text, i) == '.';
    size_t start = i;
    size_t digits = is_capital(at(text, i)) ? run(text, i + 1, is_digit) : 0;
    if (!digits) {
        return false;
    }
    i += 1 + (digits < 3 ? digits : 3);
    i += run(text, i, is_capital);
    *cutter = str_sub(text, start, i);
    while (at(text, i) == ' ') {
        i++;
    }
    *suffix = str_sub(text, i, text.len);
    return true;
}

Str shelving_key_dewey(Str text)
{
    Buf key = buf_new(arena_current(), KEY_MAX);
    size_t digits = run(text, 0, is_digit), i = digits;
    Str cutter = {0};

    if (!digits) {
        add_sortable(&key, text);
        return str_trim(buf_str(&key));
    }
    size_t decimals = at(text, i) == '.' ? run(text, i + 1, is_digit) : 0;
    i += decimals ? decimals + 1 : 0;
    Str suffix = str_sub(text, i, text.len);
    (void)dewey_cutter(suffix, &cutter, &suffix);
    add_number(&key, str_sub(text, 0, digits));
    buf_add(&key, str_sub(text, digits, i));
    if (cutter.len) {
        buf_char(&key, ' ');
        buf_add(&key, cutter);
    }
    if (suffix.len) {
        buf_char(&key, ' ');
        add_sortable(&key, suffix);
    }
    return str_trim(buf_str(&key));
}

// ---------------------------------------------------------------------------------------------
// SuDoc

typedef struct {
    Str author, number, series, subseries, suffix;
} SuDoc;

// "\d+(-\d+)?" at i: the end behind it, else i.
static size_t number_range_end(Str s, size_t i)
{
    size_t end = i + run(s, i, is_digit);
    size_t more = end > i && at(s, end) == '-' ? run(s, end + 1, is_digit) : 0;
    return more ? end + 1 + more : end;
}

// ".ABC12" or ".12" at i: the end, else i.
static size_t series_end(Str s, size_t i)
{
    if (at(s, i) != '.') {
        return i;
    }
    size_t end = i + 1 + run(s, i + 1, is_ascii_letter);
    end += run(s, end, is_digit);
    return end > i + 1 ? end : i;
}

// "/ABC12-3" or "/12-3" at i: the end, else i.
static size_t subseries_end(Str s, size_t i)
{
    if (at(s, i) != '/') {
        return i;
    }
    size_t end = number_range_end(s, i + 1 + run(s, i + 1, is_ascii_letter));
    return end > i + 1 ? end : i;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static SuDoc sudoc_read(Str text)
{
    SuDoc parts = {0};
    size_t letters = run(text, 0, is_ascii_letter), rest = 0;
    size_t number = letters ? letters + run(text, letters, is_space) : 0;
    size_t digits = letters ? run(text, number, is_digit) : 0;
    size_t series = digits ? series_end(text, number + digits) : 0;

    if (digits && series > number + digits) {
        size_t subseries = subseries_end(text, series);
        parts = (SuDoc){.author = str_sub(text, 0, number),
                        .number = str_sub(text, number, number + digits),
                        .series = str_sub(text, number + digits, series),
                        .subseries = str_sub(text, series, subseries)};
        rest = subseries;
    }
    rest += at(text, rest) == ':';
    parts.suffix = str_sub(text, rest, text.len);
    return parts;
}

static bool is_sudoc_break(char c)
{
    return c == '.' || c == '/' || c == ' ' || c == '-';
}

static void add_sudoc_piece(Buf *key, Str piece)
{
    if (key->len) {
        buf_char(key, ' ');
    }
    if (!str_trim(piece).len) {
        return;
    }
    if (is_letter(piece.at[0])) {
        buf_add_z(key, " !");
    } else if (piece.len >= 3) {
        buf_char(key, '!');
    }
    add_sortable(key, piece);
}

static void add_sudoc_part(Buf *key, Str part)
{
    if (!str_trim(part).len) {
        return;
    }
    if (is_sudoc_break(part.at[0]) ? part.at[0] != ' ' : part.at[0] == ':') {
        part = str_sub(part, 1, part.len);
    }
    while (part.len && is_sudoc_break(part.at[part.len - 1])) {
        part.len--;
    }
    size_t from = 0;
    for (size_t i = 0; part.len && i <= part.len; i++) {
        if (i == part.len || is_sudoc_break(part.at[i])) {
            add_sudoc_piece(key, str_sub(part, from, i));
            from = i + 1;
        }
    }
}

Str shelving_key_sudoc(Str text)
{
    Buf key = buf_new(arena_current(), KEY_MAX);
    SuDoc parts = sudoc_read(text);

    buf_add(&key, str_trim(parts.author));
    add_sudoc_part(&key, parts.number);
    add_sudoc_part(&key, parts.series);
    add_sudoc_part(&key, parts.subseries);
    add_sudoc_part(&key, parts.suffix);
    return buf_str(&key);
}

// ---------------------------------------------------------------------------------------------
// Items

static Str key_of_type(Str text, Str type_id)
{
    if (str_eq(type_id, S("95467209-6d7b-468b-94df-0f5d7ad2747d")) || // Library of Congress
        str_eq(type_id,
               S("054d460d-d6b9-4469-9e37-7a78a2266655"))) { // National Library of Medicine
        return shelving_key_lc(text);
    }
    if (str_eq(type_id, S("03dd64d0-5626-4ecd-8ece-4531e0069f35"))) {
        return shelving_key_dewey(text);
    }
    if (str_eq(type_id, S("fc388041-6cd0-4806-8a74-ebe3b9ab4c6e"))) {
        return shelving_key_sudoc(text);
    }
    return text;
}

Str shelving_order(const CallNumber *of)
{
    Str parts[5];
    size_t n = 1;

    parts[0] = str_trim(of->call_number);
    if (!parts[0].len) {
        return (Str){0};
    }
    for (size_t i = 0; i < 4; i++) {
        Str part = str_trim(of->following[i]);
        if (part.len) {
            parts[n++] = part;
        }
    }
    Str key = str_trim(key_of_type(str_join(parts, n, S(" ")), of->type_id));
    Str suffix = str_trim(of->suffix);
    return suffix.len ? str_fmt(STR_FMT " " STR_FMT, STR_ARG(key), STR_ARG(suffix)) : key;
}
