// Shapes of the records of mod-permissions.
#include "modules/mod-permissions/properties.h"

static const Property permission[] = {
    {"permissionName", STRING},
    {"displayName", STRING},
    {"id", ID},
    {"description", STRING},
    {"tags", STRING, ARRAY},
    {"subPermissions", ANY, ARRAY},
    {"childOf", ANY, ARRAY},
    {"grantedTo", ANY, ARRAY},
    {"mutable", BOOLEAN},
    {"visible", BOOLEAN},
    {"dummy", BOOLEAN},
    {"deprecated", BOOLEAN, .fallback = "false"},
    {"moduleName", STRING}, // of clients' records removed by the handlers
    {"moduleVersion", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType permission_record = {"Permission", .properties = permission};

static const Property permission_user[] = {
    {"id", ID},
    {"userId", STRING, REQUIRED},
    {"permissions", STRING, ARRAY},
    {"metadata", METADATA},
    {0},
};

const RecordType permission_user_record = {"PermissionUser", .properties = permission_user};
