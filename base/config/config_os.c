/* base/config/config_os.c - reads the configuration through base/os/os.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_os.h"

#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"

static int read_file(void *context, const char *path, size_t max, char **text, size_t *length,
                     struct err *err)
{
    return os_read_file(context, path, max, text, length, err);
}

static void push_name(void *context, const char *name)
{
    vec_push(context, mem_strdup(name));
}

static int list_directory(void *context, const char *path, struct vec *names, struct err *err)
{
    return os_list(context, path, push_name, names, err);
}

static const char *get_env(void *context, const char *name)
{
    return os_getenv(context, name);
}

static int make_absolute(void *context, const char *path, char **ret, struct err *err)
{
    return os_absolute(context, path, ret, err);
}

struct config_source config_source_os(struct os *os)
{
    return (struct config_source){.read_file = read_file,
                                  .list_directory = list_directory,
                                  .get_env = get_env,
                                  .absolute = make_absolute,
                                  .context = os};
}
