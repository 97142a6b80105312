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
	inode, ok := socketInode([]byte(link))
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

// TestHoldersOfMany: a few sockets among thousands of files are found, wherever they were
// opened. Most are guessed after a small part of the files; one now and then is not, where
// others make sockets meanwhile.
func TestHoldersOfMany(t *testing.T) {
	const many = 3000
	var pair [many][2]int
	inodes := make(map[int]uint32)
	for i := range pair {
		var err error
		if pair[i], err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(pair[i][0])
		defer syscall.Close(pair[i][1])
		var st syscall.Stat_t
		if err := syscall.Fstat(pair[i][0], &st); err != nil {
			t.Fatal(err)
		}
		inodes[i] = uint32(st.Ino)
	}
	guessed, all := 0, 0
	for _, at := range [][]int{{many - 1}, {0}, {many / 2, many/2 + 1}, {5, many / 3, many - 5}} {
		wanted := make(map[uint32]bool)
		for _, i := range at {
			wanted[inodes[i]] = true
		}
		held, err := holds(os.Getpid(), wanted)
		if err != nil || len(held) != len(at) {
			t.Errorf("%v: found %v, %v", at, held, err)
		}
		d, err := os.Open("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		f := files{dir: d, wanted: wanted}
		f.guess(tableSize(os.Getpid()))
		d.Close()
		guessed, all = guessed+len(f.held), all+len(at)
		if most := many / 4; f.looked > most {
			t.Errorf("%v: guessed %v of %v after %d files, want %d at most", at, f.held, wanted, f.looked, most)
		}
	}
	if 3*guessed < 2*all {
		t.Errorf("guessed %d of %d", guessed, all)
	}
}
