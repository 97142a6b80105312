package predicting

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// stand is a setup that has been built.
type stand struct {
	t       *testing.T
	setup   setup
	mid     floor.Space
	network measure.Network
	uplinks map[string][]string // of the middle, by host
	spaces  map[string]*floor.Space
}

const (
	queueTime = 50 * time.Millisecond // that a byte may wait at a shaper
	packets   = 20000                 // of netem's queue, far above rate x delay
	widest    = 9000                  // MTU of the middle
	patience  = 40 * time.Second      // for a bond to use its ports
)

func eth(i int) string                          { return fmt.Sprintf("eth%d", i) }
func end(host string, i int) string             { return fmt.Sprintf("%s%d", host, i) }
func (s *stand) must(err error)                 { s.t.Helper(); floor.Must(s.t, err) }
func (s *stand) builder(h string) *rtnl.Builder { return s.spaces[h].Builder }

var hosts = []string{"near", "far"}

// build makes the setup and observes its hosts, as a user would declare them.
func build(t *testing.T, what setup) *stand {
	t.Helper()
	s := &stand{t: t, setup: what, uplinks: map[string][]string{}, spaces: map[string]*floor.Space{}}
	s.mid = floor.NewSpace(t, "predict-mid")
	for _, host := range hosts {
		space := floor.NewSpace(t, "predict-"+host)
		s.spaces[host] = &space
		s.must(s.builder(host).Up("lo"))
		s.sysctls(host)
		for i := range what.rates {
			s.cable(host, i)
		}
		s.join(host)
		s.addresses(host)
	}
	s.bridges()
	s.settle()
	s.capSender()
	s.observe()
	return s
}

