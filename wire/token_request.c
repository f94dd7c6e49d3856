/* wire/token_request.c - see token_request.h.
 *
 * One reader parses both texts.  It knows lines "Name: value", values continued in lines that begin
 * with a blank (mail programs break long lines, so we break them first), and PEM blocks.  What each
 * of them means is up to its caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/token_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "wire/base64url.h"
#include "wire/proof.h"
#include "wire/verbs.h"

#define REQUEST      "REQUEST"
#define ANSWER       "ANSWER"
#define CERTIFICATE  "CERTIFICATE"
#define PUBLIC_KEY   "PUBLIC KEY"
#define LINE_LETTERS 64                 /* characters of a value in one line */
#define ITEMS_MAX    256                /* lines with a name, and blocks of PEM */
#define PEM_LINE_MAX 76                 /* letters; RFC 7468 says 64, RFC 1421's readers take 76 */
#define PEM_MAX      ((size_t)16 << 10) /* bytes of a block */
#define BASE64       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

/* ---- blocks ---------------------------------------------------------------------------------- */

struct item {
    char *name;  /* name of a line, or CERTIFICATE, PUBLIC KEY */
    char *value; /* value of a line, or the whole PEM block */
    unsigned line;
    bool is_pem;
};

struct lines {
    const char *at;
    unsigned number;
    char *line; /* the last one that was read, without white space at its end */
};

static void item_free(void *arg)
{
    struct item *item = arg;
    mem_free(item->name);
    mem_free(item->value);
    mem_free(item);
}

static bool lines_next(struct lines *lines)
{
    if (*lines->at == '\0') {
        return false;
    }
    size_t length = strcspn(lines->at, "\n"), kept = length;
    while (kept > 0 && strchr(" \t\r", lines->at[kept - 1]) != NULL) {
        kept--;
    }
    mem_free(lines->line);
    lines->line = mem_strndup(lines->at, kept);
    lines->at += length + (lines->at[length] == '\n' ? 1 : 0);
    lines->number++;
    return true;
}

/* Is it "-----WORD WHAT-----"?  WHAT is then in ret, which has room for size. */
static bool is_mark(const char *line, const char *word, char *ret, size_t size)
{
    size_t length = strlen(line), begin = 5 + strlen(word) + 1;
    if (length < begin + 5 || length - begin - 5 >= size || strncmp(line, "-----", 5) != 0 ||
        strncmp(line + 5, word, begin - 6) != 0 || line[begin - 1] != ' ' ||
        strcmp(line + length - 5, "-----") != 0) {
        return false;
    }
    (void)snprintf(ret, size, "%.*s", (int)(length - begin - 5), line + begin);
    return true;
}

/* Reads what follows the line "-----BEGIN what-----" to its end. */
static int read_pem(struct lines *lines, const char *what, char **ret, struct err *err)
{
    char mark[64];
    struct strbuf pem;
    bool closed = false;
    int rc = 0;
    unsigned first = lines->number;
    strbuf_init(&pem, PEM_MAX);
    strbuf_printf(&pem, "-----BEGIN %s-----\n", what);
    while (rc == 0 && !closed && lines_next(lines)) {
        size_t length = strlen(lines->line);
        closed = is_mark(lines->line, "END", mark, sizeof mark) && strcmp(mark, what) == 0;
        if (!closed &&
            (length == 0 || length > PEM_LINE_MAX || strspn(lines->line, BASE64) != length)) {
            rc = err_set(err, -EINVAL, "line %u: not a valid line of a PEM block '%s'",
                         lines->number, what);
        }
        strbuf_printf(&pem, "%s\n", lines->line);
    }
    if (rc == 0 && !closed) {
        rc = err_set(err, -EINVAL, "line %u: the block '%s' is not closed", first, what);
    }
    if (rc == 0 && pem.failed) {
        rc = err_set(err, -E2BIG, "line %u: the block '%s' has more than %zu bytes", first, what,
                     PEM_MAX);
    }
    if (rc == 0) {
        *ret = strbuf_take(&pem);
    }
    strbuf_fini(&pem);
    return rc;
}

static int add_item(struct vec *items, struct item item, struct err *err)
{
    struct item *copy = mem_alloc(sizeof *copy);
    *copy = item;
    if (items->count == ITEMS_MAX) {
        item_free(copy);
        return err_set(err, -E2BIG, "more than %d 'Name: value' lines", ITEMS_MAX);
    }
    vec_push(items, copy);
    return 0;
}

