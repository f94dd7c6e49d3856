/* base/signal_name.h - signal numbers and names, as in job ads: "SIGTERM".
 *
 * The numbers are those of Linux on x86 and ARM, listed in the .c file: an ad may come from a
 * machine of another kind, where they differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SIGNAL_NAME_H
#define BASE_SIGNAL_NAME_H

/* Returns the number of "SIGTERM", "sigterm" or "15": 15.  0: unknown signal. */
int signal_name_number(const char *text);
const char *signal_name_text(int number); /* returns "SIGTERM"; NULL: unknown signal */

#endif
