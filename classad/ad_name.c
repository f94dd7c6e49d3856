/* classad/ad_name.c - attribute names: hash, comparison, private names, reserved words.
 *
 * A name is hashed once, when it enters an ad or an expression.  A lookup compares the 32-bit hash
 * first, so that it rarely compares more than one text (ignoring case).  The hash has no seed,
 * because expressions are shared between ads, and there is no process-wide state.  What an attacker
 * can gain by colliding names is bounded by AD_COLLISIONS_MAX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_private.h"

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "classad/ad_identity.h"

/* Returns the eight bytes with their letters in lower case. */
static uint64_t lower_word(uint64_t word)
{
    static const uint64_t ONES = 0x0101010101010101u;
    uint64_t low = word & (0x7f * ONES);
    uint64_t past_z = low + (0x7f - 'Z') * ONES;
    uint64_t from_a = low + (0x80 - 'A') * ONES;
    uint64_t is_upper = ~word & (from_a ^ past_z) & (0x80 * ONES);
    return word | is_upper >> 2;
}

static uint64_t mix_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ lower_word(word)) * 0x9fb21c651e98df25u;
    return hash ^ (hash >> 32);
}

uint32_t ad_name_hash(const char *text, size_t length)
{
    uint64_t hash = length * 0x9e3779b97f4a7c15u;
    uint64_t word = 0;
    if (length >= sizeof(word)) {
        for (size_t at = 0; at + sizeof(word) < length; at += sizeof(word)) {
            memcpy(&word, text + at, sizeof(word));
            hash = mix_word(hash, word);
        }
        memcpy(&word, text + length - sizeof(word), sizeof(word)); /* may have been seen in part */
    } else if (length >= 4) {
        uint32_t ends[2];
        memcpy(&ends[0], text, 4);
        memcpy(&ends[1], text + length - 4, 4);
        word = (uint64_t)ends[0] << 32 | ends[1];
    } else if (length > 0) {
        word = (uint64_t)(unsigned char)text[0] << 16 |
               (uint64_t)(unsigned char)text[length / 2] << 8 | (unsigned char)text[length - 1];
    }
    hash = mix_word(hash, word);
    return (uint32_t)(hash ^ (hash >> 15));
}

bool ad_name_equal(const char *a, const char *b, size_t length)
{
    if (memcmp(a, b, length) == 0) {
        return true;
    }
    for (size_t i = 0; i < length; i++) {
        if (ad_lower(a[i]) != ad_lower(b[i])) {
            return false;
        }
    }
    return true;
}

int ad_name_compare(const char *a, const char *b)
{
    for (;; a++, b++) {
        unsigned char x = (unsigned char)ad_lower(*a);
        unsigned char y = (unsigned char)ad_lower(*b);
        if (x != y || x == 0) {
            return x < y ? -1 : x > y;
        }
    }
}

static bool one_of(const char *const *words, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == length && ad_name_equal(words[i], text, length)) {
            return true;
        }
    }
    return false;
}

bool ad_name_is_reserved(const char *text, size_t length)
{
    static const char *const WORDS[] = {"true", "false", "undefined", "error",
                                        "is",   "isnt",  "parent"};
    return length >= 2 && length <= 9 && one_of(WORDS, ARRAY_COUNT(WORDS), text, length);
}

bool ad_name_is_word(const char *text, size_t length)
{
    bool plain =
        length > 0 && !(text[0] >= '0' && text[0] <= '9') && !ad_name_is_reserved(text, length);
    for (size_t i = 0; plain && i < length; i++) {
        char c = ad_lower(text[i]);
        plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }
    return plain;
}

