// Listening sockets and addresses as text.
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum {
    BACKLOG = 1024,
};

static int socket_open(const struct addrinfo *info, bool both_families)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    int only_v6 = !both_families;

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (info->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
    }
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
        return fd;
    }
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

// Splits at the last colon; an IPv6 address stands in brackets.
static bool address_split(Str address, Str *host, Str *port)
{
    for (size_t i = address.len; i-- > 0;) {
        if (address.at[i] == ':') {
            *host = str_sub(address, 0, i);
            *port = str_sub(address, i + 1, address.len);
            if (host->len >= 2 && host->at[0] == '[' && host->at[host->len - 1] == ']') {
                *host = str_sub(*host, 1, host->len - 1);
            }
            // The system would cut a larger number to sixteen bits.
            int64_t number = 0;
            return !str_int64(*port, &number) ? port->len > 0 : number >= 0 && number <= UINT16_MAX;
        }
    }
    return false;
}

Err *listen_open(Str address, int *fd)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    Str host, port;

    if (!address_split(address, &host, &port)) {
        return err_text(500, "'" STR_FMT "' is no address to listen at: host:port",
                        STR_ARG(address));
    }
    // Without a host the IPv6 socket serves both families; where there is no IPv6, the other one.
    bool is_any = !host.len;
    int failed = 1;
    if (is_any) {
        wanted.ai_family = AF_INET6;
        failed = getaddrinfo(NULL, str_z(port), &wanted, &list);
        *fd = failed ? -1 : socket_open(list, true);
        if (*fd < 0 && !failed) {
            freeaddrinfo(list);
            failed = 1;
        }
        wanted.ai_family = AF_INET;
    }
    if (failed) {
        failed = getaddrinfo(is_any ? NULL : str_z(host), str_z(port), &wanted, &list);
        *fd = failed ? -1 : socket_open(list, false);
    }
    if (!failed) {
        freeaddrinfo(list);
    }
    if (*fd < 0) {
        return err_text(500, "Cannot listen at " STR_FMT ": %s", STR_ARG(address),
                        failed ? gai_strerror(failed) : strerror(errno));
    }
    return NULL;
}

int listen_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &len)) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

static void text_v4(const void *bytes, char *to, bool *is_local)
{
    *is_local = *(const unsigned char *)bytes == 127;
    inet_ntop(AF_INET, bytes, to, ADDRESS_TEXT_MAX);
}

void address_text(const struct sockaddr *address, char to[ADDRESS_TEXT_MAX], bool *is_local)
{
    *is_local = false;
    to[0] = 0;
    if (address && address->sa_family == AF_INET) {
        text_v4(&((const struct sockaddr_in *)address)->sin_addr, to, is_local);
    } else if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(v6)) {
            text_v4(&v6->s6_addr[12], to, is_local);
            return;
        }
        *is_local = IN6_IS_ADDR_LOOPBACK(v6);
        inet_ntop(AF_INET6, v6, to, ADDRESS_TEXT_MAX);
    }
}
