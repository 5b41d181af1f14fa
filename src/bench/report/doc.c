// Building a report, and how numbers are printed.
#include "doc.h"

#include <math.h>
#include <string.h>

enum {
    SECOND_IN_MS = 1000,
    MS_UP_TO = 10000, // longer ones in seconds
    LONG_S = 600,     // longer ones by the clock
};
#define MIB   1048576.0
#define MINUS "\xE2\x88\x92"

Section *doc_section(Doc *doc, const char *id, const char *title)
{
    Section *section = NEW(Section);

    *section = (Section){.id = str_of(id), .title = str_of(title)};
    if (doc->last) {
        doc->last->next = section;
    } else {
        doc->first = section;
    }
    doc->last = section;
    return section;
}

static Block *add_block(Section *section, BlockKind kind, Str text)
{
    Block *block = NEW(Block);

    *block = (Block){.kind = kind, .text = text};
    if (section->last) {
        section->last->next = block;
    } else {
        section->first = block;
    }
    section->last = block;
    return block;
}

void section_text(Section *section, Str text)
{
    add_block(section, BLOCK_TEXT, text);
}

void section_finding(Section *section, Tone tone, const char *rule, Str text)
{
    Block *block = add_block(section, BLOCK_FINDING, text);

    block->tone = tone;
    block->rule = str_of(rule);
}

void section_heading(Section *section, const char *text)
{
    add_block(section, BLOCK_HEADING, str_of(text));
}

Table *section_table(Section *section, const char *id, Str title)
{
    Block *block = add_block(section, BLOCK_TABLE, title);

    block->table = NEW(Table);
    block->table->id = str_of(id);
    block->table->title = title;
    return block->table;
}

Plot *section_plot(Section *section, Str id, Str title)
{
    Block *block = add_block(section, BLOCK_PLOT, title);

    block->plot = NEW(Plot);
    block->plot->id = id;
    block->plot->title = title;
    return block->plot;
}

Column *table_column(Table *table, const char *title, Role role, Unit unit)
{
    Column *column = &table->columns[table->column_len];

    if (table->column_len < TABLE_COLUMNS_MAX - 1) {
        table->column_len++;
    }
    *column = (Column){.title = str_of(title), .role = role, .unit = unit};
    return column;
}

static void add_value(Table *table, Value value)
{
    table->values = array_room(arena_current(), table->values, table->value_len, &table->value_cap,
                               sizeof *table->values);
    table->values[table->value_len++] = value;
}

void table_text(Table *table, Str text)
{
    add_value(table, (Value){NAN, text});
}

void table_number(Table *table, double number)
{
    add_value(table, (Value){.number = number});
}

void table_blank(Table *table)
{
    add_value(table, (Value){.number = NAN});
}

size_t table_rows(const Table *table)
{
    return table->column_len ? table->value_len / table->column_len : 0;
}

const Value *table_at(const Table *table, size_t row, size_t column)
{
    return &table->values[row * table->column_len + column];
}

static Str with_separators(Str digits)
{
    ptrdiff_t point = str_find_char(digits, '.', 0);
    size_t whole = point < 0 ? digits.len : (size_t)point;
    Buf buf = buf_new(arena_current(), digits.len * 2 + 1);

    for (size_t i = 0; i < digits.len; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0) {
            buf_char(&buf, ',');
        }
        buf_char(&buf, digits.at[i]);
    }
    return buf_str(&buf);
}

static Str unsigned_text(double number)
{
    if (number == 0) {
        return S("0");
    }
    int power = (int)floor(log10(number));
    // 9.996 has three digits as 10.0.
    if (number >= pow(10, power + 1) - 0.5 * pow(10, power - 2)) {
        power++;
    }
    int decimals = power >= 2 ? 0 : 2 - power;
    return with_separators(str_fmt("%.*f", decimals > 12 ? 12 : decimals, number));
}

Str show_number(double number)
{
    if (isnan(number)) {
        return (Str){"", 0};
    }
    if (isinf(number)) {
        return number > 0 ? S("\xE2\x88\x9E") : S(MINUS "\xE2\x88\x9E");
    }
    return number < 0 ? str_fmt(MINUS STR_FMT, STR_ARG(unsigned_text(-number)))
                      : unsigned_text(number);
}

int64_t count_of(double number)
{
    const double most = 9e18; // INT64_MAX has no double of its own

    return isnan(number) ? 0 : (int64_t)fmin(fmax(number, -most), most);
}

Str show_count(int64_t count)
{
    return count < 0 ? str_fmt(MINUS STR_FMT, STR_ARG(show_count(-count)))
                     : with_separators(str_fmt("%lld", (long long)count));
}

Str show_given(double number)
{
    return str_fmt("%g", number);
}

Str show_p(double p)
{
    return isnan(p) ? (Str){"", 0} : p < 0.001 ? S("< 0.001") : str_fmt("%.3f", p);
}

Str show_signed(double number)
{
    return number > 0 ? str_fmt("+" STR_FMT, STR_ARG(show_number(number))) : show_number(number);
}

// Percentages: a tenth is fine enough.
static Str percent_number(double percent)
{
    double tenths = round(percent * 10) / 10;

    if (isnan(percent) || isinf(percent)) {
        return show_number(percent);
    }
    Str digits = with_separators(str_fmt("%.*f", fabs(tenths) >= 100 ? 0 : 1, fabs(tenths)));
    return str_fmt("%s" STR_FMT,
                   tenths > 0   ? "+"
                   : tenths < 0 ? MINUS
                                : "\xC2\xB1",
                   STR_ARG(digits));
}

