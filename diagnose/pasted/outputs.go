package pasted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// topic is what an output is about.
type topic int

const (
	aboutBundle topic = iota
	aboutTraffic
	aboutCores
	aboutSockets
	aboutMTU
	aboutSlot
	aboutRoutes
	aboutOrder
	aboutRate
	aboutLog
)

// request is a command and what it tells.
type request struct{ command, why string }

// linux is the system of a host that says nothing else.
const linux = "linux"

// outputs are the commands of each system; one that a system lacks is not asked for.
var outputs = map[string]map[topic]request{
	linux: {
		aboutBundle:  {"cat /proc/net/bonding/*", "as root: mode, hash policy, which ports carry, aggregators and LACP partner"},
		aboutTraffic: {"ip -s link", "which link carries how much"},
		aboutCores:   {"mpstat -P ALL 1 5", "whether one core is full while it runs, on both hosts"},
		aboutSockets: {"ss -tin", "while it runs, on the sender: round trip, and what TCP waits for (rwnd_limited, sndbuf_limited)"},
		aboutMTU:     {"ping -M do -s 8972 PEER", "whether full frames pass (1472 at MTU 1500)"},
		aboutSlot:    {"lspci -vv", "as root, while it is up: the width and speed of the slot (LnkSta)"},
		aboutRoutes:  {"ip rule; ip route show table all; ip route get PEER from ADDRESS", "whether a rule sends each address's answers by its own interface, and by which one they leave"},
		aboutOrder:   {"nstat -az | grep -E 'Reorder|DSACK|OFO'", "whether segments arrive out of order (on the receiver: TCPOFOQueue)"},
		aboutRate:    {"iperf3 -c PEER -P 8 -V", "no rate was measured: how much is slow, with how many streams, over which round trip (ping)"},
		aboutLog:     {"journalctl -k --since -2days | grep -Ei 'bond|slave|link|carrier|lacp|promiscuous'", "the times of all of it: whether they have a period, and which ports go together"},
	},
	"freebsd": {
		aboutBundle:  {"ifconfig -v", "lagg's ports, their flags and LACP partners, and speeds"},
		aboutTraffic: {"netstat -I LINK -w 1", "which link carries how much, and its errors and drops"},
		aboutCores:   {"top -aSHP", "whether one core (CPU) or one interrupt thread is full while it runs"},
		aboutSockets: {"sysctl net.inet.tcp.sendbuf_max net.inet.tcp.recvbuf_max; netstat -x -p tcp", "whether a socket buffer limits a long path (with ping's round trip)"},
		aboutMTU:     {"ping -D -s 8972 PEER", "whether full frames pass (1472 at MTU 1500)"},
		aboutSlot:    {"pciconf -lvc", "the width and speed of the card's slot (link x8(x8) speed)"},
		aboutRoutes:  {"netstat -rn; route -n get PEER", "by which interface the answers leave"},
		aboutOrder:   {"netstat -s -p tcp | grep -E 'out-of-order|retransmit'", "whether segments arrive out of order"},
		aboutRate:    {"iperf3 -c PEER -P 4, then with -R", "what the network alone carries, each way: without disks and SMB"},
		aboutLog:     {"dmesg; grep -E 'lagg|link state' /var/log/messages", "the times at which links went"},
	},
	"windows": {
		aboutBundle:  {"Get-SmbMultichannelConnection; Get-NetAdapterRss", "how many SMB connections there are, over which adapter, and whether RSS is on"},
		aboutTraffic: {"Get-NetAdapterStatistics", "which adapter carries how much"},
		aboutCores:   {`Get-Counter '\Processor(*)\% Processor Time'`, "whether one core (CPU) is full during the copy"},
		aboutSockets: {"Get-NetTCPSetting; netsh interface tcp show global", "whether the receive window scales"},
		aboutMTU:     {"ping -f -l 8972 PEER", "whether full frames pass (1472 at MTU 1500)"},
		aboutSlot:    {"Get-NetAdapterHardwareInfo", "the width and speed of the card's slot"},
		aboutRoutes:  {"route print; Find-NetRoute -RemoteIPAddress PEER", "by which interface it leaves"},
		aboutRate:    {"iperf3 -c PEER -P 4, then with -R", "what the network alone carries, each way: without disks and SMB"},
		aboutLog:     {"Get-WinEvent -LogName System -MaxEvents 200", "the times at which adapters went"},
	},
	"esxi": {
		aboutBundle:  {"esxcli network nic list; esxcli network nic stats get -n vmnic0", "speeds, drops and errors of each card"},
		aboutTraffic: {"esxtop (n)", "which uplink carries which virtual port"},
		aboutCores:   {"esxtop (c)", "whether one world (vCPU, network thread) is full while it runs"},
		aboutSockets: {"esxcli storage nmp device list", "for iSCSI: the path selection policy and the working paths"},
		aboutMTU:     {"vmkping -d -s 8972 PEER", "whether full frames pass (1472 at MTU 1500)"},
		aboutRoutes:  {"esxcli network ip route ipv4 list; esxcfg-vmknic -l", "by which vmk it leaves"},
		aboutRate:    {"iperf3 -c PEER -P 4, then with -R", "what the network alone carries, each way"},
		aboutLog:     {"grep -i vmnic /var/log/vmkernel.log", "the times at which uplinks went"},
	},
	"ontap": {
		aboutBundle:  {"network port ifgrp show -instance", "the group's ports, which are up, and its distribution function"},
		aboutTraffic: {"node run -node NODE -command ifstat -a", "which port carries how much, and its errors and discards"},
		aboutCores:   {"node run -node NODE -command sysstat -M 1", "whether one core or one domain of the filer is full while it runs"},
		aboutSockets: {"network connections active show; nfs connected-clients show", "how many connections there are, and by which LIF"},
		aboutMTU:     {"network ping -lif LIF -vserver SVM -destination PEER -disallow-fragment true -packet-size 8972", "whether full frames pass (1472 at MTU 1500)"},
		aboutRoutes:  {"network interface show; route show", "which LIF stands on which port, and the gateways"},
		aboutLog:     {"event log show -message-name *link*", "the times at which ports went"},
	},
	"solaris": {
		aboutBundle:  {"dladm show-aggr -x; dladm show-aggr -L", "the aggregation's ports and LACP"},
		aboutTraffic: {"dladm show-link -s -i 5", "which link carries how much"},
		aboutCores:   {"mpstat 5", "whether one core is full while it runs"},
		aboutSockets: {"ipadm show-prop -p max_buf,send_buf,recv_buf tcp", "whether a socket buffer limits a long path (with ping's round trip)"},
		aboutRoutes:  {"netstat -rn; route -n get PEER", "by which interface the answers leave"},
		aboutRate:    {"iperf3 -c PEER -P 4, then with -R", "what the network alone carries, each way"},
		aboutLog:     {"dmesg", "the times at which links went"},
	},
	"aix": {
		aboutBundle:  {"entstat -d entN; lsattr -El entN", "of the EtherChannel: its adapters, LACP and hash mode"},
		aboutTraffic: {"netstat -v", "which adapter carries how much"},
		aboutCores:   {"sar -P ALL 5 3", "whether one core is full while it runs"},
		aboutSockets: {"no -a | grep -E 'tcp_(send|recv)space|rfc1323'", "whether a socket buffer limits a long path (with ping's round trip)"},
		aboutRoutes:  {"netstat -rn", "by which interface the answers leave"},
		aboutRate:    {"iperf3 -c PEER -P 4, then with -R", "what the network alone carries, each way"},
		aboutLog:     {"errpt -a", "the times at which adapters went"},
	},
	"routeros": {
		aboutBundle:  {"/interface bonding print detail; /interface bonding monitor [find]", "mode, hash policy, and which ports carry"},
		aboutTraffic: {"/interface monitor-traffic [find] once", "which port carries how much"},
		aboutCores:   {"/tool profile cpu=all", "whether one core is full while it runs"},
		aboutMTU:     {"/ping PEER size=1500 do-not-fragment", "whether full frames pass"},
		aboutRoutes:  {"/ip route print detail; /routing rule print", "by which interface the answers leave"},
		aboutLog:     {"/log print", "the times at which links went"},
	},
}

