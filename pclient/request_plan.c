/* pclient/request_plan.c - see request_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pclient/request_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "pclient/protocol.h"

const char REQUEST_HELP_TEXT[] =
    "job [-timeout S] [--] ARGV...   start a job; answer: its pid\n"
    "status                          BUSY, EXIT n, CRASH n or NONE\n"
    "stdout [-take], stderr [-take]  what the job has written\n"
    "kill                            kill the job and all of its processes\n"
    "reset                           kill the job, and forget what is known of it\n"
    "job -detach MARK [-lease S] [-stdout FILE] [-stderr FILE] ARGV...\n"
    "                                start a job that goes on without pclient\n"
    "jobs                            detached jobs: mark, pid, seconds left of the lease\n"
    "renew MARK [S]                  renew the lease of a detached job\n"
    "kill MARK                       kill a detached job\n"
    "lease S                         set the lease of pclient: it ends without requests\n"
    "ping [TOKEN]                    renew the lease; after 'follow' with the last token only\n"
    "follow NONCE [WINDOW]           from now on, send output and ends unasked\n"
    "ack N                           N bytes of output are dealt with (no answer)\n"
    "help                            this text\n"
    "exit                            end pclient and its job\n"
    "Words are quoted as for a shell. Protocol: docs/protocol/pclient.md of Roost.\n";

/* The words behind the command. */
struct rest {
    const char *const *at; /* ended by NULL */
    struct err *err;
};

static int end_of_words(const struct rest *rest, const char *command)
{
    return *rest->at == NULL
               ? 0
               : err_set(rest->err, -EINVAL, "%s: unexpected word '%.80s'", command, *rest->at);
}

static bool is_option(const struct rest *rest, const char *name)
{
    return *rest->at != NULL && strcmp(*rest->at, name) == 0;
}

/* Takes an option and its value. */
static int take_value(struct rest *rest, const char **ret)
{
    const char *option = *rest->at++;
    if (*rest->at == NULL || **rest->at == '\0') {
        return err_set(rest->err, -EINVAL, "%s needs a value", option);
    }
    *ret = *rest->at++;
    return 0;
}

int request_plan_mark(const char *text, struct err *err)
{
    size_t length = strlen(text);
    bool good = length > 0 && length <= REQUEST_MARK_MAX && text[0] != '-' && text[0] != '.';
    for (const char *at = text; good && *at != '\0'; at++) {
        char lower = text_lower(*at);
        good = text_is_digit(*at) || (lower >= 'a' && lower <= 'z') || strchr("._-", *at) != NULL;
    }
    return good ? 0
                : err_set(err, -EINVAL,
                          "'%.80s' cannot be the mark of a job: 1 to %d letters, digits and . _ -",
                          text, REQUEST_MARK_MAX);
}

int request_plan_lease(const char *text, int64_t *ret, struct err *err)
{
    int64_t seconds;
    int rc = text_parse_int64(text, &seconds, err);
    if (rc != 0) {
        return rc;
    }
    if (seconds < PCLIENT_LEASE_MIN_S || seconds > PCLIENT_LEASE_MAX_S) {
        return err_set(err, -ERANGE, "a lease of %.40s s: expected %d to %d", text,
                       PCLIENT_LEASE_MIN_S, PCLIENT_LEASE_MAX_S);
    }
    *ret = seconds;
    return 0;
}

static int parse_timeout(const char *text, uint64_t *ret, struct err *err)
{
    double seconds;
    int rc = text_parse_double(text, &seconds, err);
    if (rc != 0) {
        return rc;
    }
    if (!(seconds >= 0.001 && seconds <= REQUEST_TIMEOUT_MAX_S)) {
        return err_set(err, -ERANGE, "-timeout %.40s: expected 0.001 to %.0f seconds", text,
                       REQUEST_TIMEOUT_MAX_S);
    }
    *ret = (uint64_t)(seconds * 1000 + 0.5);
    return 0;
}