enum ad_special ad_name_special(const char *text, size_t length)
{
    static const struct {
        char text[12];
        uint8_t length;
        uint8_t special;
    } WORDS[] = {
        {"my", 2, AD_SPECIAL_MY},         {"self", 4, AD_SPECIAL_MY},
        {"target", 6, AD_SPECIAL_TARGET}, {"other", 5, AD_SPECIAL_TARGET},
        {"parent", 6, AD_SPECIAL_PARENT}, {"root", 4, AD_SPECIAL_ROOT},
        {"toplevel", 8, AD_SPECIAL_ROOT}, {"left", 4, AD_SPECIAL_LEFT},
        {"right", 5, AD_SPECIAL_RIGHT},   {"currenttime", 11, AD_SPECIAL_TIME},
    };
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++) {
        if (WORDS[i].length == length && WORDS[i].text[0] == ad_lower(text[0]) &&
            ad_name_equal(WORDS[i].text, text, length)) {
            return (enum ad_special)WORDS[i].special;
        }
    }
    return AD_SPECIAL_NONE;
}

bool ad_name_is_private(const char *text, size_t length)
{
    static const char *const WORDS[] = {"Capability",  "ClaimId",       "ClaimIds",
                                        "ClaimIdList", "ChildClaimIds", "PairedClaimId",
                                        "TransferKey"};
    char first = length > 0 ? ad_lower(text[0]) : '\0';
    return (first == 'c' || first == 'p' || first == 't') && length >= 7 && length <= 13 &&
           one_of(WORDS, ARRAY_COUNT(WORDS), text, length);
}

const char *const ad_identity_names[] = {
    [AD_IDENTITY_NAME] = "Name",
    [AD_IDENTITY_MACHINE] = "Machine",
    [AD_IDENTITY_STARTD_UPLINK] = "StartdUplink",
    [AD_IDENTITY_SCHEDD_NAME] = "ScheddName",
    [AD_IDENTITY_UID_DOMAIN] = "UidDomain",
    [AD_IDENTITY_FILE_SYSTEM_DOMAIN] = "FileSystemDomain",
    [AD_IDENTITY_OWNER] = "Owner",
    [AD_IDENTITY_USER] = "User",
    [AD_IDENTITY_AUTHENTICATED_IDENTITY] = "AuthenticatedIdentity",
};

_Static_assert(ARRAY_COUNT(ad_identity_names) == AD_IDENTITY_COUNT, "each identity has one name");

uint16_t ad_name_identity(const char *text, size_t length)
{
    for (unsigned i = 0; length > 0 && i < AD_IDENTITY_COUNT; i++) {
        const char *name = ad_identity_names[i];
        if (ad_lower(text[0]) == ad_lower(name[0]) && strlen(name) == length &&
            ad_name_equal(name, text, length)) {
            return (uint16_t)(1u << i);
        }
    }
    return 0;
}

bool ad_attr_is_private(const char *name)
{
    return ad_name_is_private(name, strlen(name));
}

bool ad_name_is_valid(const char *name)
{
    size_t length = 0;
    for (; name[length] != '\0'; length++) {
        char c = ad_lower(name[length]);
        bool letter = (c >= 'a' && c <= 'z') || c == '_';
        if (!letter && (length == 0 || c < '0' || c > '9')) {
            return false;
        }
        if (length >= AD_NAME_MAX) {
            return false;
        }
    }
    return length > 0 && !ad_name_is_reserved(name, length);
}

static void name_fill(struct ad_name *name, const char *text, size_t length)
{
    name->hash = ad_name_hash(text, length);
    name->length = (uint32_t)length;
    memcpy(name->text, text, length);
    name->text[length] = '\0';
}

struct ad_name *ad_name_create(const char *text, size_t length)
{
    struct ad_name *name = mem_alloc(sizeof(*name) + length + 1);
    name->owner_count = 1;
    name_fill(name, text, length);
    return name;
}

struct ad_name *ad_name_in(struct arena *arena, const char *text, size_t length)
{
    struct ad_name *name = arena_alloc(arena, sizeof(*name) + length + 1);
    if (name != NULL) {
        name->owner_count = 0;
        name_fill(name, text, length);
    }
    return name;
}

struct ad_name *ad_name_ref(struct ad_name *name)
{
    CHECK(name->owner_count > 0);
    name->owner_count++;
    return name;
}

void ad_name_destroy(struct ad_name *name)
{
    if (name != NULL && --name->owner_count == 0) {
        mem_free(name);
    }
}
