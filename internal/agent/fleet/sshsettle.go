package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// far is what a far shell said of its host.
type far struct {
	system, machine string // as uname -sm prints them
	user            string
	program         string // the linerate on its path; "" is none
	sum, version    string // of that program
	connection      string // SSH_CONNECTION
	unpacks         string // how a program may be packed; "" is not at all
}

// settle comes to an agent at the other end: the linerate that is there when it
// is this one, else a copy of the agent.
func (p *sshProcess) settle(to sshReach, cfg Config) error {
	there, err := p.greeting(to)
	if err != nil {
		return err
	}
	p.managedAt = serverOf(there.connection)
	if there.program != "" && (sameRelease(there.version, cfg.Version) || cfg.SSH.installed(there)) {
		return p.say(to, "run")
	}
	ours, err := cfg.SSH.program(there)
	switch {
	case err == nil:
		return p.copy(to, ours, there.unpacks == packing, cfg.SSH)
	case there.program == "":
		return err
	}
	return p.say(to, "old") // its protocol is looked at by Hello
}

func (p *sshProcess) say(to sshReach, word string) error {
	if _, err := fmt.Fprintln(p.in, word); err != nil {
		return p.gone(to)
	}
	return nil
}

// sameRelease reports a program of our version, where a version names one
// program: builds between releases are told apart by their checksums.
func sameRelease(theirs, ours string) bool {
	_, theirs, _ = strings.Cut(theirs, "version ")
	return theirs == ours && strings.HasPrefix(ours, "v") && !strings.ContainsAny(ours, "-+")
}

// greeting reads what the far shell says of its host.
func (p *sshProcess) greeting(to sshReach) (far, error) {
	var f far
	for {
		key, value, err := p.line(to)
		if err != nil {
			return f, err
		}
		switch key {
		case "system":
			f.system, f.machine, _ = strings.Cut(value, " ")
		case "user":
			f.user = value
		case "connection":
			f.connection = value
		case "program":
			f.program = value
		case "sum":
			f.sum = value
		case "version":
			f.version = value
		case "unpacks":
			f.unpacks = value
		case "end":
			return f, nil
		}
	}
}

// ours is a line of the far script taken apart, and whether it is one: a login
// shell may print a page before.
func ours(line string) (key, value string, ok bool) {
	if line, ok = strings.CutPrefix(line, mark); !ok {
		return "", "", false
	}
	key, value, _ = strings.Cut(plain(line), " ")
	return key, value, true
}

// gone is why ssh ended before there was an agent.
func (p *sshProcess) gone(to sshReach) error {
	if err := to.refused(p.lastWords()); err != nil {
		return err
	}
	return fmt.Errorf("%w: ssh ended without a word (is there a shell for this user?)", ErrUnreachable)
}

// copy sends the program and waits until the far side has it whole. Where an earlier
// agent of the run still has it there, nothing is sent.
func (p *sshProcess) copy(to sshReach, ours program, packed bool, s *SSH) error {
	const spare = 1 << 20 // what the agent writes beside
	body, size, pack := ours.plain(), ours.size, "plain"
	if packed && ours.packed != nil {
		body, size, pack = io.NopCloser(bytes.NewReader(ours.packed)), int64(len(ours.packed)), packing
	}
	defer body.Close()
	if err := p.say(to, fmt.Sprint("copy ", (ours.size+spare)>>10, " ", size, " ", ours.sum, " ", pack, " ", s.keptAt(to, ours.sum))); err != nil {
		return err
	}
	var full, noexec, denied []string
	at := ""
	for {
		key, value, err := p.line(to)
		switch {
		case err != nil && len(full)+len(noexec)+len(denied) > 0:
			return noPlace(full, noexec, denied, ours.size)
		case err != nil:
			return err
		}
		switch key {
		case "full":
			full = append(full, value)
		case "noexec":
			noexec = append(noexec, value)
		case "denied":
			denied = append(denied, value)
		case "send":
			at = value
			if err := p.send(body, size); errors.Is(err, ErrCopy) {
				return err
			} // else the far side says why, or its silence does
		case "ready":
			if at != "" {
				p.copied = ours.sum
				s.keep(to, ours.sum, at)
			}
			return nil
		case "bad":
			if len(full) > 0 {
				return noPlace(full, nil, nil, ours.size)
			}
			return fmt.Errorf("%w: what arrived there is not what was sent", ErrCopy)
		}
	}
}

// noPlace says where a program could not be put, and why.
func noPlace(full, noexec, denied []string, size int64) error {
	var why []string
	for _, w := range []struct {
		what string
		dirs []string
	}{
		{fmt.Sprintf("no room for %d MB in", (size+999_999)/1_000_000), full},
		{"nothing may be run from (noexec)", noexec},
		{"no directory can be made in", denied},
	} {
		if len(w.dirs) > 0 {
			why = append(why, w.what+" "+strings.Join(slices.Compact(w.dirs), ", "))
		}
	}
	return fmt.Errorf("%w: %s", ErrCopy, strings.Join(why, "; "))
}
