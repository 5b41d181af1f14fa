// Data files of the built-in plans: one value or a few to a line, no heading.
#include "data.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const Maker *maker;
    FILE *file;
    bool failed;
} Output;

static void line(Output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(Output *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    out->failed = vfprintf(out->file, format, args) < 0 || out->failed;
    va_end(args);
}

// ---------------------------------------------------------------------------------------------
// Lists

static void credentials(Output *out)
{
    line(out, "diku_admin,admin," STR_FMT "\n", STR_ARG(out->maker->tenant));
}

static void user_barcodes(Output *out)
{
    for (int64_t n = 0; n < out->maker->recipe->users; n++) {
        line(out, STR_FMT "\n", STR_ARG(user_barcode_of(out->maker, n)));
    }
}

static void user_ids(Output *out)
{
    for (int64_t n = 0; n < out->maker->recipe->users; n++) {
        line(out, STR_FMT "\n", STR_ARG(user_id_of(out->maker, n)));
    }
}

// Those who have open loans.
static void borrower_ids(Output *out)
{
    for (int64_t n = 0; n < out->maker->recipe->loans * 9 / 10; n++) {
        line(out, STR_FMT "\n", STR_ARG(user_id_of(out->maker, n)));
    }
}

// Behind those who wait for something.
static void user_ids_without_requests(Output *out)
{
    const Recipe *recipe = out->maker->recipe;
    for (int64_t n = 0; n < recipe->users - recipe->requests; n++) {
        int64_t user = (n + recipe->requests + recipe->users / 2 + 7) % recipe->users;
        line(out, STR_FMT "\n", STR_ARG(user_id_of(out->maker, user)));
    }
}

// Calls `write` for the copies that are available, in order.
static void each_available(Output *out, void (*write)(Output *, int64_t))
{
    int64_t max = out->maker->recipe->available_max, lines = 0;

    for (int64_t n = 0; n < stock_copies(out->maker) && (!max || lines < max); n++) {
        ArenaMark mark = arena_mark(arena_current());
        if (!stock_is_on_loan(out->maker, n)) {
            write(out, n);
            lines++;
        }
        arena_release(arena_current(), mark);
    }
}

static void write_barcode(Output *out, int64_t copy)
{
    line(out, STR_FMT "\n", STR_ARG(stock_barcode(out->maker, copy)));
}

static void write_id(Output *out, int64_t copy)
{
    Place place = stock_place(out->maker, copy);
    line(out, STR_FMT "\n", STR_ARG(copy_id_of(out->maker, &place)));
}

static void available_barcodes(Output *out)
{
    each_available(out, write_barcode);
}

static void available_ids(Output *out)
{
    each_available(out, write_id);
}

static void checked_out_barcodes(Output *out)
{
    for (int64_t n = 0; n < out->maker->recipe->loans; n++) {
        write_barcode(out, stock_copy_of_loan(out->maker, n));
    }
}

static void first_desk(Output *out)
{
    line(out, DESK_1 "\n");
}

static void all_desks(Output *out)
{
    line(out, DESK_1 "\n" DESK_2 "\n" DESK_3 "\n");
}

static void first_group(Output *out)
{
    line(out, STR_FMT "\n", STR_ARG(user_group_of(0)));
}

enum {
    TITLES_MAX = 10000,
    KEYWORDS = 50,
};

static int64_t titles_listed(const Maker *maker)
{
    return maker->recipe->instances < TITLES_MAX ? maker->recipe->instances : TITLES_MAX;
}

static void title_ids(Output *out)
{
    for (int64_t n = 0; n < titles_listed(out->maker); n++) {
        line(out, STR_FMT "\n", STR_ARG(title_id_of(out->maker, &(Place){"", n, n, n})));
    }
}

static void titles_with_items(Output *out)
{
    for (int64_t n = 0; n < titles_listed(out->maker); n++) {
        Place place = {"", n, n, n * out->maker->recipe->items_per_holdings};
        line(out, STR_FMT "," STR_FMT "\n", STR_ARG(title_id_of(out->maker, &place)),
             STR_ARG(copy_id_of(out->maker, &place)));
    }
}

static void keywords(Output *out)
{
    for (int64_t n = 0; n < KEYWORDS; n++) {
        line(out, STR_FMT ",1\n", STR_ARG(words_keyword(n)));
    }
}

// Set (a): the title with 333 holdings records.
static void title_with_many_holdings(Output *out)
{
    line(out, STR_FMT "\n", STR_ARG(title_id_of(out->maker, &(Place){"rtac-a", 0, 0, 0})));
}

// ---------------------------------------------------------------------------------------------
// Files

static const struct {
    const char *name;
    void (*write)(Output *out);
} files[] = {
    {"credentials.csv", credentials},
    {"user_barcodes.csv", user_barcodes},
    {"user_barcodes2.csv", user_barcodes},
    {"available.csv", available_barcodes},
    {"checked_out.csv", checked_out_barcodes},
    {"service_point.csv", first_desk},
    {"service_points.csv", all_desks},
    {"servicepoints.csv", all_desks},
    {"ILR_userBarcodes.csv", user_barcodes},
    {"ILR_itembarcodes.csv", checked_out_barcodes},
    {"users.csv", borrower_ids},
    {"user_ids.csv", user_ids},
    {"user_ids_without_requests.csv", user_ids_without_requests},
    {"items_without_requests.csv", available_ids},
    {"itemIds90000.csv", available_ids},
    {"items.csv", available_barcodes},
    {"patron_group.csv", first_group},
    {"instances.csv", title_ids},
    {"instance_ids.csv", title_ids},
    {"export-ids.csv", title_ids},
    {"VIR_instance_item.csv", titles_with_items},
    {"keywords.csv", keywords},
    {"instanceIds-300plus-holdings.csv", title_with_many_holdings},
};

static Err *file_write(const Maker *maker, const char *name, void (*write)(Output *out))
{
    const char *path = str_z(str_fmt(STR_FMT "/inputs/%s", STR_ARG(maker->folder), name));
    Output out = {maker, fopen(path, "w"), false};
    ArenaMark mark = arena_mark(arena_current());

    if (!out.file) {
        return err_text(500, "%s: %s", path, strerror(errno));
    }
    write(&out);
    bool failed = fclose(out.file) || out.failed;
    if (failed) {
        return err_text(500, "%s: %s", path, strerror(errno));
    }
    arena_release(arena_current(), mark);
    return NULL;
}

// A set's ids as the plans put them into a list: "a","b". One title only: the first.
static Err *set_write(const Maker *maker, const RtacSet *set, const char *name, int64_t titles)
{
    const char *path = str_z(str_fmt(STR_FMT "/inputs/%s.csv", STR_ARG(maker->folder), name));
    Output out = {maker, fopen(path, "w"), false};

    if (!out.file) {
        return err_text(500, "%s: %s", path, strerror(errno));
    }
    for (int64_t n = 0; n < titles; n++) {
        line(&out, "%s\"" STR_FMT "\"", n ? "," : "",
             STR_ARG(title_id_of(maker, &(Place){set->name, n, n, n})));
    }
    return fclose(out.file) || out.failed ? err_text(500, "%s: %s", path, strerror(errno)) : NULL;
}

Err *inputs_write(const Maker *maker)
{
    Str folder = str_fmt(STR_FMT "/inputs", STR_ARG(maker->folder));

    if (mkdir(str_z(folder), 0750) && errno != EEXIST) {
        return err_text(500, STR_FMT ": %s", STR_ARG(folder), strerror(errno));
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        TRY(file_write(maker, files[i].name, files[i].write));
    }
    for (const RtacSet *set = rtac_sets; maker->recipe->rtac_large && set->name; set++) {
        TRY(set_write(maker, set, set->name, set->titles));
    }
    if (!maker->recipe->rtac_large) {
        return NULL;
    }
    TRY(set_write(maker, &rtac_sets[3], "rtac-d1", 1));
    return set_write(maker, &rtac_sets[1], "instance-record-ids", rtac_sets[1].titles);
}
