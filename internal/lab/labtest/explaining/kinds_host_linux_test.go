package explaining

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// fast is a network of the running kernel: no bonds, no delays, rates that take
// a part of a core.
func fast(d dice, n *network) bool {
	n.form, n.aliases, n.rtt, n.saysRTT, n.singly = apart, 1, 0, false, false
	n.mtu = one(d, 1500, 9000, 9000)
	n.direction = one(d, flow.Forward, flow.Forward, flow.Reverse)
	n.congestion = "cubic"
	count := one(d, 1, 1, 2)
	rate := unit.BitRate(math.Round(d.even(10, 25))) * 100 * unit.Mbps
	n.rates = nil
	for range count {
		n.rates = append(n.rates, rate/unit.BitRate(count))
	}
	n.streams = count * one(d, 1, 2)
	return true
}

// agents is a fast network whose hosts have a process of their own each, in a
// group of its own.
func agents(d dice, n *network) bool {
	n.agents = true
	return fast(d, n)
}

// Groups of processor time: one for each host, under a name that is ours.
const groups = "/sys/fs/cgroup/cpu"

func group(host string) string { return filepath.Join(groups, "linerate-test-explain-"+host) }

// quota is processor time that a host's process gets, of each period; zero
// is as much as it wants.
func (s *stand) quota(host string, share float64, period time.Duration) {
	s.t.Helper()
	write := func(file string, value int64) {
		s.must(os.WriteFile(filepath.Join(group(host), file), []byte(strconv.FormatInt(value, 10)), 0o644))
	}
	if share == 0 {
		write("cpu.cfs_quota_us", -1)
		return
	}
	write("cpu.cfs_period_us", period.Microseconds())
	write("cpu.cfs_quota_us", max(1000, int64(share*float64(period.Microseconds()))))
}

// agentsOf makes the hosts ones with a process of their own: what the program
// starts as ssh runs what it is given by a shell in the host's namespace. The
// linerate that is installed there is this test, in the host's group from its
// first step on; the shell is outside, where a quota does not slow it. nsenter
// leaves the control groups in sight, which `ip netns exec` hides.
func (s *stand) agentsOf() {
	s.t.Helper()
	if _, err := os.Stat(filepath.Join(groups, "cpu.cfs_quota_us")); err != nil {
		s.t.Fatalf("quotas are set by version 1 of control groups, which this machine has not: %v", err)
	}
	near, far := s.t.TempDir(), s.t.TempDir()
	self, err := os.Executable()
	s.must(err)
	s.program = filepath.Join(far, "linerate")
	s.must(os.WriteFile(s.program, []byte("#!/bin/sh\necho $$ >$GROUP/tasks\nexec "+self+" \"$@\"\n"), 0o755))
	s.must(os.WriteFile(filepath.Join(near, "ssh"), []byte("#!/bin/sh\ncase \" $* \" in *' -G '*|*' -O '*) exit;; esac\n"+
		"for last; do case $last in near|far) host=$last;; esac; done\n"+
		"export PATH="+far+":$PATH GROUP="+groups+"/linerate-test-explain-$host\n"+
		"exec nsenter --net=/run/netns/linerate-test-explain-$host sh -c \"$last\"\n"), 0o755))
	s.t.Setenv("PATH", near+":"+os.Getenv("PATH"))
	for _, host := range hosts {
		s.must(os.MkdirAll(group(host), 0o755))
		s.t.Cleanup(func() { _ = os.Remove(group(host)) })
	}
}

// hog starts a program that computes without end, in a host's group or in
// none; it ends with the test at the latest.
func (s *stand) hog(host string) *exec.Cmd {
	s.t.Helper()
	into := groups
	if host != "" {
		into = group(host)
	}
	hog := exec.Command("sh", "-c", "echo $$ >"+into+"/tasks; while :; do :; done")
	s.must(hog.Start())
	s.t.Cleanup(func() {
		_ = hog.Process.Kill()
		_ = hog.Wait()
	})
	return hog
}

