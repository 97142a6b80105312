package paste

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// told are the sentences of a state, one for each thing that was read.
func told(sw switchstate.Switch) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if sw.Vendor != "" {
		say("vendor %s", sw.Vendor)
	}
	if sw.Name != "" {
		say("name %s", sw.Name)
	}
	if sw.System.String() != "" {
		say("system %s", sw.System)
	}
	if sw.MTU > 0 {
		say("mtu %d", sw.MTU)
	}
	if sw.Hash.Words+sw.Hash.Algorithm != "" {
		say("hash %s (layer %d, %s)", strings.TrimSpace(sw.Hash.Words+" "+sw.Hash.Algorithm), sw.Hash.Highest+1, sw.Hash.Scope)
	}
	for _, c := range sw.Channels {
		line := "channel " + c.Name
		for _, w := range []string{string(c.Protocol), c.Activity, c.Rate} {
			if w != "" {
				line += " " + w
			}
		}
		if c.MinLinks > 0 {
			line += fmt.Sprintf(" min %d", c.MinLinks)
		}
		if c.Hash.Words != "" {
			line += " hash " + c.Hash.Words
		}
		if c.PairID != "" {
			line += " pair " + c.PairID
		}
		for _, m := range c.Members {
			line += " " + m.Port
			if m.State != "" {
				line += "=" + string(m.State)
			}
		}
		out = append(out, line)
		out = append(out, portTold(c.Port)...)
		for _, m := range c.Members {
			for side, l := range map[string]switchstate.LACPPort{"actor": m.Actor, "partner": m.Partner} {
				if l != (switchstate.LACPPort{}) {
					say("%s of %s: %s", side, m.Port, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s key %d port %d state %d", l.Activity, l.Rate, l.System, l.Key, l.Port, l.State)), " "))
				}
			}
		}
	}
	for _, p := range sw.Ports {
		out = append(out, portTold(p)...)
	}
	if sw.Answer != "" {
		say("answer %s", sw.Answer)
	}
	for _, n := range sw.Neighbors {
		say("at %s: %s", n.Link, strings.Join(strings.Fields(n.SystemName+" port "+n.Port+" chassis "+n.Chassis), " "))
	}
	if sw.Pair.Kind+sw.Pair.Peer+sw.Pair.State != "" {
		say("pair %s", strings.Join(strings.Fields(sw.Pair.Kind+" peer "+sw.Pair.Peer+" state "+sw.Pair.State), " "))
	}
	return out
}

func portTold(p switchstate.Port) (out []string) {
	say := func(what string, v any) {
		if s := fmt.Sprint(v); s != "" && s != "0" && s != "0 bit/s" {
			out = append(out, fmt.Sprintf("%s %s %s", p.Name, what, s))
		}
	}
	say("admin", p.Admin)
	say("oper", p.Oper)
	say("reason", p.Reason)
	say("speed", p.Speed)
	say("duplex", p.Duplex)
	say("mtu", p.MTU)
	say("description", p.Description)
	say("mode", p.VLANs.Mode)
	say("access", p.VLANs.Access)
	say("native", p.VLANs.Native)
	say("vlans", p.VLANs.Allowed)
	say("in", p.In)
	say("out", p.Out)
	for _, c := range slices.Sorted(maps.Keys(p.Counters)) {
		if n := p.Counters[c]; n > 0 {
			out = append(out, fmt.Sprintf("%s %s %d", p.Name, c, n))
		}
	}
	return out
}

// TestSwitchStates reads texts of each platform: what is wanted must be said, nothing
// may be left unread, and what must not be said is behind "not ".
func TestSwitchStates(t *testing.T) {
	for _, tc := range slices.Concat(ciscoStates, otherStates, moreStates, neighbourStates, portStates, freshStates) {
		t.Run(tc.name, func(t *testing.T) {
			c := Parse([]piece.Text{{Bytes: []byte(tc.text)}})
			for _, n := range c.NotRead {
				t.Errorf("not read: %v: %q", n.Source, lineOf([]byte(tc.text), n.From))
			}
			got := told(stateOf(&c))
			for _, want := range strings.Split(strings.TrimSpace(tc.want), "\n") {
				want = strings.TrimSpace(want)
				if not, ok := strings.CutPrefix(want, "not "); ok {
					if slices.Contains(got, not) {
						t.Errorf("said: %s", not)
					}
				} else if !slices.Contains(got, want) {
					t.Errorf("not said: %s", want)
				}
			}
			if t.Failed() {
				t.Log(strings.Join(got, "\n"))
			}
		})
	}
}

