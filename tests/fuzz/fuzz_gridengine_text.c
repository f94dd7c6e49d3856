/* Fuzzing of what Grid Engine's programs print: whatever it is, what becomes of it are names of
 * glideins and ids that qdel takes for nothing else.
 *
 * LINK: site base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/gridengine_text.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_task(void *arg, const struct batch_task *task)
{
    (void)arg;
    CHECK(site_request_is_name(task->name, strlen(task->name), true));
    CHECK(strspn(task->id, "0123456789.") == strlen(task->id) && task->id[0] != '.');
    CHECK(memchr(task->reason, '\0', sizeof(task->reason)) != NULL);
    CHECK(memchr(task->place, '\0', sizeof(task->place)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    char reason[BATCH_REASON_MAX] = "", value[40];
    (void)gridengine_text_tasks(text, strlen(text), check_task, NULL, NULL);
    (void)gridengine_text_refusal(text);
    if (gridengine_text_trouble(text, "1.1", reason)) {
        CHECK(reason[0] != '\0' && memchr(reason, '\0', sizeof(reason)) != NULL);
    }
    if (gridengine_text_value(text, "min_uid", value, sizeof(value))) {
        CHECK(strpbrk(value, " \t\n") == NULL);
    }
    CHECK(gridengine_text_number(text, "min_uid") >= -1);
    (void)gridengine_text_has_line(text, "root");
    mem_free(text);
    return 0;
}
