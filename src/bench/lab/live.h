// What a run shows while it works: on a terminal a screen with keys (p pause, n note, q stop), else
// a line every ten seconds. Each second its figures go to live.json in the folder of the result,
// for `octavo bench watch` and the page for browsers.
#pragma once

#include "lab.h"

LiveScreen *live_open(Lab *lab);
void live_close(LiveScreen *screen);
void live_phase(LiveScreen *screen, const Cell *cell, const char *phase);
void live_show(LiveScreen *screen, const Cell *cell, LoadNow load, ServerLoad server);
// A line for people, above what is shown.
void live_say(LiveScreen *screen, Str text);
// Between cells: waits while the run is paused.
void live_wait_if_paused(LiveScreen *screen);

// What the run in that folder shows, as JSON; "" if it has not begun. docs/lab.md lists the
// members.
Str live_text(Str folder);
// The same as a line for people.
Str live_line(const Json *now);
