package apply

import (
	"os"
	"time"
)

// stoppedGrace is how long a process that has the lock may be stopped past a
// change's deadline.
const stoppedGrace = 2 * time.Second

// stoppedHolder ends a process that was stopped (SIGSTOP, Ctrl-Z, a lid that is
// closed) while it had the lock, once the change's deadline is over: its host would
// stay between old and new for as long. As after every kill, the guard rolls back
// what it had done, or finishes what it had confirmed.
type stoppedHolder struct {
	a        *Applier
	deadline time.Time
	entry    Owner // who applies the change, where the lock does not say who has it
	who      Owner
	since    time.Time
}

// seen is told of each try for the lock.
func (s *stoppedHolder) seen(holder Owner) {
	if holder.PID == 0 { // a full disk takes no words
		holder = s.entry
	}
	now := time.Now()
	switch {
	case now.Before(s.deadline) || !holder.Stopped():
		s.who = Owner{}
	case s.who != holder:
		s.who, s.since = holder, now
	case now.Sub(s.since) >= stoppedGrace:
		err := holder.end()
		s.a.cfg.Log.Warn("a stopped process kept its change past the deadline: it is ended", "pid", holder.PID, "err", err)
		s.since = now
	}
}

// end kills the process, and no other that has its number meanwhile.
func (o Owner) end() error {
	p, err := os.FindProcess(o.PID) // by a pidfd, where there are such
	if err != nil {
		return err
	}
	if !o.Alive() || o.PID == os.Getpid() {
		return p.Release()
	}
	return p.Kill()
}
