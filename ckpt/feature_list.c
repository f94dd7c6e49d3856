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

static void put_room(uint32_t room, struct strbuf *ret)
{
    strbuf_printf(ret, "%sroom-%02x", ret->length > 0 ? "," : "", (unsigned)room);
}

void feature_list_room(uint32_t linker_room, struct strbuf *ret)
{
    if ((linker_room & MACHINE_LINKER_SAVES) != MACHINE_LINKER_SAVES) {
        put_room(linker_room & MACHINE_LINKER_SAVES, ret);
    }
}

void feature_list_rooms(uint32_t registers, struct strbuf *ret)
{
    /* What processors have: SSE; AVX; AVX and MPX; AVX-512; that and MPX (needs no word). */
    static const uint32_t ROOMS[] = {0x02, 0x06, 0x0e, 0xe6};
    for (size_t i = 0; i < sizeof ROOMS / sizeof ROOMS[0]; i++) {
        if ((registers & MACHINE_LINKER_SAVES & ~ROOMS[i]) == 0) {
            put_room(ROOMS[i], ret);
        }
    }
}
