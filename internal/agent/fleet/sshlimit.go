package fleet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// sshLimits are what a far side may take, in time and in bytes, before there is
// an agent: until then nobody vouches for what is at the other end.
type sshLimits struct {
	answer time.Duration // for each thing that it says, and for each piece that it takes
	all    time.Duration // for all that it says together
	bytes  int           // that it may print beside its words, such as a page at login
	words  int
	rate   int64 // bytes a second that it has to take of the program, on average
}

// usualLimits: a login may take long, so may a checksum; a way that takes an
// hour for the program is none to measure over.
var usualLimits = sshLimits{answer: answerWithin, all: 4 * answerWithin, bytes: 1 << 20, words: 64, rate: 64 << 10}

// errEndless is a far side that goes on printing where an answer is due.
var errEndless = fmt.Errorf("%w: its login shell prints without end", ErrUnreachable)

// line is the far shell's next word of ours. It is waited for as long as the
// limits say, and what is printed beside it is read and forgotten. A far side
// that goes over a limit is killed.
func (p *sshProcess) line(to sshReach) (key, value string, err error) {
	if p.left.words--; p.left.words < 0 {
		return "", "", errEndless
	}
	wait, begin := min(p.left.answer, p.left.all), time.Now()
	defer func() { p.left.all -= time.Since(begin) }()
	var silent atomic.Bool
	timer := time.AfterFunc(wait, func() { silent.Store(true); p.kill() })
	defer timer.Stop()
	for {
		text, err := p.text()
		switch {
		case errors.Is(err, errEndless):
			p.kill()
			return "", "", err
		case silent.Load():
			return "", "", fmt.Errorf("%w: its shell did not answer for %v", ErrUnreachable, wait.Round(time.Millisecond))
		case err != nil:
			return "", "", p.gone(to)
		}
		if key, value, ok := ours(text); ok {
			return key, value, nil
		}
	}
}

// text is the next line's beginning, at most a buffer of it, and the rest is
// passed over. All that is read counts.
func (p *sshProcess) text() (string, error) {
	var begin string
	for first := true; ; first = false {
		piece, err := p.out.ReadSlice('\n')
		if first {
			begin = string(piece)
		}
		if p.left.bytes -= len(piece); p.left.bytes < 0 {
			return "", errEndless
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return begin, err
		}
	}
}

// piece is how much of the program is sent at a time: less than what a pipe and
// ssh's window hold, so that one that is taken is a sign of life.
const piece = 32 << 10

// send gives the far side what it asked for. The deadline moves with what it
// takes; one that takes nothing, or next to nothing, is killed.
func (p *sshProcess) send(from io.Reader, size int64) error {
	begin, sent := time.Now(), int64(0)
	var late atomic.Bool
	timer := time.AfterFunc(p.left.answer, func() { late.Store(true); p.kill() })
	defer timer.Stop()
	for {
		n, err := io.CopyN(p.in, from, piece)
		sent += n
		if late.Load() {
			return stopped(sent, size, time.Since(begin))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("send linerate: %w", err)
		}
		due := p.left.answer + time.Duration(float64(sent)/float64(p.left.rate)*float64(time.Second))
		timer.Reset(min(p.left.answer, due-time.Since(begin)))
	}
}

// stopped is a far side that did not take the program.
func stopped(sent, size int64, took time.Duration) error {
	return fmt.Errorf("%w: it stopped reading while linerate was copied (%.1f of %.1f MB in %v)", ErrCopy, float64(sent)/1e6, float64(size)/1e6, took.Round(100*time.Millisecond))
}
