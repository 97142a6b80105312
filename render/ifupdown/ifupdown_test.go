package ifupdown

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

func readText(t *testing.T, files map[string]string) (render.Found, string) {
	t.Helper()
	found, err := Read(files)
	if err != nil {
		t.Fatal(err)
	}
	text := string(found.FabricFile("h"))
	if _, err := fabric.Parse("f.yaml", []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return found, text
}

// TestRead reads the forms that Debian, Proxmox VE and Cumulus have.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		text     string
		want     []string
		never    []string
		unread   []string
		warnings []string
	}{
		{name: "Debian, ports that name their bond", text: `auto bond0
iface bond0 inet static
	address 10.0.0.2
	netmask 255.255.252.0
	gateway 10.0.0.1
	bond-slaves none
	bond_mode 4
	bond_miimon 100
	bond_xmit_hash_policy 1
allow-bond0 eth0 eth1
iface eth0 inet manual
	bond-master bond0
iface eth1 inet manual
	bond-master bond0
`, want: []string{"mode: 802.3ad", "layer3+4", "- eth0", "- eth1", "10.0.0.2/22", "via: 10.0.0.1"}, never: []string{"activation-mode"}},
		{name: "slaves, an alias, a VLAN by name, IPv6", text: `auto bond0 bond0:1 bond0.7
iface bond0 inet static
  address 192.0.2.2/24
  slaves eth0 eth1
  bond-mode active-backup
  bond-primary eth1 eth0
iface bond0 inet6 static
  address 2001:db8::2
  netmask 64
  gateway 2001:db8::1
iface bond0:1 inet static
  address 192.0.2.3/24
iface bond0.7 inet dhcp
  mtu 1400
`, want: []string{"primary: eth1", "{label: bond0:1}", "2001:db8::2/64", "2001:db8::1", "id: 7", "link: bond0", "dhcp4: true", "mtu: 1400"}},
		{name: "Cumulus: no family, bridge aware of VLANs", text: `auto swp1
iface swp1
auto bond1
iface bond1
    bond-ports swp1 swp2
    bond-lacp-rate fast
    bond-min-links 1
auto br
iface br
    bridge-ports bond1
    bridge-vlan-aware yes
    bridge-vids 10-20
auto vlan10
iface vlan10
    vlan-id 10
    vlan-raw-device br
    address 10.0.10.1/24
`, want: []string{"lacp-rate: fast", "min-links: 1", "bridges:", "id: 10", "link: br", "10.0.10.1/24"}, unread: []string{"bridge-vlan-aware", "bridge-vids"}, warnings: []string{"no line says the mode"}},
		{name: "lines that a shell runs", text: `auto eth1
iface eth1 inet static
    address 10.1.0.2/24
    post-up ip route add 10.9.0.0/16 via 10.1.0.1 dev $IFACE table 101 || true
    post-up /sbin/ip rule add from 10.1.0.2 lookup 101 prio 100
    pre-down ip rule del from 10.1.0.2 lookup 101 prio 100
    up route add -net 10.8.0.0 netmask 255.255.0.0 gw 10.1.0.1
    post-up ethtool -G eth1 rx 4096 tx 4096 ; ethtool -K $IFACE gro off
    post-up sysctl -w net.ipv4.conf.eth1.rp_filter=2
    post-up iptables -A INPUT -j ACCEPT
`, want: []string{"10.9.0.0/16", "table: 101", "from: 10.1.0.2/32", "priority: 100", "10.8.0.0/16", "rx: 4096", "generic-receive-offload: false", "rp_filter"}, unread: []string{"iptables"}},
		{name: "options that a shell sets", text: `auto bond0
iface bond0 inet manual
    bond-slaves eth0 eth1
    bond-mode balance-xor
    post-up echo layer3+4 > /sys/class/net/bond0/bonding/xmit_hash_policy
`, want: []string{"layer3+4"}},
		{name: "a comment behind a value", text: `auto bond0
iface bond0 inet manual
    bond-slaves eno1 eno2
    bond-mode 802.3ad   # LACP
    bond-xmit-hash-policy Layer3+4
    bond-ad-select bandwidth
    bond-lacp-active on
`, want: []string{"mode: 802.3ad", "layer3+4", "ad-select: bandwidth"}, warnings: []string{"balance-rr", "the kernel's word is layer3+4", "ifupdown2 does not", "neither ifupdown"}},
		{name: "a bond's options in its ports' stanzas", text: `auto eth0
iface eth0 inet manual
    bond-master bond0
    bond-mode active-backup
    bond-primary eth0
auto eth1
iface eth1 inet manual
    bond-master bond0
    bond-mode active-backup
auto bond0
iface bond0 inet static
    address 10.0.0.2/24
    bond-slaves none
    bond-mode active-backup
`, want: []string{"primary: eth0", "- eth0", "- eth1", "mode: active-backup"}},
		{name: "Open vSwitch", text: `auto bond0
iface bond0 inet manual
    ovs_type OVSBond
    ovs_bridge vmbr0
    ovs_bonds eno1 eno2
    ovs_options bond_mode=balance-tcp lacp=active other_config:lacp-time=fast vlan_mode=native-untagged
auto vmbr0
iface vmbr0 inet static
    address 10.0.0.5/24
    ovs_type OVSBridge
    ovs_ports bond0 vlan20 cluster vxlan7
    ovs_mtu 9000
auto vlan20
iface vlan20 inet static
    address 10.0.20.5/24
    ovs_type OVSIntPort
    ovs_bridge vmbr0
    ovs_options tag=20
auto cluster
iface cluster inet manual
    ovs_type OVSIntPort
    ovs_bridge vmbr0
auto vxlan7
iface vxlan7 inet manual
    ovs_type OVSTunnel
    ovs_bridge vmbr0
iface eno1 inet manual
`, want: []string{"mode: balance-tcp", "lacp: active", "lacp-time: fast", "- eno1", "- eno2", "- bond0", "openvswitch: {}", "mtu: 9000", "id: 20", "link: vmbr0", "10.0.20.5/24"},
			never: []string{"cluster", "vxlan7", "activation-mode"}, unread: []string{"vlan_mode", "OVSTunnel", "without a tag"}},
		{name: "inherits, mapping, template", text: `iface ethernet inet static
    mtu 9000
iface eth0 inet static inherits ethernet
    address 10.0.0.2/24
auto eth0
mapping eth1
    script /usr/local/sbin/map
    map home
`, want: []string{"mtu: 9000", "10.0.0.2/24"}, unread: []string{"mapping"}, warnings: []string{"inherits"}},
		{name: "nothing brings it up", text: "iface eth5 inet static\n address 10.0.0.9/24\n", want: []string{"activation-mode: manual"}},
		{name: "two addresses in a stanza", text: "auto eth5\niface eth5 inet static\n address 10.0.0.9/24\n address 10.0.0.10/24\n", want: []string{"10.0.0.9/24", "10.0.0.10/24"}, warnings: []string{"first address alone"}},
		{name: "an MTU of IPv6", text: "auto eth0\niface eth0 inet static\n address 10.0.0.9/24\n mtu 9000\niface eth0 inet6 static\n address fd00::9/64\n mtu 1500\n", want: []string{"mtu: 9000", "ipv6-mtu: 1500"}, warnings: []string{"ifupdown2 takes the first"}},
		{name: "an MTU of IPv6 alone", text: "auto eth0\niface eth0 inet6 static\n address fd00::9/64\n mtu 9000\n", want: []string{" mtu: 9000"}},
		{name: "Cumulus: ports by globs", text: "auto bond1\niface bond1\n bond-slaves glob swp19-20 swp[1-2]s[0-1] noglob eth7\n bond-mode 802.3ad\nauto br\niface br\n bridge-ports bond1 glob swp5-6.300 regex swp3.*\n",
			want: []string{"- swp19\n            - swp20\n            - swp1s0\n            - swp1s1\n            - swp2s0\n            - swp2s1\n            - eth7\n", "swp5.300:\n          id: 300\n          link: swp5"}, unread: []string{"ports by a pattern"}},
		{name: "two options in one line", text: "auto bond1\niface bond1\n bond-slaves swp1 swp2\n bond-mode 802.3ad\n bond-xmit-hash-policy layer3+4 bond-lacp-rate 0\n",
			want: []string{"layer3+4"}, never: []string{"lacp-rate"}, warnings: []string{"interfaces:5: what stands behind a value is part of it"}},
		{name: "comments behind any value", text: "auto eth0\niface eth0 inet static\n address 192.0.2.5/24 # mine\n dns-nameservers 192.0.2.53 # ours\n post-up ip route add 10.0.0.0/8 via 192.0.2.1 # theirs\n",
			want: []string{"192.0.2.5/24", "192.0.2.53", "10.0.0.0/8"}, warnings: []string{"interfaces:3: a comment", "interfaces:4: a comment"}},
		{name: "comments behind Open vSwitch's", text: "auto b\niface b inet manual\n ovs_type OVSBond\n ovs_bridge br0\n ovs_bonds e1 e2 # (remove line)\n ovs_options bond_mode=active-backup # (remove line)\nauto br0\niface br0 inet manual\n ovs_type OVSBridge\n ovs_ports b\n",
			want: []string{"mode: active-backup", "- e1\n            - e2\n"}, warnings: []string{"interfaces:5: a comment", "interfaces:6: a comment"}},
		{name: "an address beside DHCP", text: "auto vmbr0\niface vmbr0 inet dhcp\n address 192.168.0.1/24\n gateway 192.168.0.254\n bridge-ports none\n", want: []string{"dhcp4: true"}, never: []string{"192.168.0"}, unread: []string{"interfaces:3: address: neither program", "interfaces:4: gateway: neither program"}},
		{name: "loopback devices", text: "auto lo lo0\niface lo inet loopback\n up echo 1 > /proc/sys/net/ipv4/ip_forward\niface lo0 inet loopback\nauto eth0\niface eth0 inet dhcp\n", want: []string{"eth0:", "ip_forward"}, never: []string{" lo:", "lo0"}},
		{name: "a table of which no file has the number, a route of another device", text: "auto eth1\niface eth1 inet static\n address 192.0.2.5/24\n post-up ip route add default via 192.0.2.1 table vrack\n post-up ip rule add from 192.0.2.0/24 table vrack\n post-up route add -net 10.0.0.0 netmask 255.0.0.0 gw 198.51.100.1 dev eth2\n",
			want: []string{"eth2:\n          routes:\n            - {to: 10.0.0.0/8, via: 198.51.100.1}"}, unread: []string{"interfaces:4: post-up: the number of table vrack is not known", "interfaces:5: post-up: the number of table vrack"}},
		{name: "a dummy by its module", text: "auto dummy0\niface dummy0 inet static\n address 192.0.2.5/32\n pre-up modprobe dummy\n", want: []string{"dummy-devices:", "192.0.2.5/32"}},
		{name: "a device that a command makes", text: "auto vxlan0\niface vxlan0 inet manual\n pre-up ip link add vxlan0 type vxlan id 10 group 239.1.1.1 dstport 0 dev eth1 || true\n up ip link set vxlan0 up\n mtu 1500\nauto br1\niface br1 inet static\n address 192.0.2.5/24\n bridge_ports vxlan0\n", want: []string{"br1:"}, never: []string{"vxlan0"}, unread: []string{"interfaces:2: iface: devices of the kind vxlan"}},
		{name: "a bond that ifenslave makes", text: "auto bond0\niface bond0 inet static\n address 192.0.2.5/24\n pre-up modprobe bonding mode=4 miimon=200 primary=eth0\n up ifenslave bond0 eth0 eth1 #eth2\n pre-down ifenslave -d bond0 eth0 eth1\n post-down rmmod bonding\n", want: []string{"bonds:", "mode: 802.3ad", "mii-monitor-interval: 200", "primary: eth0", "- eth0\n            - eth1\n"}, never: []string{"eth2"}},
		{name: "a bond whose ports call ifenslave", text: "auto bond0\niface bond0 inet dhcp\n pre-up modprobe bonding colour=red\nallow-hotplug eth0\niface eth0 inet manual\n up ifenslave bond0 $IFACE\n down ifenslave -d bond0 $IFACE 2> /dev/null\n", want: []string{"bonds:", "- eth0\n", "dhcp4: true"}, unread: []string{"interfaces:3: pre-up"}, warnings: []string{"no line says the mode"}},
		{name: "joined lines", text: "auto eth0\niface eth0 inet static\n address \\\n   10.0.0.9/24\n mtu \\\n 9000\n", want: []string{"10.0.0.9/24", "mtu: 9000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, text := readText(t, map[string]string{mainFile: c.text})
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, never := range c.never {
				if strings.Contains(text, never) {
					t.Errorf("%q in\n%s", never, text)
				}
			}
			for _, want := range c.unread {
				if !slices.ContainsFunc(found.Unread, func(u render.Unread) bool { return strings.Contains(u.String()+u.Value, want) }) {
					t.Errorf("nothing unread says %q: %v", want, found.Unread)
				}
			}
			for _, want := range c.warnings {
				if !slices.ContainsFunc(found.Warnings, func(w render.Warning) bool { return strings.Contains(w.String(), want) }) {
					t.Errorf("no warning says %q: %v", want, found.Warnings)
				}
			}
			if len(c.unread) == 0 && len(found.Unread) > 0 || len(c.warnings) == 0 && len(found.Warnings) > 0 {
				t.Errorf("unread %v, warnings %v", found.Unread, found.Warnings)
			}
		})
	}
}

