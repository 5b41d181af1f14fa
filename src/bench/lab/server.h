// The server under test as a child process: this program with the options of a configuration.
#pragma once

#include "bench/result.h"

#include <sys/types.h>

typedef struct {
    Str data; // folder of its databases
    const Configuration *configuration;
    StrList options; // further ones: "--name=value"
    Str cpuset;      // "0-3,6"; empty = all
    Str memory_limit;
    Str log; // file for what it writes to the error output
} ServerSpec;

typedef struct {
    bool is_there; // until it was stopped, even if it died before
    pid_t pid;     // 0: it has ended
    int output;
    Str url, edge_url, admin_url; // empty: that listener is off
    Str cgroup;                   // that holds it to its memory limit; empty: none
    Str log;
    Time started_at;
    int status; // of waitpid, when it has ended
} Server;

// Starts it and waits until it is ready. Errors: it ended, with its last words; not ready in time.
WARN_UNUSED Err *server_start(const ServerSpec *spec, Server *out);
// False when the process has ended by itself: then `status` says how.
bool server_is_alive(Server *server);
// "ended with code 3", "was killed by signal 9 (Killed)".
Str server_end_text(const Server *server);
// In order; by force if it does not end by itself in time. An error if it ended in any other way.
WARN_UNUSED Err *server_stop(Server *server);

// Runs this program with the words as a child, its output in a file. The exit code; -1: it could
// not be run or was killed.
int program_run(const StrList *words, Str output);