// settles are the outputs that make sure of one cause.
var settles = map[record.Cause][]topic{
	record.AsymmetricRoute: {aboutRoutes}, record.Reordering: {aboutOrder}, record.MTU: {aboutMTU}, record.CardSlot: {aboutSlot},
	record.SenderCPU: {aboutCores}, record.ReceiverCPU: {aboutCores}, record.ReceiveWindow: {aboutSockets}, record.SendBuffer: {aboutSockets}, record.LACPDown: {aboutBundle},
}

// systemOf is a host's system; Linux where nothing says.
func systemOf(h *piece.Host) string {
	if h == nil {
		return linux
	}
	if os, ok := h.Get("host", "os"); ok && outputs[os.Text] != nil {
		return os.Text
	}
	return linux
}

// ask is what a host's system prints about a topic; false where it has nothing for it,
// or where that was read already.
func ask(v *scene.View, h *piece.Host, about topic) (scene.Missing, bool) {
	r, ok := outputs[systemOf(h)][about]
	if !ok || about == aboutRate && len(v.Case.Runs) > 0 || h != nil && hasOutput(v, h, about) {
		return scene.Missing{}, false
	}
	m := scene.Missing{Command: r.command, Why: r.why}
	if only, listed := strings.CutPrefix(r.command, "esxcli network nic list; "); listed && h != nil && slices.ContainsFunc(h.Subjects("link"), func(l string) bool { return scene.SpeedOf(h, l) > 0 }) {
		m.Command = only
	}
	for _, b := range v.Bonds {
		if about == aboutBundle && b.Host == h && scene.Word(h, b.Name, "kind") == "team" {
			m = scene.Missing{Command: fmt.Sprintf("teamdctl %s state; teamdctl %s config dump", b.Name, b.Name), Why: "the runner, its hash, and which ports are selected"}
		}
	}
	if name, own := ovsBond(h); own && about == aboutBundle {
		m = scene.Missing{Command: fmt.Sprintf("ovs-appctl bond/show %s; ovs-appctl lacp/show %s", name, name), Why: "its mode, whether LACP is negotiated, which members are enabled, and the load of each bucket"}
	}
	if h != nil {
		m.Host = h.Name
	}
	return m, true
}

