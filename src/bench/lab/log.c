// What the server under test complained about, as annotations.
#include "lab.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES_MAX = 8192,
    SHAPES_MAX = 50, // different complaints of one server; further ones are counted with the last
};

typedef struct {
    Str shape, text, module;
    Time at;
    int64_t times;
} Complaint;

// The value behind " name=" of a log line, without quotes.
static Str label_of(Str line, const char *name)
{
    ptrdiff_t at = str_find(line, str_fmt("%s=", name), 0);
    size_t from = (size_t)at + strlen(name) + 1, to = from;

    if (at < 0) {
        return S("");
    }
    bool is_quoted = from < line.len && line.at[from] == '"';
    from += is_quoted;
    for (to = from; to < line.len && line.at[to] != (is_quoted ? '"' : ' '); to++) {
        to += line.at[to] == '\\' && to + 1 < line.len;
    }
    return str_sub(line, from, to);
}

// The message with its numbers and ids left out: complaints of one kind count together.
static Str shape_of(Str message)
{
    Buf shape = buf_new(arena_current(), LINE_BYTES_MAX);

    for (size_t i = 0; i < message.len; i++) {
        bool is_digit = isxdigit((unsigned char)message.at[i]) &&
                        (isdigit((unsigned char)message.at[i]) ||
                         (shape.len > 0 && shape.at[shape.len - 1] == '#'));
        if (!is_digit) {
            buf_char(&shape, message.at[i]);
        } else if (shape.len == 0 || shape.at[shape.len - 1] != '#') {
            buf_char(&shape, '#');
        }
    }
    return buf_str(&shape);
}

static void add_complaint(Complaint *complaints, size_t *len, Str line)
{
    Str message = label_of(line, "msg"), module = label_of(line, "mod");
    Str shape = str_fmt(STR_FMT " " STR_FMT, STR_ARG(module), STR_ARG(shape_of(message)));
    size_t i = 0;

    while (i < *len && !str_eq(complaints[i].shape, shape)) {
        i++;
    }
    if (i == *len && *len < SHAPES_MAX) {
        complaints[i] = (Complaint){.shape = shape,
                                    .text = str_copy(arena_current(), message),
                                    .module = str_copy(arena_current(), module)};
        if (!time_parse(label_of(line, "ts"), &complaints[i].at)) {
            complaints[i].at = time_now();
        }
        (*len)++;
    }
    complaints[i < SHAPES_MAX ? i : SHAPES_MAX - 1].times++;
}

void lab_annotate_log(Lab *lab, Str cell)
{
    FILE *file = fopen(str_z(lab->server.log), "r");
    Complaint *complaints = NEW_ARRAY(Complaint, SHAPES_MAX + 1);
    char line[LINE_BYTES_MAX];
    size_t n = 0;

    while (file && fgets(line, sizeof line, file)) {
        if (strstr(line, "level=error ")) {
            add_complaint(complaints, &n, str_trim(str_of(line)));
        }
    }
    if (file) {
        fclose(file);
    }
    for (size_t i = 0; i < n; i++) {
        const Complaint *one = &complaints[i];
        lab_annotate(lab, cell, "log", "server",
                     str_fmt(STR_FMT ": " STR_FMT " (%lld times)", STR_ARG(one->module),
                             STR_ARG(one->text), (long long)one->times));
        lab->result->annotations.at[lab->result->annotations.len - 1].at = one->at;
    }
}