// TestSource: files are read where a source line names them, and named where none does.
func TestSource(t *testing.T) {
	found, text := readText(t, map[string]string{
		mainFile:                   "source interfaces.d/*.cfg\nsource-directory /etc/network/more.d\nauto eth0\niface eth0 inet dhcp\n",
		Dir + "interfaces.d/a.cfg": "auto eth1\niface eth1 inet dhcp\n",
		Dir + "interfaces.d/b":     "auto eth2\niface eth2 inet dhcp\n",
		Dir + "more.d/c":           "auto eth3\niface eth3 inet dhcp\n",
		Dir + "more.d/d.cfg":       "auto eth4\niface eth4 inet dhcp\n",
	})
	for name, read := range map[string]bool{"eth0": true, "eth1": true, "eth2": false, "eth3": true, "eth4": false} {
		if strings.Contains(text, name) != read {
			t.Errorf("%s read: %v\n%s", name, !read, text)
		}
	}
	if len(found.Unread) != 2 {
		t.Errorf("unread: %v", found.Unread)
	}
}

func wantedHost(t *testing.T, network string) render.Input {
	t.Helper()
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  h:\n    network:\n"+network))
	if err != nil {
		t.Fatal(err)
	}
	h, _ := f.Host("h")
	state, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	return render.Input{Host: h, State: state}
}

