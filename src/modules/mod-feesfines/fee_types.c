// Fee/fine types: the automatic ones belong to the program, nobody changes them.
// Source: spec/fees-fines.md 1.
#include "modules/mod-feesfines/fees.h"

static const char *const automatic_types[] = {
    FEE_OVERDUE, FEE_REPLACEMENT, FEE_LOST_ITEM, FEE_LOST_PROCESSING, FEE_LOST_ACTUAL, FEE_REMINDER,
};

static Err *automatic_refuse(Str id)
{
    for (size_t i = 0; i < sizeof automatic_types / sizeof *automatic_types; i++) {
        if (str_eq_nocase(id, str_of(automatic_types[i]))) {
            return err_422(NO_CODE, S("Attempt to change an automatic fee/fine type"));
        }
    }
    return NULL;
}

Err *feefine_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *type)
{
    (void)tx, (void)field, (void)value, (void)type;
    return kind == CONFLICT_UNIQUE || kind == CONFLICT_ID
               ? err_text(400, "Unable to process request")
               : NULL;
}

Err *feefine_create(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(automatic_refuse(json_str(body, "id")));
    return collection_create(req);
}

Err *feefine_put(Req *req)
{
    TRY(automatic_refuse(req_param(req, 0)));
    return collection_put(req);
}

Err *feefine_delete(Req *req)
{
    TRY(automatic_refuse(req_param(req, 0)));
    return collection_delete(req);
}
