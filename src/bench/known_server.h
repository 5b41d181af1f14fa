// A server whose times are known: what the load driver, and its peers, are measured against.
//
//   GET /       answers at once
//   GET /delay  answers after a drawn delay: log-normal around 20 ms, two in a hundred 100 to
//               300 ms more; the draws repeat from start to start
//   GET /times  the times that /delay took by the server's own clock, from a request's arrival to
//               its answer, as JSON; then they are forgotten
#pragma once

#include <stdnoreturn.h>

// Until the process is killed. `ready` is told the port once connections are taken; port 0 = any
// free one of this machine. Exit code 1 if it cannot be had.
noreturn void known_server_run(int port, void (*ready)(int port, void *context), void *context);
