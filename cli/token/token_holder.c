/* cli/token/token_holder.c - `roost token request` and `roost token accept`: the holder's side.
 *
 * The key pair is made here and stays here, in one directory:
 *
 *   request.key   the private key and the request that was made with it, until the answer is
 *                 accepted; a machine that crashes in between continues with the answer
 *   token         the token and the key, as in every TOKEN_FILE
 *   ca.pem, keys/ verify the pool's servers, and the tokens of others
 *   roost.conf    names all of these files; ROOST_CONFIG must name roost.conf
 *
 * The answer decides which pool this directory trusts.  So people compare its fingerprint, as they
 * did with the request's: otherwise somebody who can replace mails could lead us to a false pool.
 *
 * No configuration is read, because before the first answer there is none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pki.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/token/cmd_token.h"
#include "cli/listing.h"
#include "cli/token/token_ask.h"
#include "cli/token/token_parts.h"
#include "wire/p256.h"
#include "wire/token_request.h"

#define PATH_BYTES      4096 /* most bytes of a path, with the terminating zero */
#define REQUEST_KEY_MAX (TOKEN_REQUEST_TEXT_MAX + P256_PEM_MAX)
#define PRIVATE_KEY     "-----BEGIN PRIVATE KEY-----"

static const struct token_question QUESTION = {
    .of = "the answer",
    .prompt = "Its fingerprint, as the administrator reads it to you",
    .danger = "compare the fingerprint with the administrator again; if the administrator sees "
              "another fingerprint, somebody has replaced the answer on its way"};

struct holder {
    struct cli *cli;
    char dir[PATH_BYTES];
    /* for request: the file to write; for accept: the file with the answer; NULL: not given */
    const char *text;
    const char *fingerprint; /* for accept: value of --fingerprint */
    const char *bundle;
    bool again;
    struct token_request request;
    struct evp_pkey_st *key;
};

static const char *path_in(const struct holder *holder, const char *name,
                           char ret[PATH_BYTES + 128])
{
    (void)snprintf(ret, PATH_BYTES + 128, "%s/%s", holder->dir, name);
    return ret;
}

static int write_in(const struct holder *holder, const char *name, struct strbuf *text, mode_t mode,
                    struct err *err)
{
    char path[PATH_BYTES + 128];
    return os_write_file(holder->cli->os, path_in(holder, name, path), strbuf_text(text),
                         text->length, mode, true, err);
}

/* ---- the directory */

/* Sets holder->dir to the absolute path of --directory, or of ~/.roost.  Refuses paths with
 * characters that a configuration file cannot hold. */
static int find_dir(struct holder *holder, const char *said, struct err *err)
{
    struct os *os = holder->cli->os;
    const char *home = os_getenv(os, "HOME");
    char *absolute = NULL;
    struct strbuf fallback;
    if (said == NULL && (home == NULL || home[0] != '/')) {
        return err_set(err, -EINVAL, "HOME is not set; use --directory DIR");
    }
    strbuf_init(&fallback, 0);
    strbuf_printf(&fallback, "%s/.roost", home != NULL ? home : "");
    int rc = os_absolute(os, said != NULL ? said : strbuf_text(&fallback), &absolute, err);
    strbuf_fini(&fallback);
    if (rc != 0) {
        return rc;
    }
    if (strlen(absolute) >= sizeof holder->dir - 64 || strpbrk(absolute, "\"\\$\n") != NULL) {
        rc = err_set(err, -EINVAL, "%s: the path is too long, or contains '\"', '\\' or '$'",
                     absolute);
    } else {
        (void)snprintf(holder->dir, sizeof holder->dir, "%s", absolute);
    }
    mem_free(absolute);
    return rc;
}

/* Refuses a directory to which other users may write: they could replace the key, or the
 * configuration, which names programs. */
static int check_dir(const struct holder *holder, struct err *err)
{
    char path[PATH_BYTES + 128];
    struct os *os = holder->cli->os;
    struct os_stat stat;
    int rc = os_stat(os, path_in(holder, ".", path), &stat);
    if (rc != 0) {
        return err_set(err, rc, "%s: %s", holder->dir, err_code_text(rc));
    }
    if ((stat.mode & 022) != 0 || (stat.uid != os_uid(os) && stat.uid != 0)) {
        return err_set(err, -EACCES,
                       "%s: other users may write to this directory; the key needs a directory "
                       "that only you may write to",
                       holder->dir);
    }
    if (os_stat(os, path_in(holder, PKI_CA_KEY, path), &stat) == 0) {
        return err_set(err, -EEXIST,
                       "%s: this directory holds the secrets of a pool; use another directory for "
                       "a requested token",
                       holder->dir);
    }
    return 0;
}

