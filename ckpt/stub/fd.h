/* ckpt/stub/fd.h - declarations shared by the sources that open the job's files again (fd_*.c).
 *
 * The stub is the program at the head of an image, which becomes the job.  It opens each open file
 * once and keeps it at its "place", a descriptor number that no process of the job uses, until each
 * process copies it to its own numbers.  Some files can be opened only when the processes exist
 * (pidfds): these are "late", and each process opens its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_FD_H
#define CKPT_STUB_FD_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/stub/stub.h"

#define STUB_STDIO 3

/* Returns the entry `index` of the image's table of files. */
const struct ckpt_file *fd_file(const struct stub *stub, uint32_t index);
/* Returns the i-th descriptor that this process has in the image. */
const struct ckpt_fd *fd_own(const struct stub *stub, uint32_t i);
/* Returns the index of this process in the image's table of processes. */
uint32_t fd_process(const struct stub *stub);
/* Returns the place (a descriptor number that the job does not use) of the open file that has that
 * index in the table of files. */
int fd_place(const struct stub *stub, uint32_t index);
/* Returns whether the file is not opened again, because the job gets a standard stream of the
 * process that resumes the job instead. */
bool fd_is_inherited(const struct stub *stub, const struct ckpt_file *file);
/* Returns whether the file can be opened only after the job's processes were made. */
bool fd_is_late(const struct stub *stub, const struct ckpt_file *file);
/* Moves the descriptor fd to the number `place`.  Ends the process on failure. */
void fd_put_at(const struct stub *stub, long fd, int place);
/* Opens the file of descriptor `number` a second time (/proc/self/fd), with the open flags `flags`.
 * Returns a descriptor or a negative errno. */
long fd_reopen(int number, uint32_t flags);
/* Reads the bytes of an extent from the image into `to` and compares their checksum.  Ends the
 * process on failure. */
void fd_read_extent(const struct stub *stub, void *to, const struct ckpt_extent *extent);
/* Reads so many bytes of the image, from that offset, into `to`.  Ends the process on failure. */
void fd_read_image(const struct stub *stub, void *to, uint64_t bytes, uint64_t offset);
/* Ends the process if the checksum of the bytes is not the extent's: the image is damaged. */
void fd_check_sum(const struct stub *stub, const struct ckpt_extent *extent, const void *bytes);

/* ---- fd_disk.c */
/* Makes the memory file with that index in the table of files: a file without a name that holds
 * shared memory, or the contents of a removed file. */
void fd_make_object(const struct stub *stub, uint32_t index);
/* Sets the permissions of a memory file, and those of its seals (F_ADD_SEALS) that do not hinder
 * later mappings.  To be called after all open files of the job that refer to the memory file were
 * opened. */
void fd_finish_object(const struct stub *stub, uint32_t index);
/* Sets the seals of a memory file that can be set only after all processes have mapped the file. */
void fd_seal_object(const struct stub *stub, uint32_t index);
long fd_open_named(const struct stub *stub, const struct ckpt_file *file);
long fd_open_nameless(const struct stub *stub, const struct ckpt_file *file);
/* ---- fd_pipe.c */
/* Makes the pipe of the open file with that index, and opens all of the job's files that are ends
 * of the same pipe. */
void fd_open_pipe(const struct stub *stub, uint32_t index);
/* Makes the socketpair of the socket with that index, and so opens its other end, too. */
void fd_open_sockets(const struct stub *stub, uint32_t index);
/* ---- fd_terminal.c */
/* Makes the pseudo-terminal of the open file with that index, and opens all of the job's files that
 * are ends of the same pseudo-terminal. */
void fd_open_terminal(const struct stub *stub, uint32_t index);
/* ---- fd_kernel.c */
/* Makes an eventfd with the saved count.  Returns a descriptor or a negative errno. */
long fd_open_event(const struct stub *stub, const struct ckpt_file *file);
long fd_open_clock(const struct stub *stub, const struct ckpt_file *file);
long fd_open_signals(const struct stub *stub, const struct ckpt_file *file);
long fd_open_pidfd(const struct stub *stub, const struct ckpt_file *file);
/* Makes epolls and inotifys watch what they watched: adds the entries of the table of watches that
 * the process with that index must add; CKPT_NOBODY: those to be added before the job's processes
 * exist. */
void fd_add_watches(const struct stub *stub, uint32_t process);
/* ---- fd_lock.c */
/* Takes again the locks that open files held (flock(), F_OFD_SETLK). */
void fd_lock_files(const struct stub *stub);
/* Takes again the locks that this process held (F_SETLK). */
void fd_lock_ranges(const struct stub *stub);

#endif
