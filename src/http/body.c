// Collects bodies. Growing in the arena costs at most twice the size in copies, so it ends at 1
// MiB; a file grows without copies and its pages are not private memory.
#include "http/body.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FIRST_PIECE = 16 * 1024,
    IN_MEMORY_MAX = 1024 * 1024,
};

Body body_new(Arena *arena, size_t max, size_t expected, const char *spool_dir)
{
    Body body = {.arena = arena, .max = max, .spool_dir = spool_dir};

    // A small body of known length takes exactly what it needs.
    if (expected && expected <= FIRST_PIECE * 4) {
        body.cap = expected;
        body.at = arena_alloc(arena, expected);
    }
    return body;
}

static bool write_all(int file, const char *at, size_t len)
{
    while (len) {
        ssize_t written = write(file, at, len);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        at += written;
        len -= (size_t)written;
    }
    return true;
}

static bool fail(Body *body, const char *what)
{
    log_line(LOG_ERROR, "http", "a request's body cannot be kept in %s: %s: %s", body->spool_dir,
             what, strerror(errno));
    body->has_failed = true;
    return false;
}

static bool move_to_file(Body *body)
{
    char name[4096];

    if (snprintf(name, sizeof name, "%s/octavo-body-XXXXXX", body->spool_dir) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return fail(body, "open");
    }
    int file = mkostemp(name, O_CLOEXEC);
    if (file < 0) {
        return fail(body, "open");
    }
    unlink(name);
    body->file = file;
    body->has_file = true;
    return write_all(file, body->at, body->len) || fail(body, "write");
}

static void grow(Body *body, size_t need)
{
    size_t cap = body->cap ? body->cap * 2 : FIRST_PIECE;

    while (cap < need) {
        cap *= 2;
    }
    char *at = arena_alloc(body->arena, cap);
    if (body->len) {
        memcpy(at, body->at, body->len);
    }
    body->at = at;
    body->cap = cap;
}

bool body_add(Body *body, Str piece)
{
    if (body->is_too_large || body->has_failed) {
        return false;
    }
    if (piece.len > body->max || body->len > body->max - piece.len) {
        body->is_too_large = true;
        return false;
    }
    if (!body->has_file && body->len + piece.len > IN_MEMORY_MAX && !move_to_file(body)) {
        return false;
    }
    if (body->has_file) {
        if (!write_all(body->file, piece.at, piece.len)) {
            return fail(body, "write");
        }
    } else {
        if (body->len + piece.len > body->cap) {
            grow(body, body->len + piece.len);
        }
        memcpy(body->at + body->len, piece.at, piece.len);
    }
    body->len += piece.len;
    return true;
}

bool body_text(Body *body, Str *text)
{
    if (!body->has_file) {
        *text = (Str){body->at ? body->at : "", body->len};
        return true;
    }
    body->map = mmap(NULL, body->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, body->file, 0);
    if (body->map == MAP_FAILED) {
        body->map = NULL;
        return fail(body, "map");
    }
    *text = (Str){body->map, body->len};
    return true;
}

void body_end(Body *body)
{
    if (body->map) {
        munmap(body->map, body->len);
        body->map = NULL;
    }
    if (body->has_file) {
        close(body->file);
        body->has_file = false;
    }
}
