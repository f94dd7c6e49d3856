/* Fuzzing of what HTCondor's programs print, and of words for a submit description: whatever it is,
 * what becomes of it are names of glideins and ids that condor_rm takes for nothing else, and no
 * word makes a second line.
 *
 * LINK: site base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/htcondor_text.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_job(void *arg, const struct batch_task *task)
{
    (void)arg;
    CHECK(site_request_is_name(task->name, strlen(task->name), true));
    CHECK(strspn(task->id, "0123456789.") == strlen(task->id) && task->id[0] != '.');
    CHECK(memchr(task->reason, '\0', sizeof(task->reason)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    (void)htcondor_text_jobs((const char *)data, size, check_job, NULL, NULL);
    (void)htcondor_text_refusal(text);
    if (htcondor_text_extra((const char *const *)&text, 1, NULL) == 0) {
        CHECK(strpbrk(text, "\r\n") == NULL && strchr(text, '=') != NULL);
    }
    mem_free(text);
    return 0;
}
