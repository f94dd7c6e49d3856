#!/bin/bash
# The check lint.texts finds fixed texts that were changed, and leaves messages alone.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
plant tests/lint/fixed_texts.txt <<'END'
# texts
text "Job was held.\n"
text "Image size: %{PRId64} KB\n"
event job.held
event queue.loaded
event request.costly
event request.too_costly
END
plant base/held.c <<'END'
void f(struct log *log, const char *event, int held)
{
    /* log_info(log, "not.one", "a comment") */
    log_info(log, "job.held", "any message", LOG_TEXT("a", "b.c"));
    log_warn(log_of(log, 1), held ? "queue.loaded" : "job.held",
             "another message");
    put("Job was "
        "held.\n");
    put("Image size: %" PRId64 " KB\n", 1);
}
END
plant base/costly.c <<'END'
static void tell(struct log *log, const char *event) { log_info(log, event, "a message"); }
void g(struct log *log) { tell(log, 1 ? "request.costly" : "request.too_costly"); }
END
passes "texts as recorded" texts

sed -i 's/any message/a better message/' "$TREE/base/held.c"
passes "a message that was reworded" texts
sed -i 's/"job\.held"/"job.is_held"/g' "$TREE/base/held.c"
finds "a log event that was renamed: the new name" "base/held.c:1: the log event 'job.is_held' is not in" texts
finds "a log event that was renamed: the old name" "tests/lint/fixed_texts.txt:4: the log event 'job.held' is gone" texts
lint texts --write
passes "names that were recorded" texts
sed -i 's/"held\./"on hold./' "$TREE/base/held.c"
finds "a text of HTCondor's that was reworded" 'tests/lint/fixed_texts.txt:2: no string literal is "Job was held' texts
finish
