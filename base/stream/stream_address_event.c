/* base/stream/stream_address_event.c - addresses: as text, as socket addresses, and of peers; and
 * the preface.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_event.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

static int parse_port(const char *text, char ret[6])
{
    int64_t port;
    size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length ||
        text_parse_int64(text, &port, NULL) != 0 || port > 65535) {
        return -EINVAL;
    }
    memcpy(ret, text, length + 1);
    return 0;
}

static int parse_tcp(const char *text, struct stream_address *ret)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || parse_port(colon + 1, ret->port) != 0) {
        return -EINVAL;
    }
    size_t length = (size_t)(colon - text);
    if (text[0] == '[') {
        if (length < 3 || text[length - 1] != ']') {
            return -EINVAL;
        }
        text++;
        length -= 2;
    } else if (memchr(text, ':', length) != NULL) {
        return -EINVAL; /* an IPv6 address wants brackets */
    }
    if (length == 0 || length >= STREAM_HOST_MAX) {
        return -EINVAL;
    }
    memcpy(ret->host, text, length);
    ret->host[length] = '\0';
    return 0;
}

int stream_address_parse(const char *text, struct stream_address *ret, struct err *err)
{
    struct stream_address address = {0};
    if (strncmp(text, "tcp:", 4) == 0) {
        address.kind = STREAM_TCP;
        if (parse_tcp(text + 4, &address) != 0) {
            return err_set(err, -EINVAL, "'%s' is not an address such as tcp:HOST:PORT", text);
        }
    } else if (strncmp(text, "unix:", 5) == 0 && text[5] != '\0') {
        address.kind = STREAM_UNIX;
        address.path = text + 5;
    } else if (strncmp(text, "pass:", 5) == 0 && text[5] != '\0') {
        address.kind = STREAM_PASS;
        address.path = text + 5;
    } else {
        return err_set(err, -EINVAL, "'%s' is not an address such as tcp:HOST:PORT or unix:PATH",
                       text);
    }
    *ret = address;
    return 0;
}

/* Opens the directory of the path; that part is "" or "dir/", before `name`. */
static int open_directory(const char *path, const char *name)
{
    if (name == path) {
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    char *directory = mem_strndup(path, (size_t)(name - path));
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = errno;
    mem_free(directory);
    errno = error;
    return fd;
}

int stream_unix_address(const char *path, struct sockaddr_un *ret, socklen_t *length,
                        int *directory_fd, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t path_length = strlen(path);
    int fd = -1;
    if (path_length < sizeof(address.sun_path)) {
        memcpy(address.sun_path, path, path_length);
    } else {
        const char *slash = strrchr(path, '/');
        const char *name = slash != NULL ? slash + 1 : path;
        fd = open_directory(path, name);
        if (fd < 0) {
            return err_set(err, -errno, "%s: %s", path, strerror(errno));
        }
        int printed =
            snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", fd, name);
        if (printed < 0 || (size_t)printed >= sizeof(address.sun_path)) {
            close(fd);
            return err_set(err, -ENAMETOOLONG, "%s: the path is too long for a socket", path);
        }
    }
    *ret = address;
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address.sun_path) + 1);
    *directory_fd = fd;
    return 0;
}

void stream_tune_tcp(int fd)
{
    int on = 1;
    /* Neither can fail on a TCP socket that is not yet broken; a broken one shows itself soon. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

/* IPv4 in IPv6 ("::ffff:192.0.2.7") is shown as IPv4. */
static void print_tcp(struct sockaddr_storage *address, socklen_t length, char ret[STREAM_PEER_MAX])
{
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    if (address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = v6->sin6_port};
        memcpy(&v4.sin_addr, &v6->sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
        memcpy(address, &v4, sizeof(v4));
        length = sizeof(v4);
    }
    char host[STREAM_HOST_MAX], port[32];
    if (getnameinfo((struct sockaddr *)address, length, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        (void)snprintf(ret, STREAM_PEER_MAX, "tcp:unknown");
        return;
    }
    bool v6_text = strchr(host, ':') != NULL;
    (void)snprintf(ret, STREAM_PEER_MAX, "tcp:%s%s%s:%s", v6_text ? "[" : "", host,
                   v6_text ? "]" : "", port);
}

void stream_peer_of_tcp(int fd, char ret[STREAM_PEER_MAX])
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0) {
        (void)snprintf(ret, STREAM_PEER_MAX, "tcp:unknown");
        return;
    }
    print_tcp(&address, length, ret);
}

void stream_own_tcp(int fd, char ret[STREAM_PEER_MAX])
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        (void)snprintf(ret, STREAM_PEER_MAX, "tcp:unknown");
        return;
    }
    print_tcp(&address, length, ret);
}

void stream_peer_of_unix(int fd, const char *path, char ret[STREAM_PEER_MAX],
                         struct stream_credentials *credentials)
{
    struct sockaddr_un address;
    socklen_t length = sizeof(address);
    char own[sizeof(address.sun_path) + 1] = "";
    struct ucred peer;
    socklen_t peer_length = sizeof(peer);
    if (path == NULL && getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
        length > offsetof(struct sockaddr_un, sun_path)) {
        memcpy(own, address.sun_path, length - offsetof(struct sockaddr_un, sun_path));
    }
    if (path == NULL) {
        path = own;
    }
    *credentials = (struct stream_credentials){0};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_length) == 0) {
        *credentials = (struct stream_credentials){true, peer.uid, peer.pid};
        (void)snprintf(ret, STREAM_PEER_MAX, "unix:%.400s (uid %u)", path, (unsigned)peer.uid);
    } else {
        (void)snprintf(ret, STREAM_PEER_MAX, "unix:%.400s", path);
    }
}

bool stream_route_is_good(const char *route)
{
    size_t length = 0;
    for (; route[length] != '\0'; length++) {
        if (route[length] <= ' ' || route[length] > '~') {
            return false;
        }
    }
    return length >= 1 && length <= STREAM_ROUTE_MAX;
}

bool stream_preface_parse(const char *line, size_t length, char route[STREAM_ROUTE_MAX + 1])
{
    size_t word = sizeof(STREAM_PREFACE_WORD) - 1;
    if (length <= word || length - word > STREAM_ROUTE_MAX ||
        memcmp(line, STREAM_PREFACE_WORD, word) != 0) {
        return false;
    }
    memcpy(route, line + word, length - word);
    route[length - word] = '\0';
    return strlen(route) == length - word && stream_route_is_good(route);
}

int stream_connect_check(const char *address, const char *route, const struct stream_trust *trust,
                         struct stream_address *parsed, struct err *err)
{
    int code = stream_address_parse(address, parsed, err);
    if (code != 0) {
        return code;
    }
    if (parsed->kind == STREAM_PASS || (parsed->kind == STREAM_TCP && parsed->host[0] == '*')) {
        return err_set(err, -EINVAL, "'%s' is an address to listen on, not to connect to", address);
    }
    if (!stream_route_is_good(route)) {
        return err_set(err, -EINVAL,
                       "'%s' is not a route: expected 1 to %d characters without blanks", route,
                       STREAM_ROUTE_MAX);
    }
    if (parsed->kind == STREAM_TCP &&
        (trust == NULL || (trust->ca_file == NULL) == (trust->pin == NULL))) {
        return err_set(err, -EINVAL,
                       "%s: expected a CA file or a pin (fingerprint of the server's certificate), "
                       "one of the two",
                       address);
    }
    return 0;
}
