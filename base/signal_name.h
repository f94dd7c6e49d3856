/* base/signal_name.h - signals by name, as job ads have them: "SIGTERM".
 *
 * The numbers are those of Linux on x86 and ARM, and are written down here: an ad may come from a
 * machine of another kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SIGNAL_NAME_H
#define BASE_SIGNAL_NAME_H

/* "SIGTERM", "sigterm", "15": 15; 0: there is no such signal. */
int signal_name_number(const char *text);
const char *signal_name_text(int number); /* NULL: there is no such signal */

#endif
