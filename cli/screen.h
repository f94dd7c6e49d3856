/* cli/screen.h - the alternate screen of the terminal and its keys; for `roost top`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

struct err;
struct screen;
struct strbuf;

enum screen_key { SCREEN_KEY_NONE, SCREEN_KEY_AGAIN, SCREEN_KEY_QUIT };

/* Switches standard output to the alternate screen without a cursor, and standard input to single
 * keys. -ENOTTY: not a terminal. */
int screen_begin(struct screen **ret, struct err *err);
void screen_end(struct screen *screen); /* restores the terminal; frees screen */
/* Returns the key pressed since the last call, without waiting: SCREEN_KEY_NONE for no key,
 * SCREEN_KEY_QUIT for q, ^C, ^D and end of input, SCREEN_KEY_AGAIN for space and return. */
enum screen_key screen_key(const struct screen *screen);
/* Appends text that makes a terminal show `lines` from the top of the screen on, in place of what
 * was there, without flicker. */
void screen_draw(const char *lines, struct strbuf *out);

#endif
