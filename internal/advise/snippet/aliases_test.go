package snippet

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func aliasesOn(device string, bits int, addrs ...string) Aliases {
	a := Aliases{Bits: bits, Device: device}
	for _, s := range addrs {
		a.Addrs = append(a.Addrs, netip.MustParseAddr(s))
	}
	return a
}

func TestAliasLines(t *testing.T) {
	four := aliasesOn("bond0", 24, "10.0.0.3", "10.0.0.5")
	six := aliasesOn("bond0.7", 64, "fd00::3")
	for _, c := range []struct {
		name string
		got  []string
		want string
	}{
		{"ip", four.IP(), "ip addr add 10.0.0.3/24 dev bond0\nip addr add 10.0.0.5/24 dev bond0"},
		{"ip, IPv6", six.IP(), "ip addr add fd00::3/64 dev bond0.7 preferred_lft 0"},
		{"probe", four.Probe(), "arping -D -c 2 -I bond0 10.0.0.3\narping -D -c 2 -I bond0 10.0.0.5"},
		{"probe, IPv6", six.Probe(), "ping -c 2 fd00::3"},
		{"ping", four.Ping(), "ping -c 2 10.0.0.3\nping -c 2 10.0.0.5"},
		{"freebsd", aliasesOn("lagg0", 24, "10.0.0.3", "10.0.0.5").FreeBSD(), "ifconfig lagg0 inet 10.0.0.3/32 alias\nifconfig lagg0 inet 10.0.0.5/32 alias\n" +
			"# /etc/rc.conf, one line:\nifconfig_lagg0_aliases=\"$ifconfig_lagg0_aliases inet 10.0.0.3/32 inet 10.0.0.5/32\""},
		{"freebsd, IPv6 on a VLAN", aliasesOn("lagg0.7", 64, "fd00::3").FreeBSD(), "ifconfig lagg0.7 inet6 fd00::3/128 alias\n" +
			"# /etc/rc.conf, one line:\nifconfig_lagg0_7_aliases=\"$ifconfig_lagg0_7_aliases inet6 fd00::3/128\""},
		{"aix", aliasesOn("en2", 20, "10.0.0.3").AIX(), "chdev -l en2 -a alias4=10.0.0.3,255.255.240.0"},
		{"aix now", aliasesOn("en2", 24, "10.0.0.3").AIXNow(), "ifconfig en2 alias 10.0.0.3 netmask 255.255.255.0"},
		{"esxi", aliasesOn("Storage", 24, "10.0.0.3").ESXi(), "# vmkN1 and so on stand for the next free names (vmk2, vmk3)\n" +
			"esxcli network ip interface add -i vmkN1 -p Storage\nesxcli network ip interface ipv4 set -i vmkN1 -t static -I 10.0.0.3 -N 255.255.255.0"},
		{"windows", aliasesOn("Team 1", 24, "10.0.0.3").Windows(), "New-NetIPAddress -InterfaceAlias 'Team 1' -IPAddress 10.0.0.3 -PrefixLength 24 -SkipAsSource $true"},
		{"windows, IPv6", aliasesOn("Team", 64, "fd00::3").Windows(), "New-NetIPAddress -InterfaceAlias 'Team' -IPAddress fd00::3 -PrefixLength 64 -SkipAsSource $true"},
		{"aix, IPv6", aliasesOn("en2", 64, "fd00::3").AIX(), "chdev -l en2 -a alias6=fd00::3,64"},
	} {
		if diff := cmp.Diff(c.want, strings.Join(c.got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestNetplanLinesAreNetplan reads the lines as YAML.
func TestNetplanLinesAreNetplan(t *testing.T) {
	a := aliasesOn("bond0", 24, "10.0.0.3", "10.0.0.5")
	type file struct {
		Network struct {
			Version int
			Bonds   map[string]struct{ Addresses []any }
		}
	}
	var got file
	if err := yaml.Unmarshal([]byte(strings.Join(a.Netplan(), "\n")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"10.0.0.3/24", "10.0.0.5/24"}, got.Network.Bonds["bond0"].Addresses); diff != "" || got.Network.Version != 2 {
		t.Errorf("version %d; addresses (-want +got):\n%s", got.Network.Version, diff)
	}
	var six file
	if err := yaml.Unmarshal([]byte(strings.Join(aliasesOn("bond0", 64, "fd00::3").Netplan(), "\n")), &six); err != nil {
		t.Fatal(err)
	}
	want := []any{map[string]any{"fd00::3/64": map[string]any{"lifetime": uint64(0)}}}
	if diff := cmp.Diff(want, six.Network.Bonds["bond0"].Addresses); diff != "" {
		t.Errorf("IPv6 addresses (-want +got):\n%s", diff)
	}
}
