package explaining

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
)

// stand is a network that has been built: two hosts, and in the middle a
// switch for each with a trunk between.
type stand struct {
	t      *testing.T
	what   network
	spaces map[string]floor.Space // near, far, mid
	said   declaration

	program string // of hosts that have a process of their own; "" is the test's
}

const (
	queueTime = 50 * time.Millisecond // that a byte may wait at a shaper
	packets   = 20000                 // of netem's queue, far above rate x delay
	widest    = 9000                  // MTU of the middle
	mid       = "mid"
	patience  = 30 * time.Second // for a bond to use its ports
)

var hosts = []string{"near", "far"}

func eth(i int) string              { return fmt.Sprintf("eth%d", i) }
func end(host string, i int) string { return fmt.Sprintf("%s%d", host, i) }

func (s *stand) must(err error)               { s.t.Helper(); floor.Must(s.t, err) }
func (s *stand) in(host string) *rtnl.Builder { return s.spaces[host].Builder }

// ip and tc run one line of iproute2 inside a host or the middle.
func (s *stand) ip(host, form string, values ...any) { s.t.Helper(); s.line("ip", host, form, values) }
func (s *stand) tc(host, form string, values ...any) { s.t.Helper(); s.line("tc", host, form, values) }

func (s *stand) line(tool, host, form string, values []any) {
	s.t.Helper()
	line := fmt.Sprintf(form, values...)
	words := append([]string{"-n", s.spaces[host].NS.Name}, strings.Fields(line)...)
	if out, err := exec.Command(tool, words...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s in %s: %s: %v: %s", tool, host, line, err, out)
	}
}

// set writes a sysctl of a host's, and returns what it was.
func (s *stand) set(host, key, value string) (was string) {
	s.t.Helper()
	file := "/proc/sys/net/" + strings.ReplaceAll(key, ".", "/")
	s.must(s.spaces[host].NS.Do(func() error {
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		was = strings.TrimSpace(string(old))
		return os.WriteFile(file, []byte(value), 0o644)
	}))
	return was
}

func build(t *testing.T, what network) *stand {
	t.Helper()
	s := &stand{t: t, what: what, spaces: map[string]floor.Space{mid: floor.NewSpace(t, "explain-mid")}}
	for _, host := range hosts {
		s.spaces[host] = floor.NewSpace(t, "explain-"+host)
		s.host(host)
	}
	s.trunk()
	s.settle(len(what.rates), len(what.rates))
	if what.agents {
		s.agentsOf()
	}
	s.declare()
	return s
}

func (s *stand) host(host string) {
	s.t.Helper()
	s.must(s.in(host).Up("lo"))
	s.set(host, "ipv4.tcp_rmem", fmt.Sprintf("4096 131072 %d", int64(s.what.rmem)))
	s.set(host, "ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %d", int64(s.what.wmem)))
	s.set(host, "ipv4.tcp_no_metrics_save", "1")
	s.set(host, "ipv4.conf.all.arp_ignore", "1")
	s.set(host, "ipv4.conf.all.arp_announce", "2")
	for i := range s.what.rates {
		s.cable(host, i)
	}
	if s.what.form == bonded {
		s.bond(host)
	}
	s.addresses(host)
}

// cable is a host's link: shaped at both ends, delayed where the middle sends
// down it.
func (s *stand) cable(host string, i int) {
	s.t.Helper()
	us, middle, rate := s.in(host), s.in(mid), s.what.rates[i]
	s.must(us.Veth(eth(i), middle, end(host, i)))
	s.must(middle.MTU(end(host, i), widest))
	s.must(us.MTU(eth(i), s.what.mtu))
	if s.what.singly {
		s.must(us.Singly(eth(i)))
	}
	s.must(us.Shape(eth(i), rate, floor.Bucket(rate), queueTime))
	s.must(middle.Shape(end(host, i), rate, floor.Bucket(rate), queueTime))
	if s.what.rtt > 0 {
		s.must(middle.Delay(end(host, i), s.what.rtt/2, packets, true))
	}
}

func (s *stand) bond(host string) {
	s.t.Helper()
	var ours, theirs []string
	for i := range s.what.rates {
		ours, theirs = append(ours, eth(i)), append(theirs, end(host, i))
	}
	spec := rtnl.BondSpec{Mode: s.what.mode, Miimon: 20 * time.Millisecond, HashPolicy: &s.what.policy}
	fast := netstate.LACPFast
	if s.what.mode == netstate.LACP {
		spec.LACPRate = &fast
	}
	s.must(s.in(host).Bond("bond0", spec, ours))
	s.must(s.in(host).MTU("bond0", s.what.mtu))
	if s.what.singly {
		s.must(s.in(host).Singly("bond0"))
	}
	spec.HashPolicy = &s.what.switchHash
	s.must(s.in(mid).Bond("to-"+host, spec, theirs))
	s.must(s.in(mid).MTU("to-"+host, widest))
}

// uplinks are the middle's ports to a host, as its switch has them.
func (s *stand) uplinks(host string) (all []string) {
	if s.what.form == bonded {
		return []string{"to-" + host}
	}
	for i := range s.what.rates {
		all = append(all, end(host, i))
	}
	return all
}

func (s *stand) trunk() {
	s.t.Helper()
	middle := s.in(mid)
	s.must(middle.Veth("trunk-near", middle, "trunk-far"))
	for _, side := range hosts {
		s.must(middle.MTU("trunk-"+side, widest))
		s.must(middle.Bridge("bridge-"+side, append(s.uplinks(side), "trunk-"+side)))
	}
}

// address is the k-th of a host.
func (s *stand) address(host string, k int) netip.Addr {
	number, subnet := 1+k, 0
	if s.what.form == apart {
		number, subnet = 1, k
	}
	if host == "far" {
		number += 100
	}
	return netip.AddrFrom4([4]byte{10, 7, byte(subnet), byte(number)})
}

func (s *stand) addresses(host string) {
	s.t.Helper()
	if s.what.form == bonded {
		for k := range s.what.aliases {
			s.must(s.in(host).Address("bond0", netip.PrefixFrom(s.address(host, k), 24)))
		}
		return
	}
	for i := range s.what.rates {
		s.must(s.in(host).Up(eth(i)))
		s.must(s.in(host).Address(eth(i), netip.PrefixFrom(s.address(host, i), 24)))
		if s.what.form == twins {
			s.ip(host, "route add 10.7.0.0/24 dev %s src %v table %d", eth(i), s.address(host, i), 100+i)
			s.rule(host, i)
		}
	}
}

func (s *stand) rule(host string, i int) {
	s.t.Helper()
	s.ip(host, "rule add from %v lookup %d priority %d", s.address(host, i), 100+i, 100+i)
}

// settle waits until every bond has so many ports in use.
func (s *stand) settle(near, far int) {
	s.t.Helper()
	if s.what.form != bonded {
		return
	}
	for host, want := range map[string]int{"near": near, "far": far} {
		floor.Await(s.t, s.spaces[host], "bond0", want, patience)
		floor.Await(s.t, s.spaces[mid], "to-"+host, want, patience)
	}
}
