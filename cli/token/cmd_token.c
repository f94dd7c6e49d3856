/* cli/token/cmd_token.c - `roost token create|list|revoke`, and its other verbs: request and accept
 * (token_holder.c), key (token_signing_key.c).
 *
 * Making a token needs only the private signing key; the pool need not run.  Revoking tells the
 * collector, which tells every daemon that verifies tokens.
 *
 * A holder that can make its own key (a laptop, an execute machine) uses `request` there, `create
 * --request` here (token_grant.c) and `accept` there; so its private key never travels.  `create`
 * without a request makes the key here, for holders that cannot make one: nobody can compare
 * fingerprints with a thousand glideins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/token/cmd_token.h"
#include "cli/listing.h"
#include "cli/token/token_ledger.h"
#include "cli/token/token_parts.h"
#include "cli/token/token_show_plan.h"
#include "wire/pool_public.h"
#include "wire/revocations.h"
#include "wire/token.h"
#include "wire/wire.h"

/* ---- create */

static int read_expires(struct cli *cli, const char *text, int64_t now_s, int64_t *ret)
{
    int64_t seconds;
    struct err err;
    if (strcmp(text, "never") == 0) {
        *ret = 0;
        return CLI_OK;
    }
    if (text_parse_duration_s(text, &seconds, &err) != 0) {
        return cli_usage(cli, "--expires: %s; expected a time such as 90d or 12h, or never",
                         err.text);
    }
    *ret = now_s + seconds;
    return CLI_OK;
}

struct create {
    struct token token;
    struct token_grant grant; /* settings of `create --request` */
    const char *file;
    bool bundle;
    char uid_domain[256], owners[256]; /* values of the options; "": not given */
};

/* Checks the options that only go together with --request, and those that do not go with it. */
static int check_create(struct cli *cli, struct create *create)
{
    struct token_grant *grant = &create->grant;
    struct token *token = &create->token;
    if (grant->request == NULL && (grant->fingerprint != NULL || grant->collector != NULL)) {
        return cli_usage(cli, "--fingerprint and --collector need --request");
    }
    if (grant->request == NULL) {
        struct err err = {""};
        return token->identity[0] == '\0' ? cli_usage(cli, "--identity is missing")
               : token_name_accounts(cli, create->uid_domain, create->owners, token, &err) != 0
                   ? cli_usage(cli, "%s", err.text)
                   : CLI_OK;
    }
    if (create->bundle) {
        return cli_usage(cli,
                         "--bundle does not go with --request: the answer contains the pool's CA "
                         "and keys already; `roost token accept --bundle` makes a bundle of it");
    }
    grant->file = create->file;
    grant->uid_domain = create->uid_domain;
    grant->owners = create->owners;
    grant->said.slots = token->slots;
    (void)snprintf(grant->said.identity, sizeof grant->said.identity, "%s", token->identity);
    (void)snprintf(grant->said.pattern, sizeof grant->said.pattern, "%s", token->pattern);
    return CLI_OK;
}

static int parse_create(struct cli *cli, struct create *create)
{
    int64_t now_s = loop_wall_s(cli->loop);
    struct token *token = &create->token;
    struct token_grant *grant = &create->grant;
    *create = (struct create){.token = {.scopes = TOKEN_DEFAULT_SCOPES,
                                        .issued_s = now_s,
                                        .expires_s = now_s + (int64_t)TOKEN_DEFAULT_DAYS * 86400}};
    for (int i = 2; i < cli->argc; i += 2) {
        const char *arg = cli->argv[i];
        if (arg[0] == '-' && listing_is(arg, "bundle", 1)) {
            create->bundle = true;
            i--; /* it has no argument */
            continue;
        }
        const char *next = i + 1 < cli->argc ? cli->argv[i + 1] : NULL;
        int status;
        if (arg[0] != '-') {
            return cli_unknown(cli, arg);
        }
        if (next == NULL) {
            return cli_usage(cli, "%s needs an argument", arg);
        }
        if (listing_is(arg, "identity", 1)) {
            status = token_read_text(cli, arg, next, token->identity, sizeof token->identity);
        } else if (listing_is(arg, "scope", 1) || listing_is(arg, "scopes", 6)) {
            status = token_read_scopes(cli, next, &token->scopes);
            grant->said.scopes = token->scopes;
        } else if (listing_is(arg, "expires", 1)) {
            status = read_expires(cli, next, now_s, &token->expires_s);
            grant->said.says_lifetime = true;
            grant->said.lifetime_s = token->expires_s == 0 ? 0 : token->expires_s - now_s;
        } else if (listing_is(arg, "name-pattern", 1)) {
            status = token_read_text(cli, arg, next, token->pattern, sizeof token->pattern);
        } else if (listing_is(arg, "uid-domain", 1)) {
            status = token_read_text(cli, arg, next, create->uid_domain, sizeof create->uid_domain);
        } else if (listing_is(arg, "owners", 1)) {
            status = token_read_text(cli, arg, next, create->owners, sizeof create->owners);
        } else if (listing_is(arg, "slots", 2)) {
            status = token_read_slots(cli, next, &token->slots);
        } else if (listing_is(arg, "request", 1)) {
            grant->request = next;
            status = CLI_OK;
        } else if (listing_is(arg, "fingerprint", 3)) {
            grant->fingerprint = next;
            status = CLI_OK;
        } else if (listing_is(arg, "collector", 1)) {
            grant->collector = next;
            status = CLI_OK;
        } else if (listing_is(arg, "file", 1)) {
            create->file = next;
            status = CLI_OK;
        } else {
            status = cli_unknown(cli, arg);
        }
        if (status != CLI_OK) {
            return status;
        }
    }
    return check_create(cli, create);
}