static int parse_job_option(struct rest *rest, struct request *ret)
{
    const char *option = *rest->at, *value = NULL;
    int rc = take_value(rest, &value);
    if (rc != 0) {
        return rc;
    }
    if (strcmp(option, "-timeout") == 0) {
        return parse_timeout(value, &ret->timeout_ms, rest->err);
    }
    if (strcmp(option, "-detach") == 0) {
        ret->mark = value;
        return request_plan_mark(value, rest->err);
    }
    if (strcmp(option, "-lease") == 0) {
        return request_plan_lease(value, &ret->lease_s, rest->err);
    }
    if (strcmp(option, "-stdout") == 0) {
        ret->stdout_path = value;
        return 0;
    }
    if (strcmp(option, "-stderr") == 0) {
        ret->stderr_path = value;
        return 0;
    }
    return err_set(rest->err, -EINVAL, "job: unknown option '%.80s'", option);
}

static int parse_job(struct rest *rest, struct request *ret)
{
    while (*rest->at != NULL && **rest->at == '-') {
        if (is_option(rest, "--")) {
            rest->at++;
            break;
        }
        int rc = parse_job_option(rest, ret);
        if (rc != 0) {
            return rc;
        }
    }
    if (*rest->at == NULL || **rest->at == '\0') {
        return err_set(rest->err, -EINVAL, "job: no command to start");
    }
    if (ret->mark == NULL &&
        (ret->lease_s != 0 || ret->stdout_path != NULL || ret->stderr_path != NULL)) {
        return err_set(rest->err, -EINVAL, "job: -lease, -stdout and -stderr need -detach");
    }
    if (ret->mark != NULL && ret->timeout_ms != 0) {
        return err_set(rest->err, -EINVAL, "job: -timeout is not for -detach; use -lease");
    }
    ret->lease_s = ret->mark != NULL && ret->lease_s == 0 ? REQUEST_JOB_LEASE_S : ret->lease_s;
    ret->argv = rest->at;
    return 0;
}

static int parse_plain(struct rest *rest, struct request *ret)
{
    return end_of_words(rest, ret->words.items[0]);
}

static int parse_output(struct rest *rest, struct request *ret)
{
    ret->take = is_option(rest, "-take");
    rest->at += ret->take ? 1 : 0;
    return end_of_words(rest, ret->words.items[0]);
}

static int parse_kill(struct rest *rest, struct request *ret)
{
    if (*rest->at != NULL) {
        ret->mark = *rest->at++;
        int rc = request_plan_mark(ret->mark, rest->err);
        if (rc != 0) {
            return rc;
        }
    }
    return end_of_words(rest, PCLIENT_KILL);
}

static int parse_renew(struct rest *rest, struct request *ret)
{
    if (*rest->at == NULL) {
        return err_set(rest->err, -EINVAL, "renew: the mark of a detached job is missing");
    }
    ret->mark = *rest->at++;
    int rc = request_plan_mark(ret->mark, rest->err);
    if (rc == 0 && *rest->at != NULL) {
        rc = request_plan_lease(*rest->at++, &ret->lease_s, rest->err);
    }
    return rc != 0 ? rc : end_of_words(rest, "renew");
}

static int parse_lease(struct rest *rest, struct request *ret)
{
    if (*rest->at == NULL) {
        return err_set(rest->err, -EINVAL, "lease: the seconds are missing");
    }
    int rc = request_plan_lease(*rest->at++, &ret->lease_s, rest->err);
    return rc != 0 ? rc : end_of_words(rest, PCLIENT_LEASE);
}

static int parse_ping(struct rest *rest, struct request *ret)
{
    ret->word = *rest->at;
    rest->at += *rest->at != NULL ? 1 : 0;
    return end_of_words(rest, PCLIENT_PING);
}

/* Takes a number of bytes. */
static int take_bytes(struct rest *rest, int64_t min, int64_t max, int64_t *ret)
{
    int64_t bytes;
    int rc = text_parse_int64(*rest->at, &bytes, rest->err);
    if (rc == 0 && (bytes < min || bytes > max)) {
        rc = err_set(rest->err, -ERANGE, "%.40s bytes: expected %" PRId64 " to %" PRId64, *rest->at,
                     min, max);
    }
    if (rc == 0) {
        *ret = bytes;
        rest->at++;
    }
    return rc;
}

