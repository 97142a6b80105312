package switchlines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"pgregory.net/rapid"
)

// portsOf are two names of ports as each system has them, as typed and as its tables
// show them.
var portsOf = map[string][2][2]string{
	"ios":      {{"GigabitEthernet1/0/1", "Gi1/0/1"}, {"GigabitEthernet1/0/2", "Gi1/0/2"}},
	"nxos":     {{"Ethernet1/1", "Eth1/1"}, {"Ethernet1/2", "Eth1/2"}},
	"eos":      {{"Ethernet1", "Et1"}, {"Ethernet2", "Et2"}},
	"junos":    {{"xe-0/0/0", "xe-0/0/0"}, {"xe-0/0/1", "xe-0/0/1"}},
	"procurve": {{"1", "1"}, {"2", "2"}},
	"aoscx":    {{"1/1/1", "1/1/1"}, {"1/1/2", "1/1/2"}},
	"cumulus":  {{"swp1", "swp1"}, {"swp2", "swp2"}},
	"sonic":    {{"Ethernet0", "Ethernet0"}, {"Ethernet4", "Ethernet4"}},
	"routeros": {{"sfp-sfpplus1", "sfp-sfpplus1"}, {"sfp-sfpplus2", "sfp-sfpplus2"}},
}

// stateOf reads text as a switch's, by our own readers.
func stateOf(t *rapid.T, text string) switchstate.Switch {
	var found []*piece.Host
	for _, h := range paste.Parse([]piece.Text{{Name: "paste", Bytes: []byte(text)}}).Hosts {
		if h.Switch {
			found = append(found, h)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d switches were read:\n%s", len(found), text)
	}
	return switchfacts.State(found[0])
}

// drawnChannel is a channel as hosts need them.
func drawnChannel(t *rapid.T, system string) Channel {
	c := Channel{Host: "db1", Bond: "bond0", LACP: rapid.Bool().Draw(t, "lacp"), Fast: rapid.Bool().Draw(t, "fast"), MTU: rapid.SampledFrom([]int{0, 1500, 9000}).Draw(t, "mtu"), Number: rapid.IntRange(1, 20).Draw(t, "number")}
	for i, p := range portsOf[system] {
		c.Ports = append(c.Ports, Port{Link: fmt.Sprintf("eth%d", i), Name: p[0]})
	}
	c.VLANs.Known = rapid.Bool().Draw(t, "vlans known")
	if c.VLANs.Known {
		c.VLANs.Tagged = slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(6, 4094), 0, 4).Draw(t, "tagged"))))
		if c.VLANs.Untagged = rapid.Bool().Draw(t, "untagged") || len(c.VLANs.Tagged) == 0; c.VLANs.Untagged {
			c.VLANs.Native = 5
		}
	}
	return c
}

// What is written is read back by our own readers as the same channel and hash, and
// what is not known is in capitals that no line has when it is known.
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for _, s := range Systems() {
		if s.Name == "ovs" {
			continue // its lines are a shell's: a lab runs them, and asks the switch
		}
		t.Run(s.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawnChannel(t, s.Name)
				text := strings.Join(s.Channels([]Channel{c}), "\n") + "\n"
				if got, want := channelWords(t, s, stateOf(t, text)), wantWords(s, c); got != want {
					t.Errorf("read back:\n%s\nwritten:\n%s\nfrom\n%s", got, want, text)
				}
				if wide := s.Wide([]Channel{c}); wide != nil {
					text = strings.Join(wide, "\n") + "\n"
				}
				if got := hashLayer(stateOf(t, text)); got != switchstate.Layer4 {
					t.Errorf("the hash was read as layer %d:\n%s", got, text)
				}
			})
		})
	}
}

// hashLayer is the highest layer that any hash of the switch reads.
func hashLayer(sw switchstate.Switch) switchstate.Layer {
	most := sw.Hash.Highest
	for _, c := range sw.Channels {
		most = max(most, c.Hash.Highest)
	}
	return most
}

// channelWords is the channel as it was read, in one line.
func channelWords(t *rapid.T, s System, sw switchstate.Switch) string {
	if sw.Vendor != s.Name && (s.Name != "nxos" || sw.Vendor != "") { // a static channel of NX-OS looks like others'
		t.Errorf("read as %q", sw.Vendor)
	}
	if len(sw.Channels) != 1 {
		return fmt.Sprintf("%d channels", len(sw.Channels))
	}
	c := sw.Channels[0]
	rate, mtu, vlans := c.Rate, c.MTU, c.VLANs
	var members []string
	for _, m := range c.Members {
		members = append(members, m.Port)
	}
	for _, p := range sw.Ports {
		if !slices.Contains(members, p.Name) {
			continue
		}
		mtu = max(mtu, p.MTU)
		if p.VLANs.Mode != "" && p.VLANs != vlans {
			return "members differ from the channel"
		}
	}
	return fmt.Sprintf("%s %v %s %v mtu %d vlans %s/%d/%d/%s", c.Protocol, members, rate, c.Activity == "active", mtu, vlans.Mode, vlans.Access, vlans.Native, vlans.Allowed)
}

// wantWords is channelWords as it should be.
func wantWords(s System, c Channel) string {
	protocol, rate, active := switchstate.Static, "", false
	if s.Name == "junos" || s.Name == "aoscx" { // static is what says nothing of LACP
		protocol = ""
	}
	if c.LACP {
		protocol = switchstate.LACP
		active = s.Name != "procurve" && s.Name != "cumulus" && s.Name != "sonic" && s.Name != "routeros" // their lines do not say
		if c.Fast && s.Name != "procurve" {
			rate = "fast"
		}
		if !c.Fast && (s.Name == "junos" || s.Name == "cumulus" || s.Name == "routeros") {
			rate = "slow"
		}
	}
	var members []string
	for _, p := range portsOf[s.Name] {
		members = append(members, p[1])
	}
	mtu := 0
	if c.jumbo() {
		mtu = map[string]int{"nxos": 9216, "junos": 9216, "aoscx": 9198, "cumulus": 9216, "routeros": 9000}[s.Name]
	}
	v, words := c.VLANs, switchstate.VLANs{}
	switch {
	case !v.Known || s.Name == "routeros": // its bridge's VLANs are not read
	case v.trunk():
		words.Mode, words.Allowed = "trunk", ranges(v.Tagged)
		if v.Untagged {
			words.Native = v.Native
		}
		if all := slices.Sorted(slices.Values(append([]int{5}, v.Tagged...))); v.Untagged && s.Name != "cumulus" && s.Name != "procurve" && s.Name != "sonic" {
			words.Allowed = ranges(all)
		}
	default:
		words.Mode, words.Access = "access", v.Native
	}
	return fmt.Sprintf("%s %v %s %v mtu %d vlans %s/%d/%d/%s", protocol, members, rate, active, mtu, words.Mode, words.Access, words.Native, words.Allowed)
}

// ranges writes VLANs as a switch's state does: "100,200-210".
func ranges(ids []int) string {
	var parts []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		if part := fmt.Sprint(ids[i]); i == j {
			parts = append(parts, part)
		} else {
			parts = append(parts, fmt.Sprintf("%s-%d", part, ids[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}
