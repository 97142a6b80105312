package trial

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestPromises: a remedy leaves all else as it is. What keeps streams on one link, what
// paces them and what a run offers binds after it, too; and of two that were seen the one
// whose end brings something is named.
func TestPromises(t *testing.T) {
	t.Parallel()
	waiting := func(c *record.TCP) { c.RwndLimited = 0.95 }
	layer2 := pair{end: end{links: 2, policy: netstate.Layer2}}.fabric()
	ports := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	paced := pair{end: end{links: 2, policy: netstate.Layer2}}.fabric()
	for i := range paced.Hosts["a"].Links {
		paced.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root", FlowRate: 0.305 * one}}
	}
	small := func(c *record.TCP) { c.RwndLimited, c.SndMSS = 0.95, 524 }
	for _, r := range []rule{
		{name: "a window, and a policy that spreads nothing", fabric: layer2, trial: measured(sent(4, rates(0.3*one, 0), rates(0.3*one, 0)), waiting), cause: record.ReceiveWindow, expected: one},
		{name: "a window, and a switch that spreads nothing", fabric: ports, trial: measured(sent(4, rates(0.3*one, 0.3*one), rates(0.6*one, 0)), waiting), cause: record.ReceiveWindow, expected: one},
		{name: "a window, and small segments", fabric: ports, trial: measured(sent(4, rates(0.3*one, 0.3*one), rates(0.3*one, 0.3*one)), small), cause: record.ReceiveWindow, expected: 2 * one * 524 / (524 + 66) * (1448 + 66) / 1448},
		{name: "one link, filled by streams that keep to a pace", fabric: paced, trial: with(measured(sent(3, rates(0.9*one, 0), rates(0.9*one, 0)), func(*record.TCP) {}), func(t *record.Trial) {
			t.Ports, t.RateLimit = "chosen", 0
		}), cause: record.Pacing, expected: one},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t) })
	}
}

// TestWindowTighter: streams wait for the window and for their own buffer, and the window
// allows less.
func TestWindowTighter(t *testing.T) {
	t.Parallel()
	f := pair{end: end{links: 1}}.fabric()
	waits := func(buffer, window unit.Bytes) record.Finding {
		trial := measured(sent(1, rates(0.3*one), rates(0.3*one)), func(c *record.TCP) { c.RwndLimited, c.SndbufLimited, c.SndWnd = 0.46, 0.5, window })
		trial.Lanes[0].SndBuf = buffer
		return Judge(f, trial)
	}
	if got := waits(256<<10, 160<<10); got.Cause != record.ReceiveWindow {
		t.Errorf("%s: %s", got.Cause, got.Summary)
	}
	if got := waits(128<<10, 1<<20); got.Cause != record.SendBuffer {
		t.Errorf("%s: %s", got.Cause, got.Summary)
	}
}

// TestBothBuffers: where the sender's buffer would be the next limit after the receiver's
// window, both are raised; an ample one, or one that the program asked for, is let be.
func TestBothBuffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		wmem  string
		asked unit.Bytes
		want  []string // keys, in the first way
	}{
		{"both are small", "4096 16384 200000", 0, []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}},
		{"the window alone", "4096 16384 4194304", 0, []string{"net.ipv4.tcp_rmem"}},
		{"the program's own", "4096 16384 200000", 200_000, []string{"net.ipv4.tcp_rmem"}},
	} {
		f := pair{end: end{links: 1}, rtt: 20 * time.Millisecond}.fabric()
		for name, values := range map[string]map[string]string{"a": {"net.ipv4.tcp_wmem": c.wmem, "net.ipv4.tcp_rmem": "4096 131072 6291456"}, "b": {"net.ipv4.tcp_rmem": "4096 40000 80000", "net.ipv4.tcp_wmem": "4096 16384 4194304"}} {
			h := f.Hosts[name].Clone()
			h.Sysctls = map[string]netstate.Sysctl{}
			for key, value := range values {
				h.Sysctls[key] = netstate.Sysctl{Value: value}
			}
			f.Hosts[name] = h
		}
		trial := measured(sent(1, rates(16e6), rates(16e6)), func(c *record.TCP) { c.RwndLimited, c.RTTMS, c.MinRTTMS, c.SndWnd = 0.9, 20.2, 20, 40<<10 })
		if c.asked > 0 {
			trial.Lanes[0].Asked = &record.Socket{SndBuf: c.asked}
		}
		got := Judge(f, trial)
		if got.Cause != record.ReceiveWindow || len(got.Ways[0]) != len(c.want) {
			t.Errorf("%s: %s, to do: %s", c.name, got.Cause, got.Remedy)
			continue
		}
		for i, key := range c.want {
			if !strings.Contains(got.Ways[0][i].Line(), key) {
				t.Errorf("%s: step %d is %s, want %s", c.name, i, got.Ways[0][i].Line(), key)
			}
		}
		if limit := got.Next; len(c.want) == 2 && (limit == nil || limit.Cause != record.LineRate) {
			t.Errorf("%s: next is %+v", c.name, limit)
		}
	}
}

// TestFullBeside: one of two links is full by itself and the other nearly: no limit below
// both is named.
func TestFullBeside(t *testing.T) {
	t.Parallel()
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	trial := measured(own(sent(8, rates(0.94*one, 0.83*one), rates(0.944*one, 0.786*one)), 1.62*one), func(c *record.TCP) { c.MeanRTTMS, c.MinRTTMS = 100, 10 })
	shaper := func(trial record.Trial) (sure float64) {
		got := Judge(f, trial)
		if got.Cause == record.Shaper {
			return got.Confidence
		}
		for _, a := range got.Also {
			if a.Cause == record.Shaper {
				return a.Confidence
			}
		}
		return 0
	}
	before := shaper(trial)
	trial.Links[0].MeanBacklog = 120_000
	if after := shaper(trial); before < 0.6 || after > 0.5 {
		t.Errorf("shaper: %.2f, and with the first link's queue seen %.2f", before, after)
	}
}
