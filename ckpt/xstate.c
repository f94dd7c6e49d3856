/* ckpt/xstate.c - extended registers in another layout: see xstate.h.
 *
 * Source: Intel's manual, volume 1, chapter 13; Linux, Documentation/arch/x86/xstate.rst.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/xstate.h"

#include <cpuid.h>
#include <stdbool.h>

#define FIRST 2 /* component that CPUID lays out */

static uint64_t bit_of(unsigned component)
{
    return UINT64_C(1) << component;
}

static uint64_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

void xstate_read_layout(struct ckpt_xstate_layout *ret)
{
    unsigned a, b, c, d;
    *ret = (struct ckpt_xstate_layout){.features = XSTATE_LEGACY};
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) {
        return;
    }
    ret->features = read_xcr0();
    for (unsigned i = FIRST; i < CKPT_COMPONENTS; i++) {
        if ((ret->features & bit_of(i)) != 0 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) != 0) {
            ret->components[i].bytes = a;
            ret->components[i].offset = b;
        }
    }
}

static uint64_t marked_components(const uint8_t *saved)
{
    uint64_t header;
    __builtin_memcpy(&header, saved + XSTATE_HEADER, sizeof header);
    return header;
}

/* The initial state of each component is zeroes; not every processor remembers that a component
 * never left it. */
static bool is_used(const struct ckpt_xstate_layout *from, const uint8_t *saved, unsigned i)
{
    const struct ckpt_component *place = &from->components[i];
    bool used = (marked_components(saved) & bit_of(i)) != 0 && place->bytes == 0;
    for (uint32_t j = 0; j < place->bytes && !used; j++) {
        used = (marked_components(saved) & bit_of(i)) != 0 && saved[place->offset + j] != 0;
    }
    return used;
}

static uint32_t keys_of(const struct ckpt_xstate_layout *from, const uint8_t *saved)
{
    uint32_t keys;
    __builtin_memcpy(&keys, saved + from->components[XSTATE_KEYS].offset, sizeof keys);
    return keys;
}

static const char *name_of(unsigned component)
{
    switch (component) {
    case 2:
        return "AVX registers";
    case 3:
    case 4:
        return "MPX registers";
    case 5:
    case 6:
    case 7:
        return "AVX-512 registers";
    case XSTATE_KEYS:
        return "protection keys";
    case 17:
    case 18:
        return "AMX tiles";
    case 19:
        return "APX registers";
    default:
        return "registers unknown to this version of roost-ckpt";
    }
}

/* Returns whether a component is in use and has a place in the other layout. */
static bool has_both(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                     const struct ckpt_xstate_layout *here, unsigned i)
{
    return is_used(from, saved, i) && from->components[i].bytes != 0 &&
           from->components[i].bytes == here->components[i].bytes;
}

const char *xstate_missing(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                           const struct ckpt_xstate_layout *here)
{
    if (marked_components(saved) >> CKPT_COMPONENTS != 0) {
        return name_of(CKPT_COMPONENTS);
    }
    for (unsigned i = FIRST; i < CKPT_COMPONENTS; i++) {
        if (!is_used(from, saved, i) || has_both(from, saved, here, i) ||
            (i == XSTATE_KEYS && keys_of(from, saved) == XSTATE_KEYS_ARE)) {
            continue;
        }
        return name_of(i);
    }
    return NULL;
}

size_t xstate_fit_max(const struct ckpt_xstate_layout *from, const struct ckpt_xstate_layout *here)
{
    size_t bytes = XSTATE_MIN;
    for (unsigned i = FIRST; i < CKPT_COMPONENTS; i++) {
        size_t end = (size_t)here->components[i].offset + here->components[i].bytes;
        if (here->components[i].bytes != 0 && end > bytes &&
            (from->components[i].bytes != 0 || i == XSTATE_KEYS)) {
            bytes = end;
        }
    }
    return bytes;
}

static void copy_bytes(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = from[i];
    }
}

size_t xstate_fit(const struct ckpt_xstate_layout *from, const uint8_t *saved,
                  const struct ckpt_xstate_layout *here, uint8_t *to, uint64_t *features)
{
    uint64_t in_use = marked_components(saved) & XSTATE_LEGACY;
    size_t bytes = XSTATE_MIN, whole = xstate_fit_max(from, here);
    for (size_t i = 0; i < whole; i++) {
        to[i] = 0;
    }
    copy_bytes(to, saved, XSTATE_HEADER);
    for (unsigned i = FIRST; i < CKPT_COMPONENTS; i++) {
        const struct ckpt_component *place = &here->components[i];
        uint32_t keys = XSTATE_KEYS_ARE;
        if (has_both(from, saved, here, i)) {
            copy_bytes(to + place->offset, saved + from->components[i].offset, place->bytes);
        } else if (i == XSTATE_KEYS && place->bytes != 0 && from->components[i].bytes == 0) {
            __builtin_memcpy(to + place->offset, &keys, sizeof keys);
        } else {
            continue;
        }
        in_use |= bit_of(i);
        size_t end = (size_t)place->offset + place->bytes;
        bytes = end > bytes ? end : bytes;
    }
    __builtin_memcpy(to + XSTATE_HEADER, &in_use, sizeof in_use);
    *features = in_use | XSTATE_LEGACY;
    return bytes;
}
