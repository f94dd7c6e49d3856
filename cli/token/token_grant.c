/* cli/token/token_grant.c - `roost token create --request`: makes a token for a key that somebody
 * else made.
 *
 * The request proves that its maker has the private key.  Who the maker is, only people know, so
 * the fingerprint is compared before anything is signed.  The answer contains no secret.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/token/cmd_token.h"
#include "cli/token/token_ask.h"
#include "cli/token/token_parts.h"
#include "cli/token/token_ledger.h"
#include "wire/pool.h"
#include "wire/pool_public.h"
#include "wire/token_request.h"

#define MAY_ASK (SCOPE_READ | SCOPE_WRITE | SCOPE_ADVERTISE)
#define CA_MAX  ((size_t)64 << 10)

static const struct token_question QUESTION = {
    .of = "the request",
    .prompt = "Its fingerprint, as the holder reads it to you",
    .danger = "compare the fingerprint with the holder again; if the holder sees another "
              "fingerprint, somebody has replaced the request on its way"};

/* ---- contents of the answer */

static int add_key(void *arg, const char *kid, const char *pem, struct err *err)
{
    return token_answer_add_key(arg, kid, pem, err);
}

static int read_ca(struct cli *cli, struct token_answer *answer, struct err *err)
{
    const char *path = config_path(cli->config, "POOL_CA");
    char *text = NULL;
    size_t length = 0;
    int rc = os_read_file(cli->os, path, CA_MAX, &text, &length, err);
    if (rc == 0) {
        rc = token_answer_certificates(text, &answer->ca, err);
        rc = rc != 0 ? err_prefix(err, rc, "%s", path) : 0;
    }
    mem_free(text);
    return rc;
}

/* "tcp:cm:9618,tcp:backup:9618" without the "tcp:", for the holder's configuration.  Owned by the
 * caller. */
static char *without_tcp(const char *addresses)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    while (*addresses != '\0') {
        size_t length = strcspn(addresses, ",");
        size_t skip = strncmp(addresses, "tcp:", 4) == 0 ? 4 : 0;
        strbuf_printf(&out, "%s%.*s", out.length > 0 ? "," : "", (int)(length - skip),
                      addresses + skip);
        addresses += length + (addresses[length] == ',' ? 1 : 0);
    }
    strbuf_puts(&out, "");
    return strbuf_take(&out);
}

static bool is_of_this_host(const char *collector)
{
    return strncmp(collector, "127.", 4) == 0 || strncmp(collector, "localhost", 9) == 0 ||
           strncmp(collector, "[::1]", 5) == 0;
}

static int read_collector(struct cli *cli, const char *said, struct token_answer *answer,
                          struct err *err)
{
    char addresses[POOL_ADDRESS_MAX];
    int rc = said == NULL
                 ? pool_collector_addresses(cli->config, addresses, sizeof addresses, err)
                 : pool_address("--collector", said, config_int(cli->config, "COLLECTOR_PORT"),
                                addresses, sizeof addresses, err);
    if (rc != 0) {
        return rc;
    }
    answer->collector = without_tcp(addresses);
    if (said == NULL && is_of_this_host(answer->collector)) {
        (void)fprintf(stderr,
                      "roost token: the collector's address in the answer, %s, works only on this "
                      "host; for a holder on another host use --collector HOST:PORT\n",
                      answer->collector);
    }
    return 0;
}

/* Fills the answer except for the token. */
static int answer_make(struct cli *cli, const struct token_grant *grant, const struct token *token,
                       struct token_answer *answer, struct err *err)
{
    int rc = read_collector(cli, grant->collector, answer, err);
    rc = rc != 0 ? rc : read_ca(cli, answer, err);
    rc = rc != 0 ? rc : pool_public_each_key(cli->os, cli->config, add_key, answer, err);
    answer->pool = mem_strdup(token->pool);
    return rc;
}

/* ---- confirmation by the administrator */

static int read_request(struct cli *cli, const char *path, struct token_request *ret,
                        struct err *err)
{
    char *text = NULL;
    int rc = token_ask_text(cli, path, TOKEN_REQUEST_END, &text, err);
    if (rc == 0) {
        rc = token_request_parse(text, ret, err);
        rc = rc != 0 ? err_prefix(err, rc, "%s", strcmp(path, "-") == 0 ? "standard input" : path)
                     : 0;
    }
    mem_free(text);
    return rc;
}

void token_accounts_line(const struct token *token, struct strbuf *out)
{
    struct strbuf accounts;
    strbuf_init(&accounts, 0);
    strbuf_printf(&accounts, "%s@%s", token->owners[0] != '\0' ? token->owners : "*",
                  token->uid_domain);
    if (token->uid_domain[0] != '\0') {
        token_terms_line("jobs of", strbuf_text(&accounts), out);
    }
    strbuf_fini(&accounts);
}

