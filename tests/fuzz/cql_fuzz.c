// Any query against any value: the first line is the query, the rest the value.
#include "base/fold.h"
#include "cql/cql.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void test_clause(const Cql *clause, Str value)
{
    CqlTruth truth = CQL_UNKNOWN;
    CqlMatcher *matcher = NULL;

    for (unsigned folding = 0; folding < 8; folding++) {
        if (!cql_matcher(clause, folding, folding & 1, &matcher)) {
            (void)cql_matcher_test(matcher, value);
            // A missing value never counts as different or equal.
            if (cql_matcher_test(matcher, (Str){0}) == CQL_FALSE) {
                abort();
            }
        }
    }
    if (cql_uuid_matches(clause, value, false, &truth)) {
        return;
    }
}

static void walk(const Cql *node, Str value)
{
    if (node->kind == CQL_CLAUSE) {
        test_clause(node, value);
        return;
    }
    for (size_t i = 0; i < node->operand_count && i < 50; i++) {
        walk(node->operands[i], value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str rest = {(const char *)data, size}, query = {0};
    CqlQuery parsed;
    CqlWords words;

    if (!str_next(&rest, '\n', &query)) {
        return 0;
    }
    Cql clause = {.kind = CQL_CLAUSE, .term = query};
    (void)cql_pattern(query);
    if (!cql_words(&clause, &words) && words.count > query.len * 4) {
        abort();
    }
    if (fold(query).len > query.len * 2) {
        abort();
    }
    if (!cql_parse(query, &parsed)) {
        walk(parsed.root, rest);
    }
    arena_reset(arena_current());
    return 0;
}
