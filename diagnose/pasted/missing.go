package pasted

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// settles are the outputs that make sure of one cause.
var settles = map[record.Cause][]scene.Missing{
	record.AsymmetricRoute: {{Command: "ip rule; ip route show table all", Why: "whether a rule sends each address's answers by its own interface"}, {Command: "ip route get PEER from ADDRESS", Why: "by which interface the answers leave"}},
	record.Reordering:      {{Command: "nstat -az | grep -E 'Reorder|DSACK|OFO'", Why: "whether segments arrive out of order (on the receiver: TCPOFOQueue)"}},
	record.MTU:             {{Command: "ping -M do -s 8972 PEER", Why: "whether full frames pass"}},
	record.CardSlot:        {{Command: "lspci -vv", Why: "as root: the width and speed of the slot (LnkSta)"}},
	record.SenderCPU:       {{Command: "mpstat -P ALL 1 5", Why: "which core is full while it runs"}},
	record.ReceiverCPU:     {{Command: "mpstat -P ALL 1 5", Why: "which core is full while it runs"}},
	record.ReceiveWindow:   {{Command: "ss -tin", Why: "rwnd_limited on the sender while it runs"}},
	record.SendBuffer:      {{Command: "ss -tin", Why: "sndbuf_limited on the sender while it runs"}},
	record.LACPDown:        {{Command: "cat /proc/net/bonding/*", Why: "as root: aggregators, partner and port states"}, {Command: "show lacp neighbor", Host: "the switch", Why: "whom the switch hears on each port"}},
}

// missing are the outputs that would decide, for whom, the most telling first:
// those that settle the cause named first, or of none all that help.
func missing(v *scene.View) []scene.Missing {
	first := ""
	if len(v.Hosts) > 0 {
		first = v.Hosts[0].Name
	}
	if _, ok := failed(v); ok && len(v.Findings) == 0 {
		return []scene.Missing{{Command: "iperf3 -c PEER -P 8 -V", Host: first, Why: "once the other end listens and is reached: no rate was measured"}}
	}
	if len(v.Findings) > 0 {
		best := v.Findings[0]
		for _, f := range v.Findings {
			if f.Confidence > best.Confidence {
				best = f
			}
		}
		if out := settles[best.Cause]; out != nil {
			out = slices.Clone(out)
			for i := range out {
				if out[i].Host == "" {
					out[i].Host = first
				}
			}
			return out
		}
	}
	if own := missingOf(v); own != nil {
		return own
	}
	var out []scene.Missing
	for _, h := range v.Hosts {
		if v.MPTCP(h) {
			out = append(out, scene.Missing{Command: "ss -Mtin; ip mptcp endpoint", Host: h.Name, Why: "which MPTCP subflow carries how much over which link"})
			break
		}
	}
	for _, h := range v.Hosts {
		if n, _ := scene.Events(h, "lacp-no-response"); n > 0 {
			out = append(out, scene.Missing{Command: "cat /proc/net/bonding/*", Host: h.Name, Why: "as root, some minutes after the start: whether an LACP partner answers"},
				scene.Missing{Command: "show spanning-tree interface PORT", Host: "the switch", Why: "whether its ports are edge ports (portfast): spanning tree and the slow LACP rate hold a bond down for up to 30 s"})
			break
		}
	}
	for _, r := range v.Case.Runs {
		if r.UDP && r.Datagrams > 0 && r.Lost*50 > r.Datagrams {
			out = append(out, scene.Missing{Command: "nstat -az | grep Udp; ethtool -S LINK | grep -E 'drop|miss'", Host: r.Server, Why: "on the receiver: whether its sockets (UdpRcvbufErrors, net.core.rmem_max) or its card lost what the test counts as lost; a TCP run beside it tells the path apart from the program"})
			break
		}
	}
	if len(v.Bonds) == 0 && len(v.Switches) == 0 {
		out = append(out, scene.Missing{Command: "cat /proc/net/bonding/*", Host: first, Why: "the mode, the hash policy and which ports carry are not here (as root: the LACP partner too)"})
	}
	for _, b := range v.Bonds {
		_, runs := b.Host.Get("link "+b.Name, "mode")
		if scene.Word(b.Host, b.Name, "kind") == "team" {
			if _, runs = b.Host.Get("link "+b.Name, "runner"); !runs {
				out = append(out, scene.Missing{Command: "teamdctl " + b.Name + " state", Host: b.Host.Name, Why: "only the configuration is here: which ports carry, and the LACP state"})
			}
		} else if b.Mode != "" && !runs {
			out = append(out, scene.Missing{Command: "cat /proc/net/bonding/" + b.Name, Host: b.Host.Name, Why: "only the configuration is here: whether it runs so, which ports carry, and the LACP state"})
		}
		if b.Mode == "" && scene.Word(b.Host, b.Name, "kind") != "team" {
			out = append(out, scene.Missing{Command: "cat /proc/net/bonding/" + b.Name, Host: b.Host.Name, Why: "the top is cut: mode and hash policy are not here"})
		}
		if _, _, ok := b.Carried("tx"); !ok {
			out = append(out, scene.Missing{Command: "ip -s link", Host: b.Host.Name, Why: "which link carries how much"})
		}
	}
	if len(v.Case.Runs) == 0 {
		out = append(out, scene.Missing{Command: "iperf3 -c PEER -P 8 -V", Host: first, Why: "no rate was measured: how much is slow, with how many streams, over which round trip (ping)"})
	} else {
		cores := false
		for _, h := range v.Hosts {
			cores = cores || len(h.Cores) > 0
		}
		if !cores {
			out = append(out, scene.Missing{Command: "mpstat -P ALL 1 5", Host: first, Why: "whether one core is full while it runs, on both hosts"})
		}
		out = append(out, scene.Missing{Command: "ss -tin", Host: first, Why: "round trip, window and what TCP waits for"})
	}
	pci := false
	for _, h := range v.Hosts {
		for _, bdf := range h.Subjects("pci") {
			_, told := h.Get("pci "+bdf, "sta_width")
			pci = pci || told
		}
	}
	if !pci {
		out = append(out, scene.Missing{Command: "lspci -vv", Host: first, Why: "as root, while it is up: the width of the slot (LnkSta)"})
	}
	if len(v.Switches) == 0 {
		out = append(out, scene.Missing{Command: "show etherchannel summary; show etherchannel load-balance", Host: "the switch", Why: "which members are bundled, and by what the switch chooses"})
	}
	return out[:min(len(out), 5)]
}

