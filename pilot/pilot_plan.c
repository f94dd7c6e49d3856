/* pilot/pilot_plan.c - see pilot_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pilot/pilot_plan.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "base/text.h"

#define DAYS_MAX_S ((int64_t)3650 * 86400)

const char PILOT_USAGE[] =
    "usage: roost-pilot --collector HOST[:PORT] --token FILE [options] [KNOB=VALUE ...]\n"
    "Makes this machine part of a pool while there is work for it, and then removes all its "
    "files.\n"
    "  --collector HOST[:PORT]  the pool's collector\n"
    "  --token FILE             a token, or a bundle made by `roost token accept --bundle` on\n"
    "                           this host, or by `roost token create --bundle` for many hosts\n"
    "  --ca FILE                the pool's CA, if the token file does not contain it\n"
    "  --pin FINGERPRINT        SHA-256 of the collector's certificate, used instead of the CA\n"
    "  --key KID.pub            a public key for checking tokens; may be repeated\n"
    "  --name NAME              name of this machine in the pool\n"
    "  --cpus N --memory MIB    resources to offer; all of this machine by default\n"
    "  --lifetime TIME          after this time, take no more jobs and end\n"
    "  --idle-timeout TIME      end after this time without a job (20m; 0: never)\n"
    "  --execute DIR            where to make the working directory (TMPDIR, else /tmp)\n"
    "  KNOB=VALUE, KNOB+=VALUE  configuration of the startd and its starters\n"
    "TIME is in seconds, or 30m, 12h, 2d. SIGTERM and SIGINT end the pilot; jobs are vacated "
    "first.\n";

/* ---- arguments */

static int read_number(const char *option, const char *text, int64_t max, int64_t *ret,
                       struct err *err)
{
    if (text_parse_int64(text, ret, NULL) != 0 || *ret < 1 || *ret > max) {
        return err_set(err, -EINVAL, "%s: '%s' is not a number from 1 to %lld", option, text,
                       (long long)max);
    }
    return 0;
}

static int read_time(const char *option, const char *text, int64_t *ret, struct err *err)
{
    if (text_parse_duration_s(text, ret, NULL) != 0 || *ret < 0 || *ret > DAYS_MAX_S) {
        return err_set(err, -EINVAL, "%s: '%s' is not a time such as 300, 30m, 12h", option, text);
    }
    return 0;
}

static bool is_knob_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns where the value begins in "KNOB=VALUE" or "KNOB+=VALUE"; NULL: text is neither. */
static const char *setting_value(const char *text, size_t *name_length, bool *adds)
{
    size_t length = 0;
    while (is_knob_letter(text[length])) {
        length++;
    }
    *name_length = length;
    *adds = text[length] == '+';
    const char *equals = text + length + (*adds ? 1 : 0);
    return length > 0 && length < 128 && (text[0] < '0' || text[0] > '9') && *equals == '='
               ? equals + 1
               : NULL;
}

static bool is_option(const char *arg, const char *name)
{
    return arg[0] == '-' && strcmp(arg + (arg[1] == '-' ? 2 : 1), name) == 0;
}

static int read_key(struct pilot_options *options, const char *text, struct err *err)
{
    if (options->key_count == PILOT_KEYS_MAX) {
        return err_set(err, -E2BIG, "--key: more than %d keys", PILOT_KEYS_MAX);
    }
    options->key_files[options->key_count++] = text;
    return 0;
}

static int read_option(struct pilot_options *options, const char *arg, const char *next,
                       struct err *err)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"collector", &options->collector}, {"token", &options->token_file},
                 {"ca", &options->ca_file},          {"pin", &options->pin},
                 {"name", &options->name},           {"execute", &options->execute}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (is_option(arg, texts[i].name)) {
            *texts[i].text = next;
            return next[0] != '\0' ? 0 : err_set(err, -EINVAL, "%s: the value is empty", arg);
        }
    }
    if (is_option(arg, "key")) {
        return read_key(options, next, err);
    }
    if (is_option(arg, "cpus")) {
        return read_number(arg, next, 65536, &options->cpus, err);
    }
    if (is_option(arg, "memory")) {
        return read_number(arg, next, (int64_t)1 << 40, &options->memory_mib, err);
    }
    if (is_option(arg, "lifetime")) {
        return read_time(arg, next, &options->lifetime_s, err);
    }
    if (is_option(arg, "idle-timeout")) {
        return read_time(arg, next, &options->idle_timeout_s, err);
    }
    return err_set(err, -EINVAL, "unknown argument '%s'", arg);
}