func hostKinds() []*kind {
	quota := func(where func(network) []string) func(d dice, n network) fault {
		return func(d dice, n network) fault {
			// What a core moves of a stream is some 20 Gbit/s.
			share := d.even(0.25, 0.7) * float64(n.sum()) / 20e9
			period := time.Duration(one(d, 10, 20, 50, 100)) * time.Millisecond
			if share*period.Seconds() < 1.2e-3 {
				period = 100 * time.Millisecond
			}
			each := func(s *stand, share float64) {
				for _, host := range where(s.what) {
					s.quota(host, share, period)
				}
			}
			return fault{on: func(s *stand) { each(s, share) }, off: func(s *stand) { each(s, 0) }}.with("%.1f %% of a core in periods of %v", 100*share, period)
		}
	}
	// beside is other programs: in the host's own group, which shares its quota
	// with them, or on the machine, where the host's group counts little.
	beside := func(where func(network) []string) func(d dice, n network) fault {
		return func(d dice, n network) fault {
			var hogs []*exec.Cmd
			share, within := d.even(0.4, 0.9)*float64(n.sum())/20e9, d.chance(0.5)
			weight := int(d.even(10, 50))
			on := func(s *stand) {
				for _, host := range where(s.what) {
					if within {
						s.quota(host, share, 100*time.Millisecond)
						hogs = append(hogs, s.hog(host))
						continue
					}
					s.must(os.WriteFile(filepath.Join(group(host), "cpu.shares"), []byte(strconv.Itoa(weight)), 0o644))
					for range 2 {
						hogs = append(hogs, s.hog(""))
					}
				}
			}
			off := func(s *stand) {
				for _, h := range hogs {
					_ = h.Process.Kill()
					_ = h.Wait()
				}
				hogs = nil
				for _, host := range where(s.what) {
					s.quota(host, 0, 0)
					s.must(os.WriteFile(filepath.Join(group(host), "cpu.shares"), []byte("1024"), 0o644))
				}
			}
			f := fault{on: on, off: off}
			if within {
				return f.with("another program in its group, which has %.1f %% of a core", 100*share)
			}
			return f.with("two other programs on the machine, its group's share %d of 1024", weight)
		}
	}
	return []*kind{
		{cause: record.SenderCPU, name: "other programs beside the sender", onHost: true, claims: "cpu", suit: agents, draw: beside(network.senders)},
		{cause: record.ReceiverCPU, name: "other programs beside the receiver", onHost: true, claims: "cpu", suit: agents, draw: beside(network.receivers)},
		{cause: record.SenderCPU, name: "a quota of the sender's", onHost: true, claims: "cpu", suit: agents, draw: quota(network.senders)},
		{cause: record.ReceiverCPU, name: "a quota of the receiver's", onHost: true, claims: "cpu", suit: agents, draw: quota(network.receivers)},
		{cause: record.CardSlot, name: "a card in a narrow slot", onHost: true, claims: "trunk", suit: func(d dice, n *network) bool {
			if !fast(d, n) {
				return false
			}
			n.rates = nil
			count := one(d, 2, 2, 3)
			for range count {
				n.rates = append(n.rates, unit.BitRate(math.Round(d.even(24, 34)/float64(count)))*100*unit.Mbps)
			}
			n.streams = count * one(d, 1, 2)
			return true
		}, draw: func(d dice, n network) fault {
			card := netstate.Card{Name: "c0", Generation: 1, Lanes: 1, MaxPayload: one(d, 128, 256), MaxGeneration: 3, MaxLanes: 8}
			host := one(d, hosts...)
			out, _, _ := predict.CardRate(card, n.mtu, true)
			in, _, _ := predict.CardRate(card, n.mtu, false)
			rate := out
			if host != n.senders()[0] {
				rate = in
			}
			text := fmt.Sprintf("tbf rate %.0fbit burst %d limit %d", float64(rate), int64(floor.Bucket(rate)), 2*int64(floor.Bucket(rate))+int64(float64(rate)/8*queueTime.Seconds()))
			return fault{
				on: func(s *stand) {
					for _, from := range s.what.senders() {
						s.tc(mid, "qdisc add dev trunk-%s root handle 1: %s", from, text)
					}
				},
				off: func(s *stand) {
					for _, from := range s.what.senders() {
						s.tc(mid, "qdisc del dev trunk-%s root", from)
					}
				},
				declare: func(said *declaration) {
					for i := range said.hosts {
						if h := &said.hosts[i]; h.Name == host {
							h.Cards = append(h.Cards, card)
							for k := range n.rates {
								l, _ := h.Link(eth(k))
								l.Card = card.Name
								h.SetLink(l)
							}
						}
					}
				},
			}.with("the ports of %s are on one card in a slot of %v", host, rate)
		}},
	}
}