const proxmox = `# network interface settings; autogenerated
auto lo
iface lo inet loopback

iface eno1 inet manual
iface eno2 inet manual

auto bond0
iface bond0 inet manual
        bond-slaves eno1 eno2
        bond-miimon 100
        bond-mode 802.3ad
#the storage network's

auto vmbr0
iface vmbr0 inet static
        address 192.168.1.50/24
        gateway 192.168.1.1
        bridge-ports bond0
        bridge-stp off
        bridge-fd 0
        bridge-vlan-aware yes
        bridge-vids 2-4094

source /etc/network/interfaces.d/*
`

// TestUpdate changes one thing of a Proxmox host's file: that one line.
func TestUpdate(t *testing.T) {
	network := `      ethernets: {eno1: {}, eno2: {}}
      bonds:
        bond0: {interfaces: [eno1, eno2], parameters: {mode: 802.3ad, mii-monitor-interval: 100, transmit-hash-policy: layer3+4}}
      bridges:
        vmbr0: {interfaces: [bond0], addresses: [192.168.1.50/24], routes: [{to: default, via: 192.168.1.1}], parameters: {stp: false, forward-delay: 0}}
`
	in := wantedHost(t, network)
	in.Old = map[string]string{mainFile: proxmox}
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(proxmox, "        bond-mode 802.3ad\n", "        bond-mode 802.3ad\n        bond-xmit-hash-policy layer3+4\n", 1)
	if diff := cmp.Diff(want, out.Files[0].Text); diff != "" || len(out.Files) != 1 {
		t.Errorf("%d files (-want +got):\n%s", len(out.Files), diff)
	}
	in.Old = map[string]string{mainFile: proxmox, stagedOne: proxmox + "\n"}
	if _, err := Write(in); !errors.Is(err, ErrStaged) {
		t.Errorf("with a staged change: %v", err)
	}
	in.Old = map[string]string{mainFile: proxmox + "% for i in range(2):\niface swp${i}\n% endfor\n"}
	if _, err := Write(in); !errors.Is(err, ErrTemplate) {
		t.Errorf("over a template: %v", err)
	}
}

