// The list of modules: one line each.
#include "octavo.h"

#include "modules/mod-authtoken/sessions.h"
#include "modules/mod-calendar/calendar.h"
#include "modules/mod-circulation-storage/circulation_storage.h"
#include "modules/mod-circulation/circulation.h"
#include "modules/mod-configuration/configuration.h"
#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/mod-inventory/inventory.h"
#include "modules/mod-login/login.h"
#include "modules/mod-notes/notes.h"
#include "modules/mod-patron-blocks/patron_blocks.h"
#include "modules/mod-permissions/permissions.h"
#include "modules/mod-pubsub/pubsub.h"
#include "modules/mod-settings/settings.h"
#include "modules/mod-tags/tags.h"
#include "modules/mod-users-bl/users_bl.h"
#include "modules/mod-users/users.h"
#include "modules/octavo/native.h"

const Module *const all_modules[] = {
    &mod_authtoken,
    &mod_calendar,
    &mod_circulation_storage,
    &mod_circulation,
    &mod_configuration,
    &mod_feesfines,
    &mod_inventory,
    &mod_inventory_storage,
    &mod_login,
    &mod_notes,
    &mod_patron_blocks,
    &mod_permissions,
    &mod_pubsub,
    &mod_settings,
    &mod_tags,
    &mod_users,
    &mod_users_bl,
    &octavo_module, // last: its empty lists give way to real ones
    NULL,
};
