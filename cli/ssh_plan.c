/* cli/ssh_plan.c - see ssh_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/ssh_plan.h"

bool ssh_escape_keys(struct ssh_escape *escape, const char *in, size_t length, char *out,
                     size_t *ret)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char key = in[i];
        if (escape->tilde) {
            escape->tilde = false;
            if (key == '.') {
                *ret = used;
                return false;
            }
            out[used++] = '~';
            if (key == '~') {
                escape->inside = true;
                continue;
            }
        } else if (key == '~' && !escape->inside) {
            escape->tilde = true;
            continue;
        }
        out[used++] = key;
        escape->inside = key != '\r' && key != '\n';
    }
    *ret = used;
    return true;
}
