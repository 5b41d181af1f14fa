// Trace contexts: reading and writing the header, ids, and what the thread is at.
#include "base/trace.h"

#include "base/die.h"

#include <string.h>
#include <sys/random.h>

// One beside the other: a thread comes back to them after others were at work.
static _Thread_local struct {
    uint64_t random[2];
    bool has_context;
    TraceContext context;
} own;

// Ids need to differ, not to be secret (xorshift128+).
static uint64_t random_next(void)
{
    if (!own.random[0] && !own.random[1] &&
        getrandom(own.random, sizeof own.random, 0) != sizeof own.random) {
        die("no random numbers");
    }
    uint64_t x = own.random[0], y = own.random[1];
    own.random[0] = y;
    x ^= x << 23;
    own.random[1] = x ^ y ^ x >> 17 ^ y >> 26;
    return own.random[1] + y;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_read(Str text, size_t at, unsigned char *to, size_t n)
{
    bool is_zero = true;

    for (size_t i = 0; i < n; i++) {
        int high = digit(text.at[at + 2 * i]), low = digit(text.at[at + 2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        to[i] = (unsigned char)(high << 4 | low);
        is_zero = is_zero && !to[i];
    }
    return !is_zero;
}

bool traceparent_read(Str text, TraceContext *out)
{
    TraceContext context = {.has_parent = true};
    unsigned char version = 0, flags = 0;

    if (text.len < TRACEPARENT_LEN || text.at[2] != '-' || text.at[35] != '-' ||
        text.at[52] != '-') {
        return false;
    }
    (void)hex_read(text, 0, &version, 1);
    (void)hex_read(text, 53, &flags, 1);
    bool is_hex = digit(text.at[0]) >= 0 && digit(text.at[1]) >= 0 && digit(text.at[53]) >= 0 &&
                  digit(text.at[54]) >= 0;
    // A later version may have more behind it.
    bool is_long = text.len > TRACEPARENT_LEN && (version == 0 || text.at[TRACEPARENT_LEN] != '-');
    if (!is_hex || version == 0xff || is_long || !hex_read(text, 3, context.trace_id, 16) ||
        !hex_read(text, 36, context.parent_id, 8)) {
        return false;
    }
    context.is_sampled = flags & 1;
    *out = context;
    return true;
}

void traceparent_write(const TraceContext *context, char to[TRACEPARENT_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    char *at = to;

    memcpy(at, "00-", 3);
    at += 3;
    for (size_t i = 0; i < 16; i++) {
        *at++ = digits[context->trace_id[i] >> 4];
        *at++ = digits[context->trace_id[i] & 15];
    }
    *at++ = '-';
    for (size_t i = 0; i < 8; i++) {
        *at++ = digits[context->span_id[i] >> 4];
        *at++ = digits[context->span_id[i] & 15];
    }
    memcpy(at, context->is_sampled ? "-01" : "-00", 4);
}

void trace_span_id(unsigned char to[8])
{
    uint64_t id = random_next();

    memcpy(to, &id, 8);
}

void trace_begin(Str traceparent, Str tracestate, int percent)
{
    if (!traceparent.len || !traceparent_read(traceparent, &own.context)) {
        uint64_t id[2] = {random_next(), random_next()};
        own.context = (TraceContext){.is_sampled = (int)(id[0] % 100) < percent};
        memcpy(own.context.trace_id, id, sizeof id);
    } else if (tracestate.len <= TRACESTATE_MAX && str_is_utf8(tracestate)) {
        own.context.state = tracestate;
    }
    trace_span_id(own.context.span_id);
    own.has_context = true;
}

const TraceContext *trace_current(void)
{
    return own.has_context ? &own.context : NULL;
}

void trace_end(void)
{
    own.has_context = false;
}
