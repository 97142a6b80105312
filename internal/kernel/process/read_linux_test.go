package process

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHolders finds this very test by a socket of its own.
func TestHolders(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	inode, ok := socketInode(link)
	if !ok {
		t.Fatalf("%s is no socket", link)
	}
	const nobodys = 1<<32 - 1
	h, err := Holders([]uint32{inode, nobodys, 0})
	if err != nil {
		t.Fatal(err)
	}
	p := h.By[inode]
	if p.PID != os.Getpid() || !strings.HasPrefix(os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:], p.Name) || p.Name == "" {
		t.Errorf("held by %+v, want %d", p, os.Getpid())
	}
	if len(h.By) != 1 {
		t.Errorf("found %v", h.By)
	}
}

// TestThreads: a thread that computes is seen to run.
func TestThreads(t *testing.T) {
	const busy = 200 * time.Millisecond
	tid := make(chan int)
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		tid <- syscall.Gettid()
		<-done
		for begin := time.Now(); time.Since(begin) < busy; {
		}
		tid <- 0
		<-done
	}()
	worker := <-tid
	ran := func() (sum time.Duration) {
		all, err := Threads(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		for _, th := range all {
			if th.TID == worker {
				return th.Ran + th.Waited
			}
		}
		t.Fatalf("thread %d is not among %v", worker, all)
		return 0
	}
	before := ran()
	done <- true
	<-tid
	if took := ran() - before; took < busy/2 {
		t.Errorf("a thread busy for %v ran %v", busy, took)
	}
	done <- true
	if _, err := Threads(1 << 30); err == nil {
		t.Error("threads of nobody")
	}
}
