// A report as sections of paragraphs, tables and plots, before it becomes HTML, Markdown or CSV.
// Numbers stay numbers until they are written: text and tables come from the same value.
// In the current arena. Source: spec/perf-lab.md 7.
#pragma once

#include "bench/result.h"
#include "bench/stats/stats.h"

// What a column holds; the self-checks go by it.
typedef enum {
    ROLE_TEXT,
    ROLE_KEY, // text that names the row
    ROLE_COUNT,
    ROLE_FAILED,
    ROLE_FAILED_SHARE, // percent
    ROLE_THROUGHPUT,
    ROLE_WINDOW,
    ROLE_MIN,
    ROLE_MEAN,
    ROLE_P50,
    ROLE_P75,
    ROLE_P90,
    ROLE_P95,
    ROLE_P99,
    ROLE_P999,
    ROLE_MAX,
    ROLE_VALUE,
    ROLE_PART,      // adds up to the last row, which is the total
    ROLE_DELTA,     // signed, of the value column before it
    ROLE_DELTA_PCT, // signed
    ROLE_VERDICT,
} Role;

typedef struct {
    Str title;
    Role role;
    Unit unit;
    bool is_foreign;   // measured elsewhere: grey, marked
    bool may_be_empty; // all cells of it may be
    bool is_duration;  // h:mm:ss once one of the table takes ten minutes
} Column;

typedef struct {
    double number; // NAN = none
    Str text;      // shown in place of the number, if not empty
} Value;

enum {
    TABLE_COLUMNS_MAX = 24,
};

typedef struct {
    Str id, title, note;
    Column columns[TABLE_COLUMNS_MAX];
    size_t column_len;
    Value *values; // row by row
    size_t value_len, value_cap;
    bool has_total; // the last row
    Str why_empty;  // shown when there are no rows
} Table;

typedef struct {
    Str id, title, note;
    Str script;    // of gnuplot, without terminal and output
    Str why_empty; // then there is no script
    Str svg;       // drawn
    int height;    // pixels; 0 = usual
} Plot;

typedef enum {
    TONE_PLAIN,
    TONE_GOOD,
    TONE_WARN,
    TONE_BAD,
} Tone;

typedef enum {
    BLOCK_TEXT,
    BLOCK_FINDING, // a conclusion, with the id of its rule
    BLOCK_HEADING,
    BLOCK_TABLE,
    BLOCK_PLOT,
} BlockKind;

typedef struct Block Block;
struct Block {
    BlockKind kind;
    Tone tone;
    Str text, rule;
    Table *table;
    Plot *plot;
    Block *next;
};

typedef struct Section Section;
struct Section {
    Str id, title;
    Block *first, *last;
    Section *next;
};

typedef struct {
    Str title, subtitle, id;
    Section *first, *last;
    StrList defects;       // of the self-checks; any of them: red banner, exit code 2
    StrList plots_missing; // why plots could not be drawn, if so
} Doc;

Section *doc_section(Doc *doc, const char *id, const char *title);
void section_text(Section *section, Str text);
void section_finding(Section *section, Tone tone, const char *rule, Str text);
void section_heading(Section *section, const char *text);
Table *section_table(Section *section, const char *id, Str title);
Plot *section_plot(Section *section, Str id, Str title);

// Columns from left to right, then values row by row.
Column *table_column(Table *table, const char *title, Role role, Unit unit);
void table_text(Table *table, Str text);
void table_number(Table *table, double number);
void table_blank(Table *table);
size_t table_rows(const Table *table);
const Value *table_at(const Table *table, size_t row, size_t column);

// "Median (ms)": the column's title with its unit, as all its values allow.
Str column_head(const Table *table, size_t column);
// The unit alone, "" if there is none.
Str column_unit(const Table *table, size_t column);
// No row has anything in it: it is not shown.
bool column_is_blank(const Table *table, size_t column);
// A cell as it is printed, in the unit of its column's head.
Str table_show(const Table *table, size_t row, size_t column);

// Three significant digits, thousands separated: "1,226", "0.0531", "12.3". Counts in full.
Str show_number(double number);
Str show_count(int64_t count);
// The number as a count, whatever a file says it is: cut, 0 for none, at most 9e18 from 0.
int64_t count_of(double number);
Str show_given(double number); // a number of a file or option, as it was written: "5", "0.1"
Str show_p(double p);          // "< 0.001", "0.043"
// With its sign, a real minus: "+1.7 %", "−0.9 %".
Str show_percent(double percent);
Str show_signed(double number);
// "960 ms", "12.3 s": a value in running text; never without unit.
Str show_quantity(double value, Unit unit);
Str show_duration(double seconds); // h:mm:ss
// "[−0.9, +4.2] %" of ratios.
Str show_ratios(Interval ratios);
Str show_time(Time time); // 2024-05-01 12:34:56 UTC

Str doc_html(const Doc *doc);
Str doc_markdown(const Doc *doc);
// Long form: key columns, metric, value, unit.
Str table_csv(const Table *table);
