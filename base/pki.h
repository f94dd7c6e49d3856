/* base/pki.h - the pool's certificate authority (CA), made once by `roost init`.
 *
 * Keys are P-256.  The CA signs only servers (collector, schedd), each certificate for one role and
 * name; clients show tokens, not certificates.  So a leaked server certificate gives nobody access:
 * its holder can only pretend to be that one server until the certificate is replaced.  Key files
 * have mode 0600.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_PKI_H
#define BASE_PKI_H

#include <stddef.h>

#define PKI_CA_YEARS     20 /* how long certificates are valid, years: of the CA, of a server */
#define PKI_SERVER_YEARS 10
#define PKI_CA_CERT      "ca.pem" /* file names in the CA's directory: certificate, private key */
#define PKI_CA_KEY       "ca-key.pem"

struct err;
struct os;

/* Makes ca.pem and ca-key.pem in dir, which must exist. pool: the CA's common name.  -EEXIST when
 * dir has a CA already: a CA is never replaced, because every machine of the pool trusts it.  Other
 * -errno: a file could not be written. */
int pki_make_ca(struct os *os, const char *dir, const char *pool, struct err *err);

struct pki_server {
    /* What the certificate says of the server: its role ("collector", "schedd") and name
     * (base/server_role.h).  The pool's name comes from the CA's common name. */
    const char *role, *name;
    /* Host names and IP addresses to put into the certificate, for programs that check them; may
     * be NULL. */
    const char *const *sans;
    size_t san_count;
};

/* Makes a key and a certificate signed by the CA in ca_dir, replacing the files at the two paths.
 * The file at cert_path contains only the server's certificate; clients have the CA's.  -ENOENT:
 * ca_dir has no CA; -EINVAL: invalid role or name; or another -errno of reading and writing. */
int pki_make_server_cert(struct os *os, const char *ca_dir, const char *cert_path,
                         const char *key_path, const struct pki_server *server, struct err *err);

#endif
