// Cutting many records apart by brackets and strings alone.
#include "json/split.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks(Str text, size_t at)
{
    while (at < text.len && is_blank(text.at[at])) {
        at++;
    }
    return at;
}

// `at` stands on the opening quote; behind the closing one.
static size_t string_end(Str text, size_t at)
{
    for (at++; at < text.len && text.at[at] != '"'; at++) {
        if (text.at[at] == '\\') {
            at++;
        }
    }
    return at < text.len ? at + 1 : text.len;
}

static bool ends_scalar(char c)
{
    return is_blank(c) || c == ',' || c == ']' || c == '}' || c == ':';
}

// Behind the value that begins at `at`; always further.
static size_t value_end(Str text, size_t at)
{
    size_t depth = 0, begin = at;

    while (at < text.len) {
        char c = text.at[at];
        if (c == '"') {
            at = string_end(text, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
            at++;
        } else if (!depth && at > begin && ends_scalar(c)) {
            return at;
        } else {
            at++;
            continue;
        }
        if (!depth) {
            return at;
        }
    }
    return at;
}

// Behind the "[" of the member that holds the list; 0 if the text is no list answer.
static size_t list_begin(Str text, size_t at, Str key)
{
    at = skip_blanks(text, at + 1);
    while (at < text.len && text.at[at] == '"') {
        size_t end = string_end(text, at);
        Str name = str_sub(text, at + 1, end - 1);
        at = skip_blanks(text, end);
        if (at >= text.len || text.at[at] != ':') {
            return 0;
        }
        at = skip_blanks(text, at + 1);
        if (str_eq(name, key) && at < text.len && text.at[at] == '[') {
            return at + 1;
        }
        at = skip_blanks(text, at < text.len ? value_end(text, at) : at);
        if (at < text.len && text.at[at] == ',') {
            at = skip_blanks(text, at + 1);
        }
    }
    return 0;
}

static void move_to(JsonSplitter *splitter, size_t at)
{
    for (; splitter->at < at; splitter->at++) {
        splitter->line += splitter->text.at[splitter->at] == '\n';
    }
}

JsonSplitter json_splitter(Str text, Str list_key)
{
    JsonSplitter splitter = {.text = text, .line = 1};

    if (str_starts(text, S("\xef\xbb\xbf"))) {
        move_to(&splitter, 3); // byte order mark
    }
    size_t at = skip_blanks(text, splitter.at);
    if (at < text.len && text.at[at] == '[') {
        splitter.is_array = true;
        move_to(&splitter, at + 1);
    } else if (at < text.len && text.at[at] == '{') {
        size_t begin = list_begin(text, at, list_key);
        splitter.is_array = begin > 0;
        move_to(&splitter, begin ? begin : at);
    }
    return splitter;
}

bool json_split_next(JsonSplitter *splitter, Str *record, int64_t *line)
{
    Str text = splitter->text;
    size_t at = skip_blanks(text, splitter->at);

    while (at < text.len && text.at[at] == ',') {
        at = skip_blanks(text, at + 1);
    }
    move_to(splitter, at);
    if (at >= text.len || (splitter->is_array && text.at[at] == ']')) {
        return false;
    }
    *line = splitter->line;
    size_t end = value_end(text, at);
    *record = str_sub(text, at, end);
    move_to(splitter, end);
    return true;
}
