/* bench/programs/ckpt_job.c - the job of bench/ckpt.c: looks at its clock without end, and tells
 * how long it did not.
 *
 * ckpt_job BOARD BYTES random|untouched - a heap of so many bytes; the board (bench/ckpt_board.h)
 * is where it tells, and where it is told what to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ckpt_board.h"

#define STEPS      2000U
#define DIRTY_PART 20U /* a twentieth of the pages, at random */

static void dirty_pages(uint64_t *heap, uint64_t bytes, uint64_t *state)
{
    uint64_t pages = bytes / BOARD_PAGE;
    for (uint64_t i = 0; i < pages / DIRTY_PART; i++) {
        heap[board_random(state) % pages * (BOARD_PAGE / sizeof *heap)]++;
    }
}

int main(int argc, char **argv)
{
    struct board *board = argc == 4 ? board_map(argv[1], 0) : NULL;
    uint64_t bytes = argc == 4 ? strtoull(argv[2], NULL, 10) : 0, last = 0;
    uint64_t state = UINT64_C(88172645463325252), work = state;
    bool untouched = argc == 4 && strcmp(argv[3], "untouched") == 0;
    uint64_t *heap = board_heap(bytes);
    if (board == NULL || heap == NULL) {
        return 1;
    }
    if (!untouched) {
        board_fill(heap, bytes);
    }
    for (;;) {
        /* Some microseconds: nobody is stopped for long in the code by which the kernel tells the
         * time, and who is almost nowhere else would have to be stopped again and again. */
        for (unsigned i = 0; i < STEPS; i++) {
            board->work = board_random(&work);
        }
        uint64_t now = board_now_ns();
        if (last != 0 && now - last > board_get(&board->gap_ns)) {
            board_set(&board->gap_ns, now - last);
        }
        last = now;
        board_set(&board->last_ns, now);
        board_set(&board->looks, board->looks + 1);
        uint32_t order = board_get(&board->order);
        if (order != board_get(&board->obeyed)) {
            if (order == BOARD_DIRTY_PAGES) {
                dirty_pages(heap, bytes, &state);
            }
            last = board_now_ns();
            board_set(&board->gap_ns, 0);
            board_set(&board->obeyed, order);
        }
    }
}
