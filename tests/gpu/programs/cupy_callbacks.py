"""Sorts arrays with CuPy on two threads, and is called back where one is sorted: cupy_callbacks.py [rounds]."""

import sys
import threading

import cupy


def work(number, rounds, done):
    with cupy.cuda.Stream(non_blocking=True) as stream:
        values = cupy.random.default_rng(number).random((512, 2048), dtype=cupy.float32)
        for _ in range(rounds):
            values = cupy.sort(values * 0.5 + values.mean(), axis=1)
            stream.launch_host_func(done.append, number)
        stream.synchronize()


def main(rounds):
    done = []
    threads = [threading.Thread(target=work, args=(number, rounds, done)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("finished", len(done), "sorts")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
