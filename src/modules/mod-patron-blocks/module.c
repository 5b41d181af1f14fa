// mod-patron-blocks: conditions and limits, and what they block.
// FOLIO: mod-patron-blocks 1.10. Source: spec/fees-fines.md 6.
#include "modules/mod-patron-blocks/blocks.h"

#define HANDLERS "/automated-patron-blocks/handlers/"

static const Collection *const conditions[] = {&patron_block_conditions, NULL};
static const Collection *const limits[] = {&patron_block_limits, NULL};

static const Route block_routes[] = {
    {GET, "/automated-patron-blocks/{userId}", READ, automated_blocks_get,
     .permission = "automated-patron-blocks.collection.get",
     .later_permission = "patron-blocks.automated-patron-blocks.collection.get"},
    {0},
};

static const Route summary_routes[] = {
    {GET, "/user-summary/{userId}", READ, user_summary_get, .permission = "user-summary.item.get",
     .later_permission = "patron-blocks.user-summary.item.get"},
    {0},
};

#define EVENT(name)                                                                                \
    {                                                                                              \
        POST, HANDLERS name, NONE, block_event_take,                                               \
            .permission = "pubsub.events.post",                                                    \
            .later_permission = "patron-blocks.handlers." name ".post"                             \
    }

static const Route event_routes[] = {
    EVENT("fee-fine-balance-changed"),
    EVENT("item-aged-to-lost"),
    EVENT("item-checked-in"),
    EVENT("item-checked-out"),
    EVENT("item-claimed-returned"),
    EVENT("item-declared-lost"),
    EVENT("loan-closed"),
    EVENT("loan-due-date-changed"),
    {POST, "/automated-patron-blocks/synchronization/job", WRITE, block_sync_job_create,
     .permission = "patron-blocks.synchronization.job.post"},
    {GET, "/automated-patron-blocks/synchronization/job/{syncJobId}", READ, block_sync_job_get,
     .permission = "patron-blocks.synchronization.job.get"},
    {0},
};

static const Interface provides[] = {
    {"automated-patron-blocks", "0.1", .routes = block_routes},
    {"patron-block-conditions", "0.1", .collections = conditions},
    {"patron-block-limits", "0.1", .collections = limits},
    {"patron-blocks-event-handlers", "1.1", .routes = event_routes},
    {"user-summary", "0.1", .routes = summary_routes},
    {0},
};

static const char *const requires[] = {"pubsub-event-types 0.1", "pubsub-publishers 0.1",
                                       "pubsub-subscribers 0.1", "loan-storage 7.0",
                                       "users 15.1 16.0",        NULL};

const Module mod_patron_blocks = {
    .name = "mod-patron-blocks",
    .version = "1.10.0",
    .provides = provides,
    .requires = requires,
    .collections = patron_blocks_collections,
};
