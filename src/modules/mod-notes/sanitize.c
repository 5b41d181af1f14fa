// HTML of notes: what an editor makes passes, everything else goes. Source: spec/platform.md 6.2.
#include "modules/mod-notes/internal.h"

enum {
    OPEN_MAX = 64,       // nested tags; deeper ones are dropped
    OUT_MAX = 8 << 20,   // escapes make a text longer
    ATTRIBUTES_MAX = 16, // of one tag
};

static const char *const allowed_tags[] = {"p",  "strong", "em", "a",  "u",  "ol",
                                           "ul", "li",     "h1", "h2", "h3", "br"};

typedef struct {
    Str in;
    size_t at;
    Buf out;
    Str open[OPEN_MAX];
    size_t open_count;
} Sanitizer;

typedef struct {
    Str name;
    bool is_end;
    Str attribute_names[ATTRIBUTES_MAX], attribute_values[ATTRIBUTES_MAX];
    size_t attribute_count;
} Tag;

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == ':';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static char peek(const Sanitizer *s, size_t ahead)
{
    return s->at + ahead < s->in.len ? s->in.at[s->at + ahead] : 0;
}

// ---------------------------------------------------------------------------------------------
// Writing

// Whether "&" begins a character reference: a name or number and a semicolon.
static bool is_reference(Str text, size_t at)
{
    size_t i = at + 1;

    if (i < text.len && text.at[i] == '#') {
        i++;
    }
    size_t from = i;
    while (i < text.len && i - from < 32 && is_name_char(text.at[i]) && text.at[i] != '-') {
        i++;
    }
    return i > from && i < text.len && text.at[i] == ';';
}

static void write_escaped(Buf *out, Str text, bool is_value)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '&' && !is_reference(text, i)) {
            buf_add_z(out, "&amp;");
        } else if (c == '<') {
            buf_add_z(out, "&lt;");
        } else if (c == '>') {
            buf_add_z(out, "&gt;");
        } else if (c == '"' && is_value) {
            buf_add_z(out, "&quot;");
        } else {
            buf_char(out, c);
        }
    }
}

// What escaping makes: stands for a letter that is in no scheme.
static size_t harmless_reference(Str text, size_t at)
{
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Str name = str_of(names[i]);
        if (str_eq(str_sub(text, at, at + name.len), name)) {
            return name.len;
        }
    }
    return 0;
}

static bool is_known_scheme(Str scheme)
{
    static const char *const schemes[] = {"http", "https", "mailto", "tel", "ftp"};

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (str_eq_nocase(scheme, str_of(schemes[i]))) {
            return true;
        }
    }
    return false;
}

// Links may lead to pages and mail. What a browser would run may not, however it is written: it
// drops line ends and reads "&#58;" and "&colon;" as the colon behind a scheme.
static bool is_safe_link(Str value)
{
    Str link = str_trim(value);
    Buf scheme = buf_new(arena_current(), OUT_MAX);

    for (size_t i = 0; i < link.len; i++) {
        char c = link.at[i];
        size_t n = harmless_reference(link, i);
        if (n) {
            buf_char(&scheme, '_');
            i += n - 1;
        } else if (c == '&' && is_reference(link, i)) {
            return false;
        } else if (c == ':') {
            return is_known_scheme(buf_str(&scheme));
        } else if (c == '/' || c == '?' || c == '#') {
            return true;
        } else if ((unsigned char)c > ' ') {
            buf_char(&scheme, c);
        }
    }
    return true;
}

static bool is_allowed_attribute(Str tag, Str name, Str value)
{
    if (str_eq(name, S("class"))) {
        return true;
    }
    if (!str_eq(tag, S("a"))) {
        return false;
    }
    if (str_eq(name, S("href"))) {
        return is_safe_link(value);
    }
    return str_eq(name, S("rel")) || str_eq(name, S("target"));
}

static void write_start(Sanitizer *s, const Tag *tag)
{
    buf_char(&s->out, '<');
    buf_add(&s->out, tag->name);
    for (size_t i = 0; i < tag->attribute_count; i++) {
        if (is_allowed_attribute(tag->name, tag->attribute_names[i], tag->attribute_values[i])) {
            buf_char(&s->out, ' ');
            buf_add(&s->out, tag->attribute_names[i]);
            buf_add_z(&s->out, "=\"");
            write_escaped(&s->out, tag->attribute_values[i], true);
            buf_char(&s->out, '"');
        }
    }
    buf_char(&s->out, '>');
}

static void write_end(Sanitizer *s, Str name)
{
    buf_add_z(&s->out, "</");
    buf_add(&s->out, name);
    buf_char(&s->out, '>');
}

// ---------------------------------------------------------------------------------------------
// Reading

static Str read_name(Sanitizer *s)
{
    size_t from = s->at;

    while (is_name_char(peek(s, 0))) {
        s->at++;
    }
    return str_lower(str_sub(s->in, from, s->at));
}

static void skip_blanks(Sanitizer *s)
{
    while (s->at < s->in.len && (is_blank(peek(s, 0)) || peek(s, 0) == '/')) {
        s->at++;
    }
}

static Str read_value(Sanitizer *s)
{
    char quote = peek(s, 0);
    size_t from;

    if (quote == '"' || quote == '\'') {
        s->at++;
        from = s->at;
        while (s->at < s->in.len && peek(s, 0) != quote) {
            s->at++;
        }
        Str value = str_sub(s->in, from, s->at);
        s->at += s->at < s->in.len;
        return value;
    }
    from = s->at;
    while (s->at < s->in.len && !is_blank(peek(s, 0)) && peek(s, 0) != '>') {
        s->at++;
    }
    return str_sub(s->in, from, s->at);
}

