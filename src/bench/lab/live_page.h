// A page for browsers that shows a run at work: what live.c leaves in the folder of the result,
// pushed once it changes.
#pragma once

#include "base/err.h"

typedef struct LivePage LivePage;

// At "127.0.0.1:9140"; port 0 = any free one. GET / is the page, GET /events its figures.
WARN_UNUSED Err *live_page_start(Str listen, Str folder, LivePage **out);
int live_page_port(const LivePage *page);
void live_page_stop(LivePage *page);
