/* ckpt/feature_list.c - the features of a processor as a list: see feature_list.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/feature_list.h"

#include <stddef.h>
#include <string.h>

#include "base/strbuf.h"

void feature_list(const uint32_t words[MACHINE_WORDS], struct strbuf *ret)
{
    static const uint32_t NOTHING[MACHINE_WORDS] = {0};
    const char *comma = "";
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        for (unsigned bit = 0; bit < 32; bit++) {
            uint32_t one[MACHINE_WORDS] = {0};
            one[i] = words[i] & (1U << bit);
            const char *name = machine_missing(one, NOTHING);
            if (name == NULL) {
                continue; /* it has not, or nobody cares */
            }
            strbuf_printf(ret, "%s", comma);
            if (strncmp(name, "a feature", 9) == 0) {
                strbuf_printf(ret, "w%zu.%u", i, bit);
            }
            for (const char *at = name; strncmp(name, "a feature", 9) != 0 && *at != '\0'; at++) {
                strbuf_putc(ret, *at == ' ' ? '-' : *at);
            }
            comma = ",";
        }
    }
}
