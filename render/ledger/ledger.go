// Package ledger holds what a fabric file wants of a host, key by key, until a
// format has said it.
package ledger

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
)

// Entry is one thing that the file wants of a host: a key with a value. Where
// is the device's netplan ID, "" the host.
type Entry struct{ Where, Key, Value string }

// Ledger holds every entry and which of them a format has said. What is left
// at the end becomes a warning, so that nothing is lost in silence.
type Ledger struct {
	Entries []Entry
	// done is true for what was said, false for what was refused.
	done map[[2]string]bool
	Out  *render.Output
}

// New returns what the host's file wants, of which nothing is said yet; warnings
// go to out.
func New(in render.Input, out *render.Output) *Ledger {
	return &Ledger{Entries: Entries(in), done: map[[2]string]bool{}, Out: out}
}

// Say notes that the file written says the keys of a device.
func (l *Ledger) Say(where string, keys ...string) {
	for _, key := range keys {
		l.done[[2]string{where, key}] = true
	}
}

// Cannot warns that the key is not written, or not as meant.
func (l *Ledger) Cannot(where, key, why string) {
	l.Out.Warn(where, key, why)
	l.done[[2]string{where, key}] = false
}

// LeaveOut warns once, by the key that keeps a device from being written,
// and takes all else that is wanted of the device as said by that.
func (l *Ledger) LeaveOut(where, key, why string) {
	var with []string
	for _, w := range l.Entries {
		if w.Where == where {
			if w.Key != key && !slices.Contains(with, w.Key) {
				with = append(with, w.Key)
			}
			l.Say(where, w.Key)
		}
	}
	if with != nil {
		why += "; with it " + strings.Join(with, ", ")
	}
	l.Out.Warn(where, key, why)
}

// ByName warns where a match tells more of a device than the name that the
// format goes by.
func (l *Ledger) ByName(d device.Device) {
	if m := d.Match; m != nil && d.Name != "" && (!m.MAC.IsZero() || len(m.Drivers) > 0) {
		l.Cannot(d.ID, "match", "the device is chosen by its name "+d.Name+" alone, not by "+m.String())
		return
	}
	l.Say(d.ID, "match")
}

// Reason is why a format does not say keys that begin with one of Keys, which
// have blanks between them.
type Reason struct{ Keys, Why string }

// Finish warns of every entry that was not said. One below another that is
// not said either needs no warning of its own. The first of the
// reasons that fits a key is given, otherwise the one of all other keys.
func (l *Ledger) Finish(otherwise string, reasons ...Reason) {
	for _, w := range l.Entries {
		// A definition may stand for several devices, a key for several values.
		if _, done := l.done[[2]string{w.Where, w.Key}]; done || l.below(w) {
			continue
		}
		why := otherwise
		if i := slices.IndexFunc(reasons, func(r Reason) bool {
			return slices.ContainsFunc(strings.Fields(r.Keys), func(key string) bool { return strings.HasPrefix(w.Key, key) })
		}); i >= 0 {
			why = reasons[i].Why
		}
		l.Cannot(w.Where, w.Key, why)
	}
}

// below reports a part of something that was refused as a whole.
func (l *Ledger) below(w Entry) bool {
	upper, _, found := strings.Cut(w.Key, "].")
	said, done := l.done[[2]string{w.Where, upper + "]"}]
	return found && done && !said
}

// SourceRulesWhy is why a link's source rules are not written.
const SourceRulesWhy = "its rules and table are computed from the host's wanted state, which is not given here"
