// Reading targets, forms, headers and cookies.
#include "test.h"

#include "base/log.h"
#include "http/body.h"
#include "http/head.h"

#include <string.h>

static NameValues headers_of(const char *const *pairs)
{
    NameValues list = {0};

    for (; pairs[0]; pairs += 2) {
        name_values_add(&list, str_of(pairs[0]), str_of(pairs[1]));
    }
    return list;
}
#define HEADERS(...) headers_of((const char *const[]){__VA_ARGS__, NULL})

static void form_values_decode_plus_and_percent(void **state)
{
    (void)state;
    NameValues list = {0};

    assert_true(form_parse(S("query=username%3D%3D%22a+b%22&limit=10&&x"), &list));
    assert_int_equal(list.len, 3);
    assert_str(list.at[0].name, "query");
    assert_str(list.at[0].value, "username==\"a b\"");
    assert_str(list.at[1].value, "10");
    assert_str(list.at[2].name, "x");
    assert_str(list.at[2].value, "");
}

static void a_query_typed_by_hand_arrives_as_typed(void **state)
{
    (void)state;
    NameValues list = {0};

    assert_true(
        form_parse(S("query=barcode==\"1 2\" or title=100% sortby a/sort.descending"), &list));
    assert_int_equal(list.len, 1);
    assert_str(list.at[0].value, "barcode==\"1 2\" or title=100% sortby a/sort.descending");
}

static void a_nul_byte_in_a_form_is_refused(void **state)
{
    (void)state;
    NameValues list = {0};

    assert_false(form_parse(S("a=%00"), &list));
    assert_false(form_parse(S("a\0b=1"), &list));
}

static void encoding_and_decoding_a_path_part_gives_it_back(void **state)
{
    (void)state;
    Str text = S("a b/c+d%\xc3\xa9~"), back;

    assert_str(url_encode(text), "a%20b%2Fc%2Bd%25%C3%A9~");
    assert_true(url_decode(url_encode(text), false, &back));
    assert_true(str_eq(back, text));
    assert_true(url_decode(S("a+b"), false, &back));
    assert_str(back, "a+b");
}

static void a_target_splits_at_the_first_question_mark(void **state)
{
    (void)state;
    Str path, query;

    assert_int_equal(head_of_target(S("/users?query=a?b"), &path, &query).status, 0);
    assert_str(path, "/users");
    assert_str(query, "query=a?b");
    assert_int_equal(head_of_target(S("http://host:9130/users/x%2Fy"), &path, &query).status, 0);
    assert_str(path, "/users/x%2Fy");
    assert_int_equal(head_of_target(S("http://host"), &path, &query).status, 0);
    assert_str(path, "/");
    assert_int_equal(head_of_target(S("*"), &path, &query).status, 0);
}

static void targets_that_are_no_paths_are_refused(void **state)
{
    (void)state;
    Str path, query;

    assert_int_equal(head_of_target(S(""), &path, &query).status, 400);
    assert_int_equal(head_of_target(S("users"), &path, &query).status, 400);
    assert_int_equal(head_of_target(S("/a%00b"), &path, &query).status, 400);
    assert_int_equal(head_of_target(S("/a\rb"), &path, &query).status, 400);
}

static void framing_that_can_be_read_in_two_ways_is_refused(void **state)
{
    (void)state;
    static const char *const bad[][7] = {
        {"Content-Length", "5", "Transfer-Encoding", "chunked", NULL},
        {"Content-Length", "5", "content-length", "5", NULL},
        {"Content-Length", "+5", NULL},
        {"Content-Length", "5, 5", NULL},
        {"Content-Length", "99999999999999999999", NULL},
        {"Transfer-Encoding", "gzip, chunked", NULL},
        {"Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked", NULL},
        {"Host", "a", "host", "b", NULL},
        {"Content-Length ", "5", NULL},
        {"", "5", NULL},
        {"X-A", "b\rContent-Length: 5", NULL},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        NameValues list = headers_of(bad[i]);
        assert_int_equal(head_of_headers(&list).status, 400);
    }
}

static void more_than_a_hundred_fields_are_refused(void **state)
{
    (void)state;
    NameValues list = {0};

    for (int i = 0; i < HEADER_COUNT_MAX; i++) {
        name_values_add(&list, S("a"), S("b"));
    }
    assert_int_equal(head_of_headers(&list).status, 0);
    name_values_add(&list, S("a"), S("b"));
    assert_int_equal(head_of_headers(&list).status, 431);
}

static void forwarding_headers_are_seen(void **state)
{
    (void)state;
    NameValues forwarded = HEADERS("Forwarded", "for=1.2.3.4");
    NameValues x = HEADERS("X-Forwarded-Anything", "1");
    NameValues bare = HEADERS("x-forwarded-", "1");
    NameValues neither = HEADERS("X-Forward", "1", "X-Okapi-Tenant", "diku");

    assert_true(head_of_headers(&bare).is_forwarded);
    assert_true(head_of_headers(&forwarded).is_forwarded);
    assert_true(head_of_headers(&x).is_forwarded);
    assert_false(head_of_headers(&neither).is_forwarded);
}

static void gzip_is_used_only_when_the_client_takes_it(void **state)
{
    (void)state;
    assert_true(accepts_gzip(S("deflate, gzip;q=0.5")));
    assert_true(accepts_gzip(S("GZIP")));
    assert_true(accepts_gzip(S("*")));
    assert_false(accepts_gzip(S("gzip;q=0, *")));
    assert_false(accepts_gzip(S("deflate, br")));
    assert_false(accepts_gzip(S("")));
}

