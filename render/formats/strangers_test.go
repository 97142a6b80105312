package formats

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
)

// stranger are files as others have them: what the fabric must say, what must be said of
// the lines that it cannot hold, and what neither may say.
type stranger struct {
	name   string
	format render.Format
	files  map[string]string
	// says are parts of the fabric file, unread the beginnings of lines ("PLACE: KEY"),
	// never what no line and no fabric has.
	says, unread, never []string
}

// strangers are kinds of files that public repositories have. Excerpts: nmstate's
// examples (Apache-2.0), puppet-network's fixtures (Apache-2.0), NetworkManager's
// test files (LGPL-2.1-or-later) and wicked's samples (GPL-2.0), in short and with
// other names.
var strangers = []stranger{
	{"nmstate: a bond that a bridge and a VLAN name before it stands there", render.FormatNmstate, map[string]string{"s.yml": `interfaces:
  - {name: vlan29, type: vlan, state: up, vlan: {base-iface: bond0, id: 29}}
  - {name: br0, type: linux-bridge, state: up, bridge: {port: [{name: bond0}]}}
  - name: bond0
    type: bond
    link-aggregation: {mode: active-backup, port: [eth1, eth2]}
`}, []string{"bonds:", "mode: active-backup", "link: bond0"}, nil, []string{"already", "bond0: {}"}},
	{"nmstate: a port names its controller", render.FormatNmstate, map[string]string{"s.yml": `interfaces:
  - {name: eth1, type: ethernet, state: up, controller: bond0}
  - {name: eth2, type: ethernet, state: up, controller: bond0}
  - {name: bond0, type: bond, link-aggregation: {mode: balance-xor}}
  - {name: eth3, type: ethernet, state: up, controller: br7}
`}, []string{"interfaces:\n            - eth1\n            - eth2\n"}, []string{"s.yml:5:57: interfaces.eth3.controller"}, nil},
	{"nmstate: name servers stand before the interfaces", render.FormatNmstate, map[string]string{"s.yml": `dns-resolver:
  config:
    search: [example.com]
    server: [192.0.2.53]
    options: [rotate]
routes:
  config:
    - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eth1}
    - {next-hop-interface: eth1, state: absent}
route-rules:
  config:
    - {route-table: 254, state: absent}
    - {ip-from: 192.0.2.0/24, route-table: 7, priority: 9}
interfaces:
  - {name: eth0, type: ethernet, state: up}
  - name: eth1
    type: ethernet
    ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}
`}, []string{"eth1:\n          addresses:\n            - 192.0.2.10/24\n          nameservers:", "- 192.0.2.53", "- example.com", "table: 7"},
		[]string{"s.yml:5:14: dns-resolver.config.options", "s.yml:9:41: routes.config.state", "s.yml:12:33: route-rules.config.state"}, []string{"no interface"}},
	{"nmstate: what an interface says below its keys", render.FormatNmstate, map[string]string{"s.yml": `interfaces:
  - name: eth1
    type: ethernet
    lldp: {enabled: true}
    accept-all-mac-addresses: true
    ethernet:
      auto-negotiation: false
      speed: 10000
      duplex: full
      sr-iov: {total-vfs: 2}
    ethtool:
      pause: {rx: true}
      ring: {rx: 512, rx-mini: 16}
    ipv4: {enabled: true, dhcp: true, dhcp-client-id: mac, auto-gateway: false}
    ipv6: {enabled: false}
  - name: br0
    type: linux-bridge
    bridge:
      options: {multicast-snooping: false, mac-ageing-time: 60, group-forward-mask: 8, stp: {enabled: false}}
      port: [{name: eth1, stp-hairpin-mode: true}]
  - {name: eth1.4, type: vlan, vlan: {base-iface: eth1, id: 4, reorder-headers: false}}
`}, []string{"ageing-time: 60", "rx: 512", "dhcp4: true", "link-local: []"},
		[]string{"s.yml:4:11: interfaces.eth1.lldp", "s.yml:5:31: interfaces.eth1.accept-all-mac-addresses", "s.yml:7:25: interfaces.eth1.ethernet.auto-negotiation",
			"s.yml:8:14: interfaces.eth1.ethernet.speed", "s.yml:10:15: interfaces.eth1.ethernet.sr-iov", "s.yml:12:14: interfaces.eth1.ethtool.pause", "s.yml:13:32: interfaces.eth1.ethtool.ring.rx-mini",
			"s.yml:14:55: interfaces.eth1.ipv4.dhcp-client-id", "s.yml:14:74: interfaces.eth1.ipv4.auto-gateway", "s.yml:19:37: interfaces.br0.bridge.options.multicast-snooping",
			"s.yml:19:85: interfaces.br0.bridge.options.group-forward-mask", "s.yml:20:45: interfaces.br0.bridge.port.stp-hairpin-mode", "s.yml:21:81: interfaces.eth1.4.vlan.reorder-headers"}, nil},
	{"nmstate: nothing but what is to go", render.FormatNmstate, map[string]string{"s.yml": "interfaces:\n  - {name: br7, type: linux-bridge, state: absent}\n"},
		[]string{"absent:", "- br7"}, nil, nil},
	{"SUSE: the host's routes, a device's rules, ethtool's options", render.FormatIfcfg, map[string]string{
		"etc/sysconfig/network/ifcfg-eth0":       "STARTMODE='auto'\nBOOTPROTO='static'\nIPADDR='192.0.2.8/24'\nETHTOOL_OPTIONS='-K eth0 gro off'\nREMOTE_IPADDR=''\nUSERCONTROL='no'\n",
		"etc/sysconfig/network/ifcfg-bond1":      "BONDING_MASTER=yes\nBONDING_SLAVE_0=eth1\nBONDING_SLAVE_1=eth2\nBONDING_MODULE_OPTS='mode=4 miimon=100'\n",
		"etc/sysconfig/network/ifcfg-bond1.1001": "STARTMODE=auto\nNETMASK=255.255.255.0\nIPADDR=198.51.100.1\nETHERDEVICE=bond1\nVLAN_ID=1001\n",
		"etc/sysconfig/network/routes":           "default 192.0.2.1 - -\n10.1.0.0/16 192.0.2.9 - eth0 table 200\n10.2.0.0/16 198.51.100.9\n10.3.0.0/16 203.0.113.9 - -\n10.4.0.0/16 192.0.2.9 - eth7\n",
		"etc/sysconfig/network/ifrule-eth0":      "ipv4 priority 30 from 192.0.2.8 table 200\n",
	}, []string{"{to: default, via: 192.0.2.1}", "{to: 10.1.0.0/16, via: 192.0.2.9, table: 200}", "via: 198.51.100.9", "priority: 30", "generic-receive-offload: false"},
		[]string{"etc/sysconfig/network/routes:4: routes", "etc/sysconfig/network/routes:5: routes"}, []string{"REMOTE_IPADDR", "USERCONTROL"}},
	{"RHEL: a VLAN and a bridge on devices without a file, the host's gateway, a port's queue", render.FormatIfcfg, map[string]string{
		"etc/sysconfig/network":                                   "NETWORKING=yes\nHOSTNAME=a.example\nGATEWAY=192.0.2.1\nNOZEROCONF=yes\nVLAN=yes\n",
		"etc/sysconfig/network-scripts/ifcfg-storage":             "DEVICE=storage\nVLAN=yes\nVLAN_ID=44\nPHYSDEV=eth9\nIPADDR=192.0.2.149\nPREFIX=24\n",
		"etc/sysconfig/network-scripts/ifcfg-eth1":                "DEVICE=eth1\nMASTER=bond0\nSLAVE=yes\nBOND_PORT_QUEUE_ID=1\n",
		"etc/sysconfig/network-scripts/ifcfg-eth2":                "\n\nDEVICE=eth2\nTEAM_MASTER=team7\n",
		"etc/sysconfig/network-scripts/ifcfg-an-ever-longer-name": "TYPE=Ethernet\nIPADDR=198.51.100.7\nPREFIX=24\n",
		"etc/sysconfig/network-scripts/ifcfg-lo":                  "DEVICE=lo\nIPADDR=127.0.0.1\nNETMASK=255.0.0.0\nIPADDR1=198.51.100.77\nPREFIX1=32\n",
		"etc/sysconfig/network-scripts/ifcfg-Office Wire":         "DEVICE=eth5\nIPADDR=203.0.113.5\nPREFIX=24\n",
		"etc/sysconfig/network-scripts/ifcfg-eth5":                "DEVICE=eth5\nIPADDR=203.0.113.6\nPREFIX=24\n",
	}, []string{"link: eth9", "eth9: {}", "{to: default, via: 192.0.2.1}", "queue_id: 1"},
		[]string{"etc/sysconfig/network-scripts/ifcfg-eth2:4: TEAM_MASTER", "etc/sysconfig/network-scripts/ifcfg-lo:4: IPADDR1", "etc/sysconfig/network-scripts/ifcfg-Office Wire:1: DEVICE", "etc/sysconfig/network-scripts/ifcfg-an-ever-longer-name:1: DEVICE"},
		[]string{"left out with all of network.vlans"}},
	{"NetworkManager: a VLAN on a device without a connection, its places", render.FormatKeyfile, map[string]string{
		"vlan.nmconnection": "[connection]\nid=v\ntype=vlan\ninterface-name=v444\n\n[vlan]\nid=444\nparent=em1\n\n[ipv4]\nmethod=manual\naddress1=192.0.2.7/24\ndns=192.0.2.53;bogus;\n",
		"eth.nmconnection":  "[connection]\nid=e\ntype=ethernet\ninterface-name=em2\n\n[ethernet]\nmtu=1400\n\n[ipv4]\nmethod=manual\naddresses1=192.0.2.5;24;192.0.2.1;\naddress2=198.51.100.1/24\naddresses3=198.51.100.1;25;0.0.0.0;\nroutes1=10.0.0.0;8;192.0.2.9;99;\n\n[tc]\nqdisc.root=handle 1234 fq_codel\n",
	}, []string{"link: em1", "em1: {}", "192.0.2.5/24", "{to: default, via: 192.0.2.1}", "{to: 10.0.0.0/8, via: 192.0.2.9, metric: 99}"},
		[]string{"eth.nmconnection:13:1: network.ethernets.em2.addresses", "eth.nmconnection:17:12: links.em2.qdisc", "vlan.nmconnection:13: [ipv4] dns"}, []string{":0:"}},
	{"SUSE: a bond that its options and ports alone make, a bridge's times", render.FormatIfcfg, map[string]string{
		"etc/sysconfig/network/ifcfg-bond0": "BONDING_SLAVE2=eth1\nBONDING_SLAVE1=eth0\nBONDING_MODULE_OPTS='mode=active-backup miimon=100'\nIPADDR=192.0.2.1/24\n",
		"etc/sysconfig/network/ifcfg-br0":   "BOOTPROTO='dhcp'\nBRIDGE='yes'\nBRIDGE_PORTS='eth2'\nBRIDGE_STP='on'\nBRIDGE_FORWARDDELAY='5'\n",
		"etc/sysconfig/network/ifcfg-d0":    "INTERFACETYPE=dummy\nIPADDR=198.51.100.1/32\n",
		"etc/sysconfig/network/ifcfg-d1:0":  "IPADDR=198.51.100.2/32\n",
	}, []string{"mode: active-backup", "- eth0\n            - eth1", "stp: true", `forward-delay: "5"`, "dummy-devices:"},
		[]string{"etc/sysconfig/network/ifcfg-d1:0:1: ifcfg"}, []string{"ethernets already", "INTERFACETYPE"}},
	{"systemd-networkd: a byte order mark, and a rule of which one line is not read", render.FormatNetworkd, map[string]string{
		"x.network": "\ufeff[Match]\r\nName=eth7\r\n\r\n[Network]\r\nAddress=192.0.2.7/24\r\n\r\n[RoutingPolicyRule]\r\nFirewallMark=9\r\nInvertRule=true\r\nTable=7\r\n",
	}, []string{"eth7:", "192.0.2.7/24"}, []string{"x.network:9: [RoutingPolicyRule] InvertRule: a fabric cannot represent it: the whole section is left out"}, []string{"table: 7"}},
	{"interfaces(5): a bridge's ports that are named as VLANs, of a bond and of a card", render.FormatIfupdown, map[string]string{"interfaces": "auto bond1\niface bond1\n  bond-slaves swp19 swp20\n  bond-mode 802.3ad\n\nauto vlan10\niface vlan10\n  bridge-ports bond1.10 swp1.10\n  address 10.10.10.11/24\n"},
		[]string{"bond1.10:\n          id: 10\n          link: bond1\n", "swp1.10:\n          id: 10\n          link: swp1\n", "swp1: {}"}, nil, []string{"bond1.10: {}"}},
	{"interfaces(5): options of Open vSwitch that a fabric has no word for are named", render.FormatIfupdown, map[string]string{"interfaces": "auto br0\niface br0 inet manual\n ovs_type OVSBridge\n ovs_ports bond1\n\niface bond1 inet manual\n ovs_bridge br0\n ovs_type OVSBond\n ovs_bonds eth0 eth1\n ovs_options bond_mode=balance-tcp lacp=active bond_updelay=2000\n"},
		[]string{"mode: balance-tcp", "lacp: active"}, []string{"interfaces:10: ovs-options bond_updelay"}, nil},
	{"Talos: a link that only its driver tells is no device of its alias' name", render.FormatTalos, map[string]string{"m.yaml": "apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: net0\nselector:\n  match: link.driver == \"atlantic\"\n---\napiVersion: v1alpha1\nkind: BondConfig\nname: bond0\nlinks:\n  - net0\n  - enp9s0\nbondMode: active-backup\nmtu: 9000\n"},
		[]string{"bond0:", "- enp9s0", "mtu: 9000"}, []string{"m.yaml:1:1: LinkAliasConfig net0"}, []string{"net0: {}\n", "- net0"}},
	{"systemd-networkd: seconds that were meant as milliseconds, and those that were not", render.FormatNetworkd, map[string]string{"b.netdev": "[NetDev]\nName=bond0\nKind=bond\n\n[Bond]\nMode=active-backup\nMIIMonitorSec=100\nUpDelaySec=2\nDownDelaySec=200ms\n"},
		[]string{"mii-monitor-interval: 100000", "up-delay: 2000", "down-delay: 200"}, []string{"b.netdev:7: [Bond] MIIMonitorSec"}, []string{"[Bond] UpDelaySec", "[Bond] DownDelaySec"}},
	{"Ubuntu's installer: its network, and nothing else of it", render.FormatNetplan, map[string]string{"user-data.yaml": "#cloud-config\nautoinstall:\n  version: 1\n  network:\n    version: 2\n    ethernets: {eth1: {mtu: 99999999, dhcp4: true}}\n    bonds: {bond0: {interfaces: [eth1]}}\n  storage: {layout: {name: lvm}}\n"},
		[]string{"bond0:", "dhcp4: true"}, []string{"user-data.yaml:6:29: network.ethernets.eth1.mtu"}, []string{"storage", "autoinstall"}},
	{"Ubuntu's installer: network twice", render.FormatNetplan, map[string]string{"a.yaml": "autoinstall:\n  version: 1\n  network: {network: {version: 2, ethernets: {eth1: {dhcp4: true}}}}\n"}, []string{"eth1: {dhcp4: true}"}, nil, []string{"network.network"}},
	{"cloud-init's network-config", render.FormatNetplan, map[string]string{"network-config.yaml": "version: 2\nethernets:\n  eth1: {dhcp4: true}\n"}, []string{"eth1:", "dhcp4: true"}, nil, nil},
	{"NetworkManager: what nmcli writes into every file, and what a port's says of addresses it cannot have", render.FormatKeyfile, map[string]string{
		"bond0.nmconnection": "[connection]\nid=bond0\ntype=bond\ninterface-name=bond0\ntimestamp=1\n\n[ethernet]\n\n[bond]\nmode=active-backup\n\n[ipv4]\naddress1=192.0.2.5/24\nmethod=manual\n\n[ipv6]\naddr-gen-mode=default\nmethod=auto\n\n[proxy]\n",
		"eth1.nmconnection":  "[connection]\nid=eth1\ntype=ethernet\ninterface-name=eth1\ncontroller=bond0\nport-type=bond\n\n[ipv4]\nmethod=disabled\n\n[ipv6]\naddr-gen-mode=stable-privacy\nmethod=ignore\n",
		"eth2.nmconnection":  "[connection]\nid=eth2\ntype=ethernet\ninterface-name=eth2\ncontroller=bond0\nport-type=bond\n\n[ipv4]\nmethod=manual\naddress1=198.51.100.7/24\n",
		"eth3.nmconnection":  "[connection]\nid=eth3\ntype=ethernet\ninterface-name=eth3\n\n[ipv6]\naddr-gen-mode=stable-privacy\nmethod=auto\n",
	}, []string{"interfaces: [eth1, eth2]", "ipv6-address-generation: stable-privacy"}, []string{"eth2.nmconnection:9: [ipv4] method", "eth2.nmconnection:10: [ipv4] address1"}, []string{"bond0.nmconnection:", "eth1.nmconnection:", "eth3.nmconnection:"}},
	{"ifcfg: ranges of addresses, aliases that do not come up with their device, and one whose DEVICE is another", render.FormatIfcfg, map[string]string{
		"etc/sysconfig/network-scripts/ifcfg-eth0":        "DEVICE=eth0\nBOOTPROTO=none\nONBOOT=yes\nIPADDR=192.0.2.1\nPREFIX=24\n",
		"etc/sysconfig/network-scripts/ifcfg-eth0:1":      "DEVICE=eth0:1\nONPARENT=no\nIPADDR=192.0.2.2\nPREFIX=24\n",
		"etc/sysconfig/network-scripts/ifcfg-eth0:2":      "DEVICE=eth0:3\nONPARENT=yes\nIPADDR=192.0.2.3\nPREFIX=24\n",
		"etc/sysconfig/network-scripts/ifcfg-eth1":        "DEVICE=eth1\nBOOTPROTO=dhcp\nIPV6INIT=perhaps\nPEERDNS=maybe\n",
		"etc/sysconfig/network-scripts/ifcfg-eth0-range0": "IPADDR_START=192.0.2.5\nIPADDR_END=192.0.2.7\nPREFIX=24\nCLONENUM_START=5\n",
		"etc/sysconfig/network-scripts/ifcfg-eth0-range1": "IPADDR_START=192.0.2.9\nIPADDR_END=192.0.3.9\nPREFIX=24\n",
	}, []string{"192.0.2.1/24", "192.0.2.3/24", "- 192.0.2.5/24: {label: eth0:5}", "- 192.0.2.7/24: {label: eth0:7}"}, []string{"etc/sysconfig/network-scripts/ifcfg-eth0:1:2: ONPARENT", "etc/sysconfig/network-scripts/ifcfg-eth0:2:1: DEVICE", "etc/sysconfig/network-scripts/ifcfg-eth1:3: IPV6INIT", "etc/sysconfig/network-scripts/ifcfg-eth1:4: PEERDNS", "etc/sysconfig/network-scripts/ifcfg-eth0-range1:2: IPADDR_END"}, []string{"192.0.2.2/24", "  eth0-range"}},
	{"RHEL: what an installer writes into every file, and what a port's says of addresses it cannot have", render.FormatIfcfg, map[string]string{
		"ifcfg-ens1":  "TYPE=\"Ethernet\"\nPROXY_METHOD=\"none\"\nBROWSER_ONLY=\"no\"\nBOOTPROTO=\"none\"\nDEFROUTE=\"yes\"\nIPV4_FAILURE_FATAL=\"no\"\nIPV6INIT=\"yes\"\nIPV6_AUTOCONF=\"yes\"\nIPV6_DEFROUTE=\"yes\"\nIPV6_FAILURE_FATAL=\"no\"\nIPV6_ADDR_GEN_MODE=\"stable-privacy\"\nNAME=ens1\nDEVICE=ens1\nONBOOT=yes\nIPADDR=192.0.2.5\nPREFIX=24\nPEERDNS=no\nHOTPLUG=no\n",
		"ifcfg-eth1":  "DEVICE=eth1\nBOOTPROTO=dhcp\nDEFROUTE=yes\nPEERDNS=yes\nIPV6_AUTOCONF=yes\nIPV4_FAILURE_FATAL=no\nMASTER=bond0\nSLAVE=yes\n",
		"ifcfg-eth2":  "DEVICE=eth2\nIPADDR=198.51.100.7\nNETMASK=255.255.255.0\nGATEWAY=198.51.100.1\nMASTER=bond0\nSLAVE=yes\n",
		"ifcfg-bond0": "DEVICE=bond0\nBONDING_OPTS=mode=4\nBOOTPROTO=none\n",
	}, []string{"ipv6-address-generation: stable-privacy", "192.0.2.5/24", "eth1: {}", "eth2: {}"}, []string{"ifcfg-eth2:2: IPADDR", "ifcfg-eth2:4: GATEWAY"}, []string{"ifcfg-ens1:", "ifcfg-eth1:", "dhcp4", "NETMASK"}},
	{"RHEL: IPv6 that is off; SUSE: what says nothing more", render.FormatIfcfg, map[string]string{
		"ifcfg-bond1": "BONDING_OPTS=\"lacp_rate=1 miimon=100 mode=802.3ad xmit_hash_policy=1\"\nTYPE=Bond\nIPV6INIT=no\nIPV6_AUTOCONF=yes\nDEVICE=bond1\nONBOOT=yes\nAUTOCONNECT_SLAVES=yes\n",
		"ifcfg-vlan2": "IPADDR='10.1.1.1/16'\nPREFIXLEN='16'\nETHERDEVICE='bond1'\nVLAN_ID=2\nVLAN_PROTOCOL='ieee802-1Q'\nVLAN='yes'\nSTARTMODE='auto'\n",
	}, []string{"link-local: []", "10.1.1.1/16"}, nil, []string{"accept-ra", "ifcfg-bond1:", "ifcfg-vlan2:"}},
	{"SUSE, RHEL: names that are no interface's, in what ties devices together", render.FormatIfcfg, map[string]string{
		"ifcfg-bond0": "BONDING_MASTER=yes\nBONDING_MODULE_OPTS=mode=1\nBONDING_SLAVE0=eth0\nBONDING_SLAVE1=bus-pci-0000:06:08.1\nBOOTPROTO=no\n",
		"ifcfg-eth5":  "DEVICE=eth5\nMASTER=8d2dcdd5-7b13-4f7f-9d5e-000000000001\nSLAVE=yes\n",
	}, []string{"- eth0\n"}, []string{"ifcfg-bond0:4: BONDING_SLAVE1", "ifcfg-eth5:2: MASTER"}, []string{"BOOTPROTO"}},
	{"systemd-networkd: a VLAN's name that a template has not filled in", render.FormatNetworkd, map[string]string{"a.network": "[Match]\nName=bond0\n\n[Network]\nVLAN=bond0.<vlan tag>\n"}, []string{"bond0"}, []string{"a.network:5: [Network] VLAN"}, nil},
	{"interfaces(5): masters and ports that a template has not filled in", render.FormatIfupdown, map[string]string{"interfaces": "auto eth0\niface eth0 inet manual\n bond-master {{bond}}\nauto br0\niface br0 inet manual\n ovs_type OVSBridge\n ovs_ports eth1 $PORT*\n"},
		[]string{"eth0: {}", "- eth1"}, []string{"interfaces:3: bond-master", "interfaces:7: ovs-ports"}, nil},
	{"NetworkManager: keys without a value", render.FormatKeyfile, map[string]string{"a.nmconnection": "[connection]\nid=a\ntype=ethernet\ninterface-name=eth1\npermissions=\n\n[ethernet]\nmac-address-blacklist=\n\n[ipv4]\ndns-search=\nmethod=auto\n"}, []string{"dhcp4: true"}, nil, []string{"a.nmconnection:"}},
	{"RHEL: Open vSwitch", render.FormatIfcfg, map[string]string{
		"ifcfg-ovsbr0": "DEVICE=ovsbr0\nONBOOT=yes\nDEVICETYPE=ovs\nTYPE=OVSBridge\nIPADDR=192.0.2.4\nNETMASK=255.255.255.0\n",
		"ifcfg-bond0":  "DEVICE=bond0\nDEVICETYPE=ovs\nTYPE=OVSBond\nOVS_BRIDGE=ovsbr0\nBOND_IFACES=\"eth1 eth2\"\nOVS_OPTIONS=\"bond_mode=balance-tcp lacp=active bond_updelay=9\"\n",
		"ifcfg-vlan7":  "DEVICE=vlan7\nDEVICETYPE=ovs\nTYPE=OVSIntPort\nOVS_BRIDGE=ovsbr0\nOVS_OPTIONS=\"tag=7\"\nBOOTPROTO=dhcp\n",
		"ifcfg-tun0":   "DEVICE=tun0\nDEVICETYPE=ovs\nTYPE=OVSTunnel\nOVS_BRIDGE=ovsbr0\n",
	}, []string{"openvswitch: {lacp: active}", "mode: balance-tcp", "- eth1\n            - eth2\n", "interfaces:\n            - bond0\n", "id: 7", "link: ovsbr0", "192.0.2.4/24"},
		[]string{"ifcfg-bond0:6: OVS_OPTIONS", "ifcfg-tun0:3: TYPE"}, []string{"tun0:\n", "tun0: {}"}},
	{"NetworkManager: the table of a connection's routes", render.FormatKeyfile, map[string]string{"a.nmconnection": "[connection]\nid=a\ntype=ethernet\ninterface-name=eth1\n\n[ipv4]\nmethod=manual\naddress1=192.0.2.5/24,192.0.2.1\nroute-table=200\nroute1=10.0.0.0/8,192.0.2.9\nroute2=10.9.0.0/16,192.0.2.9\nroute2_options=table=7\n\n[ipv6]\nmethod=disabled\n"},
		[]string{"{to: default, via: 192.0.2.1, table: 200}", "{to: 10.0.0.0/8, via: 192.0.2.9, table: 200}", "{to: 10.9.0.0/16, via: 192.0.2.9, table: 7}"}, []string{"a.nmconnection:9: [ipv4] route-table"}, nil},
	{"systemd-networkd: rules for all traffic", render.FormatNetworkd, map[string]string{"a.network": "[Match]\nName=eth1\n[RoutingPolicyRule]\nTable=7\nPriority=100\n[RoutingPolicyRule]\nFamily=ipv6\nTable=8\n[RoutingPolicyRule]\nFamily=both\nTable=9\n"},
		[]string{"{table: 7, priority: 100, from: 0.0.0.0/0}", "{table: 8, from: \"::/0\"}"}, []string{"a.network:10: [RoutingPolicyRule] Family"}, []string{"table: 9"}},
	{"NetworkManager: a gateway that is no default route", render.FormatKeyfile, map[string]string{"a.nmconnection": "[connection]\nid=a\ntype=ethernet\ninterface-name=eth1\n\n[ipv4]\nmethod=manual\naddress1=192.0.2.5/24,192.0.2.1\nnever-default=true\n\n[ipv6]\nmethod=disabled\n"},
		[]string{"192.0.2.5/24"}, nil, []string{"default", "eth1:6"}},
	{"nmstate: JSON, of a bond that another policy makes", render.FormatNmstate, map[string]string{"p.yaml": `{
  "kind": "NodeNetworkConfigurationPolicy",
  "spec": {
    "desiredState": {
      "interfaces": [
        {"name": "br1", "type": "linux-bridge", "state": "up",
         "bridge": {"port": [{"name": "bond0"}]}}
      ]
    }
  }
}
`}, []string{"- bond0"}, []string{"p.yaml:7:30: ethernets.bond0"}, nil},
	{"systemd-networkd: a file for all links, one that a pattern's hides, a VLAN that nothing makes", render.FormatNetworkd, map[string]string{
		"10-all.network":  "[Match]\nName=en*\n\n[Network]\nDHCP=both\nDNS=1.1.1.1#one.example 9.9.9.9\n",
		"20-eno1.network": "[Match]\nName=eno1\n\n[Network]\nBond=bond0\n",
		"30-eth1.network": "[Match]\nName=eth1\n\n[Network]\nBond=bond0\nVLAN=eth1.9\nDHCP=none\n",
		"40-none.network": "[Match]\nPermanentMACAddress=\n\n[Network]\nBond=bond0\n",
		"50-b.netdev":     "[NetDev]\nName=bond0\nKind=bond\n",
	}, []string{"bond0:\n          interfaces:\n            - eth1\n", "dhcp4: true", "dhcp6: true", "- 1.1.1.1\n              - 9.9.9.9"},
		[]string{"10-all.network:6: [Network] DNS", "20-eno1.network:1: [Match]", "30-eth1.network:6:1: vlans.eth1.9", "40-none.network:1: [Match]"}, []string{"- eno1", "missing key"}},
	{"nmstate: an installer's hosts, of which one is read, with its links' addresses", render.FormatNmstate, map[string]string{"agent-config.yaml": `apiVersion: v1alpha1
kind: AgentConfig
hosts:
  - hostname: master1
    interfaces:
      - {name: eno1, macAddress: "00:EF:44:21:E6:A1"}
    networkConfig:
      interfaces:
        - {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, slaves: [eno1, eno2]}}
  - hostname: master2
    networkConfig:
      interfaces:
        - {name: eno9, type: ethernet, state: up}
`}, []string{"mode: active-backup", "macaddress: 00:ef:44:21:e6:a1", "eno2: {}"}, []string{"agent-config.yaml:12:7: master2"}, []string{"eno9"}},
	{"nmstate: NMStateConfig of an installer", render.FormatNmstate, map[string]string{"n.yaml": `apiVersion: agent-install.openshift.io/v1beta1
kind: NMStateConfig
metadata: {name: one}
spec:
  config:
    interfaces:
      - {name: bond9, type: bond, state: up, link-aggregation: {mode: balance-rr, port: [eth0, eth1]}}
  interfaces:
    - {name: eth0, macAddress: "02:00:00:80:12:14"}
`}, []string{"mode: balance-rr", "macaddress: 02:00:00:80:12:14"}, nil, nil},
	{"nmstate: policies of two nodes and of all", render.FormatNmstate, map[string]string{"p.yaml": `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
spec:
  nodeSelector: {kubernetes.io/hostname: bm1}
  desiredState:
    interfaces:
      - {name: eth1, type: ethernet, state: up, mtu: 9000}
---
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
spec:
  nodeSelector: {kubernetes.io/hostname: bm2}
  desiredState:
    interfaces:
      - {name: eth1, type: ethernet, state: up, mtu: 1400}
---
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
spec:
  desiredState:
    interfaces:
      - {name: eth3, type: ethernet, state: up}
`}, []string{"mtu: 9000", "eth3: {}"}, []string{"p.yaml:14:5: bm2"}, []string{"1400"}},
	{"Talos: a template of a cluster that holds it", render.FormatTalos, map[string]string{"omni.yaml": "kind: Machine\nname: a\npatches:\n  - name: NIC\n    inline:\n      machine:\n        network:\n          interfaces:\n            - interface: bond0\n              bond: {interfaces: [e1, e2], mode: 802.3ad, xmitHashPolicy: layer3+4}\n              vlans: [{vlanId: 8, addresses: [10.0.8.40/24]}]\n"},
		[]string{"mode: 802.3ad", "bond0.8:"}, nil, nil},
	{"Talos: a list of machines, of which one is read", render.FormatTalos, map[string]string{"talconfig.yaml": "clusterName: home\nnodes:\n  - hostname: one\n    networkInterfaces:\n      - interface: bond0\n        bond: {interfaces: [e1, e2], mode: active-backup, miimon: 100}\n    nameservers: [192.0.2.53]\n  - hostname: two\n    networkInterfaces:\n      - interface: e9\n"},
		[]string{"mode: active-backup", "192.0.2.53"}, []string{"talconfig.yaml:8:5: nodes.two"}, []string{"e9"}},
	{"netplan: keys at the wrong depth are told in the file's words, without a list of all", render.FormatNetplan, map[string]string{"a.yaml": "network:\n  version: 2\n  ethernets:\n    eth0: {}\n    bonds:\n      bond0:\n        interfaces: [eth0]\n"},
		[]string{"eth0: {}"}, []string{"a.yaml:6:7: network.ethernets.bonds.bond0"}, []string{"hosts.h", "accept-ra"}},
	{"interfaces(5): a name server that is none", render.FormatIfupdown, map[string]string{"interfaces": "auto eth0\niface eth0 inet static\n  address 192.0.2.7/24\n  dns-nameservers 192.0.2.53 {{ dns }}\n"},
		[]string{"192.0.2.53"}, []string{"interfaces:4: dns-nameservers"}, nil},
}

