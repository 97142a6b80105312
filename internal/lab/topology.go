// Package lab builds small networks of real kernels: hosts and a switch as
// network namespaces, cables with a speed and a delay; network.go builds what a
// fabric file declares. It runs them where the running kernel can, else in a lab
// kernel of its own: User-Mode Linux, or a distribution's kernel on an emulated
// machine, so that no privilege and no KVM is needed. A lab that stands keeps what
// it was built from in its state (blueprint.go, standing.go). Don't let it change
// the machine it runs on.
package lab

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Scenario is a network to build and the fabric that declares it.
type Scenario struct {
	Name  string
	Title string // one line for `lab list`
	Net   Topology
	// Streams and Ports are what `lab run` measures.
	Streams []int
	Ports   string // "chosen" or "kernel"
}

// Topology is hosts around one switch.
type Topology struct {
	// Lab sets the namespaces of a lab that stands apart from others'; empty is
	// a lab for the time of one command.
	Lab    string
	Hosts  []Host
	Switch Switch
	// LinkRate is each cable's speed in each direction, counted by a shaper
	// from the Ethernet header on; zero is unshaped.
	LinkRate unit.BitRate
	Burst    unit.Bytes    // the shaper's bucket
	Wait     time.Duration // how long a byte may queue at a shaper
	RTT      time.Duration // half of it is on each of the switch's ports
}

// Host is one lab host with a bond, or one link without, to the switch.
type Host struct {
	Name      string
	Links     int
	Bond      *Bond // nil: plain links, addresses on the first
	MTU       int   // zero: the kernel's default
	Addresses []netip.Prefix
}

// Bond is a host's bond; nil fields stay at the driver's defaults.
type Bond struct {
	Mode       netstate.BondMode
	HashPolicy *netstate.HashPolicy
	// Miimon is how often links are looked at; zero: the driver's default,
	// which is never in some modes.
	Miimon time.Duration
}

// Switch is the box between the hosts.
type Switch struct {
	// Hash is the policy of the switch's own bonds toward the hosts.
	Hash netstate.HashPolicy
	MTU  int
}

// prefix marks every namespace that linerate makes, so that cleaning up can
// never hit another's.
const prefix = "linerate-"

// Namespace is the name of a host's namespace in a lab for one command.
func Namespace(host string) string { return Topology{}.Namespace(host) }

// Namespace is the name of a host's namespace.
func (t Topology) Namespace(host string) string {
	if t.Lab != "" {
		host = t.Lab + "-" + host
	}
	return prefix + host
}

// Namespaces are those of all hosts and the switch.
func (t Topology) Namespaces() []string {
	return namespaces(t.members())
}

const (
	switchName = "switch"
	bridgeName = "bridge0"
	bondName   = "bond0"
)

// Port is the name of a host's i-th link.
func Port(i int) string { return fmt.Sprintf("eth%d", i) }

// Scenarios lists what the lab knows, in the order `lab list` prints.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name:  "two-links",
			Title: "two hosts, LACP bonds of two 250 Mbit/s links at the driver's defaults (layer2), 9 ms",
			Net:   twoHosts(2, &Bond{Mode: netstate.LACP}, 0), Streams: []int{1, 2, 4, 8}, Ports: "kernel",
		},
		{
			Name:  "two-links-tuned",
			Title: "the same, layer3+4 and MTU 9000, ports chosen",
			Net:   twoHosts(2, &Bond{Mode: netstate.LACP, HashPolicy: policy(netstate.Layer34)}, 9000), Streams: []int{1, 2, 4}, Ports: "chosen",
		},
		{
			Name:  "two-links-luck",
			Title: "the same, layer3+4, ports left to the kernel: some runs double, some do not",
			Net:   twoHosts(2, &Bond{Mode: netstate.LACP, HashPolicy: policy(netstate.Layer34)}, 9000), Streams: []int{2, 4}, Ports: "kernel",
		},
		{
			Name:  "one-link",
			Title: "two hosts, one 250 Mbit/s link each, 9 ms: nothing to gain but frame size",
			Net:   twoHosts(1, nil, 0), Streams: []int{1, 4}, Ports: "kernel",
		},
	}
}

func policy(p netstate.HashPolicy) *netstate.HashPolicy { return &p }

// Named finds a scenario.
func Named(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// twoHosts is the demo's network: the shaper's figures are those that proved
// accurate (a bucket of at least 2 ms of the rate), the switch lets jumbo
// frames through.
func twoHosts(links int, bond *Bond, mtu int) Topology {
	return Topology{
		Hosts: []Host{
			{Name: "alpha", Links: links, Bond: bond, MTU: mtu, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
			{Name: "beta", Links: links, Bond: bond, MTU: mtu, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.2/24")}},
		},
		Switch:   Switch{Hash: netstate.Layer34, MTU: 9000},
		LinkRate: 250 * unit.Mbps,
		Burst:    256 * unit.KiB,
		Wait:     50 * time.Millisecond,
		RTT:      9 * time.Millisecond,
	}
}

// Fabric is the fabric file of a scenario: what a user of such a network
// would write down. Ports is "chosen" or "kernel".
func (t Topology) Fabric(streams []int, ports string) string {
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n")
	for _, h := range t.Hosts {
		fmt.Fprintf(&b, "  %s:\n    reach: netns:%s\n    network:\n      version: 2\n", h.Name, t.Namespace(h.Name))
		h.writeNetwork(&b)
		b.WriteString("    hardware:\n      links: {")
		for i := range h.Links {
			fmt.Fprintf(&b, "%s%s: {speed: %s, framing: l2}", comma(i), Port(i), rateText(t.LinkRate))
		}
		b.WriteString("}\n")
	}
	b.WriteString("paths:\n")
	for i := 1; i < len(t.Hosts); i++ {
		fmt.Fprintf(&b, "  - {between: [%s, %s], rtt: %s, switch_hash: %s}\n", t.Hosts[0].Name, t.Hosts[i].Name, t.RTT, t.Switch.Hash)
	}
	fmt.Fprintf(&b, "measure:\n  streams: [%s]\n  directions: [forward, reverse, both]\n  ports: %s\n", list(streams), ports)
	return b.String()
}

func (h Host) writeNetwork(b *strings.Builder) {
	var addresses []string
	for _, a := range h.Addresses {
		addresses = append(addresses, a.String())
	}
	mtu := ""
	if h.MTU > 0 {
		mtu = fmt.Sprintf(", mtu: %d", h.MTU)
	}
	if h.Bond == nil {
		fmt.Fprintf(b, "      ethernets: {%s: {addresses: [%s]%s}}\n", Port(0), strings.Join(addresses, ", "), mtu)
		return
	}
	var names, ethernets []string
	for i := range h.Links {
		names = append(names, Port(i))
		ethernets = append(ethernets, Port(i)+": {}")
	}
	hash := ""
	if h.Bond.HashPolicy != nil {
		hash = ", transmit-hash-policy: " + h.Bond.HashPolicy.String()
	}
	fmt.Fprintf(b, "      ethernets: {%s}\n      bonds:\n        %s: {interfaces: [%s], addresses: [%s]%s, parameters: {mode: %s%s}}\n",
		strings.Join(ethernets, ", "), bondName, strings.Join(names, ", "), strings.Join(addresses, ", "), mtu, h.Bond.Mode, hash)
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

func rateText(r unit.BitRate) string {
	text, _ := r.MarshalText() // a scenario's rate is a constant: it always has a text
	return string(text)
}

func list(values []int) string {
	var s []string
	for _, v := range values {
		s = append(s, fmt.Sprint(v))
	}
	return strings.Join(s, ", ")
}
