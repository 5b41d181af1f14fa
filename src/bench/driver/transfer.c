// One HTTP request of a virtual user: putting it together for libcurl, collecting its answer.
//
// A user's handle asks a host name of its own, which is bound to the server's address: libcurl keys
// its connections by name, so that each user keeps its own connection and finds it at once among
// thousands. The Host header is the server's. With TLS the real name is needed; users then share.
#include "loop.h"

#include <stdlib.h>
#include <string.h>

enum {
    TARGET_MAX = 1 << 20,
    HEADERS_MAX = 256 * 1024,
    EXCERPT_BYTES = 4096, // kept of an answer that nothing looks at
    IDLE_CONNECTION_S = 3600,
};

static size_t take_body(char *at, size_t size, size_t n, void *context)
{
    User *user = context;
    Str data = {at, size * n};

    if (!user->request->needs_body) {
        size_t room = user->answer->len < EXCERPT_BYTES ? EXCERPT_BYTES - user->answer->len : 0;
        data = str_sub(data, 0, room);
    }
    return bytes_add(user->answer, data) ? size * n : 0;
}

static size_t take_header(char *at, size_t size, size_t n, void *context)
{
    User *user = context;

    if (user->headers && !bytes_add(user->headers, (Str){at, size * n})) {
        return 0;
    }
    return size * n;
}

void transfer_open(User *user)
{
    Run *run = user->loop->run;
    CURL *easy = curl_easy_init();
    const char *host = str_z(str_fmt("user-%u", user->actor.number));

    user->easy = easy;
    user->header_lines = calloc(run->plan->header_set_len + 1, sizeof *user->header_lines);
    if (run->is_tls) {
        host = str_z(run->host_header);
        curl_easy_setopt(easy, CURLOPT_URL, str_z(str_fmt("https://%s/", host)));
    } else {
        user->resolve =
            curl_slist_append(NULL, str_z(str_fmt("%s:" STR_FMT ":" STR_FMT, host,
                                                  STR_ARG(run->port), STR_ARG(run->address))));
        curl_easy_setopt(easy, CURLOPT_RESOLVE, user->resolve);
        curl_easy_setopt(easy, CURLOPT_URL,
                         str_z(str_fmt("http://%s:" STR_FMT "/", host, STR_ARG(run->port))));
    }
    curl_easy_setopt(easy, CURLOPT_PRIVATE, user);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, user);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, user);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_CONNECTION_S);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(run->options->timeout_s * 1000));
    if (run->options->accepts_any_certificate) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void free_lines(HeaderLines *lines)
{
    free(lines->lines); // one block with all of them
    lines->lines = NULL;
}

void transfer_close(User *user)
{
    transfer_end(user);
    for (size_t i = 0; i < user->loop->run->plan->header_set_len; i++) {
        free_lines(&user->header_lines[i]);
        bytes_give(&user->loop->pool, user->header_lines[i].text);
    }
    free(user->header_lines);
    curl_easy_cleanup(user->easy);
    curl_slist_free_all(user->resolve);
}

// The lines of the text, which end with NUL each, as libcurl's list: one block of memory.
static void build_lines(HeaderLines *lines)
{
    size_t count = 0, i = 0;

    for (size_t at = 0; at < lines->text->len; at++) {
        count += lines->text->at[at] == 0;
    }
    free_lines(lines);
    lines->lines = calloc(count + 1, sizeof *lines->lines);
    for (char *line = lines->text->at; lines->lines && i < count; line += strlen(line) + 1) {
        lines->lines[i].data = line;
        lines->lines[i].next = i + 1 < count ? &lines->lines[i + 1] : NULL;
        i++;
    }
}

// A line end inside a value would begin another header: it ends the value.
static void add_line(Buf *buf, Str name, Str value)
{
    size_t end = 0;

    while (end < value.len && value.at[end] != '\r' && value.at[end] != '\n' && value.at[end]) {
        end++;
    }
    buf_add(buf, name);
    // "Name;" is how libcurl is told to send a header without a value.
    buf_add_z(buf, end ? ": " : ";");
    buf_add(buf, str_sub(value, 0, end));
    buf_char(buf, 0);
}

static struct curl_slist *header_lines(User *user, const Request *request)
{
    const HeaderSet *set = &user->loop->run->plan->header_sets[request->header_set];
    HeaderLines *lines = &user->header_lines[request->header_set];
    Buf buf = buf_new(arena_current(), HEADERS_MAX);

