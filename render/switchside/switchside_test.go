package switchside

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

func hostOf(t *testing.T, text string) render.Input {
	t.Helper()
	file, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	state, err := file.State("h")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := file.Host("h")
	return render.Input{Host: host, State: state}
}

func allText(out render.Output) string {
	var b strings.Builder
	for _, f := range out.Files {
		b.WriteString(f.Path + "\n" + f.Text)
	}
	for _, w := range out.Warnings {
		b.WriteString("warning: " + w.String() + "\n")
	}
	return b.String()
}

// A mode that needs no channel is said to need none, and gets none.
func TestWhichModesNeedAChannel(t *testing.T) {
	for _, c := range []struct{ system, mode, want string }{
		{"linux", "802.3ad", "mode active"}, {"linux", "balance-xor", "mode on"}, {"linux", "balance-rr", "mode on"}, {"linux", "broadcast", "mode on"},
		{"linux", "active-backup", ""}, {"linux", "balance-tlb", ""}, {"linux", "balance-alb", ""},
		{"freebsd", "lacp", "mode active"}, {"freebsd", "loadbalance", "mode on"}, {"freebsd", "failover", ""},
		{"aix", "8023ad", "mode active"}, {"aix", "standard", "mode on"}, {"aix", "netif_backup", ""},
		{"windows", "Lacp", "mode active"}, {"windows", "Static", "mode on"}, {"windows", "SwitchIndependent", ""},
		{"esxi", "lacp", "mode active"}, {"esxi", "iphash", "mode on"}, {"esxi", "portid", ""},
	} {
		policy := ""
		if c.system == "windows" {
			policy = ", transmit-hash-policy: TransportPorts"
		}
		in := hostOf(t, fmt.Sprintf("linerate: v1\nhosts:\n  h:\n    system: %s\n    network:\n      ethernets: {p0: {}, p1: {}}\n      bonds: {b0: {interfaces: [p0, p1], parameters: {mode: %s%s}}}\n", c.system, c.mode, policy))
		out, err := Writer(render.FormatIOS)(in)
		if err != nil {
			t.Fatal(err)
		}
		got := allText(out)
		if c.want != "" && !strings.Contains(got, "channel-group CHANNEL "+c.want+"\n") {
			t.Errorf("%s %s lacks %q:\n%s", c.system, c.mode, c.want, got)
		}
		if c.want == "" && (len(out.Files) > 0 || !strings.Contains(got, c.mode+" needs no channel")) {
			t.Errorf("%s %s needs no channel:\n%s", c.system, c.mode, got)
		}
	}
}

func TestHostsOfOtherShapes(t *testing.T) {
	const two = `linerate: v1
hosts:
  h:
    network:
      ethernets: {p0: {}, p1: {}, p2: {}, p3: {}}
      bonds:
        b0: {interfaces: [p0, p1], mtu: 9000, parameters: {mode: 802.3ad}, addresses: [10.0.0.1/24]}
        b1: {interfaces: [p2, p3], parameters: {mode: balance-xor}}
      vlans: {v7: {id: 7, link: br0, addresses: [10.7.0.1/24]}, v9: {id: 9, link: b0, addresses: [10.9.0.1/24]}}
      bridges: {br0: {interfaces: [b1]}}
`
	in := hostOf(t, two)
	in.SwitchPorts = map[string]string{"p0": "Ethernet1/1", "p1": "Ethernet1/2"}
	out, err := Writer(render.FormatNXOS)(in)
	if err != nil {
		t.Fatal(err)
	}
	got := allText(out)
	for _, want := range []string{
		"interface Ethernet1/1\n  switchport mode trunk\n  switchport trunk native vlan NATIVE-VLAN\n  switchport trunk allowed vlan NATIVE-VLAN,9\n  mtu 9216\n  channel-group CHANNEL-b0 mode active",
		"interface PORT-p2\n  switchport mode trunk\n  switchport trunk allowed vlan 7\n  channel-group CHANNEL-b1 mode on", "br0: interfaces: guests",
		"interface port-channelCHANNEL-b1", "PORT-p3        the port of p3 of h", "/switch/h-nxos-whole-switch.txt", "it changes every port channel of it", "/switch/h-nxos-rollback.txt",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "PORT-p0") {
		t.Errorf("p0's port is known:\n%s", got)
	}
	in.SwitchChannels = map[string]string{"p0": "port-channel17", "p1": "port-channel17"}
	if out, err = Writer(render.FormatNXOS)(in); err != nil || !strings.Contains(allText(out), "interface port-channel17\n") || !strings.Contains(allText(out), "CHANNEL-b1") {
		t.Errorf("%v: the channel's number is in the file:\n%s", err, allText(out))
	}
	in.SwitchChannels["p1"] = "port-channel18"
	if out, err = Writer(render.FormatNXOS)(in); err != nil || !strings.Contains(allText(out), "interface port-channelCHANNEL-b0\n") {
		t.Errorf("%v: two channels are none:\n%s", err, allText(out))
	}
	in.SwitchHash = "layer3+4"
	if out, err = Writer(render.FormatNXOS)(in); err != nil || strings.Contains(allText(out), "load-balance") {
		t.Errorf("%v: the hash is what it should be, and is changed:\n%s", err, allText(out))
	}
	in.SwitchPorts["p0"] = "Ethernet1/1\nno shutdown"
	if _, err = Writer(render.FormatNXOS)(in); !errors.Is(err, render.ErrText) {
		t.Errorf("a port of two lines: %v", err)
	}
	if _, err = Writer(render.FormatNXOS)(hostOf(t, "linerate: v1\nhosts:\n  h:\n    network: {ethernets: {p0: {addresses: [10.0.0.1/24]}}}\n")); !errors.Is(err, render.ErrEmpty) {
		t.Errorf("no bond: %v", err)
	}
	ovs := strings.Replace(two[:strings.Index(two, "        b1:")], "mode: 802.3ad", "mode: balance-tcp", 1) + "      bridges: {br0: {interfaces: [b0], openvswitch: {}}}\n"
	ovs = strings.Replace(strings.Replace(ovs, ", addresses: [10.0.0.1/24]", "", 1), "mtu: 9000, ", "openvswitch: {lacp: active}, ", 1)
	if out, err = Writer(render.FormatSONiC)(hostOf(t, ovs)); err != nil || !strings.Contains(allText(out), "config portchannel add PortChannelCHANNEL\n") {
		t.Errorf("Open vSwitch: %v:\n%s", err, allText(out))
	}
}
