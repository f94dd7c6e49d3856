/* base/server_role.h - who a server's certificate says that it is.
 *
 * The pool's CA signs the certificates of all its servers, so "signed by the CA" alone would let a
 * submit host's schedd answer in the collector's place, and collect the tokens of everybody who
 * dials it.  Each certificate therefore has one URI among its subject alternative names:
 *
 *     roost://POOL/ROLE/NAME      roost://lab/collector/head, roost://lab/schedd/submit1.lab
 *
 * POOL is the common name of the CA that signed it, ROLE is "collector" or "schedd", NAME is the
 * daemon's Name in ads (for a collector: COLLECTOR_NAME).  Each part is one to SERVER_ROLE_NAME_MAX
 * bytes; letters, digits and "-._~@" stand for themselves, every other byte from 0x20 on but 0x7f
 * is '%' and two upper-case hex digits.  There is one way to write a URI, and any other is refused:
 * no two texts mean the same server, and nothing is normalized.
 *
 * Pure: both bodies of base/stream/stream.h, which refuse a server, and base/pki.h, which makes
 * certificates, stand on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SERVER_ROLE_H
#define BASE_SERVER_ROLE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct strbuf;

#define SERVER_ROLE_COLLECTOR "collector"
#define SERVER_ROLE_SCHEDD    "schedd"
/* A URI that begins with this word, in any case, names a role. */
#define SERVER_ROLE_SCHEME "roost:"
/* most bytes of a POOL or NAME before encoding, without the terminating zero */
#define SERVER_ROLE_NAME_MAX 255

/* The advice at the end of messages to the operator about a certificate that names no role, or the
 * wrong one. */
#define SERVER_ROLE_REMEDY \
    "`roost cert renew` or `roost cert create` on the host of the pool's CA makes the right one"

struct server_role {
    char pool[SERVER_ROLE_NAME_MAX + 1];
    char role[16]; /* as the URI spells it; may be a role that this version does not know */
    char name[SERVER_ROLE_NAME_MAX + 1];
};

/* Returns whether the role is "collector" or "schedd". */
bool server_role_is_known(const char *role);

/* Appends the URI roost://POOL/ROLE/NAME to out.  Returns 0; -EINVAL: a part is empty, too long or
 * has control characters, or the role is not known. */
int server_role_print(const char *pool, const char *role, const char *name, struct strbuf *out,
                      struct err *err);

/* Reads a URI back. uri[0..length) may come from an attacker.  Returns 0; -EINVAL: the URI is not
 * written exactly as server_role_print() writes it. */
int server_role_parse(const char *uri, size_t length, struct server_role *ret, struct err *err);

/* Compares what the certificate of a server says (`shown`) with the pool, role and name that the
 * caller requires. pool or name NULL: any.  Returns 0: they agree; or -EKEYREJECTED, with err such
 * as "the server shows the certificate of schedd 'a' of pool 'p', expected a collector of pool
 * 'p'". */
int server_role_judge(const struct server_role *shown, const char *pool, const char *role,
                      const char *name, struct err *err);

#endif
