package scenariorun

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// TestBuiltinStand: what a scenario declares stands: bonds with their ports in
// use, addresses, MTUs, windows and shapers at the lab's scale; and nothing is
// left of it afterwards.
func TestBuiltinStand(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	all, err := scenario.Builtin()
	floor.Must(t, err)
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			what := lab.NetworkOf(s, nil)
			raised, err := lab.Raise(t.Context(), what)
			floor.Must(t, err)
			for _, h := range what.Fabric.Hosts {
				declared, err := what.Fabric.State(h.Name)
				floor.Must(t, err)
				compare(t, declared, look(t, h.Name))
			}
			floor.Must(t, raised.Down())
			nothingLeft(t)
		})
	}
}

func look(t *testing.T, host string) (seen netstate.Host) {
	t.Helper()
	floor.Must(t, netns.Named(lab.Namespace(host)).DoWithSysfs(func() (err error) {
		seen, err = observe.Observe(t.Context(), observe.Config{})
		return err
	}))
	return seen
}

func nothingLeft(t *testing.T) {
	t.Helper()
	names, err := netns.List()
	floor.Must(t, err)
	for _, name := range names {
		if strings.HasPrefix(name, lab.Namespace("")) && !strings.Contains(name, "test") {
			t.Errorf("%s is left", name)
		}
	}
}

// compare holds a host against what was declared of it.
func compare(t *testing.T, declared, seen netstate.Host) {
	t.Helper()
	for _, want := range declared.Links {
		l, ok := seen.Link(want.Name)
		if !ok {
			t.Errorf("%s: no %s", declared.Name, want.Name)
			continue
		}
		if !l.Up || !l.Carrier || l.MTU != want.MTU {
			t.Errorf("%s: %s is up %v, carrier %v, MTU %d; want MTU %d", declared.Name, l.Name, l.Up, l.Carrier, l.MTU, want.MTU)
		}
		for _, a := range want.Addresses {
			if !slices.Contains(l.Addresses, a) {
				t.Errorf("%s: %s has %v, not %s", declared.Name, l.Name, l.Addresses, a)
			}
		}
		if want.Bond != nil {
			if l.Bond == nil || l.Bond.Mode != want.Bond.Mode || l.Bond.HashPolicy != want.Bond.HashPolicy || !slices.Equal(seen.UsablePorts(l.Name), want.Bond.Ports) {
				t.Errorf("%s: bond %+v with ports %v in use, want %+v", declared.Name, l.Bond, seen.UsablePorts(l.Name), want.Bond)
			}
		}
		if want.Speed > 0 {
			shapedTo(t, declared.Name, l, want.Speed)
		}
	}
	for _, key := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"} {
		if want, got := declared.Sysctls[key].Value, strings.Join(strings.Fields(seen.Sysctls[key].Value), " "); want != got {
			t.Errorf("%s: %s is %q, want %q", declared.Name, key, got, want)
		}
	}
}

func shapedTo(t *testing.T, host string, l netstate.Link, want unit.BitRate) {
	t.Helper()
	for _, q := range l.Qdiscs {
		if q.Kind == "tbf" && math.Abs(float64(q.Rate/want)-1) < 1e-3 {
			return
		}
	}
	t.Errorf("%s: %s has %+v, want a shaper of %v", host, l.Name, l.Qdiscs, want)
}

// steps is a network of two hosts with a bond, changed in every way that a step
// may; it measures nothing.
const steps = `
linerate: v1
hosts:
  a:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24], parameters: {mode: 802.3ad, lacp-rate: fast, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 10G}, eth1: {speed: 10G}}}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456", net.ipv4.tcp_wmem: "4096 16384 4194304"}
  b:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.2/24], parameters: {mode: 802.3ad, lacp-rate: fast, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 10G}, eth1: {speed: 10G}}}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456", net.ipv4.tcp_wmem: "4096 16384 4194304"}
paths:
  - {between: [a, b], rtt: 8ms, rate: 12G, switch_hash: layer2+3}
scenario:
  name: changes
  scale: 10
  steps:
    - {name: as found, measure: []}
    - {name: frames, with: "mtu=9000,policy=layer3+4,speed=20G,rate=15G,rtt=4ms", measure: []}
    - {name: windows, hosts: a, with: "rmem=32Mi", sysctl: {net.ipv4.tcp_wmem: "4096 65536 33554432", net.core.wmem_max: "33554432"}, measure: []}
    - {name: end, measure: []}
`

