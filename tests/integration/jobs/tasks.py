"""Tasks that wait for timers, for each other, and for a program that they talk to: an event loop (epoll, a socketpair,
pipes), as most servers and many tools have one.

SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import hashlib
import subprocess

STEPS = 60


async def count(queue):
    for number in range(STEPS):
        await asyncio.sleep(0.004)
        await queue.put(number)
    await queue.put(None)


async def main():
    queue, digest = asyncio.Queue(), hashlib.sha256()
    counting = asyncio.create_task(count(queue))
    program = await asyncio.create_subprocess_exec("sed", "-u", "s/1/11/", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while (number := await queue.get()) is not None:
        program.stdin.write(f"{number}\n".encode())
        await program.stdin.drain()
        digest.update(await program.stdout.readline())
    program.stdin.close()
    await counting
    print(await program.wait(), digest.hexdigest())


asyncio.run(main())
