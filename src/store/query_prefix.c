// "Begins with" as a range of an index: from the prefix to what stands behind all such texts.
#include "store/query.h"

static size_t last_char_start(Str s)
{
    size_t i = s.len - 1;

    while (i > 0 && ((unsigned char)s.at[i] & 0xc0) == 0x80) {
        i--;
    }
    return i;
}

static unsigned decode(const unsigned char *at, size_t len)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned c = len <= 4 ? at[0] & masks[len] : 0;

    for (size_t i = 1; i < len; i++) {
        c = c << 6 | (at[i] & 0x3f);
    }
    return c;
}

static void add_utf8(Buf *out, unsigned c)
{
    if (c < 0x80) {
        buf_char(out, (char)c);
    } else if (c < 0x800) {
        buf_char(out, (char)(0xc0 | c >> 6));
        buf_char(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        buf_char(out, (char)(0xe0 | c >> 12));
        buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_char(out, (char)(0xf0 | c >> 18));
        buf_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

// The first text, by code points, behind all that begin with the prefix; at == NULL if there is
// none.
static Str behind_prefix(Str prefix)
{
    while (prefix.len) {
        size_t start = last_char_start(prefix);
        unsigned c = decode((const unsigned char *)prefix.at + start, prefix.len - start);
        if (c < 0x10ffff) {
            Buf out = buf_new(arena_current(), prefix.len + 8);
            buf_add(&out, str_sub(prefix, 0, start));
            add_utf8(&out, c + 1 == 0xd800 ? 0xe000 : c + 1);
            return buf_str(&out);
        }
        prefix.len = start;
    }
    return (Str){0};
}

Str prefix_sql(Planner *planner, const char *column, Str prefix)
{
    Str behind = behind_prefix(prefix);
    int n = planner_add(planner, A_TEXT(prefix));

    planner->has_range = true;
    if (!behind.at) {
        return str_fmt("\"%s\" >= $%d", column, n);
    }
    return str_fmt("(\"%s\" >= $%d and \"%s\" < $%d)", column, n, column,
                   planner_add(planner, A_TEXT(behind)));
}
