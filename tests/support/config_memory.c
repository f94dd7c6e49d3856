/* tests/support/config_memory.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/config_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

static const char *find(const struct config_memory_pair *pairs, const char *name)
{
    for (size_t i = 0; i < CONFIG_MEMORY_MAX && pairs[i].name; i++) {
        if (strcmp(pairs[i].name, name) == 0) {
            return pairs[i].text;
        }
    }
    return NULL;
}

static int read_file(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err)
{
    const struct config_memory *memory = context;
    const char *found = find(memory->files, path);
    if (found) {
        if (strlen(found) > max) {
            return err_set(err, -EFBIG, "%s: more than %zu bytes", path, max);
        }
        *text = mem_strdup(found);
        *length = strlen(found);
        return 0;
    }
    for (size_t i = 0; i < CONFIG_MEMORY_MAX && memory->files[i].name; i++) {
        size_t used = strlen(path);
        if (strncmp(memory->files[i].name, path, used) == 0 && memory->files[i].name[used] == '/') {
            return err_set(err, -EISDIR, "%s: is a directory", path);
        }
    }
    return err_set(err, -ENOENT, "%s: no such file", path);
}

/* In reverse order: the loader has to sort. */
static int list_directory(void *context, const char *path, struct vec *names, struct err *err)
{
    const struct config_memory *memory = context;
    (void)err;
    size_t used = strlen(path);
    for (size_t i = CONFIG_MEMORY_MAX; i-- > 0;) {
        const char *name = memory->files[i].name;
        if (name && strncmp(name, path, used) == 0 && name[used] == '/') {
            vec_push(names, mem_strdup(name + used + 1));
        }
    }
    return 0;
}

static const char *get_env(void *context, const char *name)
{
    return find(((const struct config_memory *)context)->environment, name);
}

static int absolute(void *context, const char *path, char **ret, struct err *err)
{
    (void)context;
    (void)err;
    char text[256];
    (void)snprintf(text, sizeof(text), "/home/me/%s", path);
    *ret = mem_strdup(text);
    return 0;
}

struct config_source config_memory_source(struct config_memory *memory)
{
    return (struct config_source){.read_file = read_file,
                                  .list_directory = list_directory,
                                  .get_env = get_env,
                                  .absolute = absolute,
                                  .context = memory};
}
