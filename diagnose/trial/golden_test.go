package trial

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

var rewrite = flag.Bool("rewrite", false, "write the golden texts anew")

// told is a trial as it would be measured, and the cause that it shows.
type told struct {
	name   string
	fabric predict.Fabric
	trial  record.Trial
	cause  record.Cause
}

// TestGolden keeps what is said of each cause, as people read it.
func TestGolden(t *testing.T) {
	seen := make(map[record.Cause]bool)
	for _, c := range goldenTrials() {
		got := Judge(c.fabric, c.trial)
		if got.Cause != c.cause {
			t.Errorf("%s: %s, want %s: %s", c.name, got.Cause, c.cause, got.Summary)
		}
		seen[c.cause] = true
		text := plainText(got)
		file := filepath.Join("testdata", "golden", c.name+".txt")
		if *rewrite {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != text {
			t.Errorf("%s (go test -run Golden -rewrite writes it anew):\n%s\nwant\n%s", c.name, text, want)
		}
	}
	for _, c := range record.Causes() {
		if !seen[c] {
			t.Errorf("no text for %s", c)
		}
	}
}

// plainText is a finding with all that it says, one thought a line.
func plainText(f record.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %.0f %%\n%s\n", f.Cause, 100*f.Confidence, f.Summary)
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "  for: %s: %s [%s]\n", e.What, e.Value, e.Source)
	}
	for _, e := range f.Against {
		fmt.Fprintf(&b, "  against: %s: %s [%s]\n", e.What, e.Value, e.Source)
	}
	for _, a := range f.Also {
		fmt.Fprintf(&b, "  or %s, %.0f %%: %s\n", a.Cause, 100*a.Confidence, a.Summary)
	}
	fmt.Fprintf(&b, "do: %s\n", f.Remedy)
	if f.Expected > 0 {
		fmt.Fprintf(&b, "expect: %v\n", f.Expected)
	}
	if f.Next != nil {
		fmt.Fprintf(&b, "next: %s at %v: %s\n", f.Next.Cause, f.Next.Rate, f.Next.Why)
	}
	for _, m := range f.Missing {
		fmt.Fprintf(&b, "missing: %s\n", m)
	}
	if f.Decide.Probe != "" {
		fmt.Fprintf(&b, "decide (%s): %s\n", f.Decide.Probe, f.Decide.Text)
	}
	return b.String()
}

// idle is a host whose processors have time.
func idle(t record.Trial) record.Trial {
	return cpu(t, record.CPUUse{Host: "a", Cores: 8, Busy: 1.2, Busiest: 0.4, BusiestThread: 0.22}, record.CPUUse{Host: "b", Cores: 8, Busy: 1.1, Busiest: 0.38, BusiestThread: 0.2})
}

// measured fills in what the kernel says of streams that do well.
func measured(t record.Trial, change func(*record.TCP)) record.Trial {
	t.Ceiling = 0
	for _, l := range t.Links {
		if l.Host == "a" {
			t.Ceiling += l.Ceiling
		}
	}
	return idle(tcpOf(t, func(c *record.TCP) {
		c.Samples, c.MinRTTMS, c.MeanRTTMS, c.MeanCwnd, c.MeanInFlight, c.CwndLimited = 80, 9.0, 9.2, 300, 290, 0.9
		c.BytesSent, c.SegmentsOut = 60<<20, 60<<20/1448
		change(c)
	}))
}

