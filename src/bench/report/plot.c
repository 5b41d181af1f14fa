// One gnuplot draws everything; what it wrote is made fit for a page.
#include "plot.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    SCRIPT_MAX = 256 << 20,
    SVG_MAX = 32 << 20,
};

const char *plot_colour(size_t i)
{
    return str_z(str_fmt("rgb '#0100%02zx'", i % PLOT_COLOURS + 1));
}

Str plot_quoted(Str text)
{
    Buf buf = buf_new(arena_current(), text.len * 2 + 3);

    buf_char(&buf, '\'');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '\'') {
            buf_char(&buf, '\'');
        }
        buf_char(&buf, c < ' ' ? ' ' : (char)c);
    }
    buf_char(&buf, '\'');
    return buf_str(&buf);
}

Str plot_data_text(Str text)
{
    Buf buf = buf_new(arena_current(), text.len + 3);

    buf_char(&buf, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        buf_char(&buf, c < ' ' || c == '"' || c == '\\' ? ' ' : (char)c);
    }
    buf_char(&buf, '"');
    return buf_str(&buf);
}

static void add_script(Buf *buf, const Plot *plot, const char *folder)
{
    buf_fmt(buf,
            "reset session\n"
            "set encoding utf8\n"
            "set terminal svg noenhanced size %d,%d font 'sans-serif,14'\n"
            "set output '%s/" STR_FMT ".svg'\n",
            PLOT_WIDTH, plot->height ? plot->height : PLOT_HEIGHT, folder, STR_ARG(plot->id));
    buf_add_z(buf, "set border 3 linecolor " PLOT_MUTED "\n"
                   "set tics nomirror textcolor " PLOT_MUTED "\n"
                   "set grid ytics linecolor " PLOT_LINE " linetype 1 linewidth 1\n"
                   "set key outside top left horizontal Left reverse samplen 2 "
                   "textcolor " PLOT_FG "\n"
                   "set style fill solid 1 noborder\n");
    buf_add(buf, plot->script);
    buf_add_z(buf, "unset output\n");
}

// Colours of the script back to what they mean.
static const char *variable_of(int red, int green, int blue)
{
    static const char *const names[] = {"", "fg", "muted", "line", "good", "warn", "bad"};

    if (red != 1) {
        return NULL;
    }
    if (green == 0 && blue >= 1 && blue <= PLOT_COLOURS) {
        return str_z(str_fmt("c%d", blue));
    }
    return green >= 1 && green <= 6 ? names[green] : NULL;
}

// rgb(  1,   2,   0) -> var(--muted); false if it stands for no colour of the page.
static bool take_colour(Str text, size_t *at, Buf *out)
{
    int red = 0, green = 0, blue = 0, len = 0;

    if (sscanf(text.at + *at, "rgb( %d , %d , %d )%n", &red, &green, &blue, &len) != 3 ||
        len == 0) {
        return false;
    }
    const char *name = variable_of(red, green, blue);
    if (!name) {
        return false;
    }
    buf_fmt(out, "var(--%s)", name);
    *at += (size_t)len;
    return true;
}

// What is cut out from `from` to the end of `to`.
static bool skip_past(Str text, size_t *at, const char *from, const char *to)
{
    if (!str_starts(str_sub(text, *at, text.len), str_of(from))) {
        return false;
    }
    ptrdiff_t end = str_find(text, str_of(to), *at);
    if (end < 0) {
        return false;
    }
    *at = (size_t)end + strlen(to);
    return true;
}

// gnuplot closes a group for each change of pen: most are empty.
static bool skip_empty_group(Str text, size_t *at)
{
    if (!str_starts(str_sub(text, *at, text.len), S("<g "))) {
        return false;
    }
    ptrdiff_t end = str_find_char(text, '>', *at);
    if (end < 0 || !str_starts(str_sub(text, (size_t)end + 1, text.len), S("\n</g>\n"))) {
        return false;
    }
    *at = (size_t)end + 7;
    return true;
}

// Ids must differ between the drawings of one page.
static bool take_id(Str text, size_t *at, const Plot *plot, Buf *out)
{
    static const char *const ids[] = {"gnuplot_", "gpPt", "gpDot"};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (str_starts(str_sub(text, *at, text.len), str_of(ids[i]))) {
            buf_fmt(out, STR_FMT "-%s", STR_ARG(plot->id), ids[i]);
            *at += strlen(ids[i]);
            return true;
        }
    }
    return false;
}

