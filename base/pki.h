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

#define PKI_CA_YEARS     20           /* years for which the CA's certificate is valid */
#define PKI_SERVER_YEARS 10           /* years for which a server's certificate is valid */
#define PKI_CA_CERT      "ca.pem"     /* file name of the CA's certificate in the CA's directory */
#define PKI_CA_KEY       "ca-key.pem" /* file name of the CA's private key */

struct err;
struct os;

/* Makes ca.pem and ca-key.pem in dir, which must exist. pool: the CA's common name.
 * Returns 0; -EEXIST: dir has a CA already: a CA is never replaced, because every machine of the
 * pool trusts it; or another -errno: a file could not be written. */
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
 * The file at cert_path contains only the server's certificate; clients have the CA's.  Returns 0;
 * -ENOENT: ca_dir has no CA; -EINVAL: invalid role or name; or another -errno of reading and
 * writing. */
int pki_make_server_cert(struct os *os, const char *ca_dir, const char *cert_path,
                         const char *key_path, const struct pki_server *server, struct err *err);

#endif
