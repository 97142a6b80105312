package cards

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// kernelWords: what the kernel itself says that it lacks or finds wrong.
func kernelWords(v *scene.View) {
	for _, h := range v.Hosts {
		if n, first := said(h, "arp-overflow", ""); n > 0 {
			v.Add(record.Congestion, 0.7, h, "the neighbour table of "+scene.NameOf(h),
				fmt.Sprintf("The kernel's neighbour (ARP) table is full: what goes to hosts that are not in it is dropped (lines of the log: %d).", n),
				"Raise it above the number of neighbours: `sysctl -w net.ipv4.neigh.default.gc_thresh1=4096 net.ipv4.neigh.default.gc_thresh2=8192 net.ipv4.neigh.default.gc_thresh3=16384` (IPv6: net.ipv6.neigh...); a /16 without routers between is what fills it.", first)
		}
		for _, words := range []string{"TCP: out of memory", "Out of socket memory"} {
			if n, first := said(h, "other", words); n > 0 {
				v.Add(record.ReceiveWindow, 0.6, h, "the memory of TCP on "+scene.NameOf(h),
					fmt.Sprintf("TCP has no memory left (%s; lines of the log: %d): the kernel holds every connection's buffers and windows small, and drops what arrives.", words, n),
					"Compare `cat /proc/net/sockstat` (TCP: mem, in pages) with `sysctl net.ipv4.tcp_mem`. Raise tcp_mem where the host has memory free; else lower the third values of tcp_rmem and tcp_wmem, or have fewer connections; orphans of a program that does not close fill it too.", first)
				break
			}
		}
		links := make(map[string]bool)
		for _, e := range h.Events {
			if e.Kind != "checksum" || !strings.Contains(e.Text, "hw csum failure") || links[e.Link] {
				continue
			}
			links[e.Link] = true
			name := cmp.Or(e.Link, "the card")
			v.Add(record.CardSlot, 0.5, h, name+" of "+scene.NameOf(h)+" (receive checksums)",
				fmt.Sprintf("%s gives the kernel wrong checksums of what it receives (hw csum failure): each such packet is checked again in software and logged, and in tunnels it may be lost.", name),
				fmt.Sprintf("`ethtool -K %s rx off` as a test; a newer kernel, driver or firmware repairs it.", cmp.Or(e.Link, "LINK")), scene.Saw("log", e.Text, e.Source))
		}
	}
}

// said counts a host's events of a kind that have some words, with the first of them.
func said(h *piece.Host, kind, words string) (n int, first record.Evidence) {
	for _, e := range h.Events {
		if e.Kind != kind || !strings.Contains(e.Text, words) {
			continue
		}
		if n == 0 {
			first = scene.Saw("log", e.Text, e.Source)
		}
		n++
	}
	return n, first
}
