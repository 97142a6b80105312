package archive

import (
	"path"
	"strconv"
	"strings"
	"testing"
)

// TestOf: real names of members, and what each is.
func TestOf(t *testing.T) {
	for name, want := range map[string]string{
		// sos, new and old
		"sosreport-a-2024-05-06-abcdefg/sos_commands/networking/ip_-s_-d_link":            "ip -s -d link",
		"sosreport-a/sos_commands/networking/ip_route_show_table_all":                     "ip route show table all",
		"sosreport-a/sos_commands/networking/ip_-4_rule":                                  "ip -4 rule",
		"sosreport-a/sos_commands/networking/ip_-4_rule_list":                             "ip -4 rule list",
		"sosreport-a/sos_commands/networking/ip_-o_addr":                                  "ip -o addr",
		"sosreport-a/sos_commands/networking/ip_-s_-s_neigh_show":                         "ip -s -s neigh show",
		"sosreport-a/sos_commands/networking/ip_-d_route_show_cache":                      "",
		"sosreport-a/sos_commands/networking/ip_maddr_show":                               "",
		"sosreport-a/sos_commands/networking/ip_netns":                                    "",
		"sosreport-a/sos_commands/networking/ip_netns_exec_red_ip_-d_address_show":        "",
		"sosreport-a/sos_commands/networking/namespaces/red/ip_netns_exec_red_ss_-peaonm": "",
		"sosreport-a/sos_commands/networking/ethtool_br_ex":                               "ethtool br_ex",
		"sosreport-a/sos_commands/networking/ethtool_-S_br_ex":                            "ethtool -S br_ex",
		"sosreport-a/sos_commands/networking/ethtool_-d_eno1":                             "",
		"sosreport-a/sos_commands/networking/ethtool_-m_eno1":                             "",
		"sosreport-a/sos_commands/networking/ethtool_--show-fec_eno1":                     "",
		"sosreport-a/sos_commands/networking/netstat_-W_-neopa":                           "netstat -W -neopa",
		"sosreport-a/sos_commands/networking/netstat_-W_-agn":                             "",
		"sosreport-a/sos_commands/networking/netstat_-s":                                  "netstat -s",
		"sosreport-a/sos_commands/networking/ss_-peaonmi":                                 "ss -peaonmi",
		"sosreport-a/sos_commands/networking/ss_-s":                                       "",
		"sosreport-a/sos_commands/networking/tc_-s_qdisc_show":                            "tc -s qdisc show",
		"sosreport-a/sos_commands/networking/bridge_-s_-s_-d_-t_fdb_show":                 "",
		"sosreport-a/sos_commands/kernel/dmesg_-T":                                        "dmesg -T",
		"sosreport-a/sos_commands/logs/journalctl_--no-pager":                             "journalctl --no-pager",
		"sosreport-a/sos_commands/logs/journalctl_--disk-usage":                           "",
		"sosreport-a/sos_commands/teamd/teamdctl_team_0_state_dump":                       "teamdctl team_0 state dump",
		"sosreport-a/sos_commands/openvswitch/ovs-appctl_bond.show":                       "ovs-appctl bond/show",
		"sosreport-a/sos_commands/openvswitch/ovs-appctl_coverage.show":                   "",
		"sosreport-a/sos_commands/openvswitch/ovs-vsctl_-t_5_show":                        "ovs-vsctl -t 5 show",
		"sosreport-a/sos_commands/processor/lscpu_-ae":                                    "",
		"sosreport-a/sos_commands/pci/lspci_-nnvv":                                        "lspci -nnvv",
		"sosreport-a/sos_commands/pci/lspci_-tv":                                          "",
		"sosreport-a/sos_commands/nfs/nfsstat_-o_all":                                     "",
		"insights_commands/ip_-s_-d_link":                                                 "ip -s -d link",
		"sosreport-a/proc/self/net/bonding/bond0":                                         "/proc/net/bonding/bond0",
		"sosreport-a/proc/4711/net/bonding/bond0":                                         "/proc/net/bonding/bond0",
		"sosreport-a/proc/4711/status":                                                    "",
		"sosreport-a/proc/net/tcp":                                                        "",
		"sosreport-a/etc/sysctl.conf":                                                     "",
		"sosreport-a/etc/NetworkManager/system-connections/bond0.nmconnection":            "/etc/NetworkManager/system-connections/bond0.nmconnection",
		"sosreport-a/etc/sysconfig/network-scripts/ifcfg-bond0":                           "/etc/sysconfig/network-scripts/ifcfg-bond0",
		"sosreport-a/etc/sysconfig/network-scripts/ifcfg-bond0.bak":                       "",
		"sosreport-a/etc/sysconfig/network-scripts/ifcfg-lo":                              "",
		"sosreport-a/etc/shadow":                                                          "",
		"sosreport-a/var/lib/docker/overlay2/1/diff/etc/network/interfaces":               "",
		"var/tmp/sosreport-a-2024-05-06-abcdefg/etc/netplan/01-netcfg.yaml":               "/etc/netplan/01-netcfg.yaml",
		// a copied tree
		"copy/sys/class/net/bond0/bonding/xmit_hash_policy":                       "/sys/class/net/bond0/bonding/xmit_hash_policy",
		"copy/sys/devices/virtual/net/bond0/bonding/mode":                         "/sys/class/net/bond0/bonding/mode",
		"sys/devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/enp3s0f0np0/speed":  "/sys/class/net/enp3s0f0np0/speed",
		"sys/devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eth0/statistics/tx": "/sys/class/net/eth0/statistics/tx",
		"sys/class/net/lo/mtu":                 "",
		"sys/class/net/eth0/queues/rx-0/rps":   "",
		"proc/sys/net/ipv4/tcp_rmem":           "/proc/sys/net/ipv4/tcp_rmem",
		"proc/sys/net/ipv4/conf/all/rp_filter": "",
		"proc/sys/kernel/osrelease":            "uname -r",
		// others
		"esx-a-2024-05-06--10.30-1/commands/esxcfg-vswitch_-l.txt":                                    "esxcfg-vswitch -l",
		"esx-a/commands/localcli_network-nic-list.txt":                                                "esxcli network nic list",
		"esx-a/commands/localcli_storage-nfs-list.txt":                                                "",
		"ixdiagnose/artifacts/proc/net/bonding/bond0":                                                 "/proc/net/bonding/bond0",
		"ixdiagnose/artifacts/logs/kern.log":                                                          "/var/log/kern.log",
		"must-gather/quay-io/cluster-scoped-resources/nmstate.io/nodenetworkstates/worker-0.x.y.yaml": "/worker-0.x.y.yaml",
		"must-gather/quay-io/nodes/worker-0/lspci":                                                    "lspci",
		"": "", "/": "", "..": "", strings.Repeat("a/", 2000): "",
	} {
		m, ok := Of(name)
		got := m.Command + m.Path
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestRoot: which directory stands for the host, and copies of one file.
func TestRoot(t *testing.T) {
	for name, want := range map[string]Member{
		"a/sosreport-x/proc/99/net/bonding/bond0":     {Root: "a/sosreport-x", Path: "/proc/net/bonding/bond0", Slot: "/proc/net/bonding/bond0", Rank: 101},
		"proc/net/bonding/bond0":                      {Path: "/proc/net/bonding/bond0", Slot: "/proc/net/bonding/bond0"},
		"ixdiagnose/artifacts/proc/net/bonding/bond0": {Root: "ixdiagnose", Path: "/proc/net/bonding/bond0", Slot: "/proc/net/bonding/bond0"},
		"ixdiagnose/plugins/network/routing.txt":      {Root: "ixdiagnose", Several: true, Slot: "plugins/network/routing.txt"},
		"scc_a_240506_1030/network.txt":               {Root: "scc_a_240506_1030", Several: true, Slot: "network.txt"},
		"x/var/log/syslog":                            {Root: "x", Path: "/var/log/syslog", Log: true, Slot: "log", Rank: 7},
		"x/sos_commands/host/hostname":                {Root: "x", Names: true, Slot: "hostname"},
		"h/linerate/host.json":                        {Root: "h", Capture: true, Slot: "linerate/host.json"},
		"m/nodes/worker-1/dmesg":                      {Root: "m", Host: "worker-1", Command: "dmesg", Log: true, Slot: "nodes/worker-1/log", Rank: 1},
	} {
		if got, ok := Of(name); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"sosreport-nas.0123456-20171224185433.tar.xz":        "nas",
		"sosreport-web-01-0123456-2024-05-06-ezcfcop.tar.xz": "web-01",
		"sosreport-web-01-2024-05-06-ezcfcop":                "web-01",
		"/tmp/sosreport-nas.tar.xz":                          "nas",
		"scc_db7_240506_1030.txz":                            "db7",
		"nts_db7_151002_0930.tbz":                            "db7",
		"esx-esx7.example.com-2024-05-06--10.30-2099183.tgz": "esx7",
		"debug-truenas-20240506103000.tgz":                   "truenas",
		"nas.tar.gz":                                         "nas",
		"copy/":                                              "copy",
		"localhost.tar":                                      "",
		"a name with blanks.zip":                             "",
		"sosreport-localhost-2024-05-06-ezcfcop.tar.xz":      "sosreport-localhost-2024-05-06-ezcfcop",
		strings.Repeat("a", 100) + ".tar":                    "",
	} {
		if got := NameOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestNested(t *testing.T) {
	for name, want := range map[string]bool{
		"case/sosreport-nas-2024-05-06-abcdefg.tar.xz": true, "host.zip": true, "vc/esx-a.tgz": true,
		"sosreport-a/sos_commands/pcp/archive.tar.gz": false, "sosreport-a/var/crash/core.zip": false, "host.txt": false, "a/b/c/d/host.zip": false, "a.tar.gz.asc": false,
	} {
		if got := Nested(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for dir, want := range map[string]bool{"proc/1/fd": true, "a/proc/1/net": false, "a/proc/1/net/bonding": false, "a/proc/1/net/stat": true, "proc/sys/net": false, "proc/1": false, "sys/class": false} {
		if got := Passed(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

// TestParts: each output of a text with several, with its line; the others are left
// out, and so is what only begins alike.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"supportconfig": {"x\n#==[ Command ]======================================#\n# /sbin/ip addr\n1: lo:\n\n#==[ Command ]======================================#\n# /bin/rpm -qa\nx\n#==[ Configuration File ]===========================#\n# /proc/net/bonding/bond0\nEthernet\n#==[ Log File ]=====================================#\n# /var/log/messages - Last 500 Lines\nMay\n",
			[]string{"ip addr 4", "/proc/net/bonding/bond0 11", "/var/log/messages 14"}},
		"supportconfig with CRLF": {"#==[ Command ]======================================#\r\n# /sbin/ip addr\r\n1: lo:\r\n", []string{"ip addr 3"}},
		"pvereport":               {"==== network ====\n\n# ip -details -statistics address\n\n1: lo:\n# a comment\n\n# cat /etc/network/interfaces\n\n# the loopback\n\nauto lo\n\n# pveperf\n\n# cat /etc/hosts\n\nx\n", []string{"ip -details -statistics address 5", "/etc/network/interfaces 10"}},
		"ixdiagnose":              {"\n------------------\n1) default_route\n------------------\n\ndefault via x\n-------------------\n2) routing_tables\n-------------------\n\ndefault via y\n", []string{"ip route show table all 10"}},
		"fndebug":                 {"+" + strings.Repeat("-", 80) + "+\n+     Interfaces @1600000000     +\n+" + strings.Repeat("-", 80) + "+\nlagg0: flags\n", []string{"ifconfig 4"}},
		"headings alone":          {"#==[ Command ]======================================#\n# /sbin/ip addr", nil},
	} {
		parts, ok := Parts([]byte(c.text))
		var got []string
		for _, p := range parts {
			got = append(got, p.Command+p.Path+" "+strconv.Itoa(p.First))
		}
		if !ok || strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, text := range []string{"", "# ip addr\n\n1: lo:\n", "root@nas:~# ip addr\n1: lo:\n"} {
		if _, ok := Parts([]byte(text)); ok {
			t.Errorf("%q has parts", text)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, seed := range []string{"sosreport-a/sos_commands/networking/ethtool_-S_eno1", "proc/1/net/bonding/bond0", "a/commands/x_-l.txt", "nodes/a/lspci", "../../etc/netplan/a.yaml", "plugins/network/a.txt"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m, ok := Of(name)
		if !ok {
			return
		}
		if m.Slot == "" || m.Rank < 0 {
			t.Errorf("%q: %+v", name, m)
		}
		if m.Root != "" && !strings.HasPrefix(path.Clean(strings.TrimLeft(name, "/")), m.Root) {
			t.Errorf("%q: root %q", name, m.Root)
		}
		if m.Command == "" && m.Path == "" && !m.Several && !m.Names && !m.Capture {
			t.Errorf("%q: %+v is nothing", name, m)
		}
		NameOf(name)
		Nested(name)
		Passed(name)
	})
}

func FuzzParts(f *testing.F) {
	f.Add([]byte("#==[ Command ]======================================#\n# /sbin/ip addr\n1: lo:\n"))
	f.Add([]byte("==== network ====\n\n# ip -details -statistics address\n\n1: lo:\n"))
	f.Add([]byte("\n------------------\n1) ip_rules\n------------------\n\n0:\tfrom all lookup local\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parts, _ := Parts(text)
		last := 0
		for _, p := range parts {
			if p.First <= last || len(p.Text) == 0 || p.Command == "" && p.Path == "" && !p.Names {
				t.Errorf("part %+v behind %d", p, last)
			}
			last = p.First
			NameIn(p.Member, p.Text)
		}
	})
}
