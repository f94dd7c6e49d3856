/* Roles of servers: a URI of a stranger's certificate is refused with one line, or is exactly the
 * one that is printed for what was read from it.
 *
 * LINK: base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/server_role.h"
#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct server_role role;
    struct err err = {""};
    char *uri = mem_alloc(size > 0 ? size : 1); /* a sanitizer sees one byte too many */
    memcpy(uri, data, size);
    int code = server_role_parse(uri, size, &role, &err);
    CHECK(code == 0 || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
    if (code == 0) {
        CHECK(server_role_judge(&role, role.pool, role.role, role.name, NULL) == 0);
        CHECK(server_role_judge(&role, role.pool, role.role, "", &err) != 0);
    }
    if (code == 0 && server_role_is_known(role.role)) {
        struct strbuf out;
        strbuf_init(&out, 0);
        CHECK(server_role_print(role.pool, role.role, role.name, &out, NULL) == 0);
        CHECK(out.length == size && memcmp(strbuf_text(&out), uri, size) == 0);
        strbuf_fini(&out);
    }
    mem_free(uri);
    return 0;
}
