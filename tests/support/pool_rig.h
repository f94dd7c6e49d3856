/* tests/support/pool_rig.h - certificates and tokens of a pool "pool" whose security directory is
 * the test's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_POOL_RIG_H
#define TESTS_SUPPORT_POOL_RIG_H

#include "base/pki.h"
#include "tests/support/loop_rig.h"
#include "wire/token.h"

/* Makes the certificate dir/ROLE.pem of the server `name` in this role, and its key
 * dir/ROLE-key.pem, signed by the pool's authority. */
static inline void pool_rig_make_cert(struct os *os, const char *dir, const char *role,
                                      const char *name)
{
    const struct pki_server server = {.role = role, .name = name};
    char cert[LOOP_RIG_PATH_SIZE], key[LOOP_RIG_PATH_SIZE];
    (void)snprintf(cert, sizeof cert, "%s/%s.pem", dir, role);
    (void)snprintf(key, sizeof key, "%s/%s-key.pem", dir, role);
    MUST(pki_make_server_cert(os, dir, cert, key, &server, err));
}

/* Makes the key "k1" in dir/keys, with which the pool signs tokens. */
static inline void pool_rig_make_key(struct loop *loop, struct os *os, const char *dir)
{
    char keys[LOOP_RIG_PATH_SIZE];
    loop_rig_path(dir, "keys", keys);
    MUST(os_mkdirs(os, keys, 0700, err));
    MUST(token_key_make(os, loop, keys, "k1", err));
}

static inline struct token pool_rig_token(struct loop *loop, const char *identity, const char *id,
                                          uint32_t scopes)
{
    struct token token = {.scopes = scopes, .issued_s = loop_wall_s(loop)};
    (void)snprintf(token.identity, sizeof token.identity, "%s", identity);
    (void)snprintf(token.id, sizeof token.id, "%s", id);
    (void)snprintf(token.pool, sizeof token.pool, "pool");
    return token;
}

/* Writes the token, signed with the key "k1", and a new key of its holder into the file dir/name.
 */
static inline void pool_rig_issue(struct loop *loop, struct os *os, const char *dir,
                                  const struct token *token, const char *name)
{
    char key[LOOP_RIG_PATH_SIZE];
    char *text = NULL;
    loop_rig_path(dir, "keys/k1.key", key);
    MUST(token_issue_file(os, loop, key, "k1", token, &text, err));
    loop_rig_write(os, dir, name, text, 0600);
    mem_free(text);
}

#endif
