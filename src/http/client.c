// Single calls over libcurl. Each thread keeps one handle, and with it the open connections.
#include "http/client.h"

#include "base/die.h"
#include "base/trace.h"
#include "http/gzip.h"

#include <curl/curl.h>
#include <pthread.h>

enum {
    TIMEOUT_MS = 30000,
    CONNECT_TIMEOUT_MS = 10000,
    ANSWER_MAX = 64 * 1024 * 1024,
};

static pthread_key_t handle_key;
static pthread_once_t handle_once = PTHREAD_ONCE_INIT;

static void handle_end(void *handle)
{
    curl_easy_cleanup(handle);
}

static void handle_begin(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || pthread_key_create(&handle_key, handle_end)) {
        die("libcurl does not start");
    }
}

static CURL *handle_of_thread(void)
{
    pthread_once(&handle_once, handle_begin);
    CURL *handle = pthread_getspecific(handle_key);
    if (!handle) {
        handle = curl_easy_init();
        if (!handle) {
            die("out of memory");
        }
        pthread_setspecific(handle_key, handle);
    }
    // Forgets the options, keeps connections and DNS answers.
    curl_easy_reset(handle);
    return handle;
}

typedef struct {
    HttpAnswer *answer;
    Buf body;
} Intake;

static size_t body_take(char *at, size_t size, size_t n, void *context)
{
    Intake *intake = context;

    buf_add(&intake->body, (Str){at, size * n});
    return intake->body.overflowed ? 0 : size * n;
}

static size_t header_take(char *at, size_t size, size_t n, void *context)
{
    Intake *intake = context;
    Str line = {at, size * n};
    ptrdiff_t colon = str_find_char(line, ':', 0);

    if (str_starts(line, S("HTTP/"))) {
        // A status line: what came before belonged to an interim answer such as 100 Continue.
        intake->answer->headers.len = 0;
    } else if (colon > 0) {
        Arena *arena = arena_current();
        name_values_add(&intake->answer->headers, str_copy(arena, str_sub(line, 0, (size_t)colon)),
                        str_copy(arena, str_trim(str_sub(line, (size_t)colon + 1, line.len))));
    }
    return size * n;
}

static struct curl_slist *headers_of(const HttpCall *call)
{
    // libcurl would wait a second for "100 Continue" before it sends a larger body.
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    for (size_t i = 0; i < call->headers.len; i++) {
        const NameValue *header = &call->headers.at[i];
        // "Name;" is libcurl's way to send a header without a value.
        const char *line = header->value.len
                               ? str_z(str_fmt(STR_FMT ": " STR_FMT, STR_ARG(header->name),
                                               STR_ARG(header->value)))
                               : str_z(str_fmt(STR_FMT ";", STR_ARG(header->name)));
        list = curl_slist_append(list, line);
    }
    return list;
}

static int give_up(void *flag, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return *(const _Atomic bool *)flag;
}

static void options_set(CURL *curl, const HttpCall *call, Intake *intake)
{
    if (call->gives_up) {
        curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, give_up);
        curl_easy_setopt(curl, CURLOPT_XFERINFODATA, call->gives_up);
    }
    curl_easy_setopt(curl, CURLOPT_URL, str_z(call->url));
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     (long)(call->timeout_ms ? call->timeout_ms : TIMEOUT_MS));
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method_name(call->method));
    if (call->method == HEAD) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else if (call->body.len || call->method == POST || call->method == PUT ||
               call->method == PATCH) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body.at ? call->body.at : "");
    }
    if (call->trusted.len) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, str_z(call->trusted));
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, intake);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header_take);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, intake);
}

// What this program adds to a call: the trace it belongs to, the packed body.
static void call_complete(HttpCall *call)
{
    const TraceContext *trace = trace_current();
    char text[TRACEPARENT_LEN + 1];
    Str packed;

    if (trace) {
        traceparent_write(trace, text);
        name_values_add(&call->headers, S("traceparent"), str_copy(arena_current(), str_of(text)));
        if (trace->state.len > 0) {
            name_values_add(&call->headers, S("tracestate"), trace->state);
        }
    }
    if (call->packs && gzip_pack(call->body, &packed)) {
        call->body = packed;
        name_values_add(&call->headers, S("Content-Encoding"), S("gzip"));
    }
}

Err *http_call(const HttpCall *given, HttpAnswer *answer)
{
    HttpCall completed = *given, *call = &completed;

    call->headers = (NameValues){0};
    for (size_t i = 0; i < given->headers.len; i++) {
        name_values_add(&call->headers, given->headers.at[i].name, given->headers.at[i].value);
    }
    call_complete(call);
    CURL *curl = handle_of_thread();
    HttpAnswer got = {0};
    Intake intake = {&got,
                     buf_new(arena_current(), call->answer_max ? call->answer_max : ANSWER_MAX)};
    char reason[CURL_ERROR_SIZE] = "";
    long status = 0;

    struct curl_slist *headers = headers_of(call);
    options_set(curl, call, &intake);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    // The buffer of the reason and the list are ours and end here.
    curl_easy_reset(curl);
    curl_slist_free_all(headers);
    if (code != CURLE_OK) {
        const char *why = intake.body.overflowed ? "the answer is too long"
                          : *reason              ? reason
                                                 : curl_easy_strerror(code);
        return err_text(502, STR_FMT ": %s", STR_ARG(call->url), why);
    }
    got.status = (int)status;
    got.body = buf_str(&intake.body);
    *answer = got;
    return NULL;
}

Str http_answer_header(const HttpAnswer *answer, const char *name)
{
    Str wanted = str_of(name);

    for (size_t i = 0; i < answer->headers.len; i++) {
        if (str_eq_nocase(answer->headers.at[i].name, wanted)) {
            return answer->headers.at[i].value;
        }
    }
    return S("");
}