// The head as the library leaves it: NULs over the colon and over line ends.
static bool is_gapless(const char *bytes, size_t len, const size_t (*spans)[4], size_t n)
{
    NameValues list = {0};

    for (size_t i = 0; i < n; i++) {
        name_values_add(&list, (Str){bytes + spans[i][0], spans[i][1]},
                        (Str){bytes + spans[i][2], spans[i][3]});
    }
    return head_is_gapless(bytes, bytes + len, &list);
}

static void nul_bytes_in_a_head_leave_a_gap(void **state)
{
    (void)state;
    static const size_t good[][4] = {{2, 1, 5, 1}, {8, 1, 10, 0}};

    assert_true(is_gapless("\0\0A\0 b\0\0C\0\0\0\0\0", 14, good, 2));
    // "A: b\0x": the library takes "b" and drops the rest.
    assert_false(is_gapless("\0\0A\0 b\0x\0\0\0\0", 12, good, 1));
    // "\0Content-Length: 5": the library takes it for the empty line.
    assert_false(is_gapless("\0\0A\0 b\0\0\0Content\0\0", 18, good, 1));
}

static void headers_are_found_in_any_case_and_parameters_are_not(void **state)
{
    (void)state;
    Req req = {.headers = HEADERS("X-Okapi-Tenant", "diku"), .query = HEADERS("limit", "3")};
    Str value;

    assert_str(req_header(&req, "x-okapi-tenant"), "diku");
    assert_str(req_header(&req, "x-okapi-token"), "");
    assert_true(req_query(&req, "limit", &value));
    assert_false(req_query(&req, "Limit", &value));
}

static void paging_parameters_fail_with_folios_texts(void **state)
{
    (void)state;
    Req req = {.query = HEADERS("limit", "-1", "offset", "abc", "start", "", "length", "2147483647",
                                "big", "2147483648")};
    int64_t value = 0;

    assert_ok(req_query_int(&req, "absent", 10, &value));
    assert_int_equal(value, 10);
    assert_ok(req_query_int(&req, "length", 10, &value));
    assert_int_equal(value, 2147483647);
    assert_err(
        req_query_int(&req, "limit", 10, &value), 400,
        " 'limit' parameter is incorrect. parameter value {-1} is not valid: must be greater "
        "than or equal to 0");
    assert_err(req_query_int(&req, "offset", 10, &value), 400, "For input string: \"abc\"");
    assert_err(req_query_int(&req, "big", 10, &value), 400, "For input string: \"2147483648\"");
    assert_err(req_query_int(&req, "start", 10, &value), 400,
               "start does not have a default value in the RAML and has been passed empty");
}

// A body that no longer fits into memory, where no file can be made.
static void a_body_that_cannot_be_kept_says_so(void **state)
{
    (void)state;
    static char much[1 << 20], long_name[5000];
    static const char *places[] = {"/nowhere/at/all", long_name, "/dev/full"};

    log_set(LOG_OFF, false);
    memset(long_name, 'x', sizeof long_name - 1);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        Body body = body_new(arena_current(), 8 << 20, 0, places[i]);
        Str text;
        assert_true(body_add(&body, (Str){much, sizeof much}));
        assert_true(body_text(&body, &text) && text.len == sizeof much);
        assert_false(body_add(&body, (Str){much, 1}));
        assert_true(body.has_failed && !body.is_too_large);
        assert_false(body_add(&body, (Str){much, 1}));
        body_end(&body);
    }
}

static void a_cookie_is_found_among_others(void **state)
{
    (void)state;
    Req req = {.headers =
                   HEADERS("Cookie", "a=1; folioAccessToken=x.y=z ;b=\"2\"", "cookie", "c=3")};

    assert_str(req_cookie(&req, "folioAccessToken"), "x.y=z");
    assert_str(req_cookie(&req, "b"), "2");
    assert_str(req_cookie(&req, "c"), "3");
    assert_str(req_cookie(&req, "AccessToken"), "");
}

static void an_error_throws_away_what_was_set_before(void **state)
{
    (void)state;
    Req req = {.arena = arena_current()};

    reply_header(&req, "Location", S("/users/1"));
    assert_null(reply_text(&req, 201, S("made")));
    reply_err(&req, err_text(404, "Not found"));
    assert_int_equal(req.reply.status, 404);
    assert_str(req.reply.body, "Not found");
    assert_string_equal(req.reply.content_type, "text/plain");
    assert_int_equal(req.reply.headers.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(form_values_decode_plus_and_percent),
        cmocka_unit_test(a_query_typed_by_hand_arrives_as_typed),
        cmocka_unit_test(a_nul_byte_in_a_form_is_refused),
        cmocka_unit_test(encoding_and_decoding_a_path_part_gives_it_back),
        cmocka_unit_test(a_target_splits_at_the_first_question_mark),
        cmocka_unit_test(targets_that_are_no_paths_are_refused),
        cmocka_unit_test(framing_that_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(more_than_a_hundred_fields_are_refused),
        cmocka_unit_test(forwarding_headers_are_seen),
        cmocka_unit_test(gzip_is_used_only_when_the_client_takes_it),
        cmocka_unit_test(nul_bytes_in_a_head_leave_a_gap),
        cmocka_unit_test(headers_are_found_in_any_case_and_parameters_are_not),
        cmocka_unit_test(paging_parameters_fail_with_folios_texts),
        cmocka_unit_test(a_body_that_cannot_be_kept_says_so),
        cmocka_unit_test(a_cookie_is_found_among_others),
        cmocka_unit_test(an_error_throws_away_what_was_set_before),
    };

    return cmocka_run_group_tests_name("http request", tests, NULL, NULL);
}