// unknown is the answer where nothing that was read decides.
func unknown(v *scene.View, missing []scene.Missing) scene.Finding {
	f := scene.Finding{Where: "not known from this"}
	f.Cause, f.Confidence = record.Unknown, 0
	f.Rate = v.Best()
	f.Summary = "Unknown: what is here does not show the cause."
	if r, ok := failed(v); ok {
		f.Summary = fmt.Sprintf("Unknown: the test did not run (%s), so nothing was measured.", r.Error)
		f.Evidence = []record.Evidence{scene.Saw(r.Tool, r.Error, r.Source)}
		f.Remedy = "Start the other end (`iperf3 -s` there), let its port through the firewalls (5201 is iperf3's), and see that the address is reached (`ping`); then measure again."
		return f
	}
	for _, m := range missing[:min(len(missing), 3)] {
		f.Remedy += fmt.Sprintf("Run on %s: `%s` (%s). ", m.On(), m.Command, m.Why)
	}
	return f
}

// failed is the first run that came to nothing, where no other did better.
func failed(v *scene.View) (piece.Run, bool) {
	for _, r := range v.Case.Runs {
		if r.Rate > 0 {
			return piece.Run{}, false
		}
	}
	for _, r := range v.Case.Runs {
		if r.Error != "" {
			return r, true
		}
	}
	return piece.Run{}, false
}

// missingOf are the outputs that help on systems without /proc; nil where a Linux host
// or a switch was read.
func missingOf(v *scene.View) (out []scene.Missing) {
	system, host := "", ""
	for _, h := range v.Hosts {
		os, ok := h.Get("host", "os")
		if !ok || system != "" && system != os.Text {
			return nil
		}
		system, host = os.Text, h.Name
	}
	if len(v.Switches) > 0 || len(v.Bonds) > 0 {
		return nil
	}
	if len(v.Case.Runs) == 0 {
		out = append(out, scene.Missing{Command: "iperf3 -c PEER -P 4, then with -R", Host: host, Why: "what the network alone carries, each way: without disks and SMB"})
	}
	switch system {
	case "windows":
		return append(out, scene.Missing{Command: "Get-SmbMultichannelConnection; Get-NetAdapterRss", Host: host, Why: "how many SMB connections there are, over which adapter, and whether RSS is on"},
			scene.Missing{Command: `Get-Counter '\Processor(*)\% Processor Time'`, Host: host, Why: "whether one core (CPU) is full during the copy"},
			scene.Missing{Command: "iostat -x 5 or the disk and pool load page", Host: "the server", Why: "whether the disks or the pool are the limit"})
	case "freebsd":
		return append(out, scene.Missing{Command: "ifconfig -v; netstat -i", Host: host, Why: "lagg's ports and partners, speeds, and errors or drops of each link"},
			scene.Missing{Command: "top -aSHP", Host: host, Why: "whether one core (CPU) or one interrupt thread is full while it runs"},
			scene.Missing{Command: "sysctl net.inet.tcp.sendbuf_max net.inet.tcp.recvbuf_max", Host: host, Why: "whether a socket buffer limits a long path (with ping's round trip)"})
	case "esxi":
		return append(out, scene.Missing{Command: "esxcli network nic list; esxcli network nic stats get -n vmnic0", Host: host, Why: "speeds, drops and errors of each card"},
			scene.Missing{Command: "esxcli storage nmp device list", Host: host, Why: "for iSCSI: the path selection policy and the working paths"},
			scene.Missing{Command: "esxtop (n)", Host: host, Why: "which uplink carries which virtual port"})
	}
	return nil
}