static int read_pem_item(struct lines *lines, const char *what, struct vec *items, struct err *err)
{
    char *pem = NULL;
    unsigned line = lines->number;
    if (strstr(what, "PRIVATE") != NULL) {
        return err_set(err, -EINVAL,
                       "line %u: contains a private key, which must never leave its holder", line);
    }
    if (strcmp(what, CERTIFICATE) != 0 && strcmp(what, PUBLIC_KEY) != 0) {
        return err_set(err, -EINVAL, "line %u: unexpected block '%s'", line, what);
    }
    int rc = read_pem(lines, what, &pem, err);
    return rc != 0 ? rc
                   : add_item(items,
                              (struct item){.name = mem_strdup(what),
                                            .value = pem,
                                            .line = line,
                                            .is_pem = true},
                              err);
}

/* Reads a line "Name: value", or the continuation of the last value. */
static int read_field(struct lines *lines, struct vec *items, struct err *err)
{
    const char *line = lines->line;
    struct item *last = items->count > 0 ? items->items[items->count - 1] : NULL;
    if (line[0] == ' ' || line[0] == '\t') {
        line += strspn(line, " \t");
        if (last == NULL || last->is_pem) {
            return err_set(err, -EINVAL, "line %u: indented '%.40s' follows no 'Name: value' line",
                           lines->number, line);
        }
        if (strlen(last->value) + strlen(line) > TOKEN_TEXT_MAX) {
            return err_set(err, -E2BIG, "line %u: the value of '%.40s' is longer than %d bytes",
                           last->line, last->name, TOKEN_TEXT_MAX);
        }
        struct strbuf value;
        strbuf_init(&value, 0);
        strbuf_printf(&value, "%s%s", last->value, line);
        mem_free(last->value);
        last->value = strbuf_take(&value);
        return 0;
    }
    size_t length = strcspn(line, ":");
    if (line[length] == '\0') {
        return err_set(err, -EINVAL, "line %u: '%.40s' is not of the form 'Name: value'",
                       lines->number, line);
    }
    const char *value = line + length + 1;
    return add_item(items,
                    (struct item){.name = mem_strndup(line, length),
                                  .value = mem_strdup(value + strspn(value, " \t")),
                                  .line = lines->number},
                    err);
}

/* Reads one item, or the end of the block. */
static int read_item(struct lines *lines, const char *kind, struct vec *items, bool *is_over,
                     struct err *err)
{
    char mark[64], own[64];
    (void)snprintf(own, sizeof own, "ROOST TOKEN %s", kind);
    if (lines->line[0] == '\0') {
        return 0;
    }
    if (is_mark(lines->line, "END", mark, sizeof mark) && strcmp(mark, own) == 0) {
        *is_over = true;
        return 0;
    }
    return is_mark(lines->line, "BEGIN", mark, sizeof mark) ? read_pem_item(lines, mark, items, err)
                                                            : read_field(lines, items, err);
}

/* Moves to the line after the block's begin line. */
static int find_begin(struct lines *lines, const char *kind, struct err *err)
{
    char mark[64], own[64];
    (void)snprintf(own, sizeof own, "ROOST TOKEN %s", kind);
    while (lines_next(lines)) {
        if (!is_mark(lines->line, "BEGIN", mark, sizeof mark)) {
            continue;
        }
        if (strcmp(mark, own) == 0) {
            return 0;
        }
        if (strcmp(mark, "ROOST TOKEN " REQUEST) == 0) {
            return err_set(err, -ENOENT, "this is a request for a token; expected an answer");
        }
        if (strcmp(mark, "ROOST TOKEN " ANSWER) == 0) {
            return err_set(err, -ENOENT, "this is an answer; expected a request for a token");
        }
    }
    return err_set(err, -ENOENT, "no line '-----BEGIN %s-----' found", own);
}

