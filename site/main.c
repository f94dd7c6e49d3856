/* site/main.c - the program roost-site TYPE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "site/site.h"
#include "site/site_types.h"

int main(int argc, char **argv)
{
    struct err err = {""};
    struct loop *loop = NULL;
    struct os *os = NULL;
    int status = 1;
    const struct site_type *type = argc == 2 ? site_types_find(argv[1]) : NULL;
    if (type == NULL) {
        (void)fprintf(stderr,
                      "usage: roost-site TYPE\n"
                      "TYPE is one of: %s.\n"
                      "Started by the factory; reads requests from standard input.\n",
                      site_types_names());
        return 2;
    }
    if (loop_create(&loop, &err) == 0 && os_create(loop, &os, &err) == 0) {
        status = site_run(loop, os, type);
    } else {
        (void)fprintf(stderr, "roost-site: %s\n", err.text);
    }
    os_destroy(os);
    loop_destroy(loop);
    return status;
}