// TestStrangersFiles: what files of strangers say is in the fabric, or named with its
// place, and nothing else is.
func TestStrangersFiles(t *testing.T) {
	for _, c := range strangers {
		t.Run(c.name, func(t *testing.T) {
			if got := Guess(c.files); got != c.format && !strings.HasPrefix(c.name, "cloud-init") {
				t.Errorf("taken for %q", got)
			}
			found, err := Read(c.format, c.files)
			if err != nil {
				t.Fatal(err)
			}
			text := string(found.FabricFile("h"))
			says(t, text, c.says, nil)
			for _, want := range c.unread {
				if !slices.ContainsFunc(found.Unread, func(u render.Unread) bool { return strings.HasPrefix(u.String()+":", want+":") }) {
					t.Errorf("no line is %q", want)
				}
			}
			for _, u := range found.Unread {
				text += "\n" + u.String()
			}
			for _, never := range c.never {
				if strings.Contains(text, never) {
					t.Errorf("%q is said", never)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestReadAnyName: one file is read as what the user says it is, whatever its name.
func TestReadAnyName(t *testing.T) {
	for file, c := range map[string]struct {
		format render.Format
		text   string
	}{
		"/dev/stdin":       {render.FormatNetplan, "network: {version: 2, ethernets: {eth7: {dhcp4: true}}}\n"},
		"customer.txt":     {render.FormatNetplan, "network: {version: 2, ethernets: {eth7: {dhcp4: true}}}\n"},
		"/proc/self/fd/0":  {render.FormatKeyfile, "[connection]\nid=a\ntype=ethernet\ninterface-name=eth7\n"},
		"x/eth7.bak":       {render.FormatNetworkd, "[Match]\nName=eth7\n[Network]\nDHCP=yes\n"},
		"mail/ifcfg.txt":   {render.FormatIfcfg, "DEVICE=eth7\nBOOTPROTO=dhcp\n"},
		"mail/state.txt":   {render.FormatNmstate, "interfaces:\n- {name: eth7, type: ethernet, state: up, mtu: 1400}\n"},
		"mail/network.txt": {render.FormatIfupdown, "auto eth7\niface eth7 inet dhcp\n"},
	} {
		found, err := Read(c.format, map[string]string{file: c.text})
		if err != nil || !strings.Contains(string(found.FabricFile("h")), "eth7") {
			t.Errorf("%s as %s: %v", file, c.format, err)
		}
	}
}

// TestUnreadOfNothing: files of which nothing can be read say line by line why.
func TestUnreadOfNothing(t *testing.T) {
	for file, c := range map[string]struct {
		format render.Format
		text   string
		want   string
	}{
		"x/wifi.nmconnection":       {render.FormatKeyfile, "[connection]\nid=w\ntype=wifi\n\n[wifi]\nssid=a\n", "x/wifi.nmconnection:3: [connection] type:"},
		"x/ifcfg-Office_in_Paris_2": {render.FormatIfcfg, "TYPE=Ethernet\nIPADDR=192.0.2.3\nPREFIX=24\n", "x/ifcfg-Office_in_Paris_2:1: DEVICE:"},
		"x/state.yml":               {render.FormatNmstate, "interfaces:\n- {name: hsr0, type: hsr, state: up}\n", "x/state.yml:2:3: interfaces.hsr0:"},
		"x/machine.yaml":            {render.FormatTalos, "apiVersion: v1alpha1\nkind: WireguardConfig\nname: wg1\n", "x/machine.yaml:2:7: WireguardConfig wg1:"},
	} {
		found, err := Read(c.format, map[string]string{file: c.text})
		if !errors.Is(err, render.ErrEmpty) {
			t.Errorf("%s: %v, want ErrEmpty", file, err)
		}
		if len(found.Unread) == 0 || !strings.HasPrefix(found.Unread[0].String(), c.want) {
			t.Errorf("%s: told %v, want %s", file, found.Unread, c.want)
		}
	}
}

// TestWrittenOnly: files of formats that are written and not read are told as what they are.
func TestWrittenOnly(t *testing.T) {
	for file, c := range map[string]struct {
		text string
		want render.Format
	}{
		"etc/rc.conf":         {"ifconfig_ix0=\"up\"\ncloned_interfaces=\"lagg0\"\n", render.FormatFreeBSD},
		"sysctl.d/99-my.conf": {"# mine\nnet.core.default_qdisc = fq\n-net.ipv4.conf.all.rp_filter=2\n", render.FormatSysctl},
		"some.conf":           {"name = value\n", ""},
	} {
		files := map[string]string{file: c.text}
		if got, other := WrittenOnly(files), Guess(files); got != c.want || other != "" {
			t.Errorf("%s is taken for %q, of those that are read %q", file, got, other)
		}
	}
}
