package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// Holders finds who holds the sockets with these inodes. It looks through the
// files of every process until all are found: a millisecond for some hundred
// files. A process that ends meanwhile holds nothing.
func Holders(inodes []uint32) (Holding, error) {
	h := Holding{By: make(map[uint32]Process, len(inodes))}
	missing := make(map[uint32]bool, len(inodes))
	for _, inode := range inodes {
		missing[inode] = inode != 0
	}
	delete(missing, 0)
	all, err := numbers("/proc")
	if err != nil {
		return h, fmt.Errorf("list processes: %w", err)
	}
	for _, pid := range all {
		if len(missing) == 0 {
			break
		}
		held, err := holds(pid, missing)
		if errors.Is(err, fs.ErrPermission) {
			h.Hidden++
		}
		if len(held) == 0 {
			continue
		}
		p := Process{PID: pid, Name: name(pid)}
		for _, inode := range held {
			h.By[inode] = p
			delete(missing, inode)
		}
	}
	return h, nil
}

// holds lists the wanted sockets among a process's files, and looks no further when it
// has all: a server has tens of thousands of files, and each is a system call.
func holds(pid int, wanted map[uint32]bool) (held []uint32, err error) {
	d, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f := files{dir: d, wanted: wanted}
	if size := tableSize(pid); size > manyFiles {
		f.guess(size)
	}
	if len(f.held) == len(wanted) {
		return f.held, nil
	}
	all, err := d.Readdirnames(-1)
	for _, file := range all {
		if len(f.held) == len(wanted) {
			break
		}
		f.look(file)
	}
	return f.held, err
}

// files are those that a process has open.
type files struct {
	dir    *os.File
	wanted map[uint32]bool
	held   []uint32
	looked int
	link   [64]byte
}

// look looks at one file, and returns the socket's inode; zero for what is none.
func (f *files) look(name string) uint32 {
	f.looked++
	n, err := sys.ReadLinkAt(f.dir, name, f.link[:])
	if err != nil {
		return 0 // closed meanwhile, or never open
	}
	inode, ok := socketInode(f.link[:n])
	if !ok {
		return 0
	}
	if f.wanted[inode] && !slices.Contains(f.held, inode) {
		f.held = append(f.held, inode)
	}
	return inode
}

const (
	// manyFiles is when guessing is cheaper than listing them.
	manyFiles = 1024
	// stride is how far apart the files are that are looked at first.
	stride = 64
)

// guess looks where the wanted sockets probably are. What is opened later mostly has
// the higher number both among the process's files and among the inodes: so every 64th
// file is looked at, and then those between two whose inodes a wanted one is between.
func (f *files) guess(size int) {
	marks := make([]uint32, size/stride+1)
	for i := range marks {
		marks[i] = f.look(strconv.Itoa(i * stride))
	}
	low := uint32(0)
	for i, mark := range marks {
		if mark != 0 {
			low = mark
		}
		high := uint32(math.MaxUint32)
		if i+1 < len(marks) && marks[i+1] != 0 {
			high = marks[i+1]
		} else if mark == 0 {
			continue // no sockets here
		}
		between := func(inode uint32) bool { return inode >= low && inode < high && !slices.Contains(f.held, inode) }
		for inode := range f.wanted {
			if !between(inode) {
				continue
			}
			for n := i*stride + 1; n < (i+1)*stride && len(f.held) < len(f.wanted); n++ {
				f.look(strconv.Itoa(n))
			}
			break
		}
	}
}

// tableSize is how many files a process has room for (FDSize): those that are open
// have lower numbers. Zero where it cannot be read.
func tableSize(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nFDSize:")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	return n
}

// name is what a process calls itself, with marks for what does not print: any
// user may put a terminal's commands there. "" when it ended.
func name(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, strings.TrimSpace(string(text)))
}

// mostThreads bounds what is read of one program: those beyond come later in
// its life and seldom carry its traffic alone.
const mostThreads = 256

// Threads reads the time of a process's threads, at most 256 of them, the
// oldest first.
func Threads(pid int) ([]Thread, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	tids, err := numbers(dir)
	if err != nil {
		return nil, fmt.Errorf("list threads of %d: %w", pid, err)
	}
	var all []Thread
	for _, tid := range tids[:min(len(tids), mostThreads)] {
		if t, err := thread(dir, tid); err == nil {
			all = append(all, t)
		}
	}
	return all, nil
}

// thread reads schedstat, which is exact, or stat where there is none.
func thread(dir string, tid int) (Thread, error) {
	t := Thread{TID: tid}
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/schedstat", dir, tid))
	if err == nil {
		t.Ran, t.Waited, err = parseSchedstat(text)
	}
	if err == nil && t.Ran > 0 {
		return t, nil
	}
	if text, err = os.ReadFile(fmt.Sprintf("%s/%d/stat", dir, tid)); err != nil {
		return t, err
	}
	t.Ran, err = parseStat(text)
	return t, err
}

// numbers are the entries of a directory that are numbers, in order.
func numbers(dir string) ([]int, error) {
	all, err := names(dir)
	var out []int
	for _, word := range all {
		if n, err := strconv.Atoi(word); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

// names are a directory's entries, unsorted and not looked at: a stat of each,
// as os.ReadDir makes where the file system does not tell, costs too much.
func names(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
