/* Fuzzing of pclient's requests: each line is refused with one line of reason, or is a request that
 * holds what its kind promises.
 *
 * LINK: pclient base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pclient/request_plan.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "pclient/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request request;
    struct err err = {""};
    int rc = request_plan_parse((const char *)data, size, &request, &err);
    CHECK(rc == 0 || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
    if (rc == 0) {
        CHECK((request.kind == REQUEST_NONE) == (request.words.count == 0));
        CHECK((request.kind == REQUEST_JOB) == (request.argv != NULL));
        CHECK(request.argv == NULL || request.argv[0] != NULL);
        CHECK(request.mark == NULL || request_plan_mark(request.mark, NULL) == 0);
        CHECK(request.lease_s >= 0 && request.lease_s <= PCLIENT_LEASE_MAX_S);
        CHECK(request.kind != REQUEST_FOLLOW || (request.word != NULL && request.bytes > 0));
        CHECK(request.bytes >= 0);
    }
    request_fini(&request);
    return 0;
}
