package tuning

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// stand is a scenario that has been built.
type stand struct {
	t       *testing.T
	what    scenario
	mid     floor.Space
	spaces  map[string]*floor.Space
	uplinks map[string][]string // of the middle, by host
	fabric  fabric.Fabric
	file    string // of the fabric
	hosts   map[string]*fleet.Host
	network measure.Network
	laid    map[string]string // what lay has set, so that it is not set again
}

const (
	queueTime = 50 * time.Millisecond // that a byte may wait at a shaper
	packets   = 20000                 // of netem's queue, far above rate x delay
	patience  = 40 * time.Second      // for a bond to use its ports
	bondName  = "bond0"
)

var hosts = []string{"near", "far"}

func eth(i int) string                          { return fmt.Sprintf("eth%d", i) }
func end(host string, i int) string             { return fmt.Sprintf("%s%d", host, i) }
func (s *stand) must(err error)                 { s.t.Helper(); floor.Must(s.t, err) }
func (s *stand) builder(h string) *rtnl.Builder { return s.spaces[h].Builder }

// build makes the scenario as somebody found it.
func build(t *testing.T, what scenario) *stand {
	t.Helper()
	s := &stand{t: t, what: what, uplinks: map[string][]string{}, spaces: map[string]*floor.Space{}, laid: map[string]string{}, hosts: map[string]*fleet.Host{}}
	s.mid = floor.NewSpace(t, "tuning-mid")
	for _, host := range hosts {
		space := floor.NewSpace(t, "tuning-"+host)
		s.spaces[host] = &space
		s.must(s.builder(host).Up("lo"))
		s.sysctl(host, "ipv4/conf/all/arp_ignore", "1")
		for i := range what.rates {
			s.cable(host, i)
		}
		s.join(host)
		s.addresses(host)
	}
	s.bridges()
	s.settle()
	s.lay(asFound(what))
	s.reach()
	return s
}

// cable is a host's link: shaped at both ends, delayed and lossy where the
// middle sends down it.
func (s *stand) cable(host string, i int) {
	s.t.Helper()
	us, mid, what := s.builder(host), s.mid.Builder, s.what
	s.must(us.Veth(eth(i), mid, end(host, i)))
	s.must(mid.MTU(end(host, i), what.mtu))
	if what.loss > 0 {
		s.must(us.Singly(eth(i)))
	}
	s.must(us.Shape(eth(i), what.rates[i], floor.Bucket(what.rates[i]), queueTime))
	s.must(mid.Shape(end(host, i), what.rates[i], floor.Bucket(what.rates[i]), queueTime))
	s.must(mid.Lose(end(host, i), what.rtt/2, what.loss, packets, true))
	s.uplinks[host] = append(s.uplinks[host], end(host, i))
}

// join makes the bonds of a host and of its side of the middle.
func (s *stand) join(host string) {
	s.t.Helper()
	what := s.what
	if !what.bond {
		return
	}
	var ports []string
	for i := range what.rates {
		ports = append(ports, eth(i))
	}
	spec := rtnl.BondSpec{Mode: what.mode, Miimon: 20 * time.Millisecond}
	if what.mode.Hashes() {
		spec.HashPolicy = &what.policy
	}
	s.must(s.builder(host).Bond(bondName, spec, ports))
	if !what.mode.Hashes() {
		return
	}
	spec.HashPolicy = &what.switchHash
	if what.mode == netstate.LACP {
		fast := netstate.LACPFast
		spec.LACPRate = &fast
	}
	s.must(s.mid.Builder.Bond("to-"+host, spec, s.uplinks[host]))
	s.must(s.mid.Builder.MTU("to-"+host, what.mtu))
	s.uplinks[host] = []string{"to-" + host}
}

func (s *stand) addresses(name string) {
	s.t.Helper()
	number, count := 1, s.what.near
	if name == "far" {
		number, count = 101, s.what.far
	}
	add := func(link string, subnet, host int) {
		s.must(s.builder(name).Address(link, netip.MustParsePrefix(fmt.Sprintf("10.8.%d.%d/24", subnet, host))))
	}
	links := []string{bondName}
	if !s.what.bond {
		links = nil
		for i := range s.what.rates {
			s.must(s.builder(name).Up(eth(i)))
			links = append(links, eth(i))
		}
	}
	for subnet, link := range links {
		for k := range count {
			add(link, subnet, number+k)
		}
	}
}

