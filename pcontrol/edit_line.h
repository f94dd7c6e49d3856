/* pcontrol/edit_line.h - lines that a person edits at a terminal: all that is known of libedit.
 *
 * libedit has one terminal and keeps its state in variables of its own, so there is one editor.
 * The last lines can be called back by the arrow keys; they are never saved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_EDIT_LINE_H
#define PCONTROL_EDIT_LINE_H

/* Shows the prompt.  line(arg, text) is called within edit_line_read() for each line, without its
 * newline; text NULL: the person has ended the input. */
void edit_line_open(const char *prompt, void (*line)(void *arg, const char *text), void *arg);
void edit_line_close(void); /* gives the terminal back as it was */
/* Takes what has been typed; to be called when the terminal is readable. */
void edit_line_read(void);
/* Makes room for other output: the line that is being edited is hidden until edit_line_show(). */
void edit_line_hide(void);
void edit_line_show(void);
void edit_line_drop(void); /* forgets what has been typed of the present line */

#endif
