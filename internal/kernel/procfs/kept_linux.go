package procfs

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Kept is a file of the kernel's that is opened once and read many times: two
// calls a reading, one of which finds the end, where opening it anew takes ten.
// It is for one goroutine at a time.
type Kept[T any] struct {
	file  *os.File
	text  []byte
	parse func([]byte) (T, error)
}

const (
	// keptSize is room for most files, netstat's 5 KB on Linux 6.18 among them.
	keptSize = 8 << 10
	// keptMost bounds a file: /proc/stat of a thousand processors has 200 KB.
	keptMost = 16 << 20
)

func keep[T any](name string, parse func([]byte) (T, error)) (*Kept[T], error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return &Kept[T]{file: f, text: make([]byte, keptSize), parse: parse}, nil
}

// Read is what the file says now.
func (k *Kept[T]) Read() (T, error) {
	var zero T
	for n := 0; ; {
		m, err := k.file.ReadAt(k.text[n:], int64(n))
		n += m
		if err == io.EOF {
			return k.parse(k.text[:n])
		}
		if err == nil && len(k.text) >= keptMost {
			err = fmt.Errorf("more than %d bytes", keptMost)
		}
		if err != nil {
			return zero, fmt.Errorf("read %s: %w", k.file.Name(), err)
		}
		k.text = append(k.text, make([]byte, len(k.text))...)
	}
}

// Close closes the file.
func (k *Kept[T]) Close() error { return k.file.Close() }

// OpenStat opens what Stat reads.
func OpenStat() (*Kept[[]CPUTime], error) { return keep(statFile, ParseStat) }

// OpenSoftnet opens what ReadSoftnet reads.
func OpenSoftnet() (*Kept[[]Softnet], error) { return keep(softnetFile, ParseSoftnet) }

// OpenEvidence opens /proc/net/netstat of the calling thread's network
// namespace, which the file then stays in.
func OpenEvidence() (*Kept[map[string]uint64], error) { return keep(netstatFile, ParseEvidence) }

// OpenDamage opens /proc/net/snmp in the same way: what arrived damaged.
func OpenDamage() (*Kept[map[string]uint64], error) { return keep(snmpFile, ParseEvidence) }

// OpenSwitches opens the context switches of a thread of this process. Read is
// ESRCH once the thread is gone.
func OpenSwitches(tid int) (*Kept[Switches], error) {
	return keep(fmt.Sprintf("/proc/self/task/%d/status", tid), ParseSwitches)
}

// OpenRunDelay opens a thread's run delay: how long it could have run and had no
// core, since it began. Time in which its control group had used its quota up
// counts: as measured on Linux 6.18 a thread that spins with half a core of
// quota has a run delay of half the time. Read is ESRCH once the thread is gone.
func OpenRunDelay(tid int) (*Kept[time.Duration], error) {
	return keep(fmt.Sprintf("/proc/%d/schedstat", tid), ParseRunDelay)
}
