// The live view of a run.
#include "live.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

enum {
    SCREEN_EVERY_MS = 250,
    LINE_EVERY_MS = 10000,
    FILE_EVERY_MS = 1000,
    NOTES_SHOWN = 3,
    NOTE_MAX = 400,
    LINE_MAX = 8192,
};

struct LiveScreen {
    Lab *lab;
    bool is_terminal;
    struct termios former;
    int lines; // on the screen now
    int64_t shown_ns, written_ns;
    const char *phase;
    bool is_paused;
    double driver_s; // CPU of this process at the last look
    int64_t driver_ns;
    double driver_vcpu;
};

static void raw_mode(LiveScreen *screen)
{
    struct termios raw = screen->former;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

LiveScreen *live_open(Lab *lab)
{
    LiveScreen *screen = NEW(LiveScreen);

    *screen = (LiveScreen){.lab = lab, .phase = ""};
    screen->is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
                          tcgetattr(STDIN_FILENO, &screen->former) == 0;
    if (screen->is_terminal) {
        raw_mode(screen);
    }
    return screen;
}

static void write_figures(LiveScreen *screen, const Cell *cell, const LoadNow *load,
                          const ServerLoad *server);

void live_close(LiveScreen *screen)
{
    screen->phase = "done";
    if (screen->written_ns > 0) { // else the folder is perhaps another run's
        write_figures(screen, NULL, &(LoadNow){0}, &(ServerLoad){0});
    }
    if (screen->is_terminal) {
        tcsetattr(STDIN_FILENO, TCSANOW, &screen->former);
    }
}

static void clear(LiveScreen *screen)
{
    for (; screen->lines > 0; screen->lines--) {
        printf("\033[1A\033[2K");
    }
}

void live_say(LiveScreen *screen, Str text)
{
    clear(screen);
    printf(STR_FMT "\n", STR_ARG(text));
    fflush(stdout);
}

void live_phase(LiveScreen *screen, const Cell *cell, const char *phase)
{
    screen->phase = phase;
    write_figures(screen, cell, &(LoadNow){0}, &(ServerLoad){0});
    screen->shown_ns = screen->is_terminal ? 0 : screen->shown_ns;
}

// ---------------------------------------------------------------------------------------------
// Keys

static void take_note(LiveScreen *screen)
{
    char line[NOTE_MAX];

    clear(screen);
    tcsetattr(STDIN_FILENO, TCSANOW, &screen->former);
    printf("note: ");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) && str_trim(str_of(line)).len > 0) {
        lab_annotate(screen->lab, S(""), "note", "keyboard",
                     str_copy(arena_current(), str_trim(str_of(line))));
    }
    raw_mode(screen);
}

static void take_keys(LiveScreen *screen)
{
    char key = 0;

    while (screen->is_terminal && read(STDIN_FILENO, &key, 1) == 1) {
        if (key == 'p') {
            screen->is_paused = !screen->is_paused;
        } else if (key == 'n') {
            take_note(screen);
        } else if (key == 'q') {
            atomic_store(&screen->lab->is_asked_to_stop, true);
        }
        screen->shown_ns = 0;
    }
}

void live_wait_if_paused(LiveScreen *screen)
{
    take_keys(screen);
    if (screen->is_paused) {
        live_say(screen, S("paused; p goes on, q stops"));
    }
    while (screen->is_paused && !atomic_load(&screen->lab->is_asked_to_stop)) {
        usleep(100000);
        take_keys(screen);
    }
}

// ---------------------------------------------------------------------------------------------
// The view

static void look_at_driver(LiveScreen *screen, int64_t now_ns)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    if (screen->driver_ns > 0) {
        screen->driver_vcpu =
            (cpu_s - screen->driver_s) / ((double)(now_ns - screen->driver_ns) / 1e9);
    }
    screen->driver_s = cpu_s;
    screen->driver_ns = now_ns;
}

