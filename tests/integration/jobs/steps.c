/* tests/integration/jobs/steps.c - a job of three parts: each waits for its gate.
 *
 * steps LOG GATES: LOG gets a line for each step that is done, outside of what a checkpoint holds:
 * a step that is done twice is there twice.  Progress and state are in the sandbox and in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEPS 30
#define PART  10

int main(int argc, char **argv)
{
    double sum = 0;
    FILE *progress = fopen("progress", "w");
    if (argc != 3 || progress == NULL) {
        return 2;
    }
    for (int step = 1; step <= STEPS; step++) {
        sum = sum * 1.0000001 + 1.0 / step;
        FILE *log = fopen(argv[1], "a");
        if (log == NULL || fprintf(log, "%d\n", step) < 0 || fclose(log) != 0) {
            return 3;
        }
        if (fprintf(progress, "%d\n", step) < 0 || fflush(progress) != 0) {
            return 4;
        }
        char gate[4096];
        (void)snprintf(gate, sizeof gate, "%s.%d", argv[2], step / PART);
        while (step % PART == 0 && step < STEPS && access(gate, F_OK) != 0) {
            (void)usleep(20000);
        }
        printf("%d %.17g\n", step, sum);
    }
    return 0;
}