// The drawing without its head, which names a role and a title instead.
static Str for_page(const Plot *plot, Str text)
{
    ptrdiff_t open = str_find(text, S("<svg"), 0);
    ptrdiff_t body = open < 0 ? -1 : str_find(text, S("<g id=\"gnuplot_canvas\""), (size_t)open);
    Buf buf = buf_new(arena_current(), SVG_MAX);

    if (body < 0) {
        return (Str){"", 0};
    }
    buf_fmt(&buf,
            "<svg viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\" "
            "xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\" aria-label=" STR_FMT ">\n",
            PLOT_WIDTH, plot->height ? plot->height : PLOT_HEIGHT,
            STR_ARG(plot_quoted(plot->title)));
    for (size_t at = (size_t)body; at < text.len;) {
        if (!take_colour(text, &at, &buf) && !skip_empty_group(text, &at) &&
            !skip_past(text, &at, "<filter", "</filter>") &&
            !skip_past(text, &at, "<title>$", "</title>") && !take_id(text, &at, plot, &buf)) {
            buf_char(&buf, text.at[at++]);
        }
    }
    return buf_str(&buf);
}

// What gnuplot left behind; "" if nothing.
static Str read_whole(const char *path)
{
    Str text = {"", 0};
    const Err *err = file_read(path, SVG_MAX, &text);

    return err ? (Str){"", 0} : text;
}

static bool write_whole(const char *path, Str text)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(text.at, 1, text.len, file) == text.len;

    return file && fclose(file) == 0 && is_written;
}

// A file of its own needs the colours in it.
static const char alone_style[] =
    "<style>svg{--fg:#1b2430;--muted:#5a6675;--line:#d8dee6;--good:#17703f;--warn:#8a5a00;"
    "--bad:#b3261e;--c1:#2563b0;--c2:#cf6a0a;--c3:#23875a;--c4:#7b4fc0;--c5:#c0344b;--c6:#11808f;"
    "--c7:#86692f;--c8:#b0468f;--c9:#5b7d1e;--c10:#7b8594;background:#fff}</style>\n";

static void take_drawing(Plot *plot, const char *folder)
{
    const char *path = str_z(str_fmt("%s/" STR_FMT ".svg", folder, STR_ARG(plot->id)));

    plot->svg = for_page(plot, read_whole(path));
    ptrdiff_t head = str_find_char(plot->svg, '\n', 0);
    if (head < 0) {
        plot->why_empty = S("gnuplot did not draw it");
        return;
    }
    Str alone = str_fmt(STR_FMT "\n%s" STR_FMT, STR_ARG(str_sub(plot->svg, 0, (size_t)head)),
                        alone_style, STR_ARG(str_sub(plot->svg, (size_t)head + 1, plot->svg.len)));
    if (!write_whole(path, alone)) {
        plot->why_empty = str_fmt("%s: %s", path, strerror(errno));
    }
}

// Runs gnuplot on the script; NULL, or why it failed.
static const char *run_gnuplot(const char *script, const char *log)
{
    char *const arguments[] = {"gnuplot", "-d", (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int status = 0;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
                                     0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int failed = posix_spawnp(&pid, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) {
        return "The program gnuplot is not installed (Debian: gnuplot-nox). Tables and figures are "
               "complete; install it and write the report again.";
    }
    while (!failed && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        Str said = str_trim(read_whole(log));
        return str_z(
            str_fmt("gnuplot failed: " STR_FMT,
                    STR_ARG(str_sub(said, said.len > 300 ? said.len - 300 : 0, said.len))));
    }
    return NULL;
}

typedef void (*EachPlot)(Plot *plot, const char *folder, void *context);

static size_t each_plot(Doc *doc, const char *folder, EachPlot each, void *context)
{
    size_t n = 0;

    for (Section *section = doc->first; section; section = section->next) {
        for (Block *block = section->first; block; block = block->next) {
            if (block->kind == BLOCK_PLOT && block->plot->script.len > 0) {
                each(block->plot, folder, context);
                n++;
            }
        }
    }
    return n;
}

static void gather(Plot *plot, const char *folder, void *context)
{
    add_script(context, plot, folder);
}

static void finish(Plot *plot, const char *folder, void *context)
{
    const char *why = *(const char *const *)context;

    if (why) {
        plot->why_empty = S("gnuplot is missing or failed, see the top of the report");
    } else {
        take_drawing(plot, folder);
    }
}

void plots_draw(Doc *doc, const char *folder)
{
    Buf script = buf_new(arena_current(), SCRIPT_MAX);
    const char *path = str_z(str_fmt("%s/plots.gp", folder)),
               *log = str_z(str_fmt("%s/gnuplot.log", folder)), *why = NULL;

    if (each_plot(doc, folder, gather, &script) == 0) {
        return;
    }
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
        why = str_z(str_fmt("%s: %s", folder, strerror(errno)));
    } else if (!write_whole(path, buf_str(&script))) {
        why = str_z(str_fmt("%s: %s", path, strerror(errno)));
    } else {
        why = run_gnuplot(path, log);
    }
    if (why) {
        str_list_add(&doc->plots_missing, str_of(why));
    }
    each_plot(doc, folder, finish, &why);
    unlink(path);
    unlink(log);
}
