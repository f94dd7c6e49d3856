/* wire/root_jobs.c - see root_jobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/root_jobs.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "classad/ad.h"

bool root_jobs_name(struct os *os, const char *name)
{
    uid_t uid = 0;
    gid_t gid = 0;
    return strcmp(name, "root") == 0 || (os_user_find(os, name, &uid, &gid, NULL) == 0 && uid == 0);
}

/* Returns whether text names root; text is an account, or an identity with the account before
 * '@'. */
static bool is_of_root(struct os *os, const char *text)
{
    char *name = mem_strndup(text, strcspn(text, "@"));
    bool is_root = root_jobs_name(os, name);
    mem_free(name);
    return is_root;
}

int root_jobs_judge(struct os *os, const struct ad *job, struct err *err)
{
    static const char *const NAMES[] = {"Owner", "User"};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        struct ad_value value;
        int rc = ad_get_literal(job, NAMES[i], &value);
        if (rc == -ENOENT) {
            continue;
        }
        if (rc != 0 || value.type != AD_TYPE_STRING) {
            return err_set(err, -EPERM, "the job's %s is not a string literal", NAMES[i]);
        }
        if (is_of_root(os, value.string.text)) {
            return err_set(err, -EPERM, "%s is '%.200s'; jobs never run as root", NAMES[i],
                           value.string.text);
        }
    }
    return 0;
}