static int decide_terms(struct cli *cli, const struct token_grant *grant,
                        const struct token_request *request, struct token *token, struct err *err)
{
    struct token_terms asked = {.scopes = request->scopes,
                                .slots = request->slots,
                                .lifetime_s = request->lifetime_s};
    struct token_terms given;
    const struct token_rules rules = {.domain = config_string(cli->config, "UID_DOMAIN"),
                                      .may_ask = MAY_ASK,
                                      .scopes = TOKEN_DEFAULT_SCOPES,
                                      .lifetime_s = (int64_t)TOKEN_DEFAULT_DAYS * 86400,
                                      .names = scope_names};
    struct strbuf text;
    (void)snprintf(asked.identity, sizeof asked.identity, "%s", request->identity);
    (void)snprintf(asked.pattern, sizeof asked.pattern, "%s", request->pattern);
    if (request->pool[0] != '\0' && strcmp(request->pool, token->pool) != 0) {
        return err_set(err, -EXDEV, "the request is for pool '%s', but this is pool '%s'",
                       request->pool, token->pool);
    }
    int rc = token_terms_grant(&asked, &grant->said, &rules, &given, err);
    if (rc != 0) {
        return rc;
    }
    int64_t now_s = loop_wall_s(cli->loop);
    (void)snprintf(token->identity, sizeof token->identity, "%s", given.identity);
    (void)snprintf(token->pattern, sizeof token->pattern, "%s", given.pattern);
    memcpy(token->holder, request->point, sizeof token->holder);
    token->scopes = given.scopes;
    token->slots = given.slots;
    token->issued_s = now_s;
    token->expires_s = given.lifetime_s == 0 ? 0 : now_s + given.lifetime_s;
    rc = token_name_accounts(cli, grant->uid_domain, grant->owners, token, err);
    if (rc != 0) {
        return rc;
    }
    strbuf_init(&text, 0);
    token_terms_show(&asked, &given, scope_names, &text);
    token_accounts_line(token, &text);
    (void)fprintf(stderr, "The token of pool '%s' would be\n%s", token->pool, strbuf_text(&text));
    strbuf_fini(&text);
    return 0;
}

/* ---- delivery */

static int deliver_answer(struct cli *cli, const struct token_grant *grant,
                          const struct token_answer *answer, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, TOKEN_REQUEST_TEXT_MAX);
    int rc = token_answer_print(answer, &text, err);
    if (rc == 0 && grant->file == NULL) {
        (void)printf("%s", strbuf_text(&text)); /* main() looks at the end of stdout */
    } else if (rc == 0) {
        rc = os_write_file(cli->os, grant->file, strbuf_text(&text), text.length, 0644, true, err);
    }
    strbuf_fini(&text);
    return rc;
}

static int sign_token(struct cli *cli, const struct token_grant *grant,
                      const struct token_request *request, const struct token *token,
                      struct err *err)
{
    struct token_answer answer = {.pool = NULL};
    char key[4200], fingerprint[FINGERPRINT_SIZE];
    token_signing_key(cli, key, sizeof key);
    int rc = answer_make(cli, grant, token, &answer, err);
    rc = rc != 0 ? rc
                 : token_issue(cli->os, key, config_string(cli->config, "TOKEN_KEY"), token,
                               &answer.token, err);
    token_request_fingerprint(request, fingerprint);
    /* Noted first: a token that exists can be found and revoked. */
    rc = rc != 0 ? rc
                 : token_ledger_add(cli->os, config_path(cli->config, "TOKEN_LEDGER"), token,
                                    &(struct token_origin){.file = grant->file,
                                                           .fingerprint = fingerprint},
                                    err);
    rc = rc != 0 ? rc : deliver_answer(cli, grant, &answer, err);
    if (rc == 0) {
        token_answer_fingerprint(&answer, request->point, fingerprint);
        (void)fprintf(stderr,
                      "Token %s was made. Send %s back, and read its fingerprint to the holder, "
                      "who runs `roost token accept`:\n\n    %s\n\n",
                      token->id, grant->file != NULL ? grant->file : "the answer", fingerprint);
    }
    token_answer_fini(&answer);
    return rc;
}

int token_grant_request(struct cli *cli, const struct token_grant *grant)
{
    struct token_request request;
    struct token token = {.scopes = 0};
    struct err err = {""};
    char fingerprint[FINGERPRINT_SIZE];
    token_of_this_pool(cli, &token);
    int rc = read_request(cli, grant->request, &request, &err);
    rc = rc != 0 ? rc : decide_terms(cli, grant, &request, &token, &err);
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    token_request_fingerprint(&request, fingerprint);
    int status = token_ask_fingerprint(cli, &QUESTION, grant->fingerprint, fingerprint);
    if (status != CLI_OK) {
        return status;
    }
    rc = sign_token(cli, grant, &request, &token, &err);
    return rc != 0 ? cli_fail(cli, "%s", err.text) : CLI_OK;
}