static int read_setting(struct pilot_options *options, const char *arg, struct err *err)
{
    size_t length;
    bool adds;
    if (setting_value(arg, &length, &adds) == NULL) {
        return err_set(err, -EINVAL, "'%s' is neither an option nor of the form KNOB=VALUE", arg);
    }
    if (options->setting_count == PILOT_SETTINGS_MAX) {
        return err_set(err, -E2BIG, "'%s': more than %d settings", arg, PILOT_SETTINGS_MAX);
    }
    options->settings[options->setting_count++] = arg;
    return 0;
}

int pilot_plan_options(int argc, char *const *argv, struct pilot_options *ret, struct err *err)
{
    struct pilot_options options = {.idle_timeout_s = PILOT_IDLE_TIMEOUT_S};
    int rc = 0;
    for (int i = 1; i < argc && rc == 0; i++) {
        const char *arg = argv[i];
        if (arg[0] != '-') {
            rc = read_setting(&options, arg, err);
        } else if (is_option(arg, "help") || is_option(arg, "h")) {
            options.help = true;
        } else if (is_option(arg, "version")) {
            options.version = true;
        } else if (i + 1 == argc) {
            rc = err_set(err, -EINVAL, "unknown option '%s', or its argument is missing", arg);
        } else {
            rc = read_option(&options, arg, argv[++i], err);
        }
    }
    if (rc == 0 && !options.help && !options.version) {
        if (options.collector == NULL) {
            rc = err_set(err, -EINVAL, "--collector is missing; name the pool's collector");
        } else if (options.token_file == NULL) {
            rc = err_set(err, -EINVAL, "--token is missing; name the file with the token");
        }
    }
    if (rc == 0) {
        *ret = options;
    }
    return rc;
}

/* ---- the token file */

static bool begins_with(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static bool is_kid(const char *kid)
{
    size_t length = strlen(kid);
    if (length == 0 || length >= sizeof(((struct pilot_key *)0)->kid) || kid[0] == '.') {
        return false;
    }
    for (; *kid != '\0'; kid++) {
        if (!is_knob_letter(*kid) && *kid != '-' && *kid != '.') {
            return false;
        }
    }
    return true;
}

/* Copies the line at *at, without trailing blanks, to ret; moves *at to the next line. */
static bool next_line(const char **at, struct strbuf *ret)
{
    strbuf_clear(ret);
    if (**at == '\0') {
        return false;
    }
    size_t length = strcspn(*at, "\n");
    size_t kept = length;
    while (kept > 0 && (unsigned char)(*at)[kept - 1] <= ' ') {
        kept--;
    }
    strbuf_append(ret, *at, kept);
    *at += length + ((*at)[length] == '\n' ? 1 : 0);
    return true;
}

/* Returns whether the line may be inside a PEM block: it has only characters of base64, so it
 * cannot begin or end a block. */
static bool is_base64(const char *line)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    return line[strspn(line, LETTERS)] == '\0';
}

/* Reads the rest of a PEM block up to `end`; its first line is already in block. */
static int read_block(const char **at, const char *end, struct strbuf *block, struct err *err)
{
    struct strbuf line;
    bool closed = false, good = true;
    strbuf_init(&line, 0);
    strbuf_putc(block, '\n');
    while (good && !closed && next_line(at, &line)) {
        strbuf_puts(block, strbuf_text(&line));
        strbuf_putc(block, '\n');
        closed = strcmp(strbuf_text(&line), end) == 0;
        good = closed || is_base64(strbuf_text(&line));
    }
    if (line.data != NULL) {
        secret_wipe(line.data, line.capacity);
    }
    strbuf_fini(&line);
    return closed ? 0 : err_set(err, -EINVAL, "a block is not closed: '%s' is missing", end);
}

