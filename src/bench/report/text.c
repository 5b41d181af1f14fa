// A report as Markdown, tables as CSV in long form.
#include "doc.h"

#include <math.h>

enum {
    FILE_TEXT_MAX = 256 << 20,
};

// A vertical line would end the cell, a line end the row.
static void add_markdown(Buf *buf, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`' || c == '\\') {
            buf_char(buf, '\\');
        }
        buf_char(buf, c == '\n' || c == '\r' ? ' ' : c);
    }
}

static void add_markdown_table(Buf *buf, const Table *table)
{
    buf_fmt(buf, "**" STR_FMT "**\n\n", STR_ARG(table->title));
    if (table_rows(table) == 0) {
        buf_fmt(buf, "No data: " STR_FMT ".\n\n", STR_ARG(table->why_empty));
        return;
    }
    for (size_t i = 0; i < table->column_len; i++) {
        if (!column_is_blank(table, i)) {
            buf_add(buf, S("| "));
            add_markdown(buf, column_head(table, i));
            buf_char(buf, ' ');
        }
    }
    buf_add(buf, S("|\n"));
    for (size_t i = 0; i < table->column_len; i++) {
        Role role = table->columns[i].role;
        bool is_text = role == ROLE_TEXT || role == ROLE_KEY || role == ROLE_VERDICT;
        if (!column_is_blank(table, i)) {
            buf_add(buf, is_text ? S("| --- ") : S("| ---: "));
        }
    }
    buf_add(buf, S("|\n"));
    for (size_t row = 0; row < table_rows(table); row++) {
        for (size_t column = 0; column < table->column_len; column++) {
            if (!column_is_blank(table, column)) {
                buf_add(buf, S("| "));
                add_markdown(buf, table_show(table, row, column));
                buf_char(buf, ' ');
            }
        }
        buf_add(buf, S("|\n"));
    }
    buf_char(buf, '\n');
    if (table->note.len > 0) {
        add_markdown(buf, table->note);
        buf_add(buf, S("\n\n"));
    }
}

static void add_markdown_plot(Buf *buf, const Plot *plot)
{
    if (plot->svg.len > 0) {
        buf_fmt(buf, "![" STR_FMT "](plots/" STR_FMT ".svg)\n\n", STR_ARG(plot->title),
                STR_ARG(plot->id));
    } else {
        buf_fmt(buf, "**" STR_FMT "**\n\nNo data: " STR_FMT ".\n\n", STR_ARG(plot->title),
                STR_ARG(plot->why_empty));
    }
}

static void add_markdown_block(Buf *buf, const Block *block)
{
    static const char *const tones[] = {"", "Good: ", "Note: ", "Bad: "};

    switch (block->kind) {
    case BLOCK_TEXT:
        add_markdown(buf, block->text);
        buf_add(buf, S("\n\n"));
        return;
    case BLOCK_HEADING:
        buf_fmt(buf, "### " STR_FMT "\n\n", STR_ARG(block->text));
        return;
    case BLOCK_FINDING:
        buf_fmt(buf, "- %s", tones[block->tone]);
        add_markdown(buf, block->text);
        buf_fmt(buf, " (rule " STR_FMT ")\n", STR_ARG(block->rule));
        if (!block->next || block->next->kind != BLOCK_FINDING) {
            buf_char(buf, '\n');
        }
        return;
    case BLOCK_TABLE:
        add_markdown_table(buf, block->table);
        return;
    case BLOCK_PLOT:
        add_markdown_plot(buf, block->plot);
        return;
    }
}

Str doc_markdown(const Doc *doc)
{
    Buf buf = buf_new(arena_current(), FILE_TEXT_MAX);

    buf_fmt(&buf, "# " STR_FMT "\n\n" STR_FMT "\n\n", STR_ARG(doc->title), STR_ARG(doc->subtitle));
    for (size_t i = 0; i < doc->defects.len; i++) {
        buf_fmt(&buf, "> **This report contradicts itself:** " STR_FMT "\n\n",
                STR_ARG(doc->defects.at[i]));
    }
    for (size_t i = 0; i < doc->plots_missing.len; i++) {
        buf_fmt(&buf, "> **The plots are missing.** " STR_FMT "\n\n",
                STR_ARG(doc->plots_missing.at[i]));
    }
    for (const Section *section = doc->first; section; section = section->next) {
        buf_fmt(&buf, "## " STR_FMT "\n\n", STR_ARG(section->title));
        for (const Block *block = section->first; block; block = block->next) {
            add_markdown_block(&buf, block);
        }
    }
    buf_fmt(&buf, "Report " STR_FMT ". All times UTC.\n", STR_ARG(doc->id));
    return buf_str(&buf);
}

static void add_csv(Buf *buf, Str text)
{
    bool is_plain = str_find_char(text, ',', 0) < 0 && str_find_char(text, '"', 0) < 0 &&
                    str_find_char(text, '\n', 0) < 0;

    if (is_plain) {
        buf_add(buf, text);
        return;
    }
    buf_char(buf, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"') {
            buf_char(buf, '"');
        }
        buf_char(buf, text.at[i]);
    }
    buf_char(buf, '"');
}

static void add_csv_keys(Buf *buf, const Table *table, size_t row)
{
    for (size_t i = 0; i < table->column_len; i++) {
        if (table->columns[i].role == ROLE_KEY) {
            add_csv(buf, table_show(table, row, i));
            buf_char(buf, ',');
        }
    }
}

// Exact numbers in the base unit of their column, not as they are printed.
static void add_csv_value(Buf *buf, const Table *table, size_t row, size_t column)
{
    const Column *is = &table->columns[column];
    const Value *value = table_at(table, row, column);
    const char *unit = is->role == ROLE_DELTA_PCT ? "%" : unit_name(is->unit);
    bool is_number = value->text.len == 0 && !isnan(value->number);

    add_csv_keys(buf, table, row);
    add_csv(buf, is->title);
    buf_char(buf, ',');
    if (is_number) {
        buf_fmt(buf, "%.10g,%s\n", value->number, unit);
    } else {
        add_csv(buf, value->text);
        buf_add(buf, S(",\n"));
    }
}

Str table_csv(const Table *table)
{
    Buf buf = buf_new(arena_current(), FILE_TEXT_MAX);

    for (size_t i = 0; i < table->column_len; i++) {
        if (table->columns[i].role == ROLE_KEY) {
            add_csv(&buf, str_lower(table->columns[i].title));
            buf_char(&buf, ',');
        }
    }
    buf_add(&buf, S("metric,value,unit\n"));
    for (size_t row = 0; row < table_rows(table); row++) {
        for (size_t column = 0; column < table->column_len; column++) {
            const Value *value = table_at(table, row, column);
            bool is_known = value->text.len > 0 || !isnan(value->number);
            if (table->columns[column].role != ROLE_KEY && is_known) {
                add_csv_value(&buf, table, row, column);
            }
        }
    }
    return buf_str(&buf);
}
