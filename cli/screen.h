/* cli/screen.h - a screen of its own on the terminal, and its keys: for `roost top`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

struct err;
struct screen;
struct strbuf;

enum screen_key { SCREEN_KEY_NONE, SCREEN_KEY_AGAIN, SCREEN_KEY_QUIT };

/* Standard output gets another screen without a cursor, standard input gives keys as they are
 * pressed; -ENOTTY: it is no terminal. */
int screen_begin(struct screen **ret, struct err *err);
void screen_end(struct screen *screen); /* all is as it was; frees it */
/* What was pressed since the last call; q, ^C, ^D and the end of input are SCREEN_KEY_QUIT, blank
 * and return SCREEN_KEY_AGAIN.  Does not wait. */
enum screen_key screen_key(const struct screen *screen);
/* Lines from the top of the screen, each over what was there, so that nothing flickers. */
void screen_draw(const char *lines, struct strbuf *out);

#endif
