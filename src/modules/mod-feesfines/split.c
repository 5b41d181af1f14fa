// An amount spread over several accounts.
// Source: spec/fees-fines.md 5.3.
#include "modules/mod-feesfines/fees.h"

#include <string.h>

// Places of the accounts, those that can take the least first.
static size_t *by_size(const Money *most, size_t n)
{
    size_t *order = NEW_ARRAY(size_t, n + 1);

    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        while (at > 0 && most[order[at - 1]] > most[i]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    return order;
}

void money_split(Money amount, const Money *most, size_t n, Money *shares)
{
    size_t *order = by_size(most, n), left = n;
    Money share = n ? amount / (Money)n : 0;

    memset(shares, 0, n * sizeof *shares);
    for (size_t i = 0; i < n && amount > 0; i++) {
        size_t place = order[i];
        left--;
        Money part = most[place] < share ? most[place] : share;
        part = part < amount ? part : amount;
        shares[place] = part;
        amount -= part;
        if (most[place] < share && left) {
            share = amount / (Money)left;
        }
    }
    // The last hundredths go one each to those who can still take one.
    while (amount > 0) {
        Money before = amount;
        for (size_t i = 0; i < n && amount > 0; i++) {
            if (shares[order[i]] < most[order[i]]) {
                shares[order[i]]++;
                amount--;
            }
        }
        if (amount == before) {
            return;
        }
    }
}
