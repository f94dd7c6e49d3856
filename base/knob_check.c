/* base/knob_check.c - see knob_check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/knob_check.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/args.h"
#include "base/cpu_list.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/net_text.h"
#include "base/text.h"
#include "base/vec.h"

int knob_check_address(const char *text, struct err *err)
{
    size_t host_length;
    int64_t port = 0;
    int rc = net_text_address(text, &host_length, &port, err);
    size_t bad = strcspn(text, " \t\n;,/\\\"'@");
    if (rc == 0 && text[bad] != '\0') {
        rc = err_set(err, -EINVAL,
                     "'%s': '%c' is not valid in HOST or HOST:PORT; several hosts are a list: "
                     "{\"a.example.org\", \"b.example.org\"}",
                     text, text[bad]);
    }
    return rc;
}

int knob_check_listen(const char *text, struct err *err)
{
    return text[strspn(text, "0123456789")] == '\0'
               ? err_set(err, -EINVAL,
                         "'%s' is a port without a host; write HOST:%s, or *:%s for "
                         "all addresses",
                         text, text, text)
               : knob_check_address(text, err);
}

int knob_check_fingerprint(const char *text, struct err *err)
{
    char digits[NET_FINGERPRINT_SIZE];
    return net_text_fingerprint(text, digits, err);
}

int knob_check_name(const char *text, struct err *err)
{
    for (const char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("\"',/#", *at) != NULL) {
            return err_set(err, -EINVAL,
                           "'%.80s': expected a name without blanks, quotes, commas, '/' and '#'",
                           text);
        }
    }
    return 0;
}

int knob_check_account(const char *text, struct err *err)
{
    return strcmp(text, "root") == 0
               ? err_set(err, -EINVAL, "jobs never run as root; name an ordinary account")
               : 0;
}

int knob_check_program(const char *text, struct err *err)
{
    struct vec words = {0};
    int rc = args_parse_v2(text, &words, err);
    const char *program = rc == 0 && words.count > 0 ? words.items[0] : "";
    if (rc == 0 && program[0] != '/') {
        rc = err_set(err, -EINVAL, "'%s' is not an absolute path of a program", program);
    }
    vec_fini(&words, mem_free);
    return rc;
}

int knob_check_cpus(const char *text, struct err *err)
{
    uint64_t cpus[OS_CAGE_CPUS_MAX / 64];
    return cpu_list_parse(text, cpus, err);
}

int knob_check_number(const char *text, struct err *err)
{
    double number;
    return text_parse_double(text, &number, NULL) == 0 && isfinite(number) && number >= 0
               ? 0
               : err_set(err, -EINVAL, "'%s' is not a number, 0 or more", text);
}

int knob_check_whole(const char *text, struct err *err)
{
    int64_t number;
    return text_parse_int64(text, &number, NULL) == 0 && number >= 0
               ? 0
               : err_set(err, -EINVAL, "'%s' is not a whole number, 0 or more", text);
}
