package scenario

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// Feature is what a scenario needs of a kernel, by the kernel's own word.
type Feature string

// The features that a kernel may lack.
const (
	NetNS     Feature = "netns"
	Veth      Feature = "veth"
	Bridge    Feature = "bridge"
	Bonding   Feature = "bonding"
	VLAN      Feature = "8021q"
	TBF       Feature = "tbf"
	Netem     Feature = "netem"
	MPTCP     Feature = "mptcp"
	BBR       Feature = "tcp_bbr"
	MatchAll  Feature = "matchall"
	IFB       Feature = "ifb"
	NFSClient Feature = "nfs"
	NFSServer Feature = "nfsd"
)

func features() []Feature {
	return []Feature{NetNS, Veth, Bridge, Bonding, VLAN, TBF, Netem, MPTCP, BBR, MatchAll, IFB, NFSClient, NFSServer}
}

func featureList() string {
	var words []string
	for _, f := range features() {
		words = append(words, string(f))
	}
	return strings.Join(words, ", ")
}

// Needs are the features that the scenario cannot do without: those that its
// file names, and those that its network, its steps and its tools show.
func (s Scenario) Needs() []Feature {
	needs := append([]Feature{NetNS, Veth, Bridge, TBF}, s.Features...)
	for _, h := range s.Fabric.Hosts {
		state, err := s.Fabric.State(h.Name)
		if err != nil {
			continue // the host is of this very file
		}
		for _, l := range state.Links {
			switch {
			case l.Bond != nil:
				needs = append(needs, Bonding)
			case l.VLAN != nil:
				needs = append(needs, VLAN)
			}
		}
		if len(SharedCards(h, state)) > 0 {
			needs = append(needs, MatchAll, IFB)
		}
	}
	for _, step := range s.Steps {
		needs = append(needs, s.needs(step)...)
	}
	uplinks, err := s.Uplinks()
	for _, u := range uplinks {
		if err == nil && !u.IsZero() {
			needs = append(needs, Netem)
		}
	}
	var out []Feature
	for _, f := range features() {
		if slices.Contains(needs, f) {
			out = append(out, f)
		}
	}
	return out
}

func (s Scenario) neededBy(step Step) (needs []Feature) {
	for key, value := range parts(step.With) {
		switch {
		case key == "rtt" || key == "loss":
			needs = append(needs, Netem)
		case key == "cc" && value == "bbr":
			needs = append(needs, BBR)
		}
	}
	for _, m := range step.Measure {
		if m.Tool == NFS {
			needs = append(needs, NFSClient, NFSServer)
		}
		if m.Protocol == ProtocolMPTCP {
			needs = append(needs, MPTCP)
		}
		if m.FailKind == Silent {
			needs = append(needs, MatchAll)
		}
	}
	return needs
}

// SharedCard is a card with a rate, and the ports that share it.
type SharedCard struct {
	Name  string
	Ports []string
}

// SharedCards are a host's cards that have a rate and several ports, in the
// order of their first ones: a lab sends what they carry through one shaper.
func SharedCards(h fabric.Host, state netstate.Host) (all []SharedCard) {
	for _, l := range state.Links {
		if l.Kind != "" || l.Card == "" {
			continue
		}
		i := slices.IndexFunc(all, func(c SharedCard) bool { return c.Name == l.Card })
		if i < 0 {
			i = len(all)
			all = append(all, SharedCard{Name: l.Card})
		}
		all[i].Ports = append(all[i].Ports, l.Name)
	}
	return slices.DeleteFunc(all, func(c SharedCard) bool {
		rate, _, _ := predict.CardRate(h.Hardware.Cards[c.Name], 0, true)
		return rate == 0 || len(c.Ports) < 2
	})
}

// CoreRate is what one core of a host takes in of frames of that many bytes that
// arrive striped, which nothing joins; zero where the fabric does not say it
// (cpu.packet_rate), or no bond of the host's stripes.
func CoreRate(h fabric.Host, frame int) unit.BitRate {
	striped := slices.ContainsFunc(h.Network.Bonds, func(b fabric.Bond) bool { return b.Options.Mode == netstate.BalanceRR })
	if !striped {
		return 0
	}
	return unit.BitRate(h.Hardware.CPU.PacketRate * 8 * float64(frame))
}