static int deliver_token(struct cli *cli, const char *text, const char *file, bool bundle,
                         struct err *err)
{
    struct strbuf line;
    strbuf_init(&line, 0);
    strbuf_puts(&line, text);
    int rc = bundle ? pool_public_append(cli->os, cli->config, &line, err) : 0;
    if (rc == 0 && file == NULL) {
        (void)printf("%s", strbuf_text(&line)); /* main() looks at the end of stdout */
    } else if (rc == 0) {
        rc = os_write_file(cli->os, file, strbuf_text(&line), line.length, 0600, true, err);
    }
    strbuf_fini(&line);
    return rc;
}

static int token_create(struct cli *cli)
{
    struct create create;
    struct token *token = &create.token;
    struct err err;
    char key[4200], *text = NULL;
    if (cli_config(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    const char *domain = config_string(cli->config, "UID_DOMAIN");
    int status = parse_create(cli, &create);
    if (status != CLI_OK || create.grant.request != NULL) {
        return status != CLI_OK ? status : token_grant_request(cli, &create.grant);
    }
    if (strchr(token->identity, '@') == NULL &&
        strlen(token->identity) + 1 + strlen(domain) < sizeof token->identity) {
        (void)snprintf(token->identity + strlen(token->identity),
                       sizeof token->identity - strlen(token->identity), "@%s", domain);
    }
    token_of_this_pool(cli, token);
    token_signing_key(cli, key, sizeof key);
    int rc = token_issue_file(cli->os, cli->loop, key, config_string(cli->config, "TOKEN_KEY"),
                              token, &text, &err);
    /* Noted first: a token that exists can be found and revoked. */
    rc = rc != 0 ? rc
                 : token_ledger_add(cli->os, config_path(cli->config, "TOKEN_LEDGER"), token,
                                    &(struct token_origin){.file = create.file}, &err);
    rc = rc != 0 ? rc : deliver_token(cli, text, create.file, create.bundle, &err);
    secret_free(text);
    return rc != 0 ? cli_fail(cli, "%s", err.text) : CLI_OK;
}

/* ---- list */

static int token_list(struct cli *cli)
{
    struct listing listing = {0};
    struct vec ads = {0};
    struct err err;
    int status = CLI_OK;
    for (int i = 2; i < cli->argc && status == CLI_OK; i++) {
        const char *arg = cli->argv[i];
        int rc = listing_plan_option(&listing, cli->argc, cli->argv, &i, &listing_zone, &err);
        if (rc != 1) {
            status = rc < 0 ? cli_usage(cli, "%s", err.text) : cli_unknown(cli, arg);
        }
    }
    if (status == CLI_OK) {
        int rc = cli_config(cli, &err);
        rc = rc != 0
                 ? rc
                 : token_ledger_read(cli->os, config_path(cli->config, "TOKEN_LEDGER"), &ads, &err);
        size_t count = ads.count;
        rc = rc != 0 ? rc
                     : listing_select(cli, &listing, (const struct ad **)ads.items, &count, &err);
        if (rc != 0) {
            status = cli_fail(cli, "%s", err.text);
        } else if (listing.style != LISTING_TABLE) {
            status = listing_show(cli, &listing, (const struct ad *const *)ads.items, count);
        } else {
            struct strbuf out;
            const struct ad_context context = listing_context(cli);
            strbuf_init(&out, 0);
            token_show_list((const struct ad *const *)ads.items, count, &context, &out);
            status = listing_write(cli, &out);
        }
    }
    vec_fini(&ads, ad_destroy_item);
    listing_fini(&listing);
    return status;
}

/* ---- revoke */

/* Looks a token up in the ledger of the tokens that were made here.  Returns whether it is there,
 * and in *expires_s when it expires; 0: never, or not known: the collector then remembers for ever
 * that the token is revoked. */
static bool find_made(struct cli *cli, const char *id, int64_t *expires_s)
{
    struct vec ads = {0};
    bool found = false;
    *expires_s = 0;
    if (token_ledger_read(cli->os, config_path(cli->config, "TOKEN_LEDGER"), &ads, NULL) != 0) {
        return false;
    }
    for (size_t i = 0; i < ads.count; i++) {
        if (strcmp(ad_string_or(ads.items[i], "Id", ""), id) == 0) {
            *expires_s = ad_int_or(ads.items[i], "Expires", 0);
            found = true;
        }
    }
    vec_fini(&ads, ad_destroy_item);
    return found;
}

static int revoke_one(struct cli *cli, const char *id, bool elsewhere)
{
    int64_t expires_s;
    if (!find_made(cli, id, &expires_s) && !elsewhere) {
        return cli_fail(cli,
                        "no such token: %s; `roost token list` lists the tokens that were made "
                        "here, --elsewhere revokes one that was made on another host",
                        id);
    }
    struct ad *args = ad_create();
    struct cli_reply reply = {0};
    struct err err = {""};
    int rc = revocation_sign(cli->wires, id, expires_s, args, &err);
    const struct wire_body body = {.args = args};
    rc = rc != 0 ? rc : cli_call(cli, cli->collector, NULL, VERB_REVOKE, &body, 0, &reply, &err);
    cli_reply_fini(&reply);
    ad_destroy(args);
    if (rc != 0) {
        return cli_fail(cli, "%s: %s", id, err.text);
    }
    rc = token_ledger_revoke(cli->os, config_path(cli->config, "TOKEN_LEDGER"), id,
                             loop_wall_s(cli->loop), &err);
    if (rc != 0 && rc != -ENOENT) {
        return cli_fail(cli, "%s is revoked, but the ledger was not updated: %s", id, err.text);
    }
    if (rc == 0) {
        (void)printf("Token %s is revoked.\n", id);
        return CLI_OK;
    }
    (void)printf("From now on the pool refuses a token with the id %s.\n", id);
    (void)fprintf(
        stderr,
        "WARNING: no token with this id was made here, so nobody has checked the id: compare "
        "it with `roost token list` on the host where the token was made\n");
    return CLI_OK;
}

static int token_revoke(struct cli *cli)
{
    struct err err;
    int status = CLI_OK;
    bool elsewhere = false;
    int ids = 0;
    for (int i = 2; i < cli->argc; i++) {
        const char *word = cli->argv[i];
        if (strcmp(word, "--elsewhere") == 0 || strcmp(word, "-elsewhere") == 0) {
            elsewhere = true;
        } else if (word[0] == '-' || word[0] == '\0' || !token_is_plain(word)) {
            return cli_usage(cli, "'%s' is not a token id", word);
        } else {
            ids++;
        }
    }
    if (ids == 0) {
        return cli_usage(cli, "no tokens named; `roost token list` shows their ids");
    }
    if (cli_collector(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    for (int i = 2; i < cli->argc; i++) {
        status |= cli->argv[i][0] == '-' ? CLI_OK : revoke_one(cli, cli->argv[i], elsewhere);
    }
    return status != CLI_OK ? CLI_FAILED : CLI_OK;
}

int cmd_token(struct cli *cli)
{
    static const struct {
        const char *verb;
        int (*run)(struct cli *cli);
    } VERBS[] = {{"create", token_create}, {"request", token_request}, {"accept", token_accept},
                 {"list", token_list},     {"revoke", token_revoke},   {"key", token_signing}};
    const char *verb = cli->argc > 1 ? cli->argv[1] : "";
    for (size_t i = 0; i < ARRAY_COUNT(VERBS); i++) {
        if (strcmp(verb, VERBS[i].verb) == 0) {
            return VERBS[i].run(cli);
        }
    }
    return verb[0] != '\0'
               ? cli_usage(
                     cli,
                     "unknown action '%s'; expected create, request, accept, list, revoke or key",
                     verb)
               : cli_usage(cli,
                           "the action is missing: create, request, accept, list, revoke or key");
}