/* ---- request */

static int read_lifetime(struct cli *cli, const char *text, int64_t *ret)
{
    struct err err = {""};
    if (text_parse_duration_s(text, ret, &err) != 0 || *ret < 1 || *ret > TOKEN_REQUEST_LIFE_MAX) {
        return cli_usage(cli, "--expires: '%s' is not a time such as 90d or 12h, up to 3650d",
                         text);
    }
    return CLI_OK;
}

static int read_pool(struct cli *cli, const char *text, struct token_request *request)
{
    if (text[0] == '\0' || strlen(text) >= sizeof request->pool) {
        return cli_usage(cli, "--pool: '%s' is empty or too long", text);
    }
    (void)snprintf(request->pool, sizeof request->pool, "%s", text);
    return CLI_OK;
}

/* Takes one option with its argument. */
static int read_wish(struct holder *holder, const char *arg, const char *next, const char **dir)
{
    struct cli *cli = holder->cli;
    struct token_request *request = &holder->request;
    if (listing_is(arg, "identity", 1)) {
        return token_read_text(cli, arg, next, request->identity, sizeof request->identity);
    }
    if (listing_is(arg, "scope", 1) || listing_is(arg, "scopes", 6)) {
        return token_read_scopes(cli, next, &request->scopes);
    }
    if (listing_is(arg, "expires", 1)) {
        return read_lifetime(cli, next, &request->lifetime_s);
    }
    if (listing_is(arg, "name-pattern", 1)) {
        return token_read_text(cli, arg, next, request->pattern, sizeof request->pattern);
    }
    if (listing_is(arg, "slots", 2)) {
        return token_read_slots(cli, next, &request->slots);
    }
    if (listing_is(arg, "pool", 1)) {
        return read_pool(cli, next, request);
    }
    if (listing_is(arg, "directory", 1)) {
        *dir = next;
        return CLI_OK;
    }
    if (listing_is(arg, "out", 1) || listing_is(arg, "file", 1)) {
        holder->text = next;
        return CLI_OK;
    }
    return cli_unknown(cli, arg);
}

static int parse_request(struct holder *holder, const char **dir)
{
    struct cli *cli = holder->cli;
    struct token_request *request = &holder->request;
    int status = CLI_OK;
    for (int i = 2; i < cli->argc && status == CLI_OK; i++) {
        const char *arg = cli->argv[i];
        if (arg[0] == '-' && listing_is(arg, "again", 1)) {
            holder->again = true;
        } else if (arg[0] == '-' && i + 1 < cli->argc) {
            status = read_wish(holder, arg, cli->argv[++i], dir);
        } else if (arg[0] == '-') {
            status = cli_usage(cli, "unknown option %s, or its argument is missing", arg);
        } else if (request->identity[0] != '\0') {
            status = cli_unknown(cli, arg);
        } else {
            status = token_read_text(cli, "the identity", arg, request->identity,
                                     sizeof request->identity);
        }
    }
    return status != CLI_OK || request->identity[0] != '\0'
               ? status
               : cli_usage(cli, "the identity is missing: `roost token request NAME@DOMAIN`");
}

/* Refuses to overwrite an earlier request, unless --again: its answer may still come. */
static int check_waiting(const struct holder *holder, struct err *err)
{
    char path[PATH_BYTES + 128];
    struct os_stat stat;
    if (holder->again ||
        os_stat(holder->cli->os, path_in(holder, "request.key", path), &stat) != 0) {
        return 0;
    }
    return err_set(err, -EEXIST,
                   "%s: an earlier request still waits for its answer; --again makes a new "
                   "request, and the answer to the earlier one becomes useless",
                   path);
}

/* Saves the request with its key, before anybody sees the request. */
static int save_request(const struct holder *holder, const struct strbuf *text, struct err *err)
{
    struct strbuf both;
    strbuf_init(&both, 0);
    strbuf_append(&both, text->data, text->length);
    int rc = p256_put_private(holder->key, &both);
    rc = rc != 0 ? err_set(err, rc, "cannot write the key in PEM format")
                 : write_in(holder, "request.key", &both, 0600, err);
    if (both.data != NULL) {
        secret_wipe(both.data, both.length);
    }
    strbuf_fini(&both);
    return rc;
}

/* Writes the request to the file that was named.  If this fails, removes the saved request: nobody
 * will answer it. */
