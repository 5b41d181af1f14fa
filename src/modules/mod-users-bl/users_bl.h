// mod-users-bl: users with everything that belongs to them, logging in with it.
// FOLIO: interface users-bl 6.1. Source: spec/platform.md 2.4.
#pragma once

#include "octavo.h"

extern const Module mod_users_bl;
