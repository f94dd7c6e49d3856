/* Fuzzing of folded host lists: any text is refused with one line, or unfolded into names that fold
 * into a text that means the same names.
 *
 * LINK: base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/hostlist.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES_MAX 2000 /* of a list that is folded and unfolded again */

/* Groups that contain others: @gg contains @g; @ggg also contains itself. */
static int machines_of(void *arg, const char *name, const char **ret, struct err *err)
{
    (void)arg;
    *ret = strcmp(name, "g") == 0     ? "h[1-3]"
           : strcmp(name, "gg") == 0  ? "i,h2 @g"
           : strcmp(name, "ggg") == 0 ? "@gg @ggg"
                                      : NULL;
    return *ret != NULL ? 0 : err_set(err, -ENOENT, "no such group");
}
static const struct hostlist_groups GROUPS = {.machines_of = machines_of};

static void same_again(const struct vec *names)
{
    struct vec again = {0};
    struct strbuf text;
    struct strmap *known = strmap_create(STRMAP_CASE_IGNORED);
    strbuf_init(&text, 0);
    hostlist_fold((const char *const *)names->items, names->count, &text);
    CHECK(hostlist_expand(strbuf_text(&text), NULL, &again, NULL) == 0);
    CHECK(again.count == names->count);
    for (size_t i = 0; i < again.count; i++) {
        (void)strmap_set(known, again.items[i], again.items[i]);
    }
    for (size_t i = 0; i < names->count; i++) {
        CHECK(strmap_get(known, names->items[i]) != NULL);
    }
    strmap_destroy(known, NULL);
    strbuf_fini(&text);
    vec_fini(&again, mem_free);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vec names = {0};
    struct err err = {""};
    if (size > 4096) {
        return 0;
    }
    char *text = mem_strndup((const char *)data, size);
    int rc = hostlist_expand(text, &GROUPS, &names, &err);
    CHECK(rc == 0 ? names.count > 0 : names.count == 0 && err.text[0] != '\0');
    CHECK(names.count <= HOSTLIST_COUNT_MAX);
    for (size_t i = 0; i < names.count; i++) {
        size_t length = strlen(names.items[i]);
        CHECK(length > 0 && length <= HOSTLIST_NAME_MAX);
    }
    if (rc == 0 && names.count <= NAMES_MAX) {
        same_again(&names);
    }
    vec_fini(&names, mem_free);
    mem_free(text);
    return 0;
}
