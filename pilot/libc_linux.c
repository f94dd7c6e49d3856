/* pilot/libc_linux.c - replaces functions that a static C library cannot provide: names of hosts
 * and users without NSS.
 *
 * glibc loads plugins (NSS) for hosts and users at run time.  A static program can do that only
 * where the very same glibc is installed, and there nobody needs a static program.  So these
 * functions are written again, as small as the pilot needs them, and the linker prefers ours: hosts
 * are addresses, or come from /etc/hosts or the name servers of /etc/resolv.conf; users come from
 * /etc/passwd.  Loading libraries (OpenSSL's engines) is refused.
 *
 * getaddrinfo() is called on the resolver's threads, so nothing here keeps state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <resolv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

#define ANSWER_BYTES_MAX 4096
#define LINE_BYTES_MAX   1024 /* most bytes of a line, with the terminating zero */
#define NOBODY           65534

/* ---- hosts */

struct found {
    struct addrinfo *first;
    struct addrinfo **end;
    int socktype;
    in_port_t port; /* network order */
};

static void add_address(struct found *found, int family, const void *address)
{
    struct node {
        struct addrinfo info;
        struct sockaddr_storage address;
    } *node = mem_zalloc(sizeof *node);
    node->info.ai_family = family;
    node->info.ai_socktype = found->socktype;
    node->info.ai_addr = (struct sockaddr *)&node->address;
    if (family == AF_INET) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&node->address;
        v4->sin_family = AF_INET;
        v4->sin_port = found->port;
        memcpy(&v4->sin_addr, address, sizeof v4->sin_addr);
        node->info.ai_addrlen = sizeof *v4;
    } else {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&node->address;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = found->port;
        memcpy(&v6->sin6_addr, address, sizeof v6->sin6_addr);
        node->info.ai_addrlen = sizeof *v6;
    }
    *found->end = &node->info;
    found->end = &node->info.ai_next;
}

static bool add_numeric(struct found *found, const char *host)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, host, &address) == 1) {
        add_address(found, AF_INET, &address);
        return true;
    }
    if (inet_pton(AF_INET6, host, &address) == 1) {
        add_address(found, AF_INET6, &address);
        return true;
    }
    return false;
}

/* Returns whether host is one of the names in the line "ADDRESS NAME NAME..."; cuts the address off
 * with a zero byte. */
static bool line_names(char *line, const char *host)
{
    static const char BLANKS[] = " \t\r\n";
    line[strcspn(line, "#")] = '\0';
    size_t length = strcspn(line, BLANKS);
    char *at = line + length;
    while (*at != '\0') {
        *at++ = '\0';
        at += strspn(at, BLANKS);
        length = strcspn(at, BLANKS);
        char after = at[length];
        at[length] = '\0';
        bool same = length > 0 && strcasecmp(at, host) == 0;
        at[length] = after;
        if (same) {
            return true;
        }
        at += length;
    }
    return false;
}

static void add_from_hosts(struct found *found, const char *host)
{
    char line[LINE_BYTES_MAX];
    FILE *file = fopen("/etc/hosts", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (line_names(line, host)) {
            (void)add_numeric(found, line);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Adds addresses from the name servers.  Returns 0, or an EAI_ code when nothing was found. */
static int add_from_dns(struct found *found, const char *host, ns_type type)
{
    unsigned char answer[ANSWER_BYTES_MAX];
    struct __res_state state; /* NOLINT(bugprone-reserved-identifier): its name */
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) {
        return EAI_AGAIN;
    }
    int length = res_nsearch(&state, host, ns_c_in, (int)type, answer, sizeof answer);
    int code = length >= 0 ? 0 : state.res_h_errno == TRY_AGAIN ? EAI_AGAIN : EAI_NONAME;
    res_nclose(&state);
    ns_msg message;
    if (code == 0 && ns_initparse(answer, length < ANSWER_BYTES_MAX ? length : ANSWER_BYTES_MAX,
                                  &message) != 0) {
        code = EAI_FAIL;
    }
    for (int i = 0; code == 0 && i < ns_msg_count(message, ns_s_an); i++) {
        ns_rr record;
        size_t size = type == ns_t_a ? sizeof(struct in_addr) : sizeof(struct in6_addr);
        if (ns_parserr(&message, ns_s_an, i, &record) == 0 && ns_rr_type(record) == type &&
            ns_rr_rdlen(record) == size) {
            add_address(found, type == ns_t_a ? AF_INET : AF_INET6, ns_rr_rdata(record));
        }
    }
    return code;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    struct found found = {.socktype = hints != NULL ? hints->ai_socktype : SOCK_STREAM};
    int64_t port = 0;
    int code = EAI_NONAME;
    found.end = &found.first;
    if (host == NULL || (service != NULL && (text_parse_int64(service, &port, NULL) != 0 ||
                                             port < 0 || port > 65535))) {
        return EAI_NONAME;
    }
    found.port = htons((uint16_t)port);
    if (!add_numeric(&found, host) && (hints == NULL || !(hints->ai_flags & AI_NUMERICHOST))) {
        add_from_hosts(&found, host);
        if (found.first == NULL) {
            code = add_from_dns(&found, host, ns_t_a);
            int code_v6 = add_from_dns(&found, host, ns_t_aaaa);
            code = code == 0 ? code_v6 : code;
        }
    }
    if (found.first == NULL) {
        return code != 0 ? code : EAI_NONAME;
    }
    *ret = found.first;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;
        mem_free(list);
        list = next;
    }
}

/* Writes the address as text, never as a name. */
int getnameinfo(const struct sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                char *service, socklen_t service_size, int flags)
{
    const void *bytes;
    in_port_t port;
    (void)flags;
    if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        bytes = &v4->sin_addr;
        port = v4->sin_port;
    } else if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        bytes = &v6->sin6_addr;
        port = v6->sin6_port;
    } else {
        return EAI_FAMILY;
    }
    if (host != NULL && inet_ntop(address->sa_family, bytes, host, host_size) == NULL) {
        return EAI_OVERFLOW;
    }
    if (service != NULL &&
        (socklen_t)snprintf(service, service_size, "%u", (unsigned)ntohs(port)) >= service_size) {
        return EAI_OVERFLOW;
    }
    return 0;
}