func goldenTrials() []told {
	lacp := func(p netstate.HashPolicy) predict.Fabric { return pair{end: end{links: 2, policy: p}}.fabric() }
	full := rates(one, one)
	part := func(n int, share unit.BitRate) record.Trial {
		return sent(n, rates(share*one, share*one), rates(share*one, share*one))
	}
	none := func(*record.TCP) {}
	shaped := lacp(netstate.Layer34)
	far := pair{end: end{links: 2, policy: netstate.Layer34}, rtt: 80 * time.Millisecond}.fabric()
	far.Hosts["b"] = withSysctl(far.Hosts["b"], "net.ipv4.tcp_rmem", "4096 131072 6291456")
	far.Hosts["a"] = withSysctl(far.Hosts["a"], "net.ipv4.tcp_wmem", "4096 16384 4194304")
	distant := func(c *record.TCP) { c.MinRTTMS, c.MeanRTTMS, c.RTTMS = 80, 80.4, 80.5 }
	down := pair{end: end{links: 2, policy: netstate.Layer34, outside: 1}}.fabric()
	card := inSlots(pair{end: end{links: 2, policy: netstate.Layer34, speed: 10e9}}.fabric(), netstate.Card{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256, MaxLanes: 8})
	card.Paths[0].RTT = 0
	slot, err := predict.Predict(card, predict.Traffic{From: "a", To: "b", Direction: forward, Streams: 4})
	if err != nil {
		panic(err)
	}
	jumbo := lacp(netstate.Layer34)
	for name, h := range jumbo.Hosts {
		for i := range h.Links {
			h.Links[i].MTU = 9000
		}
		jumbo.Hosts[name] = h
	}
	fq := lacp(netstate.Layer34)
	for i := range 2 {
		fq.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root", FlowRate: 60e6}}
	}
	striped := lacp(netstate.Layer2)
	striped.Paths[0].SwitchHash = ""
	for _, h := range striped.Hosts {
		bond := &h.Links[len(h.Links)-1]
		bond.Offloads, bond.Bond.Mode, bond.Bond.AD = map[string]bool{"tso": true}, netstate.BalanceRR, nil
	}
	return []told{
		{"line-rate", lacp(netstate.Layer34), measured(sent(4, full, full), none), record.LineRate},
		{"hash-imbalance", lacp(netstate.Layer34), measured(placed(sent(4, rates(one, 0), rates(one, 0)), "eth0"), none), record.HashImbalance},
		{"single-link", lacp(netstate.Layer2), measured(placed(sent(2, rates(one, 0.001*one), rates(one, 0)), "eth0"), none), record.SingleLink},
		{"single-link-one-stream", lacp(netstate.Layer34), measured(placed(sent(1, rates(one, 0), rates(one, 0)), "eth0"), none), record.SingleLink},
		{"receive-window", far, measured(part(2, 0.3), func(c *record.TCP) { distant(c); c.RwndLimited, c.SndWnd = 0.92, 1500*unit.KiB }), record.ReceiveWindow},
		{"send-buffer", far, measured(part(2, 0.3), func(c *record.TCP) { distant(c); c.SndbufLimited = 0.85 }), record.SendBuffer},
		{"congestion", shaped, sackedOnce(measured(part(2, 0.2), func(c *record.TCP) { c.BytesRetrans = 15 << 10; c.Recovering = 0.2; c.MeanCwnd = 75 })), record.Congestion},
		{"reordering", shaped, measured(part(2, 0.3), func(c *record.TCP) {
			c.BytesRetrans, c.DSACKDups, c.ReordSeen, c.Reordering, c.Disordered = 600<<10, 380, 900, 34, 0.4
		}), record.Reordering},
		{"reordering-round-robin", striped, measured(part(1, 0.4), func(c *record.TCP) {
			c.BytesRetrans, c.DSACKDups, c.ReordSeen, c.Reordering, c.Disordered = 600<<10, 380, 900, 34, 0.4
		}), record.Reordering},
		{"sender-cpu", shaped, cpu(measured(part(2, 0.5), none), record.CPUUse{Host: "a", Cores: 8, Busy: 2.1, Busiest: 0.99, BusiestThread: 0.97}, record.CPUUse{Host: "b", Cores: 8, Busy: 1.1, Busiest: 0.4, BusiestThread: 0.3}), record.SenderCPU},
		{"receiver-cpu", shaped, cpu(measured(part(2, 0.5), func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.6, 0.7 }),
			record.CPUUse{Host: "a", Cores: 8, Busy: 1, Busiest: 0.4, BusiestThread: 0.3}, record.CPUUse{Host: "b", Cores: 8, Busy: 0.5, Busiest: 0.5, BusiestThread: 0.5, Quota: 0.5, Throttled: 0.48}), record.ReceiverCPU},
		{"card", card, measured(synthesised(card, slot), func(c *record.TCP) { c.MinRTTMS, c.MeanRTTMS = 0.1, 6 }), record.CardSlot},
		{"shaper", shaped, measured(part(4, 0.4), func(c *record.TCP) { c.MeanRTTMS, c.RTTMS = 31, 32 }), record.Shaper},
		{"shaper-declared", pair{end: end{links: 2, policy: netstate.Layer34}, rate: 300e6}.fabric(), measured(part(2, 0.3), none), record.Shaper},
		{"mtu", jumbo, stalled(measured(part(2, 0.0001), func(c *record.TCP) { c.SndMSS, c.MeanCwnd, c.Timeouts = 8948, 1, 6 })), record.MTU},
		{"mtu-small-segments", jumbo, measured(part(2, 0.86), func(c *record.TCP) { c.SndMSS = 536 }), record.MTU},
		{"lacp-down", down, measured(sent(4, rates(one, 0), rates(one, 0)), none), record.LACPDown},
		{"asymmetric-route", subnets(), astrayTrial(), record.AsymmetricRoute},
		{"pacing", fq, measured(part(2, 0.12), func(c *record.TCP) { c.MeanCwnd, c.MeanInFlight, c.CwndLimited = 400, 60, 0.02 }), record.Pacing},
		{"application", shaped, measured(part(2, 0.2), func(c *record.TCP) { c.BusyRatio, c.Starved = 0.31, 0.66 }), record.Application},
		{"application-reader", shaped, measured(part(2, 0.2), func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.8, 0.9 }), record.Application},
		{"unknown", shaped, measured(part(2, 0.5), none), record.Unknown},
	}
}

func withSysctl(h netstate.Host, key, value string) netstate.Host {
	h = h.Clone()
	if h.Sysctls == nil {
		h.Sysctls = make(map[string]netstate.Sysctl)
	}
	h.Sysctls[key] = netstate.Sysctl{Value: value}
	return h
}

// placed puts every stream on one link of the sender.
func placed(t record.Trial, link string) record.Trial {
	return with(t, func(t *record.Trial) {
		for i := range t.Lanes {
			t.Lanes[i].EgressLink = link
		}
	})
}

// sackedOnce has a recovery for each repetition, as single losses leave it.
func sackedOnce(t record.Trial) record.Trial {
	t.CPU[0].TCPExt = map[string]uint64{"TCPFastRetrans": 21, "TCPSackRecovery": 19}
	return t
}

// stalled has the echoes that H's probes make where a trial stands still.
func stalled(t record.Trial) record.Trial {
	t.Sizes = []record.SizeProbe{{From: "a", To: "b", Link: "bond0", MTU: 9000, Answers: true, Sent: 6, Passes: 1500}}
	return t
}

// astrayTrial sends what belongs to two links by one.
func astrayTrial() record.Trial {
	f := subnets()
	t := measured(sent(2, rates(one, 0), rates(one/2, one/2)), func(*record.TCP) {})
	t.Lanes[1].Src, t.Lanes[1].Dst = f.Hosts["a"].Links[1].Addresses[0].Addr(), f.Hosts["b"].Links[1].Addresses[0].Addr()
	t.Routes = []record.RouteTaken{{Host: "a", Src: t.Lanes[1].Src, Dst: t.Lanes[1].Dst, Link: "eth0"}}
	return t
}
