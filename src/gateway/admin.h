// The listeners beside the gateway: operation without login (admin) and the edge interfaces.
#pragma once

#include "gateway/gateway.h"

// Health, metrics and /octavo/ops/. Source: spec/native-api.md 1, 2. `app` is the App.
void admin_handle(Req *req, void *app);
// Edge interfaces; /admin/health answers "OK" with the quotes (decision 19).
void edge_handle(Req *req, void *app);