static int read_line(struct pilot_bundle *bundle, const char **at, struct strbuf *line,
                     struct strbuf *ca, char kid[64], struct err *err)
{
    const char *text = strbuf_text(line);
    if (text[0] == '\0' || text[0] == '#') {
        return 0;
    }
    if (begins_with(text, "kid: ")) {
        if (!is_kid(text + 5)) {
            return err_set(err, -EINVAL, "'%s' is not a valid key name", text + 5);
        }
        memcpy(kid, text + 5, strlen(text + 5) + 1);
        return 0;
    }
    if (strcmp(text, "-----BEGIN CERTIFICATE-----") == 0) {
        int rc = read_block(at, "-----END CERTIFICATE-----", line, err);
        strbuf_append(ca, strbuf_text(line), line->length);
        return rc;
    }
    if (strcmp(text, "-----BEGIN PUBLIC KEY-----") == 0) {
        int rc = read_block(at, "-----END PUBLIC KEY-----", line, err);
        if (rc == 0 && bundle->keys.count == PILOT_KEYS_MAX) {
            rc = err_set(err, -E2BIG, "more than %d keys", PILOT_KEYS_MAX);
        }
        if (rc == 0) {
            struct pilot_key *key = mem_zalloc(sizeof *key);
            memcpy(key->kid, kid, sizeof key->kid);
            key->pem = mem_strdup(strbuf_text(line));
            vec_push(&bundle->keys, key);
        }
        return rc;
    }
    if (strcmp(text, "-----BEGIN PRIVATE KEY-----") == 0 && bundle->holder == NULL) {
        int rc = read_block(at, "-----END PRIVATE KEY-----", line, err);
        bundle->holder = rc == 0 ? mem_strdup(strbuf_text(line)) : NULL;
        secret_wipe(line->data, line->length);
        return rc;
    }
    if (begins_with(text, "-----BEGIN ") || bundle->token != NULL ||
        strpbrk(text, " \t\r") != NULL) {
        return err_set(err, -EINVAL, "'%.40s' is not expected in a token file", text);
    }
    bundle->token = mem_strdup(text);
    return 0;
}

int pilot_plan_bundle(const char *text, struct pilot_bundle *ret, struct err *err)
{
    struct pilot_bundle bundle = {0};
    struct strbuf line, ca;
    char kid[64] = "POOL";
    int rc = 0;
    strbuf_init(&line, 0);
    strbuf_init(&ca, 0);
    while (rc == 0 && next_line(&text, &line)) {
        rc = read_line(&bundle, &text, &line, &ca, kid, err);
    }
    if (rc == 0 && bundle.token == NULL) {
        rc = err_set(err, -EINVAL, "the file contains no token");
    }
    if (rc == 0 && bundle.holder == NULL) {
        rc = err_set(err, -EINVAL,
                     "the private key of the token is missing; `roost token create` writes both "
                     "into one file");
    }
    if (rc == 0) {
        bundle.ca = ca.length > 0 ? mem_strdup(strbuf_text(&ca)) : NULL;
        *ret = bundle;
    } else {
        pilot_bundle_fini(&bundle);
    }
    strbuf_fini(&line);
    strbuf_fini(&ca);
    return rc;
}

static void key_free(void *arg)
{
    struct pilot_key *key = arg;
    mem_free(key->pem);
    mem_free(key);
}

void pilot_bundle_fini(struct pilot_bundle *bundle)
{
    mem_free(bundle->token);
    secret_free(bundle->holder);
    mem_free(bundle->ca);
    vec_fini(&bundle->keys, key_free);
    *bundle = (struct pilot_bundle){0};
}

/* ---- the configuration */

/* Appends NAME = "value" with quotes and backslashes escaped, and "${", which libconfuse would
 * replace. */