// bridges joins the two sides: link by link, or all in one.
func (s *stand) bridges() {
	s.t.Helper()
	mid, near, far := s.mid.Builder, s.uplinks["near"], s.uplinks["far"]
	if !s.what.straight() {
		s.must(mid.Bridge("bridge0", append(append([]string(nil), near...), far...)))
		return
	}
	for i := range near {
		s.must(mid.Bridge(fmt.Sprintf("bridge%d", i), []string{near[i], far[i]}))
	}
}

// settle waits until every bond has all its ports in use.
func (s *stand) settle() {
	s.t.Helper()
	if !s.what.bond {
		return
	}
	for _, host := range hosts {
		floor.Await(s.t, *s.spaces[host], bondName, len(s.what.rates), patience)
		if s.what.mode.Hashes() {
			floor.Await(s.t, s.mid, "to-"+host, len(s.what.rates), patience)
		}
	}
}

// text is the fabric file that a user of such a network would write down.
func (s *stand) text() string {
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n")
	var links []string
	for i, r := range s.what.rates {
		links = append(links, fmt.Sprintf("%s: {speed: %.0fM, framing: l2}", eth(i), float64(r/unit.Mbps)))
	}
	for _, host := range hosts {
		fmt.Fprintf(&b, "  %s:\n    reach: netns:%s\n    hardware: {links: {%s}}\n", host, s.spaces[host].NS.Name, strings.Join(links, ", "))
	}
	fmt.Fprintf(&b, "paths:\n  - {between: [near, far]")
	if s.what.hashes() {
		fmt.Fprintf(&b, ", switch_hash: %v", s.what.switchHash)
	}
	b.WriteString("}\n")
	return b.String()
}

// reach writes the fabric file, dials the hosts and sends the first packets,
// which wait for neighbours to be found.
func (s *stand) reach() {
	s.t.Helper()
	s.file = filepath.Join(s.t.TempDir(), "fabric.yaml")
	s.must(os.WriteFile(s.file, []byte(s.text()), 0o600))
	var err error
	s.fabric, err = fabric.Parse(s.file, []byte(s.text()))
	s.must(err)
	s.network = measure.Network{Endpoints: map[string]ask.Host{}, Machines: map[string]string{}}
	for _, h := range s.fabric.Hosts {
		host, err := fleet.Dial(s.t.Context(), h.Name, h.Reach, fleet.Config{Version: "test", Unguarded: true, JournalDir: s.t.TempDir()})
		s.must(err)
		s.t.Cleanup(func() { host.Close() })
		s.hosts[h.Name] = host
		s.network.Endpoints[h.Name], s.network.Machines[h.Name] = host, host.Hello.Machine
	}
	s.observe()
	_, err = measure.Latency(s.t.Context(), s.network, "near", "far", measure.Pings{Count: 3})
	s.must(err)
	ping, err := measure.Latency(s.t.Context(), s.network, "near", "far", measure.Pings{Count: 5})
	s.must(err)
	s.network.Fabric.Paths[0].RTT = time.Duration(ping.P50MS * float64(time.Millisecond))
}

// observe looks at the hosts anew.
func (s *stand) observe() {
	s.t.Helper()
	now := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: s.network.Fabric.Paths}
	if now.Paths == nil {
		now.Paths = append([]fabric.Path(nil), s.fabric.Paths...)
	}
	for _, h := range s.fabric.Hosts {
		declared, err := s.fabric.State(h.Name)
		s.must(err)
		now.Hosts[h.Name], _ = fabric.Merge(declared, h, s.seen(h.Name))
	}
	s.network.Fabric = now
}

func (s *stand) seen(name string) netstate.Host {
	s.t.Helper()
	reply, err := s.hosts[name].Observe(s.t.Context())
	s.must(err)
	reply.Host.Name = name
	return reply.Host
}