/* Reads the items of the only block of that kind; the caller frees them. */
static int read_block(const char *text, const char *kind, struct vec *items, struct err *err)
{
    struct lines lines = {.at = text};
    bool is_over = false;
    if (strlen(text) > TOKEN_REQUEST_TEXT_MAX) {
        return err_set(err, -E2BIG, "longer than %zu bytes", TOKEN_REQUEST_TEXT_MAX);
    }
    int rc = find_begin(&lines, kind, err);
    while (rc == 0 && !is_over) {
        rc = lines_next(&lines)
                 ? read_item(&lines, kind, items, &is_over, err)
                 : err_set(err, -EINVAL, "the last line is missing; was the text cut off?");
    }
    if (rc == 0 && find_begin(&lines, kind, NULL) == 0) {
        rc = err_set(err, -EINVAL, "line %u: a second block begins", lines.number);
    }
    mem_free(lines.line);
    return rc;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns whether text has only characters that look the same everywhere, because people read and
 * judge these names. */
static bool is_name(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~' || *text == '"' || *text == '\\') {
            return false;
        }
    }
    return true;
}

/* Returns whether text fits in one line; a pool may have any such name. */
static bool is_line(const char *text)
{
    size_t length = strlen(text);
    for (const char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            return false;
        }
    }
    return length == 0 || (text[0] != ' ' && text[length - 1] != ' ');
}

/* Returns whether text is a list of hosts and ports, which will be put into a configuration. */
static bool is_addresses(const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:,[]",
                   *text) == NULL) {
            return false;
        }
    }
    return true;
}

static int take_text(const struct item *item, bool good, char *ret, size_t size, struct err *err)
{
    if (!good || item->value[0] == '\0' || strlen(item->value) >= size) {
        return err_set(
            err, -EINVAL,
            "line %u: the value of '%s' is empty, longer than %zu bytes, or has bad characters",
            item->line, item->name, size - 1);
    }
    (void)snprintf(ret, size, "%s", item->value);
    return 0;
}

/* Reads a number that is written as we write it: "7", not "+7" or "007". */
static int take_number(const struct item *item, int64_t max, int64_t *ret, struct err *err)
{
    char again[24];
    int64_t number = 0;
    int rc = text_parse_int64(item->value, &number, NULL);
    (void)snprintf(again, sizeof again, "%" PRId64, number);
    if (rc != 0 || number < 1 || number > max || strcmp(again, item->value) != 0) {
        return err_set(err, -EINVAL,
                       "line %u: the value of '%s' is not a number from 1 to %" PRId64, item->line,
                       item->name, max);
    }
    *ret = number;
    return 0;
}

static int take_scopes(const struct item *item, uint32_t *ret, struct err *err)
{
    char again[128], name[32];
    uint32_t scopes = 0;
    for (const char *at = item->value; *at != '\0';) {
        size_t length = strcspn(at, ",");
        uint32_t one = 0;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), at);
        scopes |= scope_parse(name, &one) == 0 ? one : 0;
        at += length + (at[length] == ',' ? 1 : 0);
    }
    if (scopes == 0 || strcmp(scope_names(scopes, again, sizeof again), item->value) != 0) {
        return err_set(err, -EINVAL,
                       "line %u: the value of '%s' is not a list of scopes such as READ,WRITE",
                       item->line, item->name);
    }
    *ret = scopes;
    return 0;
}

/* Reads 64 bytes: a public key or a proof. */
static int take_bytes(const struct item *item, uint8_t *ret, struct err *err)
{
    uint8_t bytes[P256_POINT_BYTES];
    _Static_assert(sizeof bytes == PROOF_BYTES, "a key and a proof have the same size");
    if (base64url_decode(item->value, strlen(item->value), bytes, sizeof bytes) != sizeof bytes) {
        return err_set(err, -EINVAL, "line %u: the value of '%s' is not 64 bytes in base64url",
                       item->line, item->name);
    }
    memcpy(ret, bytes, sizeof bytes);
    return 0;
}

static void put_broken(struct strbuf *out, const char *name, const char *value)
{
    strbuf_printf(out, "%s:\n", name);
    for (size_t left = strlen(value); left > 0;) {
        size_t length = left < LINE_LETTERS ? left : LINE_LETTERS;
        strbuf_printf(out, " %.*s\n", (int)length, value);
        value += length;
        left -= length;
    }
}

static void put_bytes(struct strbuf *out, const char *name, const uint8_t *bytes)
{
    struct strbuf value;
    strbuf_init(&value, 0);
    base64url_encode(&value, bytes, P256_POINT_BYTES);
    put_broken(out, name, strbuf_text(&value));
    strbuf_fini(&value);
}

static void put_line(struct strbuf *out, const char *name, const char *value)
{
    if (value[0] != '\0') {
        strbuf_printf(out, "%s: %s\n", name, value);
    }
}

