/* wire/remote_ticket.c - see remote_ticket.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/remote_ticket.h"

#include <string.h>

#include "base/digest.h"

_Static_assert(REMOTE_TICKET_SIZE == DIGEST_HEX_SIZE, "a ticket has the size of a digest");

void remote_ticket(const char *nonce, char ret[REMOTE_TICKET_SIZE])
{
    static const char PURPOSE[] = "roost remote system calls ";
    struct digest *digest = digest_create();
    digest_update(digest, PURPOSE, sizeof(PURPOSE) - 1);
    digest_update(digest, nonce, strlen(nonce));
    digest_hex(digest, ret);
    digest_destroy(digest);
}
