/* collector/collector_answer.c - requests that are answered after a commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "collector/collector_verbs.h"
#include "wire/wire.h"

struct answer {
    struct wire_request *request;
    int64_t count; /* -1: not told */
};

struct answer *collector_answer_create(struct wire_request *request, int64_t count)
{
    struct answer *answer = mem_zalloc(sizeof(*answer));
    *answer = (struct answer){request, count};
    return answer;
}

void collector_answer_ok(void *arg)
{
    struct answer *answer = arg;
    struct ad *args = ad_create();
    if (answer->count >= 0) {
        ad_set_int(args, "Count", answer->count);
    }
    struct wire_body body = {.args = args};
    wire_reply_ok(answer->request, &body);
    ad_destroy(args);
    mem_free(answer);
}

void collector_answer_drop(void *arg)
{
    struct answer *answer = arg;
    collector_drop_request(answer->request);
    mem_free(answer);
}

/* Ends a request. Its connection is closed next, so nothing else reaches the peer. */
void collector_drop_request(struct wire_request *request)
{
    wire_reply_error(request, -ECONNRESET, "the collector is stopping");
}

struct plan_stamp collector_stamp(const struct session *session, const struct ad *args)
{
    return (struct plan_stamp){.epoch = ad_int_or(args, "Epoch", 0),
                               .sequence = ad_int_or(args, "Sequence", 0),
                               .session = session->number};
}
