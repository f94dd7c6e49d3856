/* Fuzzing of the names that travel with files: what is called safe is walked here, step by step,
 * and must stay where it may.
 *
 * The input: a path and what a link there says, each ended by a zero byte; then a list.
 *
 * LINK: transfer classad base
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transfer/transfer_names.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define INPUT_MAX ((size_t)1 << 13)

/* How deep one is after these steps from `depth`; -1 once it was above `least`. */
static int walk(const char *path, int depth, int least)
{
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            depth--;
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            depth++;
        }
        if (depth < least) {
            return -1;
        }
        path += length + (path[length] == '/' ? 1 : 0);
    }
    return depth;
}

static void check_path(const char *path)
{
    bool safe = transfer_path_is_safe(path);
    char *clean = transfer_path_clean(path);
    if (safe) {
        CHECK(path[0] != '/' && strlen(path) <= TRANSFER_PATH_MAX && strstr(path, "//") == NULL);
        CHECK(walk(path, 0, 1) > 0); /* every step leads down */
        CHECK(clean != NULL && strcmp(clean, path) == 0);
        CHECK(transfer_name_is_plain(transfer_last_name(path)));
    }
    if (clean != NULL) {
        char *again = transfer_path_clean(clean);
        CHECK(again != NULL && strcmp(again, clean) == 0);
        CHECK(transfer_path_below(clean, clean) != NULL &&
              *transfer_path_below(clean, clean) == '\0');
        mem_free(again);
    }
    mem_free(clean);
}

static void check_link(const char *path, const char *target)
{
    if (!transfer_path_is_safe(path) || !transfer_link_is_safe(path, target)) {
        return;
    }
    int depth = walk(path, 0, 0);
    CHECK(depth > 1 && target[0] != '/'); /* from its directory, never above the first one */
    CHECK(walk(target, depth - 1, 1) >= 1);
}

static void check_list(const char *text)
{
    size_t length = strlen(text), sum = 0;
    const char *at = text;
    for (char *item; (item = transfer_list_next(&at, ',')) != NULL; mem_free(item)) {
        CHECK(strchr(item, ',') == NULL);
        CHECK(at == NULL || (at > text && at <= text + length)); /* NULL: that was the last */
        sum += strlen(item);
        (void)transfer_is_url(item);
        check_path(item);
    }
    CHECK(sum <= length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX) {
        return 0;
    }
    char *path = mem_zalloc(size + 3); /* three texts, whatever it holds */
    if (size > 0) {
        memcpy(path, data, size);
    }
    const char *target = path + strlen(path) + 1;
    target = target > path + size ? "" : target;
    const char *list = target[0] != '\0' ? target + strlen(target) + 1 : "";
    list = list > path + size ? "" : list;
    check_path(path);
    check_link(path, target);
    check_list(list);
    mem_free(path);
    return 0;
}
