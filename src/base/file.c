// Read in pieces: what is no regular file (a pipe) does not know its size.
#include "base/file.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PIECE = 64 * 1024 };

static Err *read_all(FILE *file, const char *path, size_t limit_bytes, Buf *buf)
{
    struct stat facts;
    size_t n = 1;

    if (fstat(fileno(file), &facts) == 0 && (size_t)facts.st_size <= limit_bytes) {
        buf_room(buf, (size_t)facts.st_size + PIECE); // grows no more
    }
    while (n && buf->len <= limit_bytes) {
        n = fread(buf_room(buf, PIECE), 1, PIECE, file);
        buf->len += n;
    }
    if (ferror(file)) {
        return err_text(400, "%s: %s", path, strerror(errno));
    }
    return buf->len > limit_bytes ? err_text(400, "%s: larger than %zu bytes", path, limit_bytes)
                                  : NULL;
}

Err *file_read(const char *path, size_t limit_bytes, Str *out)
{
    FILE *file = fopen(path, "rb");
    Buf buf = buf_new(arena_current(), limit_bytes + 2 * PIECE);

    if (!file) {
        return err_text(400, "%s: %s", path, strerror(errno));
    }
    Err *err = read_all(file, path, limit_bytes, &buf);
    fclose(file);
    *out = buf_str(&buf);
    return err;
}
