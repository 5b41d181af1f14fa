// The page of a run at work, by server-sent events.
#include "live_page.h"

#include "live.h"

#include "base/asset.h"
#include "http/http.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PAGE_ARENA_MAX = 1 << 16,
    FIGURES_MAX = 64 << 10,
    LOOK_MS = 250,
    SILENT_MS = 15000, // then a comment shows that somebody is there
    GRACE_S = 2,
};

struct LivePage {
    Arena *arena;
    HttpServer *server;
    Str folder;
    _Atomic bool is_stopping;
};

typedef struct {
    StreamText text; // first
    LivePage *page;
    Buf sent; // the figures sent last
} Watcher;

// Waits until there is something new to tell.
static Err *more_events(StreamText *stream)
{
    Watcher *watcher = (Watcher *)stream;

    for (int waited = 0; !atomic_load(&watcher->page->is_stopping); waited += LOOK_MS) {
        ArenaMark mark = arena_mark(arena_current());
        Str now = live_text(watcher->page->folder);
        bool is_new = now.len > 0 && !str_eq(now, buf_str(&watcher->sent));
        if (is_new) {
            buf_clear(&watcher->sent);
            buf_add(&watcher->sent, now);
            buf_fmt(&stream->text, "event: lab\ndata: " STR_FMT "\n\n", STR_ARG(now));
        }
        arena_release(arena_current(), mark);
        if (is_new) {
            return NULL;
        }
        if (waited >= SILENT_MS) {
            buf_add(&stream->text, S(": still here\n\n"));
            return NULL;
        }
        usleep(LOOK_MS * 1000);
    }
    stream->is_ended = true;
    return NULL;
}

// All its memory at once: what looks at the file gives its own back each time.
static Buf whole_buf(Arena *arena)
{
    Buf buf = buf_new(arena, FIGURES_MAX);

    (void)buf_room(&buf, FIGURES_MAX);
    return buf;
}

static void handle(Req *req, void *context)
{
    Str page;

    if (req->method != GET) {
        (void)reply_text(req, 405, S("only GET"));
    } else if (str_eq(req->path, S("/events"))) {
        Watcher *watcher = NEW(Watcher);
        *watcher = (Watcher){.text.text = whole_buf(req->arena),
                             .text.more = more_events,
                             .page = context,
                             .sent = whole_buf(req->arena)};
        reply_header(req, "Cache-Control", S("no-store"));
        (void)reply_stream(req, 200, "text/event-stream", stream_text_read, NULL, watcher);
    } else if (str_eq(req->path, S("/")) && asset_find("bench/live.html", &page)) {
        (void)reply_body(req, 200, "text/html; charset=utf-8", page);
    } else {
        (void)reply_text(req, 404, S("there is / and /events"));
    }
}

Err *live_page_start(Str listen, Str folder, LivePage **out)
{
    Arena *arena = arena_new(PAGE_ARENA_MAX);
    LivePage *page = arena_alloc(arena, sizeof *page);
    HttpOptions options = {.listen = listen, .handle = handle, .context = page};

    *page = (LivePage){.arena = arena, .folder = str_copy(arena, folder)};
    Err *err = http_start(&options, &page->server);
    if (err) {
        arena_free(arena);
        return err;
    }
    *out = page;
    return NULL;
}

int live_page_port(const LivePage *page)
{
    return http_port(page->server);
}

void live_page_stop(LivePage *page)
{
    atomic_store(&page->is_stopping, true);
    http_stop(page->server, GRACE_S);
    arena_free(page->arena);
}
