/* cli/token/token_ledger.c - see token_ledger.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/token/token_ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/token.h"
#include "wire/verbs.h"

int token_ledger_read(struct os *os, const char *path, struct vec *ret, struct err *err)
{
    char *text;
    size_t length;
    struct vec ads = {0};
    int rc = os_read_file(os, path, TOKEN_LEDGER_BYTES_MAX, &text, &length, err);
    if (rc == -ENOENT) {
        return 0;
    }
    if (rc != 0) {
        return rc;
    }
    unsigned line = 1;
    for (const char *at = text; *at != '\0' && rc == 0; line++) {
        size_t width = strcspn(at, "\n");
        struct ad *ad;
        if (width > 0) {
            rc = ad_parse(at, width, &ad, err);
            rc = rc != 0 ? err_prefix(err, rc, "%s:%u", path, line) : 0;
        }
        if (width > 0 && rc == 0) {
            vec_push(&ads, ad);
        }
        at += width + (at[width] == '\n' ? 1 : 0);
    }
    mem_free(text);
    if (rc != 0) {
        vec_fini(&ads, ad_destroy_item);
        return rc;
    }
    *ret = ads;
    return 0;
}

static int write_all(struct os *os, const char *path, const struct vec *ads, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, TOKEN_LEDGER_BYTES_MAX);
    for (size_t i = 0; i < ads->count; i++) {
        ad_print(ads->items[i], &text);
        strbuf_putc(&text, '\n');
    }
    int rc = text.failed
                 ? err_set(err, -EFBIG, "%s is full", path)
                 : os_write_file(os, path, strbuf_text(&text), text.length, 0600, true, err);
    strbuf_fini(&text);
    return rc;
}

/* Locks the ledger.  If another `roost token` holds the lock, -EAGAIN with its process id in
 * err. */
static int lock_ledger(struct os *os, const char *path, struct os_lock **ret, struct err *err)
{
    char file[4200];
    pid_t holder;
    (void)snprintf(file, sizeof file, "%s.lock", path);
    int rc = os_lock(os, file, ret, &holder, err);
    return rc == -EAGAIN ? err_set(err, rc, "%s: process %d is writing the file; try again", path,
                                   (int)holder)
                         : rc;
}

static struct ad *entry_ad(const struct token_entry *entry)
{
    const struct token *token = entry->token;
    const struct token_origin *origin = &entry->origin;
    char scopes[128];
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Token");
    ad_set_string(ad, "Id", token->id);
    ad_set_string(ad, "Identity", token->identity);
    ad_set_string(ad, "Scopes", scope_names(token->scopes, scopes, sizeof scopes));
    ad_set_string(ad, "Pattern", token->pattern);
    if (token->uid_domain[0] != '\0') {
        ad_set_string(ad, "UidDomain", token->uid_domain);
    }
    if (token->owners[0] != '\0') {
        ad_set_string(ad, "Owners", token->owners);
    }
    ad_set_int(ad, "Issued", token->issued_s);
    ad_set_int(ad, "Expires", token->expires_s);
    ad_set_bool(ad, "Revoked", false);
    if (origin->file != NULL) {
        ad_set_string(ad, "File", origin->file);
    }
    if (origin->fingerprint != NULL) {
        ad_set_string(ad, "Fingerprint", origin->fingerprint);
    }
    return ad;
}

int token_ledger_add_all(struct os *os, const char *path, const struct token_entry *entries,
                         size_t count, struct err *err)
{
    struct vec ads = {0};
    struct os_lock *held;
    int rc = lock_ledger(os, path, &held, err);
    if (rc != 0) {
        return rc;
    }
    rc = token_ledger_read(os, path, &ads, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        vec_push(&ads, entry_ad(&entries[i]));
    }
    rc = rc != 0 ? rc : write_all(os, path, &ads, err);
    vec_fini(&ads, ad_destroy_item);
    os_unlock(held);
    return rc;
}

int token_ledger_add(struct os *os, const char *path, const struct token *token,
                     const struct token_origin *origin, struct err *err)
{
    const struct token_entry entry = {.token = token, .origin = *origin};
    return token_ledger_add_all(os, path, &entry, 1, err);
}

int token_ledger_revoke(struct os *os, const char *path, const char *id, int64_t now_s,
                        struct err *err)
{
    struct vec ads = {0};
    struct os_lock *held;
    bool found = false;
    int rc = lock_ledger(os, path, &held, err);
    if (rc != 0) {
        return rc;
    }
    rc = token_ledger_read(os, path, &ads, err);
    for (size_t i = 0; i < ads.count; i++) {
        struct ad *ad = ads.items[i];
        if (strcmp(ad_string_or(ad, "Id", ""), id) == 0) {
            found = true;
            if (!ad_bool_or(ad, "Revoked", false)) {
                ad_set_bool(ad, "Revoked", true);
                ad_set_int(ad, "RevokedTime", now_s);
            }
        }
    }
    if (rc == 0) {
        rc = found ? write_all(os, path, &ads, err)
                   : err_set(err, -ENOENT, "%s: token %s was not made here", path, id);
    }
    vec_fini(&ads, ad_destroy_item);
    os_unlock(held);
    return rc;
}
