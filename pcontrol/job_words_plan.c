/* pcontrol/job_words_plan.c - see job_words_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/job_words_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "pclient/protocol.h"
#include "pcontrol/host_name_plan.h"

#define MS_PER_S 1000.0
/* what stands before the command in a request: "job -timeout 31622400.000 " */
#define REQUEST_ROOM 40

static int read_place(struct pjob_wish *wish, const char *option, const char *value,
                      struct err *err)
{
    if (wish->place != PJOB_ANYWHERE) {
        return err_set(err, -EINVAL, "%s: a job has one host", option);
    }
    int rc = host_name_check(value, err);
    if (rc != 0) {
        return err_prefix(err, rc, "%s", option);
    }
    wish->place = option[0] == '+' ? PJOB_NEEDS : PJOB_PREFERS;
    wish->host = mem_strdup(value);
    return 0;
}

static int read_timeout(struct pjob_wish *wish, const char *option, const char *value,
                        struct err *err)
{
    double seconds;
    if (text_parse_double(value, &seconds, NULL) != 0 || seconds < 0.001 ||
        seconds > JOB_WORDS_TIMEOUT_MAX_S) {
        return err_set(err, -EINVAL, "%s: expected seconds, from 0.001 to %.0f, not '%s'", option,
                       JOB_WORDS_TIMEOUT_MAX_S, value);
    }
    wish->timeout_ms = (uint64_t)(seconds * MS_PER_S + 0.5);
    return 0;
}

static int read_path(struct pjob_wish *wish, const char *option, const char *value, struct err *err)
{
    char **path = &wish->paths[strcmp(option, "-stdout") == 0 ? 0 : 1];
    if (value[0] == '\0') {
        return err_set(err, -EINVAL, "%s: expected the name of a file", option);
    }
    mem_free(*path);
    *path = mem_strdup(value);
    return 0;
}

static int read_number(const char *option, const char *value, int64_t min, int64_t max,
                       int64_t *ret, struct err *err)
{
    if (text_parse_int64(value, ret, NULL) != 0 || *ret < min || *ret > max) {
        return err_set(err, -EINVAL, "%s: expected a number from %lld to %lld, not '%s'", option,
                       (long long)min, (long long)max, value);
    }
    return 0;
}

static int read_priority(struct pjob_wish *wish, const char *option, const char *value,
                         struct err *err)
{
    int64_t number = 0;
    int rc =
        read_number(option, value, -JOB_WORDS_PRIORITY_MAX, JOB_WORDS_PRIORITY_MAX, &number, err);
    wish->priority = (int32_t)number;
    return rc;
}

static int read_retries(struct pjob_wish *wish, const char *option, const char *value,
                        struct err *err)
{
    int64_t number = 0;
    int rc = read_number(option, value, 0, JOB_WORDS_RETRIES_MAX, &number, err);
    wish->retries = (uint32_t)number;
    return rc;
}

static const struct {
    const char *name;
    int (*read)(struct pjob_wish *wish, const char *option, const char *value, struct err *err);
} OPTIONS[] = {
    {"-host", read_place},      {"+host", read_place},  {"-timeout", read_timeout},
    {"-stdout", read_path},     {"-stderr", read_path}, {"-priority", read_priority},
    {"-retries", read_retries},
};

static int read_option(struct pjob_wish *wish, const char *option, const char *value,
                       struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        if (strcmp(OPTIONS[i].name, option) == 0) {
            return value != NULL ? OPTIONS[i].read(wish, option, value, err)
                                 : err_set(err, -EINVAL, "%s: a value is missing", option);
        }
    }
    const char *near = NULL;
    size_t distance = text_near_enough(option) + 1;
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        text_take_nearer(OPTIONS[i].name, option, &near, &distance);
    }
    return err_set(err, -EINVAL,
                   "unknown option %s%s%s (a command that begins so needs -- before it)", option,
                   near != NULL ? "; did you mean " : "", near != NULL ? near : "");
}

int job_words_read(char *const *words, size_t count, struct pjob_wish *ret, struct err *err)
{
    struct pjob_wish wish = {0};
    size_t at = 0;
    int rc = 0;
    while (rc == 0 && at < count && (words[at][0] == '-' || strcmp(words[at], "+host") == 0)) {
        if (strcmp(words[at], "--") == 0) {
            at++;
            break;
        }
        rc = read_option(&wish, words[at], at + 1 < count ? words[at + 1] : NULL, err);
        at += 2;
    }
    if (rc == 0 && (at >= count || words[at][0] == '\0')) {
        rc = err_set(err, -EINVAL, "the command of the job is missing");
    }
    if (rc == 0) {
        struct strbuf command;
        strbuf_init(&command, PCLIENT_LINE_MAX - REQUEST_ROOM);
        /* "--" keeps a pclient from taking a command that begins with "-" for an option */
        strbuf_puts(&command, "--");
        for (size_t i = at; i < count; i++) {
            shell_words_append(&command, words[i]);
        }
        wish.command = strbuf_take(&command);
        rc = wish.command != NULL ? 0
                                  : err_set(err, -EINVAL, "the command has more than %zu bytes",
                                            PCLIENT_LINE_MAX - REQUEST_ROOM);
    }
    if (rc != 0) {
        pjob_wish_fini(&wish);
        return rc;
    }
    *ret = wish;
    return 0;
}
