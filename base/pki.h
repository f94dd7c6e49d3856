/* base/pki.h - the pool's certificate authority: made once by `roost init`.
 *
 * P-256 keys.  The CA signs servers only (collector, schedd), each for its role and name; clients
 * show tokens, not certificates, so a leaked server certificate lets nobody in: it lets its holder
 * play that server until it is replaced, and no other one.  Key files have mode 0600.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_PKI_H
#define BASE_PKI_H

#include <stddef.h>

#define PKI_CA_YEARS     20
#define PKI_SERVER_YEARS 10
#define PKI_CA_CERT      "ca.pem"     /* in the CA's directory */
#define PKI_CA_KEY       "ca-key.pem" /* the same */

struct err;
struct os;

/* Makes dir/ca.pem and dir/ca-key.pem; dir must exist.  -EEXIST when there is a CA already: it is
 * never replaced, for every machine of the pool trusts it. */
int pki_make_ca(struct os *os, const char *dir, const char *pool, struct err *err);

struct pki_server {
    const char *role, *name; /* base/server_role.h; the pool is what the CA's common name says */
    const char *const *sans; /* host names and IP addresses, for other programs; may be none */
    size_t san_count;
};

/* Makes a key and a certificate for a server signed by the CA in ca_dir; replaces what is at the
 * two paths.  cert_path gets the server's certificate alone (clients have the CA).  -ENOENT when
 * there is no CA; -EINVAL for a role or name that there cannot be. */
int pki_make_server_cert(struct os *os, const char *ca_dir, const char *cert_path,
                         const char *key_path, const struct pki_server *server, struct err *err);

#endif
