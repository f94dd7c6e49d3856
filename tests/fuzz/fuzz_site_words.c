/* Fuzzing of what the program of a site answers.
 *
 * LINK: factory wire store offline_ads classad knobs base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/site_words.h"

#include <stdint.h>

#include "base/check.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct site_answer answer;
    struct err err = {""};
    if (site_words_parse((const char *)data, size, &answer, &err) != 0) {
        CHECK(err.text[0] != '\0');
        return 0;
    }
    CHECK(answer.text != NULL && answer.taken >= 0 && answer.settle_s >= 0);
    for (size_t i = 0; i < answer.glideins.count; i++) {
        const struct site_glidein *glidein = answer.glideins.items[i];
        CHECK(glidein->name != NULL && glidein->id != NULL && glidein->reason != NULL);
    }
    site_answer_fini(&answer);
    return 0;
}