static void read_attribute(Sanitizer *s, Tag *tag)
{
    size_t from = s->at;
    Str name = read_name(s), value = S("");

    if (s->at == from) {
        s->at++; // something that is no name
        return;
    }
    while (is_blank(peek(s, 0))) {
        s->at++;
    }
    if (peek(s, 0) == '=') {
        s->at++;
        while (is_blank(peek(s, 0))) {
            s->at++;
        }
        value = read_value(s);
    }
    if (tag->attribute_count < ATTRIBUTES_MAX) {
        tag->attribute_names[tag->attribute_count] = name;
        tag->attribute_values[tag->attribute_count++] = value;
    }
}

// At "<" of a tag; behind ">" afterwards.
static Tag read_tag(Sanitizer *s)
{
    Tag tag = {0};

    s->at++;
    tag.is_end = peek(s, 0) == '/';
    s->at += tag.is_end;
    tag.name = read_name(s);
    for (;;) {
        skip_blanks(s);
        if (s->at >= s->in.len || peek(s, 0) == '>') {
            break;
        }
        read_attribute(s, &tag);
    }
    s->at += s->at < s->in.len;
    return tag;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool at_tag(const Sanitizer *s)
{
    return peek(s, 0) == '<' &&
           (is_letter(peek(s, 1)) || (peek(s, 1) == '/' && is_letter(peek(s, 2))));
}

static bool at_markup(const Sanitizer *s)
{
    return peek(s, 0) == '<' && (peek(s, 1) == '!' || peek(s, 1) == '?');
}

static void skip_markup(Sanitizer *s)
{
    bool is_comment = peek(s, 2) == '-' && peek(s, 3) == '-';
    ptrdiff_t end = str_find(s->in, is_comment ? S("-->") : S(">"), s->at + 2);

    s->at = end < 0 ? s->in.len : (size_t)end + (is_comment ? 3 : 1);
}

// Behind the end tag of an element whose content is no text for people.
static void skip_content(Sanitizer *s, Str name)
{
    while (s->at < s->in.len) {
        if (peek(s, 0) == '<' && peek(s, 1) == '/' &&
            str_eq_nocase(str_sub(s->in, s->at + 2, s->at + 2 + name.len), name)) {
            (void)read_tag(s);
            return;
        }
        s->at++;
    }
}

static bool has_hidden_content(Str name)
{
    static const char *const names[] = {"script", "style",  "title",   "noscript",
                                        "iframe", "object", "textarea"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (str_eq_z(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_allowed(Str name)
{
    for (size_t i = 0; i < sizeof allowed_tags / sizeof allowed_tags[0]; i++) {
        if (str_eq_z(name, allowed_tags[i])) {
            return true;
        }
    }
    return false;
}

// Ends every tag inside of the one that ends; an end without a start is dropped.
static void end_tag(Sanitizer *s, Str name)
{
    size_t i = s->open_count;

    while (i > 0 && !str_eq(s->open[i - 1], name)) {
        i--;
    }
    if (i == 0) {
        return;
    }
    while (s->open_count >= i) {
        write_end(s, s->open[--s->open_count]);
    }
}

static void take_tag(Sanitizer *s)
{
    Tag tag = read_tag(s);

    if (!tag.is_end && has_hidden_content(tag.name)) {
        skip_content(s, tag.name);
    } else if (!is_allowed(tag.name)) {
        return;
    } else if (tag.is_end) {
        end_tag(s, tag.name);
    } else if (str_eq(tag.name, S("br"))) {
        write_start(s, &tag);
    } else if (s->open_count < OPEN_MAX) {
        write_start(s, &tag);
        s->open[s->open_count++] = tag.name;
    }
}

static void take_text(Sanitizer *s)
{
    size_t from = s->at++;

    while (s->at < s->in.len && !at_tag(s) && !at_markup(s)) {
        s->at++;
    }
    write_escaped(&s->out, str_sub(s->in, from, s->at), false);
}

Str html_sanitize(Str html)
{
    Sanitizer s = {.in = html, .out = buf_new(arena_current(), OUT_MAX)};

    while (s.at < s.in.len) {
        if (at_tag(&s)) {
            take_tag(&s);
        } else if (at_markup(&s)) {
            skip_markup(&s);
        } else {
            take_text(&s);
        }
    }
    while (s.open_count) {
        write_end(&s, s.open[--s.open_count]);
    }
    return buf_str(&s.out);
}

Str html_text(Str html)
{
    Sanitizer s = {.in = html, .out = buf_new(arena_current(), OUT_MAX)};
    bool has_blank = true;

    while (s.at < s.in.len) {
        char c = peek(&s, 0);
        bool is_markup = at_tag(&s) || at_markup(&s);
        if (at_tag(&s)) {
            (void)read_tag(&s);
        } else if (is_markup) {
            skip_markup(&s);
        } else {
            s.at++;
        }
        if (!is_markup && !is_blank(c)) {
            buf_char(&s.out, c);
            has_blank = false;
        } else if (!has_blank) {
            buf_char(&s.out, ' ');
            has_blank = true;
        }
    }
    return str_trim(buf_str(&s.out));
}
