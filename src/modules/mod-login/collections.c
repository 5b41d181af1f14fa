// Collections of mod-login: credentials, attempts, password actions.
#include "modules/mod-login/collections.h"

#include "modules/mod-login/properties.h"

static const Field unique_user[] = {
    {"user_id", "userId", TEXT | UNIQUE},
    {0},
};

const Collection auth_credentials = {
    .table = "auth_credentials",
    .record = &credentials_record,
    .fields = unique_user,
};

const Collection auth_attempts = {
    .table = "auth_attempts",
    .record = &login_attempts_record,
    .fields = unique_user,
};

static const Field auth_credentials_history_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {"changed_at", "date", TIME | INDEX},
    {0},
};

const Collection auth_credentials_history = {
    .table = "auth_credentials_history",
    .record = &credentials_history_record,
    .fields = auth_credentials_history_fields,
};

static const Field password_actions_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection password_actions = {
    .table = "auth_password_action",
    .record = &password_action_record,
    .fields = password_actions_fields,
};

static const Field login_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {"event_type", "eventType", TEXT | INDEX | COARSE},
    {"happened_at", "timestamp", TIME | INDEX},
    {0},
};

const Collection login_events = {
    .table = "event_logs",
    .path = "/authn/log/events",
    .list_key = "loggingEvent",
    .ops = "LC",
    .permission = "login.event",
    .permissions = {.create = "login.event.collection.post"},
    .record = &login_event_record,
    .fields = login_events_fields,
};

const Collection *const login_collections[] = {
    &auth_credentials, &auth_attempts, &auth_credentials_history,
    &password_actions, &login_events,  NULL,
};
