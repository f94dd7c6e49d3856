/* base/plain_env.c - see plain_env.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/plain_env.h"

#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"

static bool is_kept(const char *name, size_t length)
{
    static const char *const NAMES[] = {
        "PATH",
        "LD_LIBRARY_PATH",
        "LANG",
        "LANGUAGE",
        "TZ",
        "OPENSSL_CONF",
        "ASAN_OPTIONS",
        "LSAN_OPTIONS",
        "TSAN_OPTIONS",
        "UBSAN_OPTIONS",
        "LLVM_PROFILE_FILE",
    };
    static const char *const BEGINNINGS[] = {"ROOST_", "LC_"};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(BEGINNINGS); i++) {
        size_t least = strlen(BEGINNINGS[i]);
        if (length > least && memcmp(BEGINNINGS[i], name, least) == 0) {
            return true;
        }
    }
    return false;
}

void plain_env_make(struct os *os, const struct config *config, struct vec *ret)
{
    for (const char *const *each = os_environment(os); *each != NULL; each++) {
        size_t length = strcspn(*each, "=");
        if (is_kept(*each, length) || config_reads_variable(config, *each, length)) {
            vec_push(ret, mem_strdup(*each));
        }
    }
    vec_push(ret, NULL);
}
