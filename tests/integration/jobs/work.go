// Goroutines that compute, sleep and talk to each other while memory is collected.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

func worker(id int, in <-chan int, out chan<- [32]byte) {
	for n := range in {
		pieces := make([][]byte, 0, 64)
		for i := 0; i < 64; i++ {
			pieces = append(pieces, []byte(fmt.Sprintf("%d-%d", n, i*id)[:1]))
			pieces = append(pieces, make([]byte, 1024))
		}
		sum := sha256.New()
		for _, piece := range pieces {
			sum.Write(piece)
		}
		sum.Write([]byte(fmt.Sprint(n)))
		var got [32]byte
		copy(got[:], sum.Sum(nil))
		time.Sleep(time.Millisecond)
		out <- got
	}
}

func main() {
	in, out := make(chan int), make(chan [32]byte, 8)
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() { defer all.Done(); worker(1, in, out) }()
	}
	go func() {
		for n := 0; n < 4000; n++ {
			in <- n
		}
		close(in)
		all.Wait()
		close(out)
	}()
	var sum [32]byte
	for got := range out {
		for i := range sum {
			sum[i] ^= got[i]
		}
	}
	said, err := exec.Command("/bin/echo", "from a child").Output()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Printf("%x %s", sum, said)
	os.Exit(7)
}