static int send_request(const struct holder *holder, struct strbuf *text, struct err *err)
{
    char path[PATH_BYTES + 128];
    struct os *os = holder->cli->os;
    int rc = holder->text == NULL ? 0
                                  : os_write_file(os, holder->text, strbuf_text(text), text->length,
                                                  0644, true, err);
    if (rc != 0) {
        (void)os_remove(os, path_in(holder, "request.key", path), NULL); /* err says enough */
    }
    return rc;
}

static int make_request(struct holder *holder, struct strbuf *text, struct err *err)
{
    struct cli *cli = holder->cli;
    int rc = os_mkdirs(cli->os, holder->dir, 0700, err);
    rc = rc != 0 ? rc : check_dir(holder, err);
    rc = rc != 0 ? rc : check_waiting(holder, err);
    if (rc != 0) {
        return rc;
    }
    rc = p256_make(cli->loop, &holder->key);
    if (rc != 0) {
        return err_set(err, rc, "cannot make the key");
    }
    rc = token_request_print(&holder->request, holder->key, text, err);
    rc = rc != 0 ? rc : save_request(holder, text, err);
    return rc != 0 ? rc : send_request(holder, text, err);
}

int token_request(struct cli *cli)
{
    struct holder holder = {.cli = cli};
    const char *dir = NULL;
    struct strbuf text;
    struct err err = {""};
    char fingerprint[FINGERPRINT_SIZE];
    int status = parse_request(&holder, &dir);
    if (status != CLI_OK) {
        return status;
    }
    strbuf_init(&text, 0);
    int rc = find_dir(&holder, dir, &err);
    rc = rc != 0 ? rc : make_request(&holder, &text, &err);
    if (rc == 0) {
        p256_point(holder.key, holder.request.point);
        token_request_fingerprint(&holder.request, fingerprint);
        if (holder.text == NULL) {
            (void)printf("%s", strbuf_text(&text)); /* main() looks at the end of stdout */
        }
        (void)fprintf(stderr,
                      "The private key is in %s/request.key and stays on this machine.\nSend %s to "
                      "the pool's administrator, who runs `roost token create --request`,\nand "
                      "read its fingerprint to the administrator, by telephone or in person:\n\n   "
                      " %s\n\n`roost token accept` installs the administrator's answer.\n",
                      holder.dir, holder.text != NULL ? holder.text : "the request", fingerprint);
    } else {
        status = cli_fail(cli, "%s", err.text);
    }
    strbuf_fini(&text);
    p256_free(holder.key);
    return status;
}

/* ---- accept */

static int parse_accept(struct holder *holder, const char **dir)
{
    struct cli *cli = holder->cli;
    for (int i = 2; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        if (arg[0] != '-' || arg[1] == '\0') {
            if (holder->text != NULL) {
                return cli_unknown(cli, arg);
            }
            holder->text = arg;
            continue;
        }
        const char **ret = listing_is(arg, "directory", 1)     ? dir
                           : listing_is(arg, "fingerprint", 1) ? &holder->fingerprint
                           : listing_is(arg, "bundle", 1)      ? &holder->bundle
                                                               : NULL;
        if (ret == NULL) {
            return cli_unknown(cli, arg);
        }
        if (i + 1 == cli->argc) {
            return cli_usage(cli, "%s needs an argument", arg);
        }
        *ret = cli->argv[++i];
    }
    return holder->text != NULL
               ? CLI_OK
               : cli_usage(cli, "the answer is missing: name a file, or - to paste the answer");
}

/* Loads the request that was made here, with its key. */
static int load_request(struct holder *holder, struct err *err)
{
    char path[PATH_BYTES + 128], *text = NULL;
    size_t length = 0;
    int rc = os_read_file(holder->cli->os, path_in(holder, "request.key", path), REQUEST_KEY_MAX,
                          &text, &length, err);
    if (rc == -ENOENT) {
        return err_set(err, rc,
                       "%s: no such file, so no request waits for an answer there; `roost token "
                       "request` makes a request, --directory names another place",
                       path);
    }
    if (rc != 0) {
        return rc;
    }
    char *pem = strstr(text, PRIVATE_KEY);
    if (pem != NULL) {
        holder->key = p256_from_private_pem(pem, strlen(pem));
    }
    rc = holder->key != NULL ? token_request_parse(text, &holder->request, err)
                             : err_set(err, -EINVAL, "no private key of curve P-256 in the file");
    rc = rc != 0 ? err_prefix(err, rc, "%s", path) : 0;
    secret_wipe(text, length);
    mem_free(text);
    return rc;
}

