package explaining

import (
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/tried"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// remedied carries out what is printed for the fault, with the fault still there, and
// measures again. A remedy of a cause that was named wrongly is not tried.
func (i *instance) remedied(k *kept, window time.Duration) {
	f := k.finding()
	if f == nil || !slices.Contains(k.Truth, f.Cause) {
		return
	}
	if f.Expected <= 0 {
		k.Tried.Left = "no rate is promised"
		return
	}
	var options []fault
	lab := tried.Lab{
		Run: func(host, line string) ([]byte, error) {
			return exec.Command("ip", "netns", "exec", i.stand.spaces[host].NS.Name, "sh", "-c", line).CombinedOutput()
		},
		Option: func(name, value string) bool {
			ask, ok := optionOf(name, value)
			options = append(options, fault{ask: ask})
			return ok
		},
		Switch: i.stand.switchTo,
	}
	left, err := lab.First(f.Ways)
	i.t.Logf("remedy: %s", f.Remedy)
	switch k.Tried.Left = left; {
	case err != nil:
		k.Tried.Failed = err.Error()
		return
	case left != "":
		return
	}
	k.Tried.Promised = mega(f.Expected)
	i.joined(f.Ways[0])
	k.Tried.Measure(func() (float64, string) { // the machine has other things to do
		again := i.stand.trial(append(slices.Clone(i.faults), options...), max(window, longGlance))
		got, t := mega(goodput(again)), trialOf(again)
		if t == nil || t.Finding == nil {
			return got, ""
		}
		i.t.Logf("after it: %.1f of %.1f Mbit/s: %s: %s", got, k.Tried.Promised, t.Finding.Cause, t.Finding.Summary)
		return got, string(t.Finding.Cause)
	})
}

// joined waits for links that came up to be used.
func (i *instance) joined(w record.Way) {
	if slices.ContainsFunc(w, func(a record.Action) bool { return slices.Contains(a.Run, "up") || a.Switch == record.OneChannel }) {
		time.Sleep(5 * time.Second) // LACP's short timeout is three of a second
	}
}

// switchTo has the middle do a setting, as its own system says it.
func (s *stand) switchTo(a record.Action) bool {
	switch {
	case s.what.form != bonded:
		return false
	case a.Switch == record.HashPorts:
		s.ip(mid, "link set to-%s type bond xmit_hash_policy %v", a.Host, netstate.Layer34)
	case a.Switch == record.OneChannel:
		for _, l := range a.Links {
			s.must(s.in(mid).Enslave(end(a.Host, index(l)), "to-"+a.Host))
		}
	default:
		return false
	}
	return true
}

// optionOf is what an option of `linerate measure` changes.
func optionOf(name, value string) (func(*campaign.Matrix), bool) {
	n, err := strconv.Atoi(value)
	switch {
	case name == "--streams" && err == nil:
		return func(m *campaign.Matrix) { m.Streams = []int{n} }, true
	case name == "--ports" && value != "":
		return func(m *campaign.Matrix) { m.Ports = value }, true
	case value != "":
		return nil, false
	case name == "--socket-buffer":
		return func(m *campaign.Matrix) { m.Base.Socket.RcvBuf, m.Base.Socket.SndBuf = 0, 0 }, true
	case name == "--pacing":
		return func(m *campaign.Matrix) { m.Base.Socket.Pacing = 0 }, true
	case name == "--rate-limit":
		return func(m *campaign.Matrix) { m.Base.Rate = 0 }, true
	}
	return nil, false
}
