/* tests/unit/wire/test_remote_ticket.c - the ticket of a run's remote system calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/remote_ticket.h"

#include <string.h>

#include "tests/support/unit.h"

static void each_nonce_has_its_own_ticket_and_always_the_same(void **state)
{
    (void)state;
    static const char NONCE[] = "0123456789abcdef0123456789abcdef";
    char one[REMOTE_TICKET_SIZE], again[REMOTE_TICKET_SIZE], other[REMOTE_TICKET_SIZE];
    remote_ticket(NONCE, one);
    remote_ticket(NONCE, again);
    remote_ticket("0123456789abcdef0123456789abcdee", other);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    assert_int_equal(strlen(one), REMOTE_TICKET_SIZE - 1);
    assert_null(strstr(one, "0123456789abcdef"));
}

UNIT_TESTS(UNIT(each_nonce_has_its_own_ticket_and_always_the_same))
