package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, err := names(dir)
	for _, file := range files {
		if len(held) == len(wanted) {
			break
		}
		link, err := os.Readlink(dir + "/" + file)
		if err != nil {
			continue // closed meanwhile
		}
		if inode, ok := socketInode(link); ok && wanted[inode] && !slices.Contains(held, inode) {
			held = append(held, inode)
		}
	}
	return held, err
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
