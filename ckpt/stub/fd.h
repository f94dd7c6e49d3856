/* ckpt/stub/fd.h - what the kinds of open files share while they are opened again.
 *
 * Each open file is opened once and waits at its place, a number that no process of the job uses,
 * until each process copies it to its own numbers.  Some can only be opened when there are
 * processes (pidfds): these are late, and each process opens its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_FD_H
#define CKPT_STUB_FD_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/stub/stub.h"

#define STUB_STDIO 3

const struct ckpt_file *fd_file(const struct stub *stub, uint32_t index);
/* One of this process's descriptors. */
const struct ckpt_fd *fd_own(const struct stub *stub, uint32_t i);
uint32_t fd_process(const struct stub *stub); /* which one it is */
int fd_place(const struct stub *stub, uint32_t index);
/* It is whatever the resuming process has. */
bool fd_is_inherited(const struct stub *stub, const struct ckpt_file *file);
/* It is there only when there are processes. */
bool fd_is_late(const struct stub *stub, const struct ckpt_file *file);
/* Puts a descriptor to that place, where nothing is. */
void fd_put_at(const struct stub *stub, long fd, int place);
/* Another opening of what that number is: openat() of it. */
long fd_reopen(int number, uint32_t flags);
/* The bytes of the extent, to that buffer. */
void fd_read_extent(const struct stub *stub, void *to, const struct ckpt_extent *extent);
/* The bytes from there to that buffer; all of them. */
void fd_read_image(const struct stub *stub, void *to, uint64_t bytes, uint64_t offset);
/* The sum of bytes of the image is that of the extent, or the image is damaged. */
void fd_check_sum(const struct stub *stub, const struct ckpt_extent *extent, const void *bytes);

/* ---- fd_disk.c */
void fd_make_object(const struct stub *stub, uint32_t index);
/* Once all that open it have: who may open it, and what nobody may do with it any more. */
void fd_finish_object(const struct stub *stub, uint32_t index);
/* What can be said only when all processes have mapped it. */
void fd_seal_object(const struct stub *stub, uint32_t index);
long fd_open_named(const struct stub *stub, const struct ckpt_file *file);
long fd_open_nameless(const struct stub *stub, const struct ckpt_file *file);
/* ---- fd_pipe.c: with all that belong to the same pipe, or pair */
void fd_open_pipe(const struct stub *stub, uint32_t index);
void fd_open_sockets(const struct stub *stub, uint32_t index);
/* ---- fd_terminal.c: with all that belong to the same pair */
void fd_open_terminal(const struct stub *stub, uint32_t index);
/* ---- fd_kernel.c */
long fd_open_event(const struct stub *stub, const struct ckpt_file *file);
long fd_open_clock(const struct stub *stub, const struct ckpt_file *file);
long fd_open_signals(const struct stub *stub, const struct ckpt_file *file);
long fd_open_pidfd(const struct stub *stub, const struct ckpt_file *file);
/* Of the table of watches, those that this process is to add; CKPT_NOBODY: before there are any. */
void fd_add_watches(const struct stub *stub, uint32_t process);
/* ---- fd_lock.c: of open files, and of this process */
void fd_lock_files(const struct stub *stub);
void fd_lock_ranges(const struct stub *stub);

#endif