// TestSteps: what a step sets, hosts and shapers have when the next begins.
func TestSteps(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	s, err := scenario.Parse("changes.yaml", []byte(steps))
	floor.Must(t, err)
	begun := map[string]func(){
		"frames": func() {
			for _, host := range []string{"a", "b"} {
				expect(t, host, 1500, netstate.Layer2, 10*unit.Gbps*1514/1538/10)
				window(t, host, "net.ipv4.tcp_rmem", "4096 262144 629145")
			}
			uplinks(t, 1.2*unit.Gbps, 2000)
		},
		"windows": func() {
			for _, host := range []string{"a", "b"} {
				expect(t, host, 9000, netstate.Layer34, 20*unit.Gbps*9014/9038/10)
			}
			uplinks(t, 1.5*unit.Gbps, 1000)
		},
		"end": func() {
			window(t, "a", "net.ipv4.tcp_rmem", "4096 262144 3355443")
			window(t, "a", "net.ipv4.tcp_wmem", "4096 65536 3355443")
			window(t, "b", "net.ipv4.tcp_rmem", "4096 262144 629145")
			for _, key := range []string{"rmem_max", "wmem_max"} { // the machine's own
				text, err := os.ReadFile("/proc/sys/net/core/" + key)
				if err != nil || strings.TrimSpace(string(text)) != "3355443" {
					t.Errorf("net.core.%s is %q, %v", key, text, err)
				}
			}
		},
	}
	seen := 0
	_, err = scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t), Tell: func(p scenariorun.Progress) {
		if f := begun[p.Step]; f != nil {
			seen++
			f()
		}
	}})
	floor.Must(t, err)
	if seen != len(begun) {
		t.Errorf("saw %d steps begin, want %d", seen, len(begun))
	}
	nothingLeft(t)
}

// TestWhatIf: a what-if is laid before the first step.
func TestWhatIf(t *testing.T) {
	s, err := scenario.Parse("changes.yaml", []byte(steps))
	floor.Must(t, err)
	s.Steps = s.Steps[:1]
	looked := 0
	_, err = scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, WhatIf: "mtu=9000", Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t), Tell: func(p scenariorun.Progress) {
		looked++
		expect(t, "a", 9000, netstate.Layer2, 10*unit.Gbps*9014/9038/10)
	}})
	floor.Must(t, err)
	if looked == 0 {
		t.Error("nothing was told of the step: the network was never looked at")
	}
}

// TestInterrupted: a run that is interrupted leaves nothing.
func TestInterrupted(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	s, err := scenario.Parse("changes.yaml", []byte(steps))
	floor.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = scenariorun.Run(ctx, scenariorun.Config{Scenario: s, Version: "test", JournalDir: testjournal.Dir(t), Tell: func(p scenariorun.Progress) {
		if p.Step == "frames" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted run ended with %v", err)
	}
	nothingLeft(t)
}

func expect(t *testing.T, host string, mtu int, policy netstate.HashPolicy, rate unit.BitRate) {
	t.Helper()
	seen := look(t, host)
	for _, name := range []string{"eth0", "eth1", "bond0"} {
		l, _ := seen.Link(name)
		if l.MTU != mtu {
			t.Errorf("%s: MTU of %s is %d, want %d", host, name, l.MTU, mtu)
		}
		if l.Bond == nil {
			shapedTo(t, host, l, rate)
		} else if l.Bond.HashPolicy != policy {
			t.Errorf("%s: policy is %s, want %s", host, l.Bond.HashPolicy, policy)
		}
	}
	if n := len(seen.UsablePorts("bond0")); n != 2 {
		t.Errorf("%s: %d ports in use", host, n)
	}
}

func window(t *testing.T, host, key, want string) {
	t.Helper()
	if got := strings.Join(strings.Fields(look(t, host).Sysctls[key].Value), " "); got != want {
		t.Errorf("%s: %s is %q, want %q", host, key, got, want)
	}
}

// uplinks looks at the links between the switches: their shaper, and a quarter
// of the round trip on each of a path's four, in microseconds.
func uplinks(t *testing.T, rate unit.BitRate, delay float64) {
	t.Helper()
	shaped := 0
	for _, l := range look(t, "switch").Links {
		if !strings.HasPrefix(l.Name, "up") && !strings.HasPrefix(l.Name, "down") {
			continue
		}
		shaped++
		shapedTo(t, "switch", l, rate)
		for _, q := range l.Qdiscs {
			if got := float64(q.Delay.Microseconds()); q.Kind == "netem" && math.Abs(got/delay-1) > 0.02 {
				t.Errorf("%s delays by %v us, want %v", l.Name, got, delay)
			}
		}
	}
	if shaped != 4 {
		t.Errorf("%d ends of uplinks, want 4", shaped)
	}
}
