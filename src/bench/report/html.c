// A report as one HTML page: no scripts, no other files, light and dark, printable.
#include "doc.h"

#include "base/asset.h"

enum {
    PAGE_MAX = 256 << 20,
    SHORT_TEXT = 34, // kept on one line
};

static void add_escaped(Buf *buf, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.at[i]) {
        case '<':
            buf_add(buf, S("&lt;"));
            break;
        case '>':
            buf_add(buf, S("&gt;"));
            break;
        case '&':
            buf_add(buf, S("&amp;"));
            break;
        case '"':
            buf_add(buf, S("&quot;"));
            break;
        default:
            buf_char(buf, text.at[i]);
        }
    }
}

static void add_tagged(Buf *buf, const char *tag, const char *class, Str text)
{
    buf_fmt(buf, *class ? "<%s class=\"%s\">" : "<%s%s>", tag, class);
    add_escaped(buf, text);
    buf_fmt(buf, "</%s>", tag);
}

static const char *const tones[] = {"plain", "good", "warn", "bad"};

// Verdicts carry a colour besides their word.
static const char *verdict_class(Str text)
{
    static const struct {
        const char *word, *class;
    } classes[] = {{"equivalent", "good"},   {"different but small", "good"},
                   {"better", "good"},       {"met, not", "warn"},
                   {"met", "good"},          {"done", "good"},
                   {"steady", "good"},       {"not steady", "warn"},
                   {"right", "good"},        {"worse", "bad"},
                   {"missed", "bad"},        {"invalid", "bad"},
                   {"wrong", "bad"},         {"warning", "warn"},
                   {"inconclusive", "warn"}, {"planned", "warn"},
                   {"no data", "warn"}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (str_starts(text, str_of(classes[i].word))) {
            return classes[i].class;
        }
    }
    return "plain";
}

static void add_cell(Buf *buf, const Table *table, size_t row, size_t column)
{
    const Column *is = &table->columns[column];
    Str text = table_show(table, row, column);
    bool is_text = is->role == ROLE_TEXT || is->role == ROLE_KEY;
    const char *foreign = is->is_foreign ? " foreign" : "";
    const char *length = text.len <= SHORT_TEXT ? " short" : "";

    if (is->role == ROLE_VERDICT) {
        buf_fmt(buf, "<td class=\"text%s\"><span class=\"verdict %s\">", foreign,
                verdict_class(text));
        add_escaped(buf, text);
        buf_add(buf, S("</span></td>"));
    } else if (is->role == ROLE_KEY) {
        buf_fmt(buf, "<th scope=\"row\" class=\"text%s\">", length);
        add_escaped(buf, text);
        buf_add(buf, S("</th>"));
    } else {
        buf_fmt(buf, "<td class=\"%s%s%s\">", is_text ? "text" : "number", is_text ? length : "",
                foreign);
        add_escaped(buf, text);
        buf_add(buf, S("</td>"));
    }
}

static void add_head(Buf *buf, const Table *table)
{
    buf_add(buf, S("<thead><tr>"));
    for (size_t i = 0; i < table->column_len; i++) {
        const Column *column = &table->columns[i];
        if (column_is_blank(table, i)) {
            continue;
        }
        bool is_text =
            column->role == ROLE_TEXT || column->role == ROLE_KEY || column->role == ROLE_VERDICT;
        buf_fmt(buf, "<th scope=\"col\" class=\"%s%s\">", is_text ? "text" : "number",
                column->is_foreign ? " foreign" : "");
        add_escaped(buf, column->title);
        Str unit = column_unit(table, i);
        if (unit.len > 0) {
            add_tagged(buf, "span", "unit", str_fmt("(" STR_FMT ")", STR_ARG(unit)));
        }
        buf_add(buf, S("</th>"));
    }
    buf_add(buf, S("</tr></thead>\n"));
}

static void add_table(Buf *buf, const Table *table)
{
    buf_add(buf, S("<figure class=\"table\"><figcaption>"));
    add_escaped(buf, table->title);
    buf_add(buf, S("</figcaption>\n"));
    if (table_rows(table) == 0) {
        add_tagged(buf, "p", "empty", str_fmt("No data: " STR_FMT ".", STR_ARG(table->why_empty)));
    } else {
        buf_add(buf, S("<div class=\"scroll\"><table>"));
        add_head(buf, table);
        for (size_t row = 0; row < table_rows(table); row++) {
            bool is_total = table->has_total && row + 1 == table_rows(table);
            buf_add(buf, is_total ? S("<tr class=\"total\">") : S("<tr>"));
            for (size_t column = 0; column < table->column_len; column++) {
                if (!column_is_blank(table, column)) {
                    add_cell(buf, table, row, column);
                }
            }
            buf_add(buf, S("</tr>\n"));
        }
        buf_add(buf, S("</table></div>"));
    }
    if (table->note.len > 0) {
        add_tagged(buf, "p", "note", table->note);
    }
    buf_add(buf, S("</figure>\n"));
}

