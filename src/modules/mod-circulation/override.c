// Overriding blocks: what the body asks for, what the caller may.
// Source: spec/circulation.md 3.3.
#include "modules/mod-circulation/circulation.h"

void overrides_read(const Json *body, const char *path, Overrides *out)
{
    const Json *blocks = json_get(body, path);

    *out = (Overrides){0};
    if (!json_is_object(blocks)) {
        return;
    }
    out->blocks = blocks;
    out->patron = json_has(blocks, "patronBlock");
    out->item_limit = json_has(blocks, "itemLimitBlock");
    out->item_not_loanable = json_has(blocks, "itemNotLoanableBlock");
    out->renewal = json_has(blocks, "renewalBlock");
    out->renewal_due_date = json_has(blocks, "renewalDueDateRequiredBlock");
    out->comment = json_str(blocks, "comment");
}

bool overrides_any(const Overrides *overrides)
{
    return overrides->patron || overrides->item_limit || overrides->item_not_loanable ||
           overrides->renewal || overrides->renewal_due_date;
}

// The baseline's names lack the ending ".post".
bool may_override(const Req *req, const char *permission)
{
    Str name = str_of(permission);

    return req_has_permission(req, permission) ||
           (str_ends(name, S(".post")) &&
            req_has_permission(req, str_z(str_sub(name, 0, name.len - 5))));
}

Err *err_overridable(const Req *req, Err *err, const char *block, const char *permission)
{
    if (err) {
        err->overridable_block = str_of(block);
        if (!may_override(req, permission)) {
            str_list_add(&err->missing_permissions, str_of(permission));
        }
    }
    return err;
}

Err *override_permission_check(const Req *req, const char *block, const char *permission)
{
    if (may_override(req, permission)) {
        return NULL;
    }
    return err_overridable(
        req,
        err_422(S("INSUFFICIENT_OVERRIDE_PERMISSIONS"), S("Insufficient override permissions")),
        block, permission);
}