func (s *stand) sysctls(host string) {
	s.t.Helper()
	s.must(s.spaces[host].NS.Do(func() error {
		for key, value := range map[string]string{
			"ipv4/tcp_rmem":            fmt.Sprintf("4096 131072 %d", int64(s.setup.rmem)),
			"ipv4/tcp_wmem":            fmt.Sprintf("4096 16384 %d", int64(s.setup.wmem)),
			"ipv4/conf/all/arp_ignore": "1",
		} {
			if err := os.WriteFile("/proc/sys/net/"+key, []byte(value), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
}

// cable is a host's link: shaped at both ends, delayed and lossy where the
// middle sends down it.
func (s *stand) cable(host string, i int) {
	s.t.Helper()
	us, mid, what := s.builder(host), s.mid.Builder, s.setup
	s.must(us.Veth(eth(i), mid, end(host, i)))
	s.must(mid.MTU(end(host, i), widest))
	s.must(us.MTU(eth(i), what.mtu))
	if what.loss > 0 {
		s.must(us.Singly(eth(i)))
	}
	s.must(us.Shape(eth(i), what.rates[i], floor.Bucket(what.rates[i]), queueTime))
	s.must(mid.Shape(end(host, i), what.rates[i], floor.Bucket(what.rates[i]), queueTime))
	if what.rtt > 0 || what.loss > 0 {
		s.must(mid.Lose(end(host, i), what.rtt/2, what.loss, packets, true))
	}
	s.uplinks[host] = append(s.uplinks[host], end(host, i))
}

// join makes the bonds of a host and of its side of the middle.
func (s *stand) join(host string) {
	s.t.Helper()
	us, what := s.builder(host), s.setup
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
	s.must(us.Bond("bond0", spec, ports))
	s.must(us.MTU("bond0", what.mtu))
	if what.loss > 0 {
		s.must(us.Singly("bond0"))
	}
	if !what.mode.Hashes() {
		return
	}
	spec.HashPolicy = &what.switchHash
	if what.mode == netstate.LACP {
		fast := netstate.LACPFast
		spec.LACPRate = &fast
	}
	s.must(s.mid.Builder.Bond("to-"+host, spec, s.uplinks[host]))
	s.must(s.mid.Builder.MTU("to-"+host, widest))
	s.uplinks[host] = []string{"to-" + host}
}

func (s *stand) addresses(name string) {
	s.t.Helper()
	number := 1
	if name == "far" {
		number = 101
	}
	add := func(link string, subnet, host int) {
		prefix := fmt.Sprintf("10.7.%d.%d/24", subnet, host)
		if s.setup.v6 {
			prefix = fmt.Sprintf("fd00:7:%d::%d/64", subnet, host)
		}
		s.must(s.builder(name).Address(link, netip.MustParsePrefix(prefix)))
	}
	if s.setup.bond {
		for k := range s.setup.addresses {
			add("bond0", 0, number+k)
		}
		return
	}
	for i := range s.setup.rates {
		s.must(s.builder(name).Up(eth(i)))
		add(eth(i), i, number)
	}
}

// bridges joins the two sides: link by link, all in one, or over a trunk that
// is the path's shaper.
func (s *stand) bridges() {
	s.t.Helper()
	mid, what := s.mid.Builder, s.setup
	near, far := s.uplinks["near"], s.uplinks["far"]
	switch {
	case what.path > 0:
		s.must(mid.Veth("trunk-near", mid, "trunk-far"))
		for side, ports := range map[string][]string{"near": near, "far": far} {
			s.must(mid.MTU("trunk-"+side, widest))
			s.must(mid.Shape("trunk-"+side, what.path, floor.Bucket(what.path), queueTime))
			s.must(mid.Bridge("bridge-"+side, append(ports, "trunk-"+side)))
		}
	case what.straight():
		for i := range near {
			s.must(mid.Bridge(fmt.Sprintf("bridge%d", i), []string{near[i], far[i]}))
		}
	default:
		s.must(mid.Bridge("bridge0", append(append([]string(nil), near...), far...)))
	}
}

// settle waits until every bond has all its ports in use.
func (s *stand) settle() {
	s.t.Helper()
	if !s.setup.bond {
		return
	}
	want := len(s.setup.rates)
	if s.setup.mode == netstate.ActiveBackup {
		want = 1
	}
	for _, host := range hosts {
		floor.Await(s.t, *s.spaces[host], "bond0", want, patience)
		if s.setup.mode.Hashes() {
			floor.Await(s.t, s.mid, "to-"+host, want, patience)
		}
	}
}

// capSender is a shaper of the sender's own.
func (s *stand) capSender() {
	s.t.Helper()
	what := s.setup
	if what.host == 0 {
		return
	}
	link := eth(0)
	if what.bond {
		link = "bond0"
	}
	for _, host := range hosts {
		s.must(s.builder(host).Shape(link, what.host, floor.Bucket(what.host), queueTime))
	}
}

// observe dials the hosts, and adds what a user declares.
func (s *stand) observe() {
	s.t.Helper()
	s.network = measure.Network{Endpoints: map[string]measure.Endpoint{}, Machines: map[string]string{}}
	s.network.Fabric.Hosts = map[string]netstate.Host{}
	for _, name := range hosts {
		h, err := fleet.Dial(s.t.Context(), name, "netns:"+s.spaces[name].NS.Name, fleet.Config{Version: "test", Unguarded: true})
		s.must(err)
		s.t.Cleanup(func() { h.Close() })
		seen, err := h.Observe(s.t.Context())
		s.must(err)
		seen.Host.Name = name
		s.network.Endpoints[name], s.network.Machines[name], s.network.Fabric.Hosts[name] = h, h.Hello.Machine, seen.Host
	}
	s.network.Fabric = s.declared(s.setup, 0)
	// The first packets wait for neighbours to be found.
	_, err := measure.Latency(s.t.Context(), s.network, "near", "far", measure.Pings{Count: 3})
	s.must(err)
	ping, err := measure.Latency(s.t.Context(), s.network, "near", "far", measure.Pings{Count: 25})
	s.must(err)
	s.network.Fabric = s.declared(s.setup, time.Duration(ping.P50MS*float64(time.Millisecond)))
}

// declared is what was seen of the hosts, with what a user says of a setup
// like this one: speeds, buffers, the path.
func (s *stand) declared(what setup, rtt time.Duration) predict.Fabric {
	f := predict.Fabric{Hosts: map[string]netstate.Host{}}
	for name, seen := range s.network.Fabric.Hosts {
		h := seen.Clone()
		for i, rate := range what.rates {
			l, _ := h.Link(eth(i))
			l.Speed, l.Framing = rate, netstate.FramingL2
			h.SetLink(l)
		}
		for i := range h.Links {
			for q := range h.Links[i].Qdiscs {
				h.Links[i].Qdiscs[q].Rate = what.rateOf(h.Links[i].Name, h.Links[i].Qdiscs[q])
			}
		}
		h.Sysctls["net.ipv4.tcp_rmem"] = netstate.Sysctl{Value: fmt.Sprintf("4096 131072 %d", int64(what.rmem))}
		h.Sysctls["net.ipv4.tcp_wmem"] = netstate.Sysctl{Value: fmt.Sprintf("4096 16384 %d", int64(what.wmem))}
		f.Hosts[name] = h
	}
	path := fabric.Path{From: "near", To: "far", Declared: true, RTT: rtt, Rate: what.path, Loss: what.loss}
	if what.bond && what.mode.Hashes() {
		path.SwitchHash = what.switchHash.String()
	}
	f.Paths = []fabric.Path{path}
	return f
}

// rateOf is the rate that a shaper of a host's has in the setup.
func (s setup) rateOf(link string, q netstate.Qdisc) unit.BitRate {
	if q.Rate == 0 || q.Kind != "tbf" {
		return q.Rate
	}
	for i, rate := range s.rates {
		if link == eth(i) && (s.host == 0 || s.bond) {
			return rate
		}
	}
	return s.host
}

func (s *stand) trafficOf(what setup) predict.Traffic {
	return predict.Traffic{
		From: "near", To: "far", Direction: what.direction, Streams: what.streams, Ports: what.ports,
		SocketBuffer: what.buffer, Congestion: what.congestion, Pace: what.pace,
	}
}

func (s *stand) predict() predict.Prediction {
	s.t.Helper()
	p, err := predict.Predict(s.network.Fabric, s.trafficOf(s.setup))
	s.must(err)
	return p
}

func (s *stand) measure(window time.Duration) record.Trial {
	s.t.Helper()
	what := s.setup
	r, err := measure.Run(s.t.Context(), measure.Config{Network: s.network}, measure.Spec{
		From: "near", To: "far", Direction: what.direction, Streams: what.streams, Ports: what.ports,
		Socket: record.Socket{SndBuf: what.buffer, RcvBuf: what.buffer, Congestion: what.congestion, Pacing: what.pace}, Duration: window,
	})
	s.must(err)
	return r
}
