// Data files of load plans.
#include "feed.h"

#include "base/buf.h"
#include "base/date.h"

#include <string.h>

void feed_load(Feed *feed, Str content)
{
    size_t count = 0;
    Str rest = content, line;

    if (str_starts(content, S("\xEF\xBB\xBF"))) {
        rest = content = str_sub(content, 3, content.len);
    }
    while (str_next(&rest, '\n', &line)) {
        count += str_trim(line).len > 0;
    }
    feed->lines = NEW_ARRAY(Str, count + 1);
    rest = content;
    while (str_next(&rest, '\n', &line)) {
        if (str_trim(line).len > 0) {
            feed->lines[feed->line_len++] =
                str_ends(line, S("\r")) ? str_sub(line, 0, line.len - 1) : line;
        }
    }
}

// Cuts the next column off; a quoted one may hold the delimiter and doubled quotes.
static Str next_column(Str *rest, char delimiter)
{
    Str column = {"", 0};

    if (rest->len == 0 || rest->at[0] != '"') {
        (void)str_next(rest, delimiter, &column);
        return str_trim(column);
    }
    Buf buf = buf_new(arena_current(), rest->len);
    size_t i = 1;
    for (; i < rest->len; i++) {
        if (rest->at[i] == '"' && (i + 1 == rest->len || rest->at[i + 1] != '"')) {
            break;
        }
        i += rest->at[i] == '"';
        buf_char(&buf, rest->at[i]);
    }
    ptrdiff_t end = str_find_char(*rest, delimiter, i);
    *rest = end < 0 ? (Str){"", 0} : str_sub(*rest, (size_t)end + 1, rest->len);
    return buf_str(&buf);
}

static void set_column(Actor *actor, uint32_t variable, const Symbols *symbols, Str value)
{
    if (!symbols->at[variable].is_pinned) {
        vars_set(actor->vars, variable, value);
    }
}

void feed_skip(Feed *feed, size_t lines)
{
    feed->first = lines;
    atomic_store(&feed->next, lines);
}

size_t feed_taken(const Feed *feed)
{
    size_t next = feed->next;

    // Users that found nothing any more have asked, too.
    next = feed->recycles || next < feed->line_len ? next : feed->line_len;
    return next > feed->first ? next - feed->first : 0;
}

double feed_passes(const Feed *feed)
{
    return feed->line_len ? (double)(feed->first + feed_taken(feed)) / (double)feed->line_len : 0;
}

static size_t take_place(Feed *feed, size_t *own)
{
    size_t place, farthest = atomic_load(&feed->next);

    if (feed->share != SHARE_THREAD) {
        return atomic_fetch_add(&feed->next, 1);
    }
    place = feed->first + (*own)++;
    while (farthest <= place && !atomic_compare_exchange_weak(&feed->next, &farthest, place + 1)) {
    }
    return place;
}

static void note_end(Feed *feed)
{
    int64_t never = 0;

    if (!atomic_load(&feed->ended_ns)) {
        atomic_compare_exchange_strong(&feed->ended_ns, &never, clock_ns());
    }
}

bool feed_take(Feed *feed, Actor *actor, size_t *own)
{
    const Symbols *symbols = vars_symbols(actor->vars);
    size_t i = take_place(feed, own);
    bool is_over = feed->line_len == 0 || (i >= feed->line_len && !feed->recycles);

    if (i >= feed->line_len) {
        note_end(feed);
    }
    if (is_over && feed->stops) {
        return false;
    }
    Str rest = is_over ? S("<EOF>") : feed->lines[i % feed->line_len];
    for (size_t c = 0; c < feed->column_len; c++) {
        Str value = is_over ? S("<EOF>") : next_column(&rest, feed->delimiter);
        set_column(actor, feed->columns[c], symbols, value);
    }
    return true;
}