static int refuse_repeated(const struct item *item, struct err *err)
{
    return err_set(err, -EINVAL, "line %u: '%s' appears a second time", item->line, item->name);
}

static int refuse_unknown(const struct item *item, const char *kind, struct err *err)
{
    return err_set(err, -EINVAL, "line %u: unknown line '%.40s' in %s of this version", item->line,
                   item->name, kind);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void put_statement(const struct token_request *request, struct strbuf *out)
{
    char scopes[128];
    proof_put_key_request(&(struct proof_key_request){.point = request->point,
                                                      .identity = request->identity,
                                                      .pool = request->pool,
                                                      .scopes = scope_names(request->scopes, scopes,
                                                                            sizeof scopes),
                                                      .pattern = request->pattern,
                                                      .slots = request->slots,
                                                      .lifetime_s = request->lifetime_s},
                          out);
}

void token_request_fingerprint(const struct token_request *request, char ret[FINGERPRINT_SIZE])
{
    struct strbuf statement;
    strbuf_init(&statement, 0);
    put_statement(request, &statement);
    fingerprint_of(strbuf_text(&statement), statement.length, ret);
    strbuf_fini(&statement);
}

int token_request_print(const struct token_request *request, struct evp_pkey_st *key,
                        struct strbuf *out, struct err *err)
{
    struct token_request bound = *request;
    struct strbuf statement;
    uint8_t proof[PROOF_BYTES];
    char scopes[128];
    if (request->identity[0] == '\0' || !is_name(request->identity)) {
        return err_set(err, -EINVAL,
                       "identity '%s' is empty or has blanks, quotes or non-ASCII letters",
                       request->identity);
    }
    if (!is_name(request->pattern)) {
        return err_set(err, -EINVAL, "pattern '%s' has blanks, quotes or non-ASCII letters",
                       request->pattern);
    }
    if (!is_line(request->pool)) {
        return err_set(err, -EINVAL, "pool '%s' contains control characters, or a blank at an end",
                       request->pool);
    }
    p256_point(key, bound.point);
    strbuf_init(&statement, 0);
    put_statement(&bound, &statement);
    int rc = p256_sign(key, strbuf_text(&statement), statement.length, proof);
    strbuf_fini(&statement);
    if (rc != 0) {
        return err_set(err, rc, "cannot sign the request: the key is not a private key");
    }
    strbuf_puts(out, "-----BEGIN ROOST TOKEN " REQUEST "-----\n");
    put_line(out, "Identity", bound.identity);
    put_line(out, "Pool", bound.pool);
    put_line(out, "Scopes", scope_names(bound.scopes, scopes, sizeof scopes));
    put_line(out, "Names", bound.pattern);
    if (bound.slots != 0) {
        strbuf_printf(out, "Slots: %" PRIu32 "\n", bound.slots);
    }
    if (bound.lifetime_s != 0) {
        strbuf_printf(out, "Seconds: %" PRId64 "\n", bound.lifetime_s);
    }
    put_bytes(out, "Key", bound.point);
    put_bytes(out, "Proof", proof);
    strbuf_puts(out, TOKEN_REQUEST_END "\n");
    return 0;
}

enum { OF_IDENTITY, OF_POOL, OF_SCOPES, OF_NAMES, OF_SLOTS, OF_SECONDS, OF_KEY, OF_PROOF, OF_ALL };

static const char *const REQUEST_NAMES[OF_ALL] = {"Identity", "Pool",    "Scopes", "Names",
                                                  "Slots",    "Seconds", "Key",    "Proof"};

static int take_request_item(const struct item *item, int which, struct token_request *request,
                             uint8_t proof[PROOF_BYTES], struct err *err)
{
    int64_t number = 0;
    int rc = 0;
    switch (which) {
    case OF_IDENTITY:
        return take_text(item, is_name(item->value), request->identity, sizeof request->identity,
                         err);
    case OF_POOL:
        return take_text(item, is_line(item->value), request->pool, sizeof request->pool, err);
    case OF_SCOPES:
        return take_scopes(item, &request->scopes, err);
    case OF_NAMES:
        return take_text(item, is_name(item->value), request->pattern, sizeof request->pattern,
                         err);
    case OF_SLOTS:
        rc = take_number(item, TOKEN_SLOTS_MAX, &number, err);
        request->slots = (uint32_t)number;
        return rc;
    case OF_SECONDS:
        return take_number(item, TOKEN_REQUEST_LIFE_MAX, &request->lifetime_s, err);
    case OF_KEY:
        return take_bytes(item, request->point, err);
    default:
        return take_bytes(item, proof, err);
    }
}

static int take_request(const struct vec *items, struct token_request *request,
                        uint8_t proof[PROOF_BYTES], struct err *err)
{
    bool seen[OF_ALL] = {false};
    int rc = 0;
    for (size_t i = 0; i < items->count && rc == 0; i++) {
        const struct item *item = items->items[i];
        int which = 0;
        while (which < OF_ALL && (item->is_pem || strcmp(item->name, REQUEST_NAMES[which]) != 0)) {
            which++;
        }
        if (which == OF_ALL) {
            rc = refuse_unknown(item, "a request", err);
        } else if (seen[which]) {
            rc = refuse_repeated(item, err);
        } else {
            seen[which] = true;
            rc = take_request_item(item, which, request, proof, err);
        }
    }
    static const int NEEDED[] = {OF_IDENTITY, OF_KEY, OF_PROOF};
    for (size_t i = 0; i < sizeof NEEDED / sizeof NEEDED[0] && rc == 0; i++) {
        if (!seen[NEEDED[i]]) {
            rc = err_set(err, -EINVAL, "the line '%s' is missing", REQUEST_NAMES[NEEDED[i]]);
        }
    }
    return rc;
}

static int check_proof(const struct token_request *request, const uint8_t proof[PROOF_BYTES],
                       struct err *err)
{
    struct evp_pkey_st *key = p256_from_point(request->point);
    if (key == NULL) {
        return err_set(err, -EINVAL, "the value of 'Key' is not a public key of curve P-256");
    }
    struct strbuf statement;
    strbuf_init(&statement, 0);
    put_statement(request, &statement);
    bool good = p256_verify(key, strbuf_text(&statement), statement.length, proof);
    strbuf_fini(&statement);
    p256_free(key);
    return good ? 0
                : err_set(err, -EKEYREJECTED,
                          "bad proof: the request was changed, or its maker lacks the private key");
}

int token_request_parse(const char *text, struct token_request *ret, struct err *err)
{
    struct token_request request = {.scopes = 0};
    struct vec items = {0};
    uint8_t proof[PROOF_BYTES];
    int rc = read_block(text, REQUEST, &items, err);
    rc = rc != 0 ? rc : take_request(&items, &request, proof, err);
    rc = rc != 0 ? rc : check_proof(&request, proof, err);
    if (rc == 0) {
        *ret = request;
    }
    vec_fini(&items, item_free);
    return rc;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Appends the PEM blocks of that kind in text.  Returns their number, or -EINVAL. */
static int take_pem(const char *text, const char *what, struct strbuf *out, struct err *err)
{
    struct lines lines = {.at = text};
    char mark[64];
    int rc = 0, count = 0;
    while (rc == 0 && lines_next(&lines)) {
        if (is_mark(lines.line, "BEGIN", mark, sizeof mark) && strcmp(mark, what) == 0) {
            char *pem = NULL;
            rc = read_pem(&lines, what, &pem, err);
            strbuf_puts(out, pem != NULL ? pem : "");
            mem_free(pem);
            count++;
        }
    }
    mem_free(lines.line);
    return rc != 0 ? rc : count;
}

int token_answer_certificates(const char *text, char **ret, struct err *err)
{
    struct strbuf pem;
    strbuf_init(&pem, TOKEN_REQUEST_TEXT_MAX / 2);
    int rc = take_pem(text, CERTIFICATE, &pem, err);
    if (rc == 0 || pem.failed) {
        rc = err_set(err, -EINVAL, pem.failed ? "too many certificates" : "no PEM certificate");
    }
    if (rc > 0) {
        *ret = strbuf_take(&pem);
        rc = 0;
    }
    strbuf_fini(&pem);
    return rc;
}

static void answer_key_free(void *arg)
{
    struct token_answer_key *key = arg;
    mem_free(key->pem);
    mem_free(key);
}

int token_answer_add_key(struct token_answer *answer, const char *kid, const char *text,
                         struct err *err)
{
    struct strbuf pem;
    if (!token_kid_is_valid(kid)) {
        return err_set(err, -EINVAL, "'%.80s' is not a valid name for a signing key", kid);
    }
    if (answer->keys.count == TOKEN_KEYS_MAX) {
        return err_set(err, -E2BIG, "more than %d signing keys", TOKEN_KEYS_MAX);
    }
    for (size_t i = 0; i < answer->keys.count; i++) {
        if (strcmp(((struct token_answer_key *)answer->keys.items[i])->kid, kid) == 0) {
            return err_set(err, -EINVAL, "a second signing key '%s'", kid);
        }
    }
    strbuf_init(&pem, P256_PEM_MAX);
    int rc = take_pem(text, PUBLIC_KEY, &pem, err);
    if (rc >= 0 && (rc != 1 || pem.failed)) {
        rc = err_set(err, -EINVAL, "signing key '%s' is not one public key in PEM format", kid);
    }
    if (rc > 0) {
        struct token_answer_key *key = mem_zalloc(sizeof *key);
        (void)snprintf(key->kid, sizeof key->kid, "%s", kid);
        key->pem = strbuf_take(&pem);
        vec_push(&answer->keys, key);
        rc = 0;
    }
    strbuf_fini(&pem);
    return rc;
}

void token_answer_fini(struct token_answer *answer)
{
    mem_free(answer->pool);
    mem_free(answer->collector);
    mem_free(answer->token);
    mem_free(answer->ca);
    vec_fini(&answer->keys, answer_key_free);
    *answer = (struct token_answer){.pool = NULL};
}

static void put_trust(const struct token_answer *answer, struct strbuf *out)
{
    strbuf_puts(out, answer->ca);
    for (size_t i = 0; i < answer->keys.count; i++) {
        const struct token_answer_key *key = answer->keys.items[i];
        strbuf_printf(out, "Kid: %s\n%s", key->kid, key->pem);
    }
}

void token_answer_fingerprint(const struct token_answer *answer,
                              const uint8_t point[P256_POINT_BYTES], char ret[FINGERPRINT_SIZE])
{
    struct strbuf statement, trust;
    strbuf_init(&statement, 0);
    strbuf_init(&trust, 0);
    put_trust(answer, &trust);
    proof_put_key_answer(&(struct proof_key_answer){.point = point,
                                                    .pool = answer->pool,
                                                    .token = answer->token,
                                                    .collector = answer->collector,
                                                    .trust = strbuf_text(&trust)},
                         &statement);
    fingerprint_of(strbuf_text(&statement), statement.length, ret);
    strbuf_fini(&statement);
    strbuf_fini(&trust);
}

int token_answer_print(const struct token_answer *answer, struct strbuf *out, struct err *err)
{
    if (answer->pool[0] == '\0' || !is_line(answer->pool)) {
        return err_set(err, -EINVAL, "pool name '%s' is empty or has bad characters", answer->pool);
    }
    if (answer->collector[0] == '\0' || !is_addresses(answer->collector)) {
        return err_set(err, -EINVAL, "collector '%s' is not HOST:PORT, or several with commas",
                       answer->collector);
    }
    if (answer->keys.count == 0) {
        return err_set(err, -EINVAL, "the answer needs the pool's public signing keys");
    }
    strbuf_puts(out, "-----BEGIN ROOST TOKEN " ANSWER "-----\n");
    put_line(out, "Pool", answer->pool);
    put_line(out, "Collector", answer->collector);
    put_broken(out, "Token", answer->token);
    put_trust(answer, out);
    strbuf_puts(out, TOKEN_ANSWER_END "\n");
    return out->failed ? err_set(err, -E2BIG, "the answer is longer than %zu bytes", out->max) : 0;
}

/* Takes over a line's text; refuses a second such line. */
static int take_answer_text(const struct item *item, bool good, size_t max, char **ret,
                            struct err *err)
{
    if (*ret != NULL) {
        return refuse_repeated(item, err);
    }
    if (!good || item->value[0] == '\0' || strlen(item->value) > max) {
        return err_set(
            err, -EINVAL,
            "line %u: the value of '%s' is empty, longer than %zu bytes, or has bad characters",
            item->line, item->name, max);
    }
    *ret = mem_strdup(item->value);
    return 0;
}

/* Takes a signing key: a line with its name, followed by its PEM block. */
static int take_answer_key(const struct item *name, const struct item *pem,
                           struct token_answer *answer, struct err *err)
{
    if (pem == NULL || !pem->is_pem || strcmp(pem->name, PUBLIC_KEY) != 0) {
        return err_set(err, -EINVAL, "line %u: no public key follows this 'Kid'", name->line);
    }
    int rc = token_answer_add_key(answer, name->value, pem->value, err);
    return rc != 0 ? err_prefix(err, rc, "line %u", name->line) : 0;
}

static int take_answer(const struct vec *items, struct token_answer *answer, struct err *err)
{
    struct strbuf ca;
    int rc = 0;
    strbuf_init(&ca, TOKEN_REQUEST_TEXT_MAX);
    for (size_t i = 0; i < items->count && rc == 0; i++) {
        const struct item *item = items->items[i];
        const char *name = item->name, *value = item->value;
        if (item->is_pem && strcmp(name, CERTIFICATE) == 0) {
            strbuf_puts(&ca, value);
        } else if (item->is_pem) {
            rc = err_set(err, -EINVAL, "line %u: a public key without its 'Kid'", item->line);
        } else if (strcmp(name, "Pool") == 0) {
            rc = take_answer_text(item, is_line(value), 255, &answer->pool, err);
        } else if (strcmp(name, "Collector") == 0) {
            rc = take_answer_text(item, is_addresses(value), 1023, &answer->collector, err);
        } else if (strcmp(name, "Token") == 0) {
            rc = take_answer_text(item, is_name(value), TOKEN_TEXT_MAX, &answer->token, err);
        } else if (strcmp(name, "Kid") == 0) {
            rc = take_answer_key(item, i + 1 < items->count ? items->items[i + 1] : NULL, answer,
                                 err);
            i++;
        } else {
            rc = refuse_unknown(item, "an answer", err);
        }
    }
    answer->ca = ca.length > 0 ? strbuf_take(&ca) : NULL;
    strbuf_fini(&ca);
    const char *missing = answer->pool == NULL        ? "Pool"
                          : answer->collector == NULL ? "Collector"
                          : answer->token == NULL     ? "Token"
                          : answer->keys.count == 0   ? "Kid"
                                                      : NULL;
    if (rc == 0 && missing != NULL) {
        rc = err_set(err, -EINVAL, "the line '%s' is missing", missing);
    }
    return rc == 0 && answer->ca == NULL
               ? err_set(err, -EINVAL, "the certificate of the pool's CA is missing")
               : rc;
}

int token_answer_parse(const char *text, struct token_answer *ret, struct err *err)
{
    struct token_answer answer = {.pool = NULL};
    struct vec items = {0};
    int rc = read_block(text, ANSWER, &items, err);
    rc = rc != 0 ? rc : take_answer(&items, &answer, err);
    if (rc == 0) {
        *ret = answer;
    } else {
        token_answer_fini(&answer);
    }
    vec_fini(&items, item_free);
    return rc;
}

int token_answer_check(const struct token_answer *answer, const struct token_request *request,
                       int64_t now_s, struct token *ret, struct err *err)
{
    struct token_keys *keys = token_keys_create();
    struct token token = {.scopes = 0};
    char fingerprint[FINGERPRINT_SIZE];
    int rc = 0;
    for (size_t i = 0; i < answer->keys.count && rc == 0; i++) {
        const struct token_answer_key *key = answer->keys.items[i];
        rc = token_keys_add(keys, key->kid, key->pem, err);
    }
    rc = rc != 0 ? rc : token_check(keys, answer->token, now_s, &token, err);
    if (rc == 0 && memcmp(token.holder, request->point, sizeof token.holder) != 0) {
        token_request_fingerprint(request, fingerprint);
        rc = err_set(err, -EKEYREJECTED,
                     "the token of %s is bound to another key than the one made here (request %s): "
                     "the answer belongs to another request or to an older one",
                     token.identity, fingerprint);
    }
    if (rc == 0 && strcmp(token.pool, answer->pool) != 0) {
        rc = err_set(err, -EXDEV, "the answer is from pool '%s', but its token is for pool '%s'",
                     answer->pool, token.pool);
    }
    if (rc == 0 && request->pool[0] != '\0' && strcmp(token.pool, request->pool) != 0) {
        rc = err_set(err, -EXDEV, "the answer is from pool '%s', but the request was for pool '%s'",
                     token.pool, request->pool);
    }
    if (rc == 0) {
        *ret = token;
    }
    token_keys_destroy(keys);
    return rc;
}