static int put_setting(struct strbuf *out, const char *name, size_t name_length, const char *sign,
                       const char *value, struct err *err)
{
    strbuf_append(out, name, name_length);
    strbuf_printf(out, " %s \"", sign);
    for (const char *at = value; *at != '\0'; at++) {
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f) {
            return err_set(err, -EINVAL, "%.*s: a value cannot contain a control character",
                           (int)name_length, name);
        }
        if (*at == '"' || *at == '\\' || (at[0] == '$' && at[1] == '{')) {
            strbuf_putc(out, '\\');
        }
        strbuf_putc(out, *at);
    }
    strbuf_puts(out, "\"\n");
    return 0;
}

static int put_settings(const struct pilot_options *options, struct strbuf *out, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < options->setting_count && rc == 0; i++) {
        size_t length;
        bool adds;
        const char *setting = options->settings[i];
        const char *value = setting_value(setting, &length, &adds);
        rc = put_setting(out, setting, length, adds ? "+=" : "=", value, err);
        /* What glideins say of themselves is for the ads. */
        if (rc == 0 && !adds && strncasecmp(setting, "GLIDEIN_", 8) == 0) {
            strbuf_printf(out, "STARTD_ATTRS += \"%.*s\"\n", (int)length, setting);
        }
    }
    return rc;
}

int pilot_plan_config(const struct pilot_options *options, const struct pilot_place *place,
                      struct strbuf *out, struct err *err)
{
    static const char *const DIRECTORIES[][2] = {
        {"LOG", "log"},
        {"RUN", "run"},
        {"SPOOL", "spool"},
        {"EXECUTE", "execute"},
        {"LOCK", "lock"},
        {"SBIN", "bin"},
        {"SEC_DIRECTORY", "security"},
    };
    int rc = put_setting(out, "LOCAL_DIR", strlen("LOCAL_DIR"), "=", place->directory, err);
    for (size_t i = 0; i < sizeof DIRECTORIES / sizeof DIRECTORIES[0]; i++) {
        strbuf_printf(out, "%s = \"$(LOCAL_DIR)/%s\"\n", DIRECTORIES[i][0], DIRECTORIES[i][1]);
    }
    strbuf_puts(out, "TOKEN_FILE = \"$(SEC_DIRECTORY)/token\"\n"
                     "RESURRECT_MASTER = false\n"
                     "STARTD_IS_GLIDEIN = true\n"
                     "NUM_SLOTS_TYPE_1 = 1\n"
                     "SLOT_TYPE_1 = \"100%\"\n"
                     "SLOT_TYPE_1_PARTITIONABLE = \"true\"\n");
    rc = rc != 0 ? rc : put_setting(out, "COLLECTOR_HOST", 14, "=", options->collector, err);
    if (options->pin != NULL) {
        rc = rc != 0 ? rc : put_setting(out, "COLLECTOR_PIN", 13, "=", options->pin, err);
    }
    rc = rc != 0 ? rc : put_setting(out, "STARTD_NAME", 11, "=", place->name, err);
    /* Accounts of the same name here are other people's. */
    rc = rc != 0 ? rc : put_setting(out, "UID_DOMAIN", 10, "=", place->name, err);
    if (options->cpus > 0) {
        strbuf_printf(out, "NUM_CPUS = %lld\n", (long long)options->cpus);
    }
    if (options->memory_mib > 0) {
        strbuf_printf(out, "MEMORY = %lld\n", (long long)options->memory_mib);
    }
    strbuf_printf(out, "STARTD_NOCLAIM_SHUTDOWN = %lld\n", (long long)options->idle_timeout_s);
    strbuf_puts(out, "IsGlidein = true\nSTARTD_ATTRS = \"IsGlidein\"\n");
    if (options->lifetime_s > 0) {
        strbuf_printf(out,
                      "GLIDEIN_ToRetire = %lld\n"
                      "STARTD_ATTRS += \"GLIDEIN_ToRetire\"\n"
                      "DAEMON_SHUTDOWN = \"time() >= GLIDEIN_ToRetire\"\n",
                      (long long)(place->now_s + options->lifetime_s));
    }
    return rc != 0 ? rc : put_settings(options, out, err);
}
