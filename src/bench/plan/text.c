// Texts with ${...}: reading into parts, filling in.
#include "text.h"

#include "functions.h"

#include <ctype.h>

enum {
    TEXT_NESTING_MAX = 8,
    NO_VARIABLE = UINT32_MAX,
};

typedef struct {
    enum { PART_LITERAL, PART_VARIABLE, PART_FUNCTION } kind;
    Str literal;       // the text itself, or ${name} as it was written
    uint32_t variable; // its number; of a function: where the result is stored as well
    const Function *function;
    Text *args[FUNCTION_ARGS_MAX];
    int arg_count;
} Part;

struct Text {
    Part *at;
    size_t len;
};

typedef struct {
    const TextScope *scope;
    Str source;
    Part *parts;
    size_t len, cap;
    int depth;
} Reader;

static Err *compile(const TextScope *scope, Str source, int depth, Text **out);

static Part *add_part(Reader *reader)
{
    reader->parts = array_room(arena_current(), reader->parts, reader->len, &reader->cap,
                               sizeof *reader->parts);
    reader->parts[reader->len] = (Part){.variable = NO_VARIABLE};
    return &reader->parts[reader->len++];
}

static void add_literal(Reader *reader, Str literal)
{
    if (literal.len > 0) {
        Part *part = add_part(reader);
        part->kind = PART_LITERAL;
        part->literal = str_copy(arena_current(), literal);
    }
}

static Err *text_error(const Reader *reader, Str inside, const char *what)
{
    return err_text(400, STR_FMT ": ${" STR_FMT "}: %s", STR_ARG(reader->scope->where),
                    STR_ARG(inside), what);
}

