// Regular expressions: patterns without special characters are plain text searches, all others go
// to ICU. ICU's matchers keep state, so that every thread works on a clone of its own, made at
// first use.
#include "regexp.h"

#include "base/die.h"

#include <pthread.h>
#include <string.h>
#include <unicode/uregex.h>

enum {
    TIME_LIMIT_STEPS = 1000, // about milliseconds, then the text counts as not matching
    SPARE_MAX = 64,
};

struct Regexp {
    pthread_mutex_t lock; // guards the clones and cloning itself
    URegularExpression *spare[SPARE_MAX];
    int spare_len;
    URegularExpression *compiled;
    Str literal; // the pattern's text when it means itself
    bool is_literal;
    int groups;
    Regexp *next; // of the list that gives them back
};

// Without the backslashes of `\/` and `\"`; false if anything in it is more than a character.
static bool literal_of(Str pattern, Str *literal)
{
    char *text = arena_alloc(arena_current(), pattern.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < pattern.len; i++) {
        char c = pattern.at[i];
        if (c == '\\' && i + 1 < pattern.len && strchr("/\"\\.[](){}?*+|^$-", pattern.at[i + 1])) {
            c = pattern.at[++i];
        } else if (strchr("\\.[](){}?*+|^$", c)) {
            return false;
        }
        text[len++] = c;
    }
    *literal = (Str){text, len};
    return true;
}

Err *regexp_compile(Str pattern, Regexp **list, Regexp **out)
{
    Regexp *regexp = NEW(Regexp);
    UErrorCode status = U_ZERO_ERROR;
    UParseError where = {0};

    pthread_mutex_init(&regexp->lock, NULL);
    regexp->is_literal = literal_of(pattern, &regexp->literal);
    if (!regexp->is_literal) {
        UText *text = utext_openUTF8(NULL, pattern.at, (int64_t)pattern.len, &status);
        regexp->compiled = uregex_openUText(text, 0, &where, &status);
        utext_close(text);
        if (U_FAILURE(status)) {
            return err_text(400, "regular expression \"" STR_FMT "\": %s", STR_ARG(pattern),
                            u_errorName(status));
        }
        uregex_setTimeLimit(regexp->compiled, TIME_LIMIT_STEPS, &status);
        regexp->groups = uregex_groupCount(regexp->compiled, &status);
    }
    regexp->next = *list;
    *list = *out = regexp;
    return NULL;
}

void regexps_close(Regexp *list)
{
    for (; list; list = list->next) {
        while (list->spare_len > 0) {
            uregex_close(list->spare[--list->spare_len]);
        }
        if (list->compiled) {
            uregex_close(list->compiled);
        }
        pthread_mutex_destroy(&list->lock);
    }
}

int regexp_groups(const Regexp *regexp)
{
    return regexp->groups < REGEXP_GROUPS_MAX ? regexp->groups : REGEXP_GROUPS_MAX - 1;
}

typedef struct {
    Regexp *regexp;
    URegularExpression *matcher;
    UText text;
} Use;

static void begin(Use *use, const Regexp *regexp, Str text)
{
    UErrorCode status = U_ZERO_ERROR;
    const UText empty = UTEXT_INITIALIZER;

    *use = (Use){.regexp = (Regexp *)regexp, .text = empty};
    pthread_mutex_lock(&use->regexp->lock);
    use->matcher = regexp->spare_len > 0 ? use->regexp->spare[--use->regexp->spare_len]
                                         : uregex_clone(regexp->compiled, &status);
    pthread_mutex_unlock(&use->regexp->lock);
    utext_openUTF8(&use->text, text.len ? text.at : "", (int64_t)text.len, &status);
    uregex_setUText(use->matcher, &use->text, &status);
    if (U_FAILURE(status)) {
        die("regular expression: %s", u_errorName(status));
    }
}

static void end(Use *use)
{
    pthread_mutex_lock(&use->regexp->lock);
    bool is_kept = use->regexp->spare_len < SPARE_MAX;
    if (is_kept) {
        use->regexp->spare[use->regexp->spare_len++] = use->matcher;
    }
    pthread_mutex_unlock(&use->regexp->lock);
    if (!is_kept) {
        uregex_close(use->matcher);
    }
    utext_close(&use->text);
}

bool regexp_finds(const Regexp *regexp, Str text)
{
    UErrorCode status = U_ZERO_ERROR;
    Use use;

    if (regexp->is_literal) {
        return str_find(text, regexp->literal, 0) >= 0;
    }
    begin(&use, regexp, text);
    bool found = uregex_find64(use.matcher, 0, &status) && U_SUCCESS(status);
    end(&use);
    return found;
}

bool regexp_matches(const Regexp *regexp, Str text)
{
    UErrorCode status = U_ZERO_ERROR;
    Use use;

    if (regexp->is_literal) {
        return str_eq(text, regexp->literal);
    }
    begin(&use, regexp, text);
    bool found = uregex_matches64(use.matcher, 0, &status) && U_SUCCESS(status);
    end(&use);
    return found;
}

static size_t find_literals(const Regexp *regexp, Str text, RegexpMatch *matches, size_t max)
{
    size_t count = 0, from = 0;

    while (count < max && regexp->literal.len > 0) {
        ptrdiff_t at = str_find(text, regexp->literal, from);
        if (at < 0) {
            break;
        }
        from = (size_t)at + regexp->literal.len;
        matches[count++] = (RegexpMatch){.group = {str_sub(text, (size_t)at, from)}};
    }
    return count;
}

size_t regexp_find_all(const Regexp *regexp, Str text, RegexpMatch *matches, size_t max)
{
    if (regexp->is_literal) {
        return find_literals(regexp, text, matches, max);
    }
    UErrorCode status = U_ZERO_ERROR;
    size_t count = 0;
    Use use;

    begin(&use, regexp, text);
    for (bool found = max > 0 && uregex_find64(use.matcher, 0, &status);
         found && count < max && U_SUCCESS(status); found = uregex_findNext(use.matcher, &status)) {
        matches[count] = (RegexpMatch){0};
        for (int g = 0; g <= regexp_groups(regexp); g++) {
            int64_t from = uregex_start64(use.matcher, g, &status);
            int64_t to = uregex_end64(use.matcher, g, &status);
            matches[count].group[g] =
                from < 0 ? (Str){"", 0} : str_sub(text, (size_t)from, (size_t)to);
        }
        count++;
    }
    end(&use);
    return count;
}
