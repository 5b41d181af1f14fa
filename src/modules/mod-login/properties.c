// Shapes of the records of mod-login.
#include "modules/mod-login/properties.h"

// `scheme` names algorithm and rounds of the hash; absent: FOLIO's own (PBKDF2-HMAC-SHA1, 1,000).
static const Property credentials[] = {
    {"id", ID},
    {"userId", STRING},
    {"hash", STRING},
    {"salt", STRING},
    {"metadata", METADATA},
    {"scheme", STRING},
    {0},
};

const RecordType credentials_record = {"Credentials", .open = true, .properties = credentials};

static const Property login_attempts[] = {
    {"id", ID},
    {"userId", STRING},
    {"lastAttempt", DATE_TIME},
    {"attemptCount", INTEGER},
    {"metadata", METADATA},
    {0},
};

const RecordType login_attempts_record = {"LoginAttempts", .open = true,
                                          .properties = login_attempts};

static const Property credentials_history[] = {
    {"id", ID},          {"userId", STRING},     {"hash", STRING},   {"salt", STRING},
    {"date", DATE_TIME}, {"metadata", METADATA}, {"scheme", STRING}, {0},
};

const RecordType credentials_history_record = {"CredentialsHistory", .open = true,
                                               .properties = credentials_history};

static const Property password_action[] = {
    {"id", ID, REQUIRED},
    {"userId", STRING, REQUIRED},
    {"expirationTime", DATE_TIME, REQUIRED},
    {0},
};

const RecordType password_action_record = {"PasswordCreate", .properties = password_action};

static const char *const event_types[] = {"PASSWORD_RESET",
                                          "PASSWORD_CREATE",
                                          "PASSWORD_CHANGE",
                                          "SUCCESSFUL_LOGIN_ATTEMPT",
                                          "FAILED_LOGIN_ATTEMPT",
                                          "USER_BLOCK",
                                          NULL};

static const Property login_event[] = {
    {"id", ID},
    {"eventType", STRING, REQUIRED, .one_of = event_types},
    {"tenant", STRING, REQUIRED},
    {"userId", STRING, REQUIRED},
    {"ip", STRING},
    {"browserInformation", STRING},
    {"timestamp", DATE_TIME},
    {"metadata", METADATA},
    {0},
};

const RecordType login_event_record = {"LogEvent", .open = true, .properties = login_event};