static int load_answer(const struct holder *holder, struct token_answer *answer,
                       struct token *token, struct err *err)
{
    const char *name = strcmp(holder->text, "-") == 0 ? "standard input" : holder->text;
    char *text = NULL;
    int rc = token_ask_text(holder->cli, holder->text, TOKEN_ANSWER_END, &text, err);
    if (rc != 0) {
        return rc;
    }
    rc = token_answer_parse(text, answer, err);
    rc = rc != 0 ? rc
                 : token_answer_check(answer, &holder->request, loop_wall_s(holder->cli->loop),
                                      token, err);
    mem_free(text);
    return rc != 0 ? err_prefix(err, rc, "%s", name) : 0;
}

static void show_answer(const struct holder *holder, const struct token_answer *answer,
                        const struct token *token)
{
    int64_t now_s = loop_wall_s(holder->cli->loop);
    struct token_terms asked = {.scopes = holder->request.scopes, .slots = holder->request.slots};
    struct token_terms given = {.scopes = token->scopes, .slots = token->slots};
    struct strbuf text;
    (void)snprintf(asked.identity, sizeof asked.identity, "%s", holder->request.identity);
    (void)snprintf(asked.pattern, sizeof asked.pattern, "%s", holder->request.pattern);
    (void)snprintf(given.identity, sizeof given.identity, "%s", token->identity);
    (void)snprintf(given.pattern, sizeof given.pattern, "%s", token->pattern);
    given.lifetime_s = token->expires_s == 0 ? 0 : token->expires_s - now_s;
    strbuf_init(&text, 0);
    token_terms_show(&asked, &given, scope_names, &text);
    token_accounts_line(token, &text);
    token_terms_line("pool", answer->pool, &text);
    token_terms_line("collector", answer->collector, &text);
    (void)fprintf(stderr, "The answer is a token\n%s", strbuf_text(&text));
    strbuf_fini(&text);
}

static int put_token(const struct holder *holder, const struct token_answer *answer,
                     struct strbuf *out, struct err *err)
{
    strbuf_printf(out, "%s\n", answer->token);
    int rc = p256_put_private(holder->key, out);
    return rc != 0 ? err_set(err, rc, "cannot write the key in PEM format") : 0;
}

/* Writes a bundle for roost-pilot --token, like `roost token create --bundle`. */
static int write_bundle(const struct holder *holder, const struct token_answer *answer,
                        struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    int rc = put_token(holder, answer, &text, err);
    strbuf_puts(&text, answer->ca);
    for (size_t i = 0; i < answer->keys.count; i++) {
        const struct token_answer_key *key = answer->keys.items[i];
        strbuf_printf(&text, "kid: %s\n%s", key->kid, key->pem);
    }
    rc = rc != 0 ? rc
                 : os_write_file(holder->cli->os, holder->bundle, strbuf_text(&text), text.length,
                                 0600, true, err);
    secret_wipe(text.data, text.length);
    strbuf_fini(&text);
    return rc;
}

struct key_files {
    const struct holder *holder;
    const struct token_answer *answer;
    struct vec stale;
};

/* Adds a public key that the answer does not have to the stale ones: a key that the pool has
 * withdrawn must not be trusted any more. */
static void look_at_key(void *arg, const char *name)
{
    struct key_files *files = arg;
    size_t length = strlen(name);
    bool wanted = length <= 4 || strcmp(name + length - 4, ".pub") != 0;
    for (size_t i = 0; i < files->answer->keys.count && !wanted; i++) {
        const struct token_answer_key *key = files->answer->keys.items[i];
        wanted = strlen(key->kid) == length - 4 && strncmp(key->kid, name, length - 4) == 0;
    }
    if (!wanted) {
        vec_push(&files->stale, mem_strdup(name));
    }
}

static int write_keys(const struct holder *holder, const struct token_answer *answer,
                      struct err *err)
{
    char path[PATH_BYTES + 128], name[16 + TOKEN_KID_MAX];
    struct os *os = holder->cli->os;
    struct key_files files = {.holder = holder, .answer = answer};
    int rc = os_mkdirs(os, path_in(holder, "keys", path), 0700, err);
    rc = rc != 0 ? rc : os_list(os, path, look_at_key, &files, err);
    for (size_t i = 0; i < answer->keys.count && rc == 0; i++) {
        const struct token_answer_key *key = answer->keys.items[i];
        (void)snprintf(name, sizeof name, "keys/%s.pub", key->kid);
        rc = os_write_file(os, path_in(holder, name, path), key->pem, strlen(key->pem), 0644, true,
                           err);
    }
    for (size_t i = 0; i < files.stale.count && rc == 0; i++) {
        (void)snprintf(path, sizeof path, "%s/keys/%s", holder->dir,
                       (const char *)files.stale.items[i]);
        rc = os_remove(os, path, err);
    }
    vec_fini(&files.stale, mem_free);
    return rc;
}

