// Package procfs reads the host-wide counters of /proc: processor time,
// softnet statistics, protocol counters, load. Every file has a parse
// function over its text, which builds on every system, and a read function,
// which is Linux's. It must never judge what it reads.
package procfs

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
)

// maxLine is the longest line taken from a /proc file: the intr line of
// /proc/stat on a large host is some ten kilobytes.
const maxLine = 1 << 20

// lines calls each with every line of text until it returns an error.
func lines(text []byte, each func(line []byte) error) error {
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, maxLine)
	for s.Scan() {
		if err := each(s.Bytes()); err != nil {
			return err
		}
	}
	return s.Err()
}

// number reads one unsigned number of the given base.
func number(field []byte, base int) (uint64, error) {
	v, err := strconv.ParseUint(string(field), base, 64)
	if err != nil {
		return 0, fmt.Errorf("read number %.32q: not a base %d number", field, base)
	}
	return v, nil
}