/* Linked libraries refer to this function, but it is never called. */
struct hostent *gethostbyname(const char *name)
{
    (void)name;
    return NULL;
}

struct servent *getservbyname(const char *name, const char *protocol)
{
    (void)name;
    (void)protocol;
    return NULL;
}

struct protoent *getprotobynumber(int number)
{
    (void)number;
    return NULL;
}

/* ---- users */

/* For interfaces that are older than const. */
static char *drop_const(const char *text)
{
    return (char *)(uintptr_t)text;
}

static int find_account(const char *name, uid_t uid, struct passwd *entry, char *room, size_t size,
                        struct passwd **ret)
{
    FILE *file = fopen("/etc/passwd", "re");
    int code = file == NULL ? ENOENT : 0;
    *ret = NULL;
    while (code == 0 && *ret == NULL) {
        struct passwd *read;
        code = fgetpwent_r(file, entry, room, size, &read);
        if (code == 0 && (name != NULL ? strcmp(read->pw_name, name) == 0 : read->pw_uid == uid)) {
            *ret = read;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    /* An initramfs has no accounts, and jobs still must not be root. */
    if (code == ENOENT && name != NULL && strcmp(name, "nobody") == 0) {
        *entry = (struct passwd){.pw_name = drop_const("nobody"),
                                 .pw_passwd = drop_const(""),
                                 .pw_uid = NOBODY,
                                 .pw_gid = NOBODY,
                                 .pw_gecos = drop_const(""),
                                 .pw_dir = drop_const("/"),
                                 .pw_shell = drop_const("/bin/false")};
        *ret = entry;
    }
    return *ret != NULL || code == ENOENT ? 0 : code;
}

int getpwnam_r(const char *name, struct passwd *entry, char *room, size_t size, struct passwd **ret)
{
    return find_account(name, 0, entry, room, size, ret);
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *room, size_t size, struct passwd **ret)
{
    return find_account(NULL, uid, entry, room, size, ret);
}

/* Refers to libconfuse's "~user", which is not used. */
struct passwd *getpwnam(const char *name)
{
    (void)name;
    return NULL;
}

struct passwd *getpwuid(uid_t uid)
{
    (void)uid;
    return NULL;
}

/* ---- libraries */

/* The linker redirects calls of dlopen() to these (CMakeLists.txt), because glibc's own dlopen() is
 * always linked, for iconv, and warns wherever its name is used. */
void *__wrap_dlopen(const char *file, int mode); /* NOLINT(bugprone-reserved-identifier) */

void *__wrap_dlopen(const char *file, int mode)
{
    (void)file;
    (void)mode;
    return NULL;
}

void *dlsym(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

int dlclose(void *handle)
{
    (void)handle;
    return -1;
}

char *dlerror(void)
{
    return drop_const("a static program loads no libraries");
}

int dladdr(const void *address, Dl_info *info)
{
    (void)address;
    (void)info;
    return 0;
}