// TestUpdateForms: a line that says it already stays, in whatever form; one that says
// something else is changed in its place, and a list that the fabric has replaces the
// file's.
func TestUpdateForms(t *testing.T) {
	old := `auto bond0
iface bond0 inet static
    address 10.0.0.2
    netmask 255.255.255.0
    bond_slaves none
    bond-mode 1   # failover
    bond-min-links 2
    mtu 1500
    post-up ip route add 10.9.0.0/16 via 10.0.0.1
    post-up ip route add 10.8.0.0/16 via 10.0.0.1
    post-up iptables -F
iface eth0 inet manual
    bond-master bond0
iface eth1 inet manual
    bond-master bond0
`
	in := wantedHost(t, `      ethernets: {eth0: {}, eth1: {}}
      bonds:
        bond0: {interfaces: [eth0, eth1], mtu: 9000, addresses: [10.0.0.2/24, 10.0.0.3/24], parameters: {mode: active-backup, min-links: 1}, routes: [{to: 10.9.0.0/16, via: 10.0.0.1}, {to: 10.7.0.0/16, via: 10.0.0.1}]}
`)
	in.Old = map[string]string{mainFile: old}
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	want := `auto bond0
iface bond0 inet static
    address 10.0.0.2/24
    bond_slaves none
    bond-mode active-backup
    bond-min-links 1
    mtu 9000
    post-up ip route add 10.9.0.0/16 via 10.0.0.1
    post-up iptables -F
    post-up ip address add 10.0.0.3/24 dev bond0 || true
    post-up ip route replace 10.7.0.0/16 via 10.0.0.1 dev bond0
iface eth0 inet manual
    bond-master bond0
iface eth1 inet manual
    bond-master bond0
`
	if diff := cmp.Diff(want, out.Files[0].Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUpdateStanzas: several stanzas of a family are one device, and one without a
// family has both.
func TestUpdateStanzas(t *testing.T) {
	for _, c := range []struct{ name, network, old, want string }{
		{"a stanza for each address", "      ethernets: {eth0: {addresses: [10.0.0.2/24, 10.0.0.4/24]}}\n",
			"auto eth0\niface eth0 inet static\n  address 10.0.0.2/24\niface eth0 inet static\n  address 10.0.0.3/24\niface eth0 inet static\n  address 10.0.0.4/24\n",
			"auto eth0\niface eth0 inet static\n  address 10.0.0.2/24\niface eth0 inet static\n  address 10.0.0.4/24\n"},
		{"a lease beside an address", "      ethernets: {eth0: {dhcp4: true, addresses: [10.0.0.2/24]}}\n",
			"auto eth0\niface eth0 inet dhcp\niface eth0 inet static\n  address 10.0.0.2/24\n", ""},
		{"a gateway that nobody speaks of, and a pattern of ports", "      ethernets: {eth0: {addresses: [10.0.0.2/24], routes: [{to: 10.9.0.0/16, via: 10.0.0.9}]}, eth1: {}}\n      bridges: {br0: {interfaces: [eth1]}}\n",
			"auto eth0\niface eth0 inet static\n  address 10.0.0.2/24\n  gateway 10.0.0.1\niface br0 inet manual\n  bridge-ports regex eth[1-9]\n",
			"auto eth0\niface eth0 inet static\n  address 10.0.0.2/24\n  gateway 10.0.0.1\n  post-up ip route replace 10.9.0.0/16 via 10.0.0.9 dev eth0\niface br0 inet manual\n  bridge-ports regex eth[1-9]\n"},
		{"no family", "      ethernets: {eth0: {mtu: 9000, addresses: [10.0.0.2/24, \"fd00::2/64\"]}}\n",
			"auto eth0\niface eth0\n  address 10.0.0.2/24\n  address fd00::2/64\n", "auto eth0\niface eth0\n  address 10.0.0.2/24\n  address fd00::2/64\n  mtu 9000\n"},
	} {
		in := wantedHost(t, c.network)
		in.Old = map[string]string{mainFile: c.old}
		out, err := Write(in)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			c.want = c.old
		}
		if diff := cmp.Diff(c.want, out.Files[0].Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestRemove takes a device out of the file, and its name from the line that brings it
// up.
func TestRemove(t *testing.T) {
	in := wantedHost(t, "      ethernets: {eth0: {dhcp4: true}}\n    absent: [bond9]\n")
	in.Old = map[string]string{mainFile: "auto eth0 bond9\niface eth0 inet dhcp\n\niface bond9 inet manual\n  bond-slaves none\n\n# last\n"}
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := "auto eth0\niface eth0 inet dhcp\n\n\n# last\n"; out.Files[0].Text != want {
		t.Errorf("%q, want %q", out.Files[0].Text, want)
	}
}

// FuzzRead: no text makes the reader fall over, what it finds is a fabric, and writing
// it over the text and reading again finds the same.
func FuzzRead(f *testing.F) {
	f.Add(proxmox, "auto eth0\niface eth0 inet dhcp\n")
	f.Add("auto b\niface b inet manual\n ovs_type OVSBond\n ovs_bridge v\n ovs_bonds e1 e2\n ovs_options bond_mode=balance-slb lacp=active other_config:a=b tag=1\n",
		"auto v\niface v inet static\n ovs_type OVSBridge\n ovs_ports b t x\n ovs_mtu 9000\niface t inet manual\n ovs_type OVSIntPort\n ovs_bridge v\n ovs_options tag=7\n")
	f.Add("iface a inet static inherits a\n address 1.2.3.4\n", "mapping x\n")
	f.Fuzz(func(t *testing.T, text, more string) {
		if len(text)+len(more) > 4000 {
			return
		}
		files := map[string]string{mainFile: text, Dir + "interfaces.d/x": more}
		found, err := Read(files)
		if err != nil {
			return
		}
		file, err := fabric.Parse("f.yaml", found.FabricFile("h"))
		if err != nil {
			t.Fatalf("%v\n%s", err, found.FabricFile("h"))
		}
		h, _ := file.Host("h")
		state, err := file.State("h")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = Write(render.Input{Host: h, State: state, Old: files})
	})
}
