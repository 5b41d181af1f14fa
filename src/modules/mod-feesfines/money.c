// Amounts of money: exact hundredths, rounded half to even.
// Source: spec/fees-fines.md 1.
#include "modules/mod-feesfines/feesfines.h"

#include <math.h>

#define MONEY_MAX 9.0e15

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The digits behind the second decimal decide: 1 up, -1 down, 0 exactly half.
static int rest_compared_to_half(Str rest)
{
    if (!rest.len || rest.at[0] < '5') {
        return -1;
    }
    if (rest.at[0] > '5') {
        return 1;
    }
    for (size_t i = 1; i < rest.len; i++) {
        if (rest.at[i] != '0') {
            return 1;
        }
    }
    return 0;
}

static bool plain_number(Str text, Money *out)
{
    Money money = 0;
    size_t i = 0, digits = 0, decimals = 0;

    for (; i < text.len && is_digit(text.at[i]); i++, digits++) {
        money = money * 10 + (text.at[i] - '0');
        if (money > (Money)(MONEY_MAX / 1000)) {
            return false;
        }
    }
    if (i < text.len && text.at[i] == '.') {
        i++;
    }
    for (; i < text.len && is_digit(text.at[i]) && decimals < 2; i++, decimals++) {
        money = money * 10 + (text.at[i] - '0');
    }
    size_t rest = i;
    while (i < text.len && is_digit(text.at[i])) {
        i++;
    }
    if (i != text.len || digits + decimals == 0) {
        return false;
    }
    for (; decimals < 2; decimals++) {
        money *= 10;
    }
    int half = rest_compared_to_half(str_sub(text, rest, text.len));
    *out = money + (half > 0 || (half == 0 && money % 2));
    return true;
}

bool money_parse(Str text, Money *out)
{
    double number = 0;
    bool is_negative = text.len && text.at[0] == '-';
    Str digits = text.len && (is_negative || text.at[0] == '+') ? str_sub(text, 1, text.len) : text;

    if (plain_number(digits, out)) {
        *out = is_negative ? -*out : *out;
        return true;
    }
    // With an exponent, as Java reads it too.
    if (!digits.len || !is_digit(digits.at[0]) || !str_double(text, &number) ||
        fabs(number) > MONEY_MAX / 100) {
        return false;
    }
    *out = llrint(number * 100);
    return true;
}

Str money_text(Money money)
{
    Money whole = money < 0 ? -money : money;

    return str_fmt("%s%lld.%02lld", money < 0 ? "-" : "", (long long)(whole / 100),
                   (long long)(whole % 100));
}

Money money_of(double amount)
{
    return fabs(amount) > MONEY_MAX / 100 ? 0 : (Money)llrint(amount * 100);
}

Money money_at(const Json *doc, const char *path)
{
    return money_of(json_number(doc, path, 0));
}

void money_set(Json *doc, const char *path, Money money)
{
    json_set_number(doc, path, (double)money / 100);
}
