/* cli/screen.c - see screen.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* switch to the alternate screen, hide the cursor */
#define BEGIN     "\x1b[?1049h\x1b[?25l"
#define END       "\x1b[?25h\x1b[?1049l"
#define HOME      "\x1b[H"
#define REST      "\x1b[J" /* clear everything below */
#define LINE_REST "\x1b[K"

#define CONTROL(letter) ((letter)&0x1f)

struct screen {
    struct termios before;
};

int screen_begin(struct screen **ret, struct err *err)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &raw) != 0) {
        return err_set(err, -ENOTTY, "standard input is not a terminal");
    }
    struct screen *screen = mem_zalloc(sizeof *screen);
    screen->before = raw;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    (void)fputs(BEGIN, stdout);
    *ret = screen;
    return 0;
}

void screen_end(struct screen *screen)
{
    (void)fputs(END, stdout);
    (void)fflush(stdout);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
    mem_free(screen);
}

enum screen_key screen_key(const struct screen *screen)
{
    static const char QUIT[] = {'q', 'Q', CONTROL('c'), CONTROL('d')};
    char keys[16];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    (void)screen;
    if (poll(&input, 1, 0) != 1) {
        return SCREEN_KEY_NONE;
    }
    ssize_t length = read(STDIN_FILENO, keys, sizeof keys);
    enum screen_key key = length > 0 ? SCREEN_KEY_NONE : SCREEN_KEY_QUIT; /* nobody is there */
    for (ssize_t i = 0; i < length && key != SCREEN_KEY_QUIT; i++) {
        key = memchr(QUIT, keys[i], sizeof QUIT) != NULL             ? SCREEN_KEY_QUIT
              : keys[i] == ' ' || keys[i] == '\r' || keys[i] == '\n' ? SCREEN_KEY_AGAIN
                                                                     : key;
    }
    return key;
}

void screen_draw(const char *lines, struct strbuf *out)
{
    strbuf_puts(out, HOME);
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        strbuf_append(out, lines, length);
        strbuf_puts(out, LINE_REST);
        lines += length + (lines[length] == '\n' ? 1 : 0);
        strbuf_puts(out, *lines != '\0' ? "\r\n" : "");
    }
    strbuf_puts(out, REST); /* no further line: it would move the screen up */
}