Str show_percent(double percent)
{
    return isnan(percent) ? (Str){"", 0} : str_fmt(STR_FMT " %%", STR_ARG(percent_number(percent)));
}

Str show_ratios(Interval ratios)
{
    if (isnan(ratios.low) || isnan(ratios.high)) {
        return (Str){"", 0};
    }
    return str_fmt("[" STR_FMT ", " STR_FMT "] %%", STR_ARG(percent_number(100 * (ratios.low - 1))),
                   STR_ARG(percent_number(100 * (ratios.high - 1))));
}

Str show_duration(double seconds)
{
    int64_t whole = count_of(round(fabs(seconds)));

    if (isnan(seconds)) {
        return (Str){"", 0};
    }
    return str_fmt("%s%lld:%02d:%02d", seconds < 0 ? MINUS : "", (long long)(whole / 3600),
                   (int)(whole / 60 % 60), (int)(whole % 60));
}

Str show_time(Time time)
{
    Str text = time_format_z(time);
    return str_fmt(STR_FMT " " STR_FMT " UTC", STR_ARG(str_sub(text, 0, 10)),
                   STR_ARG(str_sub(text, 11, 19)));
}

Str show_quantity(double value, Unit unit)
{
    if (isnan(value)) {
        return S("no value");
    }
    switch (unit) {
    case UNIT_COUNT:
        return value == floor(value) ? show_count(count_of(value)) : show_number(value);
    case UNIT_BYTES:
        return str_fmt(STR_FMT " MiB", STR_ARG(show_number(value / MIB)));
    case UNIT_MS:
        return fabs(value) >= MS_UP_TO
                   ? str_fmt(STR_FMT " s", STR_ARG(show_number(value / SECOND_IN_MS)))
                   : str_fmt(STR_FMT " ms", STR_ARG(show_number(value)));
    default:
        return str_fmt(STR_FMT " %s", STR_ARG(show_number(value)), unit_name(unit));
    }
}

// One unit for the whole column: milliseconds, unless a value has ten seconds.
static bool is_in_seconds(const Table *table, size_t column)
{
    if (table->columns[column].unit != UNIT_MS) {
        return false;
    }
    for (size_t row = 0; row < table_rows(table); row++) {
        if (fabs(table_at(table, row, column)->number) >= MS_UP_TO) {
            return true;
        }
    }
    return false;
}

// h:mm:ss says nothing about ten seconds: then plain seconds, in all columns of the same origin.
static bool is_long(const Table *table, bool is_foreign)
{
    for (size_t i = 0; i < table->column_len; i++) {
        const Column *is = &table->columns[i];
        for (size_t row = 0; row < table_rows(table) && is->is_duration; row++) {
            if (is->is_foreign == is_foreign && table_at(table, row, i)->number >= LONG_S) {
                return true;
            }
        }
    }
    return false;
}

static bool is_clock(const Table *table, size_t column)
{
    return table->columns[column].is_duration && is_long(table, table->columns[column].is_foreign);
}

static const char *shown_unit(const Table *table, size_t column)
{
    const Column *is = &table->columns[column];

    if (is->role <= ROLE_KEY || is->role == ROLE_VERDICT || is_clock(table, column)) {
        return is_clock(table, column) ? "h:mm:ss" : "";
    }
    switch (is->unit) {
    case UNIT_COUNT:
        return "";
    case UNIT_BYTES:
        return "MiB";
    case UNIT_MS:
        return is_in_seconds(table, column) ? "s" : "ms";
    default:
        return unit_name(is->unit);
    }
}

Str column_unit(const Table *table, size_t column)
{
    return str_of(shown_unit(table, column));
}

Str column_head(const Table *table, size_t column)
{
    const char *unit = shown_unit(table, column);
    Str title = table->columns[column].title;

    return *unit ? str_fmt(STR_FMT " (%s)", STR_ARG(title), unit) : title;
}

bool column_is_blank(const Table *table, size_t column)
{
    for (size_t row = 0; row < table_rows(table); row++) {
        const Value *value = table_at(table, row, column);
        if (value->text.len > 0 || !isnan(value->number)) {
            return false;
        }
    }
    return true;
}

Str table_show(const Table *table, size_t row, size_t column)
{
    const Column *is = &table->columns[column];
    const Value *value = table_at(table, row, column);
    double number = value->number;

    if (value->text.len > 0 || isnan(number)) {
        return value->text;
    }
    if (is_clock(table, column)) {
        Str text = show_duration(number);
        return is->role == ROLE_DELTA && number > 0 ? str_fmt("+" STR_FMT, STR_ARG(text)) : text;
    }
    if (is->role == ROLE_DELTA_PCT) {
        return percent_number(number);
    }
    number = is->unit == UNIT_BYTES         ? number / MIB
             : is_in_seconds(table, column) ? number / SECOND_IN_MS
                                            : number;
    if (is->unit == UNIT_COUNT && number == floor(number) && is->role != ROLE_DELTA) {
        return show_count(count_of(number));
    }
    return is->role == ROLE_DELTA ? show_signed(number) : show_number(number);
}
