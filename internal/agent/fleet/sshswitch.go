package fleet

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/kernel/process"
	"github.com/linerate/linerate/internal/switchwatch/cli"
)

// mostShown is the most that one command of a switch may print, in bytes.
const mostShown = 16 << 20

// Show types one command on a switch, by the system's OpenSSH, and returns what it
// printed: the user's configuration, keys and jump hosts apply, and nothing is asked. The
// errors are those of Dial, and ErrShown for a switch that prints without end or refuses
// the command.
func (s *SSH) Show(ctx context.Context, reach string, command cli.Command) (string, error) {
	to, err := parseSSH(reach)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits().all)
	defer cancel()
	args := append(append(append([]string{}, bounded...), s.control(ctx, to)...), to.arguments()...)
	c := exec.CommandContext(ctx, "ssh", append(args, command.String())...)
	c.SysProcAttr = ownGroup()
	c.WaitDelay = 2 * time.Second
	out, words := &bounds{end: cancel}, &tail{}
	c.Stdout, c.Stderr = out, words
	_, err = process.Await(ctx, func() (struct{}, error) { return struct{}{}, c.Run() })
	if errors.Is(err, process.ErrStays) {
		return "", fmt.Errorf("%w: `%s`: ssh: %w", ErrUnreachable, command, err)
	}
	var exit *exec.ExitError
	switch {
	case out.over:
		return "", fmt.Errorf("%w: `%s` prints more than %d MB", ErrShown, command, mostShown>>20)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w: `%s`: no answer within %v", ErrUnreachable, command, s.limits().all)
	case errors.As(err, &exit) && exit.ExitCode() != sshFailed:
		return "", fmt.Errorf("%w: `%s` ends with status %d", ErrShown, command, exit.ExitCode())
	case err != nil:
		if said := to.refused(words.String()); said != nil {
			return "", said
		}
		return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return out.text.String(), nil
}

// sshFailed is ssh's own exit status; any other is the command's (ssh(1), EXIT STATUS).
const sshFailed = 255

// ErrShown: a switch does not print what was asked for.
var ErrShown = errors.New("the switch does not show it")

// bounds keeps what is printed, and ends whoever prints too much.
type bounds struct {
	mu   sync.Mutex
	text strings.Builder
	over bool
	end  func()
}

func (b *bounds) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over = b.over || b.text.Len()+len(p) > mostShown; b.over {
		b.end()
		return len(p), nil
	}
	return b.text.Write(p)
}