    if (!user->loop->run->is_tls) {
        add_line(&buf, S("Host"), user->loop->run->host_header);
    }
    for (size_t i = 0; i < set->len; i++) {
        add_line(&buf, text_str(set->at[i].name, &user->actor),
                 text_str(set->at[i].value, &user->actor));
    }
    buf_add_z(&buf, "Expect:");
    buf_char(&buf, 0);
    if (!lines->text) {
        lines->text = bytes_take(&user->loop->pool);
    }
    if (!str_eq(bytes_str(lines->text), buf_str(&buf))) {
        lines->text->len = 0;
        (void)bytes_add(lines->text, buf_str(&buf));
        build_lines(lines);
    }
    return lines->lines;
}

// As Java's URLEncoder: letters, digits and ".-*_" stay, a blank becomes "+".
static void add_form(Buf *buf, Str text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '*' || c == '_';
        if (is_plain) {
            buf_char(buf, (char)c);
        } else if (c == ' ') {
            buf_char(buf, '+');
        } else {
            char code[3] = {'%', hex[c >> 4], hex[c & 15]};
            buf_add(buf, (Str){code, 3});
        }
    }
}

// A path as it was typed: only what cannot stand in a request line is encoded.
static void add_path(Buf *buf, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c <= ' ' || c >= 0x7F || strchr("\"<>\\^`{|}#", c)) {
            buf_fmt(buf, "%%%02X", c);
        } else {
            buf_char(buf, (char)c);
        }
    }
}

static void set_target(User *user, const Request *request)
{
    Buf target = buf_new(arena_current(), TARGET_MAX);
    Str path = text_str(request->path, &user->actor);
    bool has_query = str_find_char(path, '?', 0) >= 0;

    buf_add(&target, user->loop->run->base_path);
    if (!str_starts(path, S("/"))) {
        buf_char(&target, '/');
    }
    add_path(&target, path);
    for (size_t i = 0; i < request->query_len; i++) {
        buf_char(&target, i > 0 || has_query ? '&' : '?');
        add_form(&target, text_str(request->query[i].name, &user->actor));
        buf_char(&target, '=');
        add_form(&target, text_str(request->query[i].value, &user->actor));
    }
    buf_char(&target, 0);
    curl_easy_setopt(user->easy, CURLOPT_REQUEST_TARGET, target.at);
}

// A file's content is sent from where it is mapped; a text from a buffer of the user.
static void set_body(User *user, const Request *request)
{
    Str body = {"", 0};

    if (request->body_file) {
        Err *err =
            plan_file(user->loop->run->plan, text_str(request->body_file, &user->actor), &body);
        if (err) {
            count_failure(user, request, FAIL_EXTRACT, err->message);
        }
    } else if (request->body) {
        user->body = bytes_take(&user->loop->pool);
        (void)bytes_add(user->body, text_str(request->body, &user->actor));
        body = bytes_str(user->body);
    }
    if (request->body || request->body_file) {
        curl_easy_setopt(user->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        curl_easy_setopt(user->easy, CURLOPT_POSTFIELDS, body.at);
        user->has_body = true;
    }
}

static void set_method(User *user, const Request *request)
{
    if (user->has_body || !user->method) {
        curl_easy_setopt(user->easy, CURLOPT_HTTPGET, 1L);
        user->has_body = false;
        user->method = NULL;
    }
    if (user->method != request->method) {
        curl_easy_setopt(user->easy, CURLOPT_NOBODY,
                         strcmp(request->method, "HEAD") == 0 ? 1L : 0L);
        curl_easy_setopt(user->easy, CURLOPT_CUSTOMREQUEST, request->method);
        user->method = request->method;
    }
}

void transfer_begin(User *user, const Request *request)
{
    user->request = request;
    user->answer = bytes_take(&user->loop->pool);
    user->headers = request->needs_headers ? bytes_take(&user->loop->pool) : NULL;
    set_method(user, request);
    set_target(user, request);
    set_body(user, request);
    curl_easy_setopt(user->easy, CURLOPT_HTTPHEADER, header_lines(user, request));
    curl_multi_add_handle(user->loop->multi, user->easy);
    user->loop->in_flight++;
}

void transfer_end(User *user)
{
    bytes_give(&user->loop->pool, user->body);
    bytes_give(&user->loop->pool, user->answer);
    bytes_give(&user->loop->pool, user->headers);
    user->body = user->answer = user->headers = NULL;
    user->request = NULL;
}
