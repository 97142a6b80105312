package apply

import (
	"os"
	"time"
)

// stoppedGrace is how long a process that has the lock may be stopped past a
// change's deadline.
const stoppedGrace = 2 * time.Second

// stoppedHolder ends a process that was stopped (SIGSTOP, Ctrl-Z, a lid that is
// closed, a container that is paused) while it had the lock, once the change's deadline is over: its host would
// stay between old and new for as long. As after every kill, the guard rolls back
// what it had done, or finishes what it had confirmed.
type stoppedHolder struct {
	a        *Applier
	deadline time.Time
	entry    Owner // who applies the change, where the lock does not say who has it
	who      Owner
	since    time.Time
	killed   bool
	// dead: it was killed, and stays with the lock until its control group is thawed
	// (version 1). It does nothing more, then either.
	dead bool
}

// seen is told of each try for the lock.
func (s *stoppedHolder) seen(holder Owner) {
	if holder.PID == 0 { // a full disk takes no words
		holder = s.entry
	}
	now := time.Now()
	switch {
	case now.Before(s.deadline) || !holder.Stopped():
		s.who, s.killed, s.dead = Owner{}, false, false
	case s.who != holder:
		s.who, s.since, s.killed, s.dead = holder, now, false, false
	case now.Sub(s.since) < stoppedGrace:
	case s.killed:
		s.dead = true
	default:
		err := holder.end()
		s.a.cfg.Log.Warn("a stopped process kept its change past the deadline: it is ended", "pid", holder.PID, "err", err)
		s.since, s.killed = now, err == nil
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
