// Notices that an event sends at once. There is no mail module yet: what would be sent is counted
// in the log and dropped, so that no circulation call fails for it (spec/decisions.md 62). Source:
// spec/circulation.md 13.1.
#include "modules/mod-circulation/notices.h"

static int count_of_event(const Json *notices, const char *event)
{
    int count = 0;

    JSON_EACH(notice, notices)
    {
        count += str_eq_z(json_str(notice, "sendOptions.sendWhen"), event);
    }
    return count;
}

Err *notices_send(Tx *tx, const NoticeParts *parts, const char *event)
{
    const Json *policy = NULL;

    TRY(notice_policy_find(tx, parts, &policy));
    int count = count_of_event(json_get(policy, "loanNotices"), event) +
                count_of_event(json_get(policy, "requestNotices"), event);
    if (count) {
        log_line(LOG_DEBUG, "mod-circulation", "%d notices of \"%s\" not sent: no mail module",
                 count, event);
    }
    return NULL;
}
