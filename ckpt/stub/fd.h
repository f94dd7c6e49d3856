/* ckpt/stub/fd.h - what the files share that open the job's files again (fd_*.c).
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

/* An entry of the table of files. */
const struct ckpt_file *fd_file(const struct stub *stub, uint32_t index);
/* Returns the i-th descriptor of this process. */
const struct ckpt_fd *fd_own(const struct stub *stub, uint32_t i);
uint32_t fd_process(const struct stub *stub); /* index of this process */
/* Returns the place of the open file with that index: a descriptor number. */
int fd_place(const struct stub *stub, uint32_t index);
/* Returns whether the job gets the resuming process's own open file instead (standard streams). */
bool fd_is_inherited(const struct stub *stub, const struct ckpt_file *file);
/* Returns whether the file can be opened only when the processes exist. */
bool fd_is_late(const struct stub *stub, const struct ckpt_file *file);
/* Moves a descriptor to `place`.  Ends the process on failure. */
void fd_put_at(const struct stub *stub, long fd, int place);
/* Opens what descriptor `number` refers to once more, with openat().  Returns a descriptor or a
 * negative errno. */
long fd_reopen(int number, uint32_t flags);
/* Reads the bytes of an extent from the image into `to` and compares their checksum.  Ends the
 * process on failure. */
void fd_read_extent(const struct stub *stub, void *to, const struct ckpt_extent *extent);
/* Reads so many bytes of the image, from that offset, into `to`.  Ends the process on failure. */
void fd_read_image(const struct stub *stub, void *to, uint64_t bytes, uint64_t offset);
/* Ends the process if the checksum of the bytes is not the extent's: the image is damaged. */
void fd_check_sum(const struct stub *stub, const struct ckpt_extent *extent, const void *bytes);

/* ---- fd_disk.c */
/* Makes a memory file (contents without a name: shared memory, removed files). */
void fd_make_object(const struct stub *stub, uint32_t index);
/* Called when all that open it have done so: sets its permissions, and the seals that can be set
 * now. */
void fd_finish_object(const struct stub *stub, uint32_t index);
/* Sets the seals that can be set only when all processes have mapped it. */
void fd_seal_object(const struct stub *stub, uint32_t index);
long fd_open_named(const struct stub *stub, const struct ckpt_file *file);
long fd_open_nameless(const struct stub *stub, const struct ckpt_file *file);
/* ---- fd_pipe.c: with all that belong to the same pipe, or pair */
/* Open the pipe, or socketpair, of that file, with all files that belong to it. */
void fd_open_pipe(const struct stub *stub, uint32_t index);
void fd_open_sockets(const struct stub *stub, uint32_t index);
/* ---- fd_terminal.c: with all that belong to the same pair */
/* Opens the pseudo-terminal of that file, with all files that belong to it. */
void fd_open_terminal(const struct stub *stub, uint32_t index);
/* ---- fd_kernel.c */
long fd_open_event(const struct stub *stub, const struct ckpt_file *file);
long fd_open_clock(const struct stub *stub, const struct ckpt_file *file);
long fd_open_signals(const struct stub *stub, const struct ckpt_file *file);
long fd_open_pidfd(const struct stub *stub, const struct ckpt_file *file);
/* Adds the entries of epolls and inotifys that this process must add; CKPT_NOBODY: those to be
 * added before there are processes. */
void fd_add_watches(const struct stub *stub, uint32_t process);
/* ---- fd_lock.c: of open files, and of this process */
/* Take the locks again: those of open files, and those of this process. */
void fd_lock_files(const struct stub *stub);
void fd_lock_ranges(const struct stub *stub);

#endif
