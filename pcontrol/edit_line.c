/* pcontrol/edit_line.c - see edit_line.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/edit_line.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <editline/readline.h>

#define HISTORY_MAX 100
#define LINE_MAX    ((size_t)2 << 20) /* a longer line is dropped; commands have at most 1 MiB */
#define LINE_SPARE  1000

/* libedit calls a function without an argument. */
static struct {
    void (*line)(void *arg, const char *text);
    void *arg;
    const char *prompt;
    bool open;
    /* libedit ends its copy of the line, rl_line_buffer, after each character, but forgets that
     * this copy moves when the line grows past 1020 bytes, and each 1024 more: so it gets this. */
    char copy[LINE_MAX];
} editor;

static void take_line(char *text)
{
    if (text != NULL && text[0] != '\0') {
        (void)add_history(text);
    }
    void (*line)(void *arg, const char *text) = editor.line;
    line(editor.arg, text);
    free(text); /* libedit's */
}

void edit_line_open(const char *prompt, void (*line)(void *arg, const char *text), void *arg)
{
    editor.line = line;
    editor.arg = arg;
    editor.prompt = prompt;
    editor.open = true;
    /* libedit takes wide characters: in the locale C it would drop all that are not ASCII */
    if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0) {
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    }
    /* libedit would draw a line anew from its handler of SIGWINCH, and crash if it is longer than
     * the terminal has room for */
    rl_catch_signals = 0;
    using_history();
    stifle_history(HISTORY_MAX);
    rl_callback_handler_install(prompt, take_line);
}

void edit_line_close(void)
{
    if (editor.open) {
        editor.open = false;
        rl_callback_handler_remove();
    }
}

void edit_line_read(void)
{
    if (editor.open) {
        rl_line_buffer = editor.copy;
        rl_callback_read_char();
        if (editor.open && (size_t)rl_end + LINE_SPARE > LINE_MAX) {
            edit_line_drop();
        }
    }
}

void edit_line_hide(void)
{
    if (editor.open) {
        rl_callback_handler_remove();
        (void)fputs("\r\033[K", stdout);
        (void)fflush(stdout);
    }
}

void edit_line_show(void)
{
    if (editor.open) {
        rl_resize_terminal(); /* safe only now, while there is no line */
        rl_callback_handler_install(editor.prompt, take_line);
    }
}

void edit_line_drop(void)
{
    edit_line_hide();
    edit_line_show();
}
