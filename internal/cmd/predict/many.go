package predict

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// onEveryCore calls do with every number below n, on all cores at once.
func onEveryCore(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wait.Wait()
}
