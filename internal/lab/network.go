package lab

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Network is hosts that a fabric file declares, to be built as a star: each
// host's ports in switches, each switch's hosts on uplinks.
type Network struct {
	// Lab sets the namespaces apart, see Topology.Lab.
	Lab string
	// Fabric is at the lab's scale; its hosts are reached in their namespaces.
	Fabric   fabric.Fabric
	Switches []scenario.Switch // nil is one for all ports
	MTU      int               // of the switches; zero is scenario.DefaultMTU, or the largest of the hosts'
	// Timed are tunables that every host has whose kernel knows them.
	Timed map[string]string
}

// NetworkOf is the network of a scenario, whose ports have the MTUs given; nil
// is those of its file.
func NetworkOf(s scenario.Scenario, mtus map[scenario.Port]int) Network {
	return networkOf("", s, mtus)
}

func networkOf(lab string, s scenario.Scenario, mtus map[scenario.Port]int) Network {
	n := Network{Lab: lab, Switches: s.Switches, MTU: s.MTU, Timed: s.SlowSysctls()}
	n.Fabric = s.Scaled(func(host string) string { return "netns:" + n.namespace(host) }, mtus)
	return n
}

func (n Network) namespace(host string) string { return Topology{Lab: n.Lab}.Namespace(host) }

// switches are the network's, each with its ports.
func (n Network) switches() []scenario.Switch {
	if len(n.Switches) > 0 {
		return n.Switches
	}
	one := scenario.Switch{Name: "switch"}
	for _, p := range scenario.Ports(n.Fabric) {
		one.Ports = append(one.Ports, p.String())
	}
	return []scenario.Switch{one}
}

// LargestMTU is of the frames that the switches pass on.
func (n Network) LargestMTU() int {
	mtu := max(n.MTU, scenario.DefaultMTU)
	if n.MTU > 0 {
		mtu = n.MTU
	}
	for _, h := range n.Fabric.Hosts {
		state, err := n.Fabric.State(h.Name)
		if err != nil {
			continue // the host is of this very file
		}
		for _, l := range state.Links {
			if n.MTU == 0 {
				mtu = max(mtu, l.MTU)
			}
		}
	}
	return mtu
}

// switchHash is how the switch spreads what it sends to a host over the ports
// of its bond: as a path of the host says, and else by layer2+3, as most
// switches do.
func (n Network) switchHash(host string) netstate.HashPolicy {
	policy := netstate.Layer23
	for _, p := range n.Fabric.Paths {
		var said netstate.HashPolicy
		if (p.From == host || p.To == host) && said.UnmarshalText([]byte(p.SwitchHash)) == nil {
			policy = said
		}
	}
	return policy
}

// A shaper is accurate within half a percent when its bucket holds at least so
// much of its rate, and so many bytes.
const (
	leastBucket = 128 * unit.KiB
	bucketTime  = 2 * time.Millisecond
	// shaperWait is how long a byte may queue at a shaper.
	shaperWait = 50 * time.Millisecond
	// netemPackets are far above rate x delay, so that netem never drops for
	// want of room.
	netemPackets = 20000
)

func bucket(rate unit.BitRate) unit.Bytes {
	return max(leastBucket, unit.Bytes(float64(rate)/8*bucketTime.Seconds()))
}

// patience is the longest that bonds may take to carry traffic.
const patience = 40 * time.Second

// portName and the others are names in the switches' namespace, where a host's
// own could be too long for an interface.
func portName(i int) string { return fmt.Sprintf("port%d", i) }
func lagName(i int) string  { return fmt.Sprintf("lag%d", i) }
func coreName(i int) string { return fmt.Sprintf("core%d", i) }
func slotName(i int, way string) string {
	return fmt.Sprintf("slot%d-%s", i, way)
}
func siteName(i, j int) string { return fmt.Sprintf("site%d-%d", i, j) }
func uplinkNames(i, j int) (a, b string) {
	return fmt.Sprintf("up%d-%d", i, j), fmt.Sprintf("down%d-%d", i, j)
}
