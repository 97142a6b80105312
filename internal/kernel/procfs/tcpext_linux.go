package procfs

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Evidence is /proc/net/netstat of the network namespace whose thread opened
// it, to be read many times. It is for one goroutine at a time.
type Evidence struct {
	file *os.File
	text []byte
}

// netstatSize is room for the file: some 5 KB on Linux 6.18.
const netstatSize = 32 << 10

// OpenEvidence opens it in the calling thread's network namespace, which the
// file then stays in.
func OpenEvidence() (*Evidence, error) {
	f, err := os.Open(netstatFile)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", netstatFile, err)
	}
	return &Evidence{file: f, text: make([]byte, netstatSize)}, nil
}

// Read is what ParseEvidence finds in it now.
func (e *Evidence) Read() (map[string]uint64, error) {
	n := 0
	for n < len(e.text) {
		m, err := e.file.ReadAt(e.text[n:], int64(n))
		n += m
		if err == io.EOF {
			return ParseEvidence(e.text[:n])
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", netstatFile, err)
		}
	}
	return nil, fmt.Errorf("read %s: more than %d bytes", netstatFile, len(e.text))
}

// Close closes the file.
func (e *Evidence) Close() error { return e.file.Close() }

// RunDelay is how long a thread could have run and had no core, since it began.
// Time in which its control group had used its quota up counts: as measured on
// Linux 6.18 a thread that spins with half a core of quota has a run delay of
// half the time.
func RunDelay(tid int) (time.Duration, error) {
	return read(fmt.Sprintf("/proc/%d/schedstat", tid), ParseRunDelay)
}
