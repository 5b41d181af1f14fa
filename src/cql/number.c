// Decimal numbers of any length, compared digit by digit: barcodes have more digits than a double.
#include "cql/parse.h"

#include <string.h>

typedef struct {
    bool is_negative;
    Str whole, fraction; // digits before and behind the point
    int64_t exponent;
} Number;

enum { EXPONENT_MAX = 100000 };

static Str take_digits(Str s, size_t *i)
{
    size_t start = *i;

    while (*i < s.len && s.at[*i] >= '0' && s.at[*i] <= '9') {
        (*i)++;
    }
    return str_sub(s, start, *i);
}

static bool number_read(Str s, Number *out)
{
    size_t i = 0;

    s = str_trim(s);
    *out = (Number){0};
    if (i < s.len && (s.at[i] == '-' || s.at[i] == '+')) {
        out->is_negative = s.at[i++] == '-';
    }
    out->whole = take_digits(s, &i);
    if (i < s.len && s.at[i] == '.') {
        i++;
        out->fraction = take_digits(s, &i);
    }
    if (out->whole.len + out->fraction.len == 0) {
        return false;
    }
    if (i < s.len && (s.at[i] == 'e' || s.at[i] == 'E')) {
        size_t start = i + 1 + (i + 1 < s.len && s.at[i + 1] == '+');
        bool is_good = str_int64(str_sub(s, start, s.len), &out->exponent);
        return is_good && out->exponent <= EXPONENT_MAX && out->exponent >= -EXPONENT_MAX;
    }
    return i == s.len;
}

static size_t digit_count(const Number *n)
{
    return n->whole.len + n->fraction.len;
}

static char digit(const Number *n, size_t i)
{
    if (i >= digit_count(n)) {
        return '0';
    }
    return i < n->whole.len ? n->whole.at[i] : n->fraction.at[i - n->whole.len];
}

static size_t leading_zeros(const Number *n)
{
    size_t i = 0;

    while (i < digit_count(n) && digit(n, i) == '0') {
        i++;
    }
    return i;
}

// Without signs, both different from zero.
static int magnitude_cmp(const Number *a, const Number *b)
{
    size_t i = leading_zeros(a), j = leading_zeros(b);
    // The power of ten of the first digit.
    int64_t high_a = (int64_t)a->whole.len - (int64_t)i + a->exponent;
    int64_t high_b = (int64_t)b->whole.len - (int64_t)j + b->exponent;

    if (high_a != high_b) {
        return high_a < high_b ? -1 : 1;
    }
    for (; i < digit_count(a) || j < digit_count(b); i++, j++) {
        if (digit(a, i) != digit(b, j)) {
            return digit(a, i) < digit(b, j) ? -1 : 1;
        }
    }
    return 0;
}

static int sign(const Number *n)
{
    if (leading_zeros(n) == digit_count(n)) {
        return 0;
    }
    return n->is_negative ? -1 : 1;
}

bool number_is_valid(Str s)
{
    Number number;

    return number_read(s, &number);
}

int number_cmp(Str a, Str b)
{
    Number left, right;

    (void)number_read(a, &left);
    (void)number_read(b, &right);
    if (sign(&left) != sign(&right)) {
        return sign(&left) < sign(&right) ? -1 : 1;
    }
    return sign(&left) == 0 ? 0 : sign(&left) * magnitude_cmp(&left, &right);
}
