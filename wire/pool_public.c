/* wire/pool_public.c - see pool_public.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/pool_public.h"

#include <string.h>

#include "base/config/config.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define FILE_BYTES_MAX ((size_t)64 << 10) /* most bytes of a certificate or key */

static int append_file(struct os *os, const char *path, struct strbuf *out, struct err *err)
{
    char *text = NULL;
    size_t length;
    int rc = os_read_file(os, path, FILE_BYTES_MAX, &text, &length, err);
    if (rc == 0) {
        strbuf_append(out, text, length);
        mem_free(text);
    }
    return rc;
}

static void collect_name(void *arg, const char *name)
{
    vec_push(arg, mem_strdup(name));
}

int pool_public_each_key(struct os *os, const struct config *config,
                         int (*each)(void *arg, const char *kid, const char *pem, struct err *err),
                         void *arg, struct err *err)
{
    const char *keys = config_path(config, "POOL_KEYS");
    struct vec names = {0};
    int rc = os_list(os, keys, collect_name, &names, err);
    for (size_t i = 0; i < names.count && rc == 0; i++) {
        char *name = names.items[i];
        size_t length = strlen(name);
        if (length > 4 && strcmp(name + length - 4, ".pub") == 0) {
            struct strbuf path, pem;
            strbuf_init(&path, 0);
            strbuf_init(&pem, 0);
            strbuf_printf(&path, "%s/%s", keys, name);
            rc = append_file(os, strbuf_text(&path), &pem, err);
            name[length - 4] = '\0';
            rc = rc != 0 ? rc : each(arg, name, strbuf_text(&pem), err);
            strbuf_fini(&path);
            strbuf_fini(&pem);
        }
    }
    vec_fini(&names, mem_free);
    return rc;
}

static int append_key(void *arg, const char *kid, const char *pem, struct err *err)
{
    struct strbuf *out = arg;
    (void)err;
    strbuf_printf(out, "kid: %s\n%s", kid, pem);
    return 0;
}

int pool_public_append(struct os *os, const struct config *config, struct strbuf *out,
                       struct err *err)
{
    int rc = append_file(os, config_path(config, "POOL_CA"), out, err);
    return rc != 0 ? rc : pool_public_each_key(os, config, append_key, out, err);
}
