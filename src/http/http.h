// HTTP: one request as handlers see it, the server (libmicrohttpd behind it), and replies.
//
// One thread serves a request from its first byte to its last. The request, its body and its reply
// live in the arena of that thread until the last byte is sent.
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/date.h"
#include "json/json.h"

typedef enum { GET, POST, PUT, DELETE, PATCH, OPTIONS, HEAD, METHOD_OTHER } Method;

const char *method_name(Method method);
bool method_of(Str name, Method *out);

typedef struct {
    Str name;
    Str value;
} NameValue;

typedef struct {
    NameValue *at;
    size_t len;
    size_t cap;
} NameValues;

void name_values_add(NameValues *list, Str name, Str value);

// Writes at most `max` bytes of the body to `to`; 0 = end, -1 = cut the connection (a failure after
// the status line went out). Called on the request's thread after the handler returned and its
// transaction ended.
typedef ptrdiff_t (*StreamRead)(void *context, char *to, size_t max);

// Text that is made while the client takes it: the first member of such a stream's context.
typedef struct StreamText {
    Buf text;      // what is ready to be sent; may hold the beginning
    size_t sent;   // of it
    bool is_ended; // `more` wrote the last of it
    // Writes more into the emptied text; an error cuts the answer off.
    Err *(*more)(struct StreamText *stream);
} StreamText;

// The StreamRead of a context that begins with a StreamText.
ptrdiff_t stream_text_read(void *context, char *to, size_t max);

typedef struct {
    int status;
    const char *content_type; // NULL: no body
    Str body;
    StreamRead stream; // instead of body
    void *stream_context;
    void (*stream_end)(void *context); // always called once
    NameValues headers;
} Reply;

typedef struct Req Req;

enum {
    PATH_PARAMS_MAX = 6,
};

struct Req {
    Method method; // HEAD arrives as GET with is_head; its body is never sent
    bool is_head;
    Str target;     // as received, with query
    Str path;       // undecoded, without query
    Str query_text; // undecoded
    NameValues headers;
    NameValues query; // form-decoded: '+' is a blank; values may have arrived unencoded (S4)
    Str body;         // decoded (gzip), "" if none
    bool has_body;
    Json *json; // the parsed body of a route that takes JSON; set by the gateway
    Str remote_address;
    bool is_loopback; // from this machine and not forwarded (decision 58)
    bool accepts_gzip;
    bool is_tls;
    Arena *arena;
    Time now;         // wall clock at arrival; tests may set it (decision 59)
    int64_t begun_ns; // monotonic
    int64_t queue_ns; // of it, waiting for a place among the handlers
    Reply reply;

    // Set by the gateway (gateway/gateway.h); void-free forward declarations keep the layers apart.
    struct App *app;
    struct Tenant *tenant;
    Str tenant_id;
    Str request_id;
    bool is_operator; // came by the admin listener: nobody logs in there
    Str user_id;      // "" without a user
    Str user_name;
    StrList permissions; // desired and required ones the caller holds
    const struct Route *route;
    struct Tx *tx;               // NULL on routes of kind NONE
    Str params[PATH_PARAMS_MAX]; // decoded {name} parts of the path, in order
    size_t param_count;
};

// Reading a request. Names ignore case for headers, not for query parameters; "" if absent.
Str req_header(const Req *req, const char *name);
bool req_query(const Req *req, const char *name, Str *value);
Str req_query_text(const Req *req, const char *name);
// A query parameter as integer; 400 text of spec/storage-and-cql.md 1.2 for anything else or < 0.
WARN_UNUSED Err *req_query_int(const Req *req, const char *name, int64_t fallback, int64_t *out);
bool req_query_flag(const Req *req, const char *name); // "true" in any case
// The i-th {name} of the route's path, decoded.
Str req_param(const Req *req, size_t i);
// Cookie by name; "" if absent.
Str req_cookie(const Req *req, const char *name);
bool req_has_permission(const Req *req, const char *permission);

// Answering: a handler can `return reply_json(...)`. NULL, or 413 when the request's arena is over
// its limit, so that the transaction of the request is rolled back.
Err *reply_json(Req *req, int status, const Json *json);
Err *reply_json_text(Req *req, int status, Str text);
Err *reply_text(Req *req, int status, Str text);
Err *reply_empty(Req *req, int status);
Err *reply_body(Req *req, int status, const char *content_type, Str body);
Err *reply_stream(Req *req, int status, const char *content_type, StreamRead read,
                  void (*end)(void *), void *context);
void reply_header(Req *req, const char *name, Str value);
// The reply of a failure: text/plain or errors[] as the Err says; throws away what was set before.
void reply_err(Req *req, const Err *err);

// Percent-decoding; '+' becomes a blank only with `form`. False for a NUL byte
// and for what is no UTF-8 then: databases and logs take text.
WARN_UNUSED bool url_decode(Str text, bool form, Str *out);
Str url_encode(Str text);
// The pairs of a query string or of a form body, decoded, in order. False as url_decode.
WARN_UNUSED bool form_parse(Str text, NameValues *out);

// The server. A number that is 0 means its default.
typedef struct {
    Str listen;              // "127.0.0.1:9130", "[::1]:9130", ":9130"; port 0 = any free one
    size_t request_line_max; // bytes of the target: 414 beyond; 16 KiB
    size_t headers_max;      // bytes: 431 beyond; 32 KiB (and 100 fields)
    size_t body_max;         // bytes, packed or unpacked: 413 beyond; 32 MiB
    size_t arena_max;        // bytes a request may take beside its body: 413 beyond; 64 MiB
    Str spool_dir;           // where bodies over 1 MiB wait, as files without a name; "" = /tmp
    int connection_max;      // further ones wait to be accepted; 2,000
    int idle_timeout_s;      // between bytes; 30
    int request_timeout_s;   // whole head and body; 60
    int handler_max;         // running at once; the larger of 16 and 8 x cores
    int queue_timeout_ms;    // a request that waits longer for its handler: 503; 5,000
    Str tls_certificate, tls_key; // names of PEM files; "" = no TLS
    // The limit of this request's body if it differs from body_max, else 0. May be NULL. Called
    // with the head only: method, path, query and headers.
    size_t (*body_max_of)(const Req *req, void *context);
    void (*handle)(Req *req, void *context); // fills req->reply
    void *context;
} HttpOptions;

typedef struct HttpServer HttpServer;

// Memory is short: what all servers keep for the next request.
void http_give_back(void);

// Errors: 500 text when the address cannot be had or a TLS file cannot be read.
WARN_UNUSED Err *http_start(const HttpOptions *options, HttpServer **out);
int http_port(const HttpServer *server);
int http_connections(const HttpServer *server);
// Takes no new connection, lets requests in flight end (at most grace_s), closes the rest. Waits
// for handlers that still run after that. The server is gone afterwards.
void http_stop(HttpServer *server, int grace_s);
