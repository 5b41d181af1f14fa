// The listening socket of a server. Only for src/http.
#pragma once

#include "base/err.h"

#include <sys/socket.h>

// "127.0.0.1:9130", "[::1]:9130", "localhost:9130"; ":9130" = every address of both families.
// Errors: 500 text naming the address.
WARN_UNUSED Err *listen_open(Str address, int *fd);
int listen_port(int fd);
enum {
    ADDRESS_TEXT_MAX = 46,
};
// The address without its port, NUL-terminated; `is_local`: of this machine.
void address_text(const struct sockaddr *address, char to[ADDRESS_TEXT_MAX], bool *is_local);