// TestSwitchStatesWrapped: what lies around a text in a mail or a page changes nothing.
func TestSwitchStatesWrapped(t *testing.T) {
	each := func(text, before, after string) string {
		return before + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", after+"\n"+before) + after + "\n"
	}
	for name, wrap := range map[string]func(string) string{
		"ends of lines": func(s string) string { return each(s, "", "\r") },
		"blanks behind": func(s string) string { return each(s, "", "   ") },
		"quoted":        func(s string) string { return each(s, "> ", "") },
		"a fence":       func(s string) string { return "Here it is:\n\n```\n" + s + "```\n" },
	} {
		for _, tc := range slices.Concat(ciscoStates, otherStates, moreStates, neighbourStates, portStates, freshStates) {
			plain := Parse([]piece.Text{{Bytes: []byte(tc.text)}})
			c := Parse([]piece.Text{{Bytes: []byte(wrap(tc.text))}})
			want, got := told(stateOf(&plain)), told(stateOf(&c))
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) {
				t.Errorf("%s, %s: %q, want %q", tc.name, name, got, want)
			}
		}
	}
}

// TestSwitchStateOfHost: a Cumulus switch's interfaces(5) are a host's file, and a
// switch's state.
func TestSwitchStateOfHost(t *testing.T) {
	c := Parse([]piece.Text{{Bytes: []byte(`root@leaf01:~# cat /etc/network/interfaces
auto swp1
iface swp1
    alias db1 eth0
    mtu 9216

auto bond10
iface bond10
    bond-slaves swp1 swp2
    bond-mode 802.3ad
    bond-lacp-rate slow
    bond-min-links 1
    clag-id 10
    mtu 9216
    bridge-vids 100 200
    bridge-pvid 999

auto bridge
iface bridge
    bridge-ports bond10
    bridge-vlan-aware yes
`)}})
	got := told(switchfacts.State(c.Hosts[0]))
	for _, want := range []string{"channel bond10 lacp slow min 1 pair 10 swp1 swp2", "bond10 mtu 9216", "bond10 vlans 100,200", "bond10 native 999", "swp1 mtu 9216", "swp1 description db1 eth0"} {
		if !slices.Contains(got, want) {
			t.Errorf("not said: %s", want)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "channel bridge") }) || t.Failed() {
		t.Error(strings.Join(got, "\n"))
	}
}

// TestSwitchStateOfBond: the kernel's bonding of a switch that runs Linux.
func TestSwitchStateOfBond(t *testing.T) {
	c := Parse([]piece.Text{{Bytes: []byte(`root@leaf01:~# cat /proc/net/bonding/bond10
Ethernet Channel Bonding Driver: v6.1.0
Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
Min links: 1

802.3ad info
LACP rate: fast
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 1
	Actor Key: 21
	Partner Key: 9
	Partner Mac Address: 02:00:00:00:0a:01

Slave Interface: swp1
MII Status: up
Speed: 25000 Mbps
Aggregator ID: 1
details actor lacp pdu:
    port key: 21
    port state: 63
details partner lacp pdu:
    system mac address: 02:00:00:00:0a:01
    oper key: 9
    port number: 1
    port state: 63

Slave Interface: swp2
MII Status: up
Speed: 25000 Mbps
Aggregator ID: 2

Slave Interface: swp3
MII Status: down
Aggregator ID: 3
`)}})
	got := told(switchfacts.State(c.Hosts[0]))
	for _, want := range []string{"channel bond10 lacp fast min 1 hash layer3+4 swp1=bundled swp2=standalone swp3=down", "partner of swp1: 02:00:00:00:0a:01 key 9 port 1 state 63", "swp1 speed 25.0 Gbit/s"} {
		if !slices.Contains(got, want) {
			t.Errorf("not said: %s\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// stateCase is a text of a switch, and sentences of its state.
type stateCase struct{ name, text, want string }

// What begins like a switch's configuration, and is a host's file or its output.
func TestNoSwitchConfig(t *testing.T) {
	for _, text := range []string{
		"#\n# made by hand\n#\n!\n#\n!\n#\n!\nnetwork:\n  version: 2\n  bonds:\n    bond0:\n      interfaces: [eno1, eno2]\n      parameters: {mode: 802.3ad}\n",
		"$ hostname\ndb1\nhostname db1\nversion 2.0\nvlan 10\n\ninterface eth0\n",
		"{\n  \"PORT\": 1,\n  \"x\": 2\n}\n",
		"Kernel Interface table\nIface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0      1500     1200      0      0 0           900      0      0      0 BMRU\n",
		"Name: bond0\nSwitchport: what is that\nThu Nov 26 10:00:00 UTC 2026\n",
	} {
		c := Parse([]piece.Text{{Bytes: []byte(text)}})
		for _, h := range c.Hosts {
			if h.Switch && len(switchfacts.State(h).Channels)+len(switchfacts.State(h).Ports) > 0 {
				t.Errorf("%q is a switch's: %v", text, h.Facts)
			}
		}
	}
	c := Parse([]piece.Text{{Bytes: []byte("#\n# made by hand\n#\n!\n#\n!\n#\n!\nnetwork:\n  version: 2\n  bonds:\n    bond0:\n      interfaces: [eno1, eno2]\n      parameters: {mode: 802.3ad}\n")}})
	if x, ok := c.Hosts[0].Get("config bond0", "mode"); !ok || x.Text != "802.3ad" {
		t.Error("the netplan file below remarks is not read")
	}
}
