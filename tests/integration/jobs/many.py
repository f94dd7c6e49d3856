"""Processes that share memory by its name, a queue and a lock; and a database that several write to at once, with a log ahead of it (WAL).

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import multiprocessing
import os
import sqlite3
import threading
import time
from multiprocessing import shared_memory


def work(task):
    name, number = task
    memory = shared_memory.SharedMemory(name=name)
    total = 0
    for k in range(20000):
        total = (total * 31 + memory.buf[(k * 7 + number) % 65536]) % 1000003
    memory.buf[65536 + number] = total % 256
    memory.close()
    return total


def add(queue, lock, value):
    for _ in range(100):
        with lock:
            value.value += 1
        time.sleep(0.001)
    queue.put(os.getpid() > 0)


def share():
    memory = shared_memory.SharedMemory(create=True, size=70000)
    memory.buf[:65536] = bytes(k * 17 % 251 for k in range(65536))
    with multiprocessing.Pool(3) as pool:
        totals = pool.map(work, [(memory.name, number) for number in range(20)], chunksize=2)
    queue, lock, value = multiprocessing.Queue(), multiprocessing.Lock(), multiprocessing.Value("i", 0)
    adders = [multiprocessing.Process(target=add, args=(queue, lock, value)) for _ in range(3)]
    for adder in adders:
        adder.start()
    told = [queue.get() for _ in adders]
    for adder in adders:
        adder.join()
    print(hashlib.sha256(repr(totals).encode()).hexdigest(), bytes(memory.buf[65536:65556]).hex(), value.value, told)
    memory.close()
    memory.unlink()


def connect():
    connection = sqlite3.connect("wal.db", timeout=60, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma mmap_size=1000000")
    return connection


def write(who):
    connection = connect()
    for _ in range(30):
        connection.execute("begin immediate")
        connection.executemany("insert into t values(?, ?)", [(who, number) for number in range(20)])
        connection.execute("commit")
        time.sleep(0.002)
    connection.close()


def log():
    for name in ("wal.db", "wal.db-wal", "wal.db-shm"):
        if os.path.exists(name):
            os.unlink(name)
    connect().execute("create table t(a, b)")
    child = os.fork()
    if child == 0:
        write(99)
        os._exit(0)
    threads = [threading.Thread(target=write, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = os.waitpid(child, 0)[1]
    print(status, connect().execute("select count(*), sum(b) from t").fetchone(), connect().execute("pragma integrity_check").fetchone())


if __name__ == "__main__":
    share()
    log()
