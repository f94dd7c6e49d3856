/* Fuzzing of what Slurm's programs print: whatever it is, what becomes of it are names of glideins
 * and ids that scancel takes for nothing else.
 *
 * LINK: site base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/slurm_text.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    const char *at = text, *end = text + strlen(text);
    struct batch_task task;
    for (int got; (got = slurm_text_task(&at, &task)) != 0;) {
        CHECK(at <= end);
        if (got > 0) {
            CHECK(site_request_is_name(task.name, strlen(task.name), true));
            CHECK(strspn(task.id, "0123456789_") == strlen(task.id) && task.id[0] != '_');
            CHECK(strlen(task.reason) < sizeof(task.reason));
        }
    }
    CHECK(at == end);
    (void)slurm_text_refusal(text);
    int64_t most = slurm_text_array_max(text);
    CHECK(most >= 0 && most <= 10 * (int64_t)SITE_COUNT_MAX);
    mem_free(text);
    return 0;
}