static void put_config(const struct holder *holder, const struct token_answer *answer,
                       struct strbuf *out)
{
    strbuf_printf(out,
                  "# Written by `roost token accept`.  ROOST_CONFIG=%s/roost.conf selects it.\n"
                  "# docs/CONFIG.md lists what can be set.\n\n"
                  "LOCAL_DIR = \"%s\"\n"
                  "LOG = \"$(LOCAL_DIR)/log\"\n"
                  "RUN = \"$(LOCAL_DIR)/run\"\n"
                  "SEC_DIRECTORY = \"$(LOCAL_DIR)\"\n"
                  "TOKEN_FILE = \"$(LOCAL_DIR)/token\"\n"
                  "COLLECTOR_HOST = \"%s\"\n",
                  holder->dir, holder->dir, answer->collector);
}

/* Writes roost.conf, unless it exists; *kept becomes true when the existing one differs. */
static int write_config(const struct holder *holder, const struct token_answer *answer, bool *kept,
                        struct err *err)
{
    char path[PATH_BYTES + 128], *there = NULL;
    size_t length = 0;
    struct strbuf text;
    strbuf_init(&text, 0);
    put_config(holder, answer, &text);
    int rc = os_read_file(holder->cli->os, path_in(holder, "roost.conf", path),
                          TOKEN_REQUEST_TEXT_MAX, &there, &length, err);
    if (rc == -ENOENT) {
        rc = write_in(holder, "roost.conf", &text, 0644, err);
    } else if (rc == 0) {
        *kept = strcmp(there, strbuf_text(&text)) != 0;
    }
    mem_free(there);
    strbuf_fini(&text);
    return rc;
}

/* Writes the token last: where a token is, all other files are complete. */
static int write_all(const struct holder *holder, const struct token_answer *answer, bool *kept,
                     struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, answer->ca);
    int rc = write_in(holder, "ca.pem", &text, 0644, err);
    strbuf_clear(&text);
    rc = rc != 0 ? rc : write_keys(holder, answer, err);
    rc = rc != 0 ? rc : write_config(holder, answer, kept, err);
    rc = rc != 0 ? rc : put_token(holder, answer, &text, err);
    rc = rc != 0 ? rc : write_in(holder, "token", &text, 0600, err);
    if (text.data != NULL) {
        secret_wipe(text.data, text.capacity);
    }
    strbuf_fini(&text);
    return rc;
}

static int accept_answer(struct holder *holder, const struct token_answer *answer, struct err *err)
{
    char path[PATH_BYTES + 128];
    bool kept = false;
    int rc = holder->bundle != NULL ? write_bundle(holder, answer, err)
                                    : write_all(holder, answer, &kept, err);
    /* The key is in the token file now. */
    rc = rc != 0 ? rc : os_remove(holder->cli->os, path_in(holder, "request.key", path), err);
    if (rc != 0) {
        return rc;
    }
    if (holder->bundle != NULL) {
        (void)printf("roost-pilot --collector %s --token %s\n", answer->collector, holder->bundle);
        return 0;
    }
    if (kept) {
        struct strbuf text;
        strbuf_init(&text, 0);
        put_config(holder, answer, &text);
        (void)fprintf(stderr,
                      "%s/roost.conf exists already and was not changed.  The new contents would "
                      "have been:\n%s",
                      holder->dir, strbuf_text(&text));
        strbuf_fini(&text);
    }
    (void)printf("export ROOST_CONFIG=%s/roost.conf\n", holder->dir);
    return 0;
}

int token_accept(struct cli *cli)
{
    struct holder holder = {.cli = cli};
    struct token_answer answer = {.pool = NULL};
    struct token token;
    const char *dir = NULL;
    struct err err = {""};
    char fingerprint[FINGERPRINT_SIZE];
    int status = parse_accept(&holder, &dir);
    if (status != CLI_OK) {
        return status;
    }
    int rc = find_dir(&holder, dir, &err);
    rc = rc != 0 ? rc : check_dir(&holder, &err);
    rc = rc != 0 ? rc : load_request(&holder, &err);
    rc = rc != 0 ? rc : load_answer(&holder, &answer, &token, &err);
    if (rc == 0) {
        show_answer(&holder, &answer, &token);
        token_answer_fingerprint(&answer, holder.request.point, fingerprint);
        status = token_ask_fingerprint(cli, &QUESTION, holder.fingerprint, fingerprint);
        rc = status == CLI_OK ? accept_answer(&holder, &answer, &err) : 0;
    }
    status = rc != 0 ? cli_fail(cli, "%s", err.text) : status;
    token_answer_fini(&answer);
    p256_free(holder.key);
    return status;
}
