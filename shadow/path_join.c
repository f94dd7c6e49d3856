/* shadow/path_join.c - see path_join.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/path_join.h"

#include "base/strbuf.h"

char *path_join(const char *directory, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s%s%s", directory, name[0] != '\0' ? "/" : "", name);
    return strbuf_take(&path);
}