// ovsBond is a host's bond of Open vSwitch; false for none.
func ovsBond(h *piece.Host) (name string, ok bool) {
	if h == nil {
		return "", false
	}
	for _, name := range slices.Concat(h.Subjects("link"), h.Subjects("config")) {
		if _, said := scene.Fact(h, name, "bond_mode"); said || scene.Word(h, name, "kind") == netstate.KindOVSBond {
			return name, true
		}
	}
	return "", false
}

// hasOutput reports that what an output tells was read of the host.
func hasOutput(v *scene.View, h *piece.Host, about topic) bool {
	switch about {
	case aboutBundle:
		found := slices.ContainsFunc(h.Subjects("link"), func(l string) bool {
			_, lagg := h.Get("link "+l, "laggproto")
			_, group := h.Get("link "+l, "participation")
			return lagg || group
		}) || systemOf(h) == "windows" && len(h.Subjects("smb")) > 0
		for _, b := range v.Bonds {
			_, partner := h.Get("link "+b.Name, "ad_partner_mac")
			_, runs := h.Get("link "+b.Name, "mode")
			if b.Host == h && (!runs || b.Mode == "" || b.Mode == "802.3ad" && !partner && systemOf(h) == linux) {
				return false
			}
			found = found || b.Host == h
		}
		name, _ := ovsBond(h)
		_, shown := h.Get("link "+name, "bond_mode") // by bond/show
		return found || shown
	case aboutTraffic:
		for _, b := range v.Bonds {
			if _, _, ok := b.Carried("tx"); b.Host == h && ok {
				return true
			}
		}
	case aboutCores:
		return len(h.Cores) > 0 || systemOf(h) == "freebsd" && len(h.Processes) > 0
	case aboutSockets:
		_, buffers := h.Get("sysctl", "net.inet.tcp.recvbuf_max")
		return len(h.Sockets) > 0 || buffers || systemOf(h) == "esxi" && len(h.Subjects("lun")) > 0
	case aboutMTU:
		return slices.ContainsFunc(h.Pings, func(p piece.Ping) bool { return p.Size >= 1400 })
	case aboutSlot:
		return slices.ContainsFunc(h.Subjects("pci"), func(bdf string) bool { _, ok := h.Get("pci "+bdf, "sta_width"); return ok })
	case aboutRoutes:
		return len(h.Routes) > 0 && (len(h.Rules) > 0 || systemOf(h) != linux)
	case aboutOrder:
		_, ok := h.Counters["TcpExtTCPOFOQueue"]
		return ok
	}
	return false // of a log a longer one helps
}

// rdma reports a case about RDMA or the library over it.
func rdma(v *scene.View) bool {
	return slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool {
		return strings.HasPrefix(r.Tool, "nccl") || strings.HasPrefix(r.Tool, "ib_") || r.Tool == "perftest"
	}) || slices.ContainsFunc(v.Hosts, func(h *piece.Host) bool { return len(h.Facts["nccl"]) > 0 })
}

// logged is a host of which a log of links is the question; nil none.
func logged(v *scene.View) *piece.Host {
	for _, h := range v.Hosts {
		for _, e := range h.Events {
			switch e.Kind {
			case "link-down", "link-up", "released", "enslaved", "bridged", "unbridged", "lacp", "lacp-no-response", "no-active", "active-up", "speed":
				return h
			}
		}
	}
	return nil
}

// guestOf is a host that is a guest with a paravirtual card, or that shows its guests'
// cards, and which of them; nil none.
func guestOf(v *scene.View) (h *piece.Host, inside bool) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if d, ok := h.Get("link "+name, "driver"); ok && (d.Text == "virtio_net" || d.Text == "vmxnet3") || strings.HasPrefix(name, "vtnet") || strings.HasPrefix(name, "vmx") {
				return h, true
			}
		}
	}
	for _, h := range v.Hosts {
		if len(h.Subjects("vnic")) > 0 {
			return h, false
		}
	}
	return nil, false
}

// overBond reports RDMA whose devices are bonds.
func overBond(v *scene.View) bool {
	return slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool { return strings.Contains(r.Detail["device"], "bond") }) ||
		slices.ContainsFunc(v.Hosts, func(h *piece.Host) bool {
			used, _ := h.Get("nccl", "devices")
			asked, _ := h.Get("nccl", "NCCL_IB_HCA")
			return strings.Contains(used.Text+asked.Text, "bond")
		})
}

func vendorIs(s *piece.Host, vendor string) bool {
	x, ok := s.Get("host", "vendor")
	return ok && x.Text == vendor
}
