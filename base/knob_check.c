/* base/knob_check.c - see knob_check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/knob_check.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/args.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/net_text.h"
#include "base/text.h"
#include "base/vec.h"

int knob_check_address(const char *text, struct err *err)
{
    size_t host_length;
    int64_t port = 0;
    return net_text_address(text, &host_length, &port, err);
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
