#!/usr/bin/python3
"""lib_views.py DIRECTORY - a job that looks at files which are changed at the submit machine meanwhile.

Each step is a line of commands from standard input: "read FILE" prints what is in it when it is opened now, "size FILE"
its size after it was opened, "list DIR" how many names are in it, "hold FILE" opens it and keeps it open, "held" prints
the rest of that; "keep FILE TEXT" writes it.

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys


def main():
    os.chdir(sys.argv[1])
    held = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "read":
            try:
                with open(words[1], encoding="ascii") as file:
                    print(file.read())
            except OSError as error:
                print(error.strerror)
        elif words[0] == "size":
            with open(words[1], "rb") as file:
                print(os.fstat(file.fileno()).st_size)
        elif words[0] == "list":
            print(len(os.listdir(words[1])))
        elif words[0] == "hold":
            held = open(words[1], encoding="ascii")  # pylint: disable=consider-using-with
            print("held")
        elif words[0] == "held":
            print(held.read())
        elif words[0] == "keep":
            with open(words[1], "w", encoding="ascii") as file:
                file.write(words[2])
            print("kept")
        sys.stdout.flush()


main()
