// What the database is asked: GET and DELETE /octavo/ops/statements. Source: spec/native-api.md 2.
#include "modules/octavo/native.h"

enum {
    SHOWN = 20,
    PLANS_SHOWN = 50, // each is asked for anew
};

static Err *order_of(const Req *req, StatementOrder *order)
{
    static const char *const names[] = {"total", "mean", "max"};
    Str text = req_query_text(req, "order");

    *order = BY_TOTAL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_eq_z(text, names[i])) {
            *order = (StatementOrder)i;
            return NULL;
        }
    }
    return text.len ? err_text(400, "order must be total, mean or max") : NULL;
}

static double ms_of(int64_t ns)
{
    return (double)ns / 1e6;
}

static Json *statement_json(const StatementFigures *figures)
{
    Json *one = json_object();

    json_set_str(one, "shape", figures->shape);
    json_set_str(one, "route", figures->route);
    json_set_str_if(one, "cql", figures->cql);
    json_set_int(one, "calls", figures->calls);
    json_set_number(one, "totalMs", ms_of(figures->total_ns));
    json_set_number(one, "meanMs", ms_of(figures->total_ns / figures->calls));
    json_set_number(one, "maxMs", ms_of(figures->max_ns));
    json_set_int(one, "rows", figures->rows);
    return one;
}

Err *statements_show(Req *req)
{
    StatementOrder order;
    StatementFigures *figures = NULL;
    Json *body = json_object(), *statements = json_array();
    int64_t limit = SHOWN;

    TRY(operators_only(req));
    TRY(req_query_int(req, "limit", SHOWN, &limit));
    TRY(order_of(req, &order));
    size_t n = statements_read(order, (size_t)limit, &figures);
    for (size_t i = 0; i < n; i++) {
        Json *one = statement_json(&figures[i]);
        if (i < PLANS_SHOWN) {
            json_set_str_if(one, "lastPlan", statement_plan(req->app->store, &figures[i]));
        }
        json_add(statements, one);
    }
    json_set_time(body, "since", statements_since());
    json_set(body, "statements", statements);
    return reply_json(req, 200, body);
}

Err *statements_forget(Req *req)
{
    TRY(operators_only(req));
    statement_figures_reset();
    return reply_empty(req, 204);
}
