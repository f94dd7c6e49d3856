/* $$() in a job's attributes, in a schedd that serves all users: any text is expanded or refused
 * with one line; nothing of the slot leads a file elsewhere.
 *
 * LINK: schedd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/submission/dollar_plan.h"

#define SLOT "[Name = \"slot1@wn\"; Memory = 2048; Evil = \"../x\"; Half = Memory / 2]"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[] = {"Args", "Out", "Environment", "Cmd"};
    struct ad *slot = NULL, *job = ad_create(), *made = ad_create();
    const struct ad_context now = {.now_s = 10000};
    struct err err = {""};
    if (size > 8192) {
        ad_destroy(job);
        ad_destroy(made);
        return 0;
    }
    char *text = mem_strndup((const char *)data, size);
    CHECK(ad_parse(SLOT, strlen(SLOT), &slot, NULL) == 0);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        ad_set_string(job, NAMES[i], text);
    }
    int rc = dollar_plan_expand(job, NULL, slot, &now, made, &err);
    CHECK(rc == 0 || err.text[0] != '\0');
    if (rc == 0) {
        dollar_plan_apply(made, job);
        CHECK(strstr(ad_string_or(job, "Out", ""), "../x") == NULL || strchr(text, 'x') != NULL);
    }
    ad_destroy(made);
    ad_destroy(job);
    ad_destroy(slot);
    mem_free(text);
    return 0;
}
