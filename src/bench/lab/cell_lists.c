// A line of a list that serves once is gone: the next cell on the same data goes on behind it, and
// a cell that finds too few of them says nothing about the server.
#include "cell_lists.h"

static int64_t lines_gone(const Cell *cell, Str workload, const Feed *feed)
{
    for (size_t i = 0; i < cell->lists.len; i++) {
        const DataList *list = &cell->lists.at[i];
        if (str_eq(list->workload, workload) && str_eq(list->file, feed->file) &&
            str_eq(list->group, feed->group)) {
            return list->first + list->taken;
        }
    }
    return 0;
}

void lists_go_on(const Lab *lab, const Cell *cell, Str workload, const Plan *plan)
{
    for (Feed *feed = plan->feeds; feed; feed = feed->following) {
        int64_t gone = 0;
        for (const Cell *one = cell; one >= lab->first_on_data && feed->stops && !gone; one--) {
            gone = lines_gone(one, workload, feed);
        }
        feed_skip(feed, (size_t)gone);
    }
}

static Str list_text(const Feed *feed)
{
    return str_fmt(STR_FMT " (%zu lines)", STR_ARG(feed->file), feed->line_len);
}

static double end_s(const CellLists *lists, const Feed *feed)
{
    return (double)(feed->ended_ns - lists->zero_ns) / 1e9;
}

static void fill(const CellLists *lists, const Feed *feed, DataList *to)
{
    *to = (DataList){.workload = lists->workload,
                     .file = str_copy(arena_current(), feed->file),
                     .group = str_copy(arena_current(), feed->group),
                     .lines = (int64_t)feed->line_len,
                     .first = (int64_t)feed->first,
                     .taken = (int64_t)feed_taken(feed),
                     .serves_once = feed->is_single_use,
                     .is_used_up = feed->ended_ns != 0,
                     .used_up_s = feed->ended_ns ? end_s(lists, feed) : 0};
}

// Whatever uses its lines again finds what it left behind.
static void note_second_pass(const CellLists *lists, const Feed *feed)
{
    Result *result = lists->lab->result;
    Str list = list_text(feed);

    lab_annotate(lists->lab, lists->cell->id, "data", "lab",
                 str_fmt(STR_FMT " was begun again; %.1f passes until the end of the cell",
                         STR_ARG(list), feed_passes(feed)));
    result->annotations.at[result->annotations.len - 1].at =
        lists->cell->window_at + (Time)(1000 * end_s(lists, feed));
}

void lists_fill(const CellLists *lists)
{
    Cell *cell = lists->cell;

    for (const Feed *feed = lists->plan->feeds; feed; feed = feed->following) {
        fill(lists, feed, &cell->lists.at[cell->lists.len++]);
        if (feed->stops && feed->recycles && feed->ended_ns) {
            note_second_pass(lists, feed);
        }
    }
}

void lists_judge(const CellLists *lists)
{
    const Feed *feed = lists->result->used_up;
    bool is_in_window = lists->result->is_steady && feed->ended_ns >= lists->zero_ns;
    Str list = list_text(feed);
    Str when = is_in_window ? str_fmt("%.1f s into the window", end_s(lists, feed))
                            : S("before the window began");
    const char *advice = feed->first > 0
                             ? ", most of it by earlier cells on the same data: take more data, or "
                               "reset them for each run"
                             : ": take a larger recipe, fewer users, longer pauses or a shorter "
                               "window";

    cell_add_reason(lists->cell,
                    str_fmt(STR_FMT ": " STR_FMT " was used up " STR_FMT "%s",
                            STR_ARG(lists->workload), STR_ARG(list), STR_ARG(when), advice));
}