static int parse_follow(struct rest *rest, struct request *ret)
{
    if (*rest->at == NULL || **rest->at == '\0') {
        return err_set(rest->err, -EINVAL, "follow: the nonce is missing");
    }
    ret->word = *rest->at++;
    for (const char *at = ret->word; *at != '\0'; at++) {
        if (text_is_space(*at)) { /* it would break the line of the answer */
            return err_set(rest->err, -EINVAL, "follow: the nonce may not have blanks");
        }
    }
    ret->bytes = PCLIENT_WINDOW;
    int rc = *rest->at != NULL
                 ? take_bytes(rest, REQUEST_WINDOW_MIN, REQUEST_WINDOW_MAX, &ret->bytes)
                 : 0;
    return rc != 0 ? rc : end_of_words(rest, PCLIENT_FOLLOW);
}

static int parse_ack(struct rest *rest, struct request *ret)
{
    if (*rest->at == NULL) {
        return err_set(rest->err, -EINVAL, "ack: the number of bytes is missing");
    }
    int rc = take_bytes(rest, 0, INT64_MAX, &ret->bytes);
    return rc != 0 ? rc : end_of_words(rest, PCLIENT_ACK);
}

static const struct {
    const char *name;
    enum request_kind kind;
    int (*parse)(struct rest *rest, struct request *ret);
} COMMANDS[] = {
    {PCLIENT_JOB, REQUEST_JOB, parse_job},
    {"status", REQUEST_STATUS, parse_plain},
    {"stdout", REQUEST_STDOUT, parse_output},
    {"stderr", REQUEST_STDERR, parse_output},
    {"reset", REQUEST_RESET, parse_plain},
    {PCLIENT_KILL, REQUEST_KILL, parse_kill},
    {"jobs", REQUEST_JOBS, parse_plain},
    {"renew", REQUEST_RENEW, parse_renew},
    {PCLIENT_LEASE, REQUEST_LEASE, parse_lease},
    {PCLIENT_PING, REQUEST_PING, parse_ping},
    {PCLIENT_FOLLOW, REQUEST_FOLLOW, parse_follow},
    {PCLIENT_ACK, REQUEST_ACK, parse_ack},
    {"help", REQUEST_HELP, parse_plain},
    {PCLIENT_EXIT, REQUEST_EXIT, parse_plain},
};

int request_plan_parse(const char *line, size_t length, struct request *ret, struct err *err)
{
    *ret = (struct request){.kind = REQUEST_NONE};
    int rc = shell_words_parse(line, length, &ret->words, err);
    if (rc != 0 || ret->words.count == 0) {
        return rc;
    }
    vec_push(&ret->words, NULL);
    ret->words.count--;
    const char *const *words = (const char *const *)ret->words.items;
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(words[0], COMMANDS[i].name) == 0) {
            struct rest rest = {.at = words + 1, .err = err};
            ret->kind = COMMANDS[i].kind;
            return COMMANDS[i].parse(&rest, ret);
        }
    }
    return err_set(err, -EINVAL, "unknown request '%.80s'; 'help' lists the requests", words[0]);
}

void request_fini(struct request *request)
{
    vec_fini(&request->words, mem_free);
    *request = (struct request){.kind = REQUEST_NONE};
}

void request_plan_status(struct strbuf *out, int exit_status, int signal_number,
                         enum request_reason why)
{
    if (signal_number == 0) {
        strbuf_printf(out, "%s %d", PCLIENT_EXITED, exit_status);
        return;
    }
    strbuf_printf(out, "%s %d", PCLIENT_CRASHED, signal_number);
    if (why != REASON_NONE) {
        strbuf_printf(out, " %s", why == REASON_TIMEOUT ? PCLIENT_TIMEOUT : PCLIENT_KILLED);
    }
}