// The end of the ${ whose inside begins at `at`: the place of its }.
static ptrdiff_t closing_brace(Str source, size_t at)
{
    int depth = 1;

    for (size_t i = at; i < source.len; i++) {
        if (source.at[i] == '{') {
            depth++;
        } else if (source.at[i] == '}' && --depth == 0) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

// Cuts the next argument off, at a comma outside of ${}; "\," is a comma of the argument.
static bool next_arg(Str *rest, Str *arg)
{
    Buf buf = buf_new(arena_current(), rest->len);
    int depth = 0;
    size_t i = 0;

    if (!rest->at) {
        return false;
    }
    for (; i < rest->len; i++) {
        char c = rest->at[i];
        if (c == '\\' && i + 1 < rest->len && (rest->at[i + 1] == ',' || rest->at[i + 1] == '\\')) {
            c = rest->at[++i];
        } else if (c == ',' && depth == 0) {
            break;
        }
        depth += (c == '{') - (c == '}');
        buf_char(&buf, c);
    }
    *arg = buf_str(&buf);
    *rest = i < rest->len ? str_sub(*rest, i + 1, rest->len) : (Str){0};
    return true;
}

static Err *read_args(Reader *reader, Str inside, Str args, Part *part)
{
    const Function *function = part->function;
    Str rest = args.len > 0 ? args : (Str){0}, arg;

    while (next_arg(&rest, &arg)) {
        int i = part->arg_count;
        if (i == function->args_max || i == FUNCTION_ARGS_MAX) {
            // FOLIO's plans end many calls with a comma.
            if (arg.len > 0) {
                return text_error(reader, inside, "too many arguments");
            }
            continue;
        }
        if (i == function->variable_arg && arg.len > 0) {
            part->variable = symbol_of(reader->scope->symbols, arg);
            reader->scope->symbols->at[part->variable].is_assigned = true;
        }
        TRY(compile(reader->scope, arg, reader->depth + 1, &part->args[i]));
        part->arg_count++;
    }
    return NULL;
}

static bool is_function(Str inside)
{
    ptrdiff_t bracket = str_find_char(inside, '(', 0);

    if (str_starts(inside, S("__"))) {
        return true;
    }
    return bracket > 0 && str_ends(inside, S(")")) &&
           function_of(str_sub(inside, 0, (size_t)bracket)) != NULL;
}

static Err *read_function(Reader *reader, Str inside)
{
    ptrdiff_t bracket = str_find_char(inside, '(', 0);
    size_t name_end = bracket < 0 ? inside.len : (size_t)bracket;
    const Function *function = function_of(str_trim(str_sub(inside, 0, name_end)));

    if (!function) {
        return text_error(reader, inside, "this function is not supported");
    }
    if (bracket >= 0 && !str_ends(inside, S(")"))) {
        return text_error(reader, inside, "the bracket is not closed");
    }
    Part part = {.kind = PART_FUNCTION, .function = function, .variable = NO_VARIABLE};
    if (bracket >= 0) {
        TRY(read_args(reader, inside, str_sub(inside, name_end + 1, inside.len - 1), &part));
    }
    if (part.arg_count < function->args_min) {
        return text_error(reader, inside, "an argument is missing");
    }
    *add_part(reader) = part;
    return NULL;
}

static Err *read_placeholder(Reader *reader, size_t at, size_t end)
{
    Str inside = str_sub(reader->source, at + 2, end);

    if (reader->depth >= TEXT_NESTING_MAX) {
        return text_error(reader, inside, "nested too deeply");
    }
    if (is_function(str_trim(inside))) {
        return read_function(reader, str_trim(inside));
    }
    Part *part = add_part(reader);
    part->kind = PART_VARIABLE;
    part->literal = str_copy(arena_current(), str_sub(reader->source, at, end + 1));
    part->variable = symbol_of(reader->scope->symbols, inside);
    return NULL;
}

static Err *compile(const TextScope *scope, Str source, int depth, Text **out)
{
    Reader reader = {.scope = scope, .source = source, .depth = depth};
    size_t done = 0;

    for (;;) {
        ptrdiff_t at = str_find(source, S("${"), done);
        ptrdiff_t end = at < 0 ? -1 : closing_brace(source, (size_t)at + 2);
        if (end < 0) {
            break;
        }
        add_literal(&reader, str_sub(source, done, (size_t)at));
        TRY(read_placeholder(&reader, (size_t)at, (size_t)end));
        done = (size_t)end + 1;
    }
    add_literal(&reader, str_sub(source, done, source.len));
    Text *text = NEW(Text);
    *text = (Text){.at = reader.parts, .len = reader.len};
    *out = text;
    return NULL;
}

Err *text_compile(const TextScope *scope, Str source, Text **out)
{
    return compile(scope, source, 0, out);
}

Text *text_literal(Str literal)
{
    Text *text = NEW(Text);

    text->at = NEW(Part);
    text->at->kind = PART_LITERAL;
    text->at->literal = str_copy(arena_current(), literal);
    text->len = literal.len > 0;
    return text;
}

bool text_is_literal(const Text *text, Str *literal)
{
    if (text->len > 1 || (text->len == 1 && text->at[0].kind != PART_LITERAL)) {
        return false;
    }
    *literal = text->len ? text->at[0].literal : (Str){"", 0};
    return true;
}

static void write_call(const Part *part, Actor *actor, Buf *buf)
{
    Str args[FUNCTION_ARGS_MAX];
    size_t begin = buf->len;

    for (int i = 0; i < part->arg_count; i++) {
        args[i] = text_str(part->args[i], actor);
    }
    part->function->write(args, part->arg_count, actor, buf);
    if (part->variable != NO_VARIABLE && actor->vars) {
        vars_set(actor->vars, part->variable, str_sub(buf_str(buf), begin, buf->len));
    }
}

void text_write(const Text *text, Actor *actor, Buf *buf)
{
    for (size_t i = 0; text && i < text->len; i++) {
        const Part *part = &text->at[i];
        Str value = {0};
        switch (part->kind) {
        case PART_LITERAL:
            buf_add(buf, part->literal);
            break;
        case PART_VARIABLE:
            buf_add(buf, vars_get(actor->vars, part->variable, &value) ? value : part->literal);
            break;
        case PART_FUNCTION:
            write_call(part, actor, buf);
            break;
        }
    }
}

Str text_str(const Text *text, Actor *actor)
{
    Str value = {0};

    if (!text || text->len == 0) {
        return (Str){"", 0};
    }
    if (text->len == 1 && text->at[0].kind == PART_LITERAL) {
        return text->at[0].literal;
    }
    if (text->len == 1 && text->at[0].kind == PART_VARIABLE) {
        return vars_get(actor->vars, text->at[0].variable, &value) ? value : text->at[0].literal;
    }
    Buf buf = buf_new(arena_current(), TEXT_MAX);
    text_write(text, actor, &buf);
    return buf_str(&buf);
}

int64_t text_int(const Text *text, Actor *actor, int64_t fallback)
{
    int64_t value = 0;

    if (!text || !str_int64(str_trim(text_str(text, actor)), &value)) {
        return fallback;
    }
    return value;
}