// Of the cells from this one on, as planned.
static double seconds_left(const LiveScreen *screen, const Cell *cell, size_t *number)
{
    const CellPlan *plan = &screen->lab->plan;
    double left = 0;
    bool is_reached = false;

    for (size_t i = 0; i < plan->len; i++) {
        if (str_eq(plan->at[i].id, cell->id)) {
            is_reached = true;
            *number = i + 1;
        }
        left += is_reached ? plan->at[i].expected_s : 0;
    }
    return left;
}

static Str clock_text(double seconds)
{
    int64_t s = (int64_t)seconds;
    return str_fmt("%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

static void add_notes(const Result *result, Json *now)
{
    size_t n = result->annotations.len;
    Json *list = json_array();

    for (size_t i = n > NOTES_SHOWN ? n - NOTES_SHOWN : 0; i < n; i++) {
        const Annotation *one = &result->annotations.at[i];
        Json *note = json_object();
        json_set_str(note, "at", time_format_z(one->at));
        json_set_str(note, "kind", one->kind);
        json_set_str(note, "text", one->text);
        json_add(list, note);
    }
    json_set(now, "notes", list);
}

static Json *figures(const LiveScreen *screen, const Cell *cell, const LoadNow *load,
                     const ServerLoad *server)
{
    size_t number = 0;
    double left = cell ? seconds_left(screen, cell, &number) : 0;
    Json *now = json_object(), *of = json_array();

    json_set_str(now, "at", time_format_z(time_now()));
    json_set_str(now, "runId", screen->lab->result->id);
    json_set_str(now, "cell", cell ? cell->id : screen->lab->result->id);
    json_set_int(now, "number", (int64_t)number);
    json_set_int(now, "cells", (int64_t)screen->lab->plan.len);
    json_set_str(now, "phase", load->is_steady ? S("steady") : str_of(screen->phase));
    json_set_number(now, "leftS", left);
    json_set_number(now, "users", load->users);
    json_set_number(now, "perS", load->per_s);
    json_set_int(now, "transactions", (int64_t)load->transactions);
    json_set_int(now, "errors", (int64_t)load->errors);
    json_set_number(now, "serverCpu", server->vcpu);
    json_set_number(now, "serverRssBytes", server->bytes);
    json_set_number(now, "driverCpu", screen->driver_vcpu);
    for (size_t i = 0; i < load->of_len; i++) {
        Json *one = json_object();
        json_set_str(one, "name", str_of(load->of[i].name));
        json_set_number(one, "p50Ms", load->of[i].p50_ms);
        json_set_number(one, "p95Ms", load->of[i].p95_ms);
        json_add(of, one);
    }
    json_set(now, "of", of);
    add_notes(screen->lab->result, now);
    return now;
}

static const char *live_file(Str folder)
{
    return str_z(str_fmt(STR_FMT "/live.json", STR_ARG(folder)));
}

// A reader never sees half of it. Nothing is lost if it cannot be written.
static void write_figures(LiveScreen *screen, const Cell *cell, const LoadNow *load,
                          const ServerLoad *server)
{
    ArenaMark mark = arena_mark(arena_current());
    const char *path = live_file(screen->lab->folder), *part = str_z(str_fmt("%s.part", path));
    Str text = json_text(figures(screen, cell, load, server));
    FILE *file = fopen(part, "wb");
    bool is_written = file && fwrite(text.at, 1, text.len, file) == text.len;

    if (file && fclose(file) == 0 && is_written) {
        (void)rename(part, path);
    }
    arena_release(arena_current(), mark);
}

Str live_text(Str folder)
{
    Str text = {0};
    return file_text(str_of(live_file(folder)), &text) ? S("") : text;
}

Str live_line(const Json *now)
{
    Buf line = buf_new(arena_current(), LINE_MAX);

    buf_fmt(&line, "%lld/%lld " STR_FMT " " STR_FMT "  %.0f users  %.0f requests/s",
            (long long)json_int(now, "number", 0), (long long)json_int(now, "cells", 0),
            STR_ARG(json_str(now, "cell")), STR_ARG(json_str(now, "phase")),
            json_number(now, "users", 0), json_number(now, "perS", 0));
    JSON_EACH(of, json_get(now, "of"))
    {
        buf_fmt(&line, "  " STR_FMT " p50 %.1f p95 %.1f ms", STR_ARG(json_str(of, "name")),
                json_number(of, "p50Ms", 0), json_number(of, "p95Ms", 0));
    }
    buf_fmt(&line, "  errors %lld  server %.2f vCPU %.0f MiB  driver %.2f vCPU  left " STR_FMT,
            (long long)json_int(now, "errors", 0), json_number(now, "serverCpu", 0),
            json_number(now, "serverRssBytes", 0) / 1048576, json_number(now, "driverCpu", 0),
            STR_ARG(clock_text(json_number(now, "leftS", 0))));
    return buf_str(&line);
}

static void print_screen(LiveScreen *screen, const Cell *cell, const LoadNow *load,
                         const ServerLoad *server)
{
    const Result *result = screen->lab->result;
    size_t number = 0, notes = result->annotations.len;
    double left = seconds_left(screen, cell, &number);

    clear(screen);
    printf("cell %zu of %zu  " STR_FMT "  %s\n", number, screen->lab->plan.len, STR_ARG(cell->id),
           load->is_steady ? "steady" : screen->phase);
    printf("time left " STR_FMT "  users %.0f  requests/s %.0f  transactions %" PRIu64
           "  errors %" PRIu64 "\n",
           STR_ARG(clock_text(left)), load->users, load->per_s, load->transactions, load->errors);
    printf("server %.2f vCPU %.0f MiB  driver %.2f vCPU\n", server->vcpu, server->bytes / 1048576,
           screen->driver_vcpu);
    screen->lines = 3;
    for (size_t i = 0; i < load->of_len; i++, screen->lines++) {
        printf("  %-40s p50 %8.2f ms  p95 %8.2f ms\n", load->of[i].name, load->of[i].p50_ms,
               load->of[i].p95_ms);
    }
    for (size_t i = notes > NOTES_SHOWN ? notes - NOTES_SHOWN : 0; i < notes; i++) {
        const Annotation *one = &result->annotations.at[i];
        printf("  %s  " STR_FMT ": %.70s\n", str_z(str_sub(time_format_z(one->at), 11, 19)),
               STR_ARG(one->kind), str_z(one->text));
        screen->lines++;
    }
    printf("%s   p pause  n note  q stop\n", screen->is_paused ? "paused after this cell" : "");
    screen->lines++;
}

void live_show(LiveScreen *screen, const Cell *cell, LoadNow load, ServerLoad server)
{
    int64_t now_ns = clock_ns();
    int64_t every_ms = screen->is_terminal ? SCREEN_EVERY_MS : LINE_EVERY_MS;

    take_keys(screen);
    if (now_ns - screen->written_ns >= FILE_EVERY_MS * 1000000) {
        look_at_driver(screen, now_ns);
        write_figures(screen, cell, &load, &server);
        screen->written_ns = now_ns;
    }
    if (screen->shown_ns == 0 && !screen->is_terminal) {
        screen->shown_ns = now_ns; // the first line when there is something to say
        return;
    }
    if (now_ns - screen->shown_ns < every_ms * 1000000) {
        return;
    }
    ArenaMark mark = arena_mark(arena_current());
    if (screen->is_terminal) {
        print_screen(screen, cell, &load, &server);
    } else {
        printf(STR_FMT "\n", STR_ARG(live_line(figures(screen, cell, &load, &server))));
    }
    fflush(stdout);
    arena_release(arena_current(), mark);
    screen->shown_ns = now_ns;
}