static void add_plot(Buf *buf, const Plot *plot)
{
    buf_add(buf, S("<figure class=\"plot\"><figcaption>"));
    add_escaped(buf, plot->title);
    buf_add(buf, S("</figcaption>\n"));
    if (plot->svg.len > 0) {
        buf_add(buf, plot->svg);
    } else {
        add_tagged(buf, "p", "empty", str_fmt("No data: " STR_FMT ".", STR_ARG(plot->why_empty)));
    }
    if (plot->note.len > 0) {
        add_tagged(buf, "p", "note", plot->note);
    }
    buf_add(buf, S("</figure>\n"));
}

static void add_block(Buf *buf, const Block *block)
{
    switch (block->kind) {
    case BLOCK_TEXT:
        add_tagged(buf, "p", "", block->text);
        buf_char(buf, '\n');
        return;
    case BLOCK_HEADING:
        add_tagged(buf, "h3", "", block->text);
        buf_char(buf, '\n');
        return;
    case BLOCK_FINDING:
        buf_fmt(buf, "<p class=\"finding %s\">", tones[block->tone]);
        add_escaped(buf, block->text);
        add_tagged(buf, "span", "rule", str_fmt("rule " STR_FMT, STR_ARG(block->rule)));
        buf_add(buf, S("</p>\n"));
        return;
    case BLOCK_TABLE:
        add_table(buf, block->table);
        return;
    case BLOCK_PLOT:
        add_plot(buf, block->plot);
        return;
    }
}

static void add_defects(Buf *buf, const Doc *doc)
{
    if (doc->defects.len > 0) {
        buf_add(buf, S("<div class=\"banner bad\" role=\"alert\"><strong>This report contradicts "
                       "itself: do not use its figures.</strong><ul>"));
        for (size_t i = 0; i < doc->defects.len; i++) {
            add_tagged(buf, "li", "", doc->defects.at[i]);
        }
        buf_add(buf, S("</ul></div>\n"));
    }
    if (doc->plots_missing.len > 0) {
        buf_add(buf, S("<div class=\"banner warn\"><strong>The plots are missing.</strong> "));
        add_escaped(buf, doc->plots_missing.at[0]);
        buf_add(buf, S("</div>\n"));
    }
}

static void add_contents(Buf *buf, const Doc *doc)
{
    buf_add(buf, S("<nav aria-label=\"Sections\">"));
    for (const Section *section = doc->first; section; section = section->next) {
        buf_fmt(buf, "<a href=\"#" STR_FMT "\">" STR_FMT "</a>", STR_ARG(section->id),
                STR_ARG(section->title));
    }
    buf_add(buf, S("</nav>\n"));
}

Str doc_html(const Doc *doc)
{
    Buf buf = buf_new(arena_current(), PAGE_MAX);
    Str style = {0};

    buf_add(&buf, S("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"));
    add_tagged(&buf, "title", "", doc->title);
    if (asset_find("bench/report.css", &style)) {
        buf_add(&buf, S("\n<style>\n"));
        buf_add(&buf, style);
        buf_add(&buf, S("</style>\n"));
    }
    buf_add(&buf, S("</head>\n<body>\n<header>"));
    add_tagged(&buf, "h1", "", doc->title);
    add_tagged(&buf, "p", "subtitle", doc->subtitle);
    buf_add(&buf, S("</header>\n"));
    add_contents(&buf, doc);
    buf_add(&buf, S("<main>\n"));
    add_defects(&buf, doc);
    for (const Section *section = doc->first; section; section = section->next) {
        buf_fmt(&buf, "<section id=\"" STR_FMT "\">", STR_ARG(section->id));
        add_tagged(&buf, "h2", "", section->title);
        buf_char(&buf, '\n');
        for (const Block *block = section->first; block; block = block->next) {
            add_block(&buf, block);
        }
        buf_add(&buf, S("</section>\n"));
    }
    buf_add(&buf, S("</main>\n<footer>"));
    add_tagged(&buf, "p", "", str_fmt("Report " STR_FMT ". All times UTC.", STR_ARG(doc->id)));
    buf_add(&buf, S("</footer>\n</body>\n</html>\n"));
    return buf_str(&buf);
}
