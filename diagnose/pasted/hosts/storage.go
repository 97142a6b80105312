package hosts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// oneConnection: programs that use one connection where only several can use
// several links.
func oneConnection(v *scene.View) {
	bundled := len(v.Bonds) > 0
	for _, h := range v.Hosts {
		for _, m := range h.Mounts {
			if w, ok := workload.OfMount(m.Kind); ok && w.Name == "cifs" {
				oneChannel(v, h, m)
			}
			if !strings.HasPrefix(m.Kind, "nfs") || m.Options["nconnect"] != "" && m.Options["nconnect"] != "1" || m.Options["max_connect"] != "" {
				continue
			}
			if len(m.Ports) > 1 {
				continue
			}
			sure := 0.3 // without a bundle there is nothing to add up
			if strings.HasPrefix(m.Path, "StorageClass ") || strings.HasPrefix(m.Path, "PersistentVolume ") {
				sure = 0.4 // asked about, and of nodes that nobody showed
			}
			if bundled {
				sure = 0.7
			}
			evidence := []record.Evidence{scene.Saw("mount "+m.Path, m.Kind+" from "+m.Device+" without nconnect: one TCP connection", m.Source)}
			for _, b := range v.Bonds {
				for _, way := range []string{"rx", "tx"} {
					if name, part, at, ok := b.OneSided(way); ok {
						evidence = append(evidence, scene.Saw("traffic of "+b.Name, fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
						sure = 0.88
					}
				}
			}
			if system, _ := h.Get("host", "os"); system.Text == "esxi" {
				v.Add(record.SingleLink, max(sure, 0.75), h, "NFS datastore "+m.Path,
					fmt.Sprintf("The NFS datastore %s has one session (one TCP connection), and one connection takes one uplink, whatever the load balancing is.", m.Path),
					"Use several datastores, each by another address of the server (a second address there, chosen so that the hash takes the other uplink); NFS 4.1 takes several addresses, and newer releases nconnect.", evidence...)
				continue
			}
			v.Add(record.SingleLink, sure, h, "the NFS mount "+m.Path+" of "+scene.NameOf(h),
				fmt.Sprintf("The NFS mount %s has one TCP connection, and one connection takes one link of a bond: no more than a single link's rate.", m.Path),
				mountWith(m)+", with layer3+4 on both hosts and a hash of ports on the switch (`linerate steer pick --for nfs` chooses the ports). "+sentence(workload.SpreadOf("nfs"))+".", evidence...)
		}
		oneSession(v, h)
	}
}

// oneChannel: an SMB mount of Linux without multichannel, over a bond.
func oneChannel(v *scene.View, h *piece.Host, m piece.Mount) {
	_, several := m.Options["multichannel"]
	if most := m.Options["max_channels"]; several && most != "1" || most != "" && most != "1" || len(v.Bonds) == 0 {
		return
	}
	evidence := []record.Evidence{scene.Saw("mount "+m.Path, m.Kind+" from "+m.Device+" without multichannel: one TCP connection", m.Source)}
	sure := 0.6
	for _, b := range v.Bonds {
		for _, way := range []string{"rx", "tx"} {
			if name, part, at, ok := b.OneSided(way); ok {
				evidence = append(evidence, scene.Saw("traffic of "+b.Name, fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
				sure = 0.8
			}
		}
	}
	v.Add(record.SingleLink, sure, h, "the SMB mount "+m.Path+" of "+scene.NameOf(h),
		fmt.Sprintf("The SMB mount %s has one TCP connection, and one connection takes one link of a bond: no more than a single link's rate.", m.Path),
		sentence(workload.MoreOf("cifs"))+", with layer3+4 on both hosts and a hash of ports on the switch.", evidence...)
}

// sentence begins with a capital letter.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// mountWith is how a mount is given several connections.
func mountWith(m piece.Mount) string {
	if kind, _, cluster := strings.Cut(m.Path, " "); cluster && !strings.HasPrefix(m.Path, "/") {
		return "Add `nconnect=4` to mountOptions of the " + kind + " (new volumes take it; pods that have it mounted start again)"
	}
	return sentence(workload.MoreOf("nfs"))
}

// oneSession: all of a host's iSCSI goes by one session, which is one TCP connection.
func oneSession(v *scene.View, h *piece.Host) {
	var sessions, connections, disks []piece.Path
	for _, p := range h.Paths {
		switch {
		case p.Kind == "multipath":
			disks = append(disks, p)
		case p.Kind == "iscsi" && p.Device != "":
			sessions = append(sessions, p)
		case p.Kind == "iscsi":
			connections = append(connections, p)
		}
	}
	if len(sessions) == 0 {
		sessions = connections
	} else if len(connections) > len(sessions) {
		return // a session with several connections
	}
	if len(sessions) != 1 || len(disks) > 1 {
		return
	}
	one := sessions[0]
	evidence := []record.Evidence{scene.Saw("iSCSI sessions", "1, to "+cmp.Or(one.Device, one.Remote), one.Source)}
	sure := 0.55
	switch links := linksFor(v, h); {
	case links == 1:
		return // there is no other
	case links > 1:
		sure = 0.68
	}
	if len(disks) == 1 {
		evidence = append(evidence, scene.Saw("multipath "+disks[0].Device, "one path", disks[0].Source))
		sure += 0.08
	}
	v.Add(record.SingleLink, sure, h, "iSCSI of "+scene.NameOf(h),
		"There is one iSCSI session, and one session is one TCP connection: it takes a single link, whatever bonds or teams it runs over.",
		"Use MPIO (multipath): an address and a session on each link, in subnets of their own and without a bond or team under them, with round-robin paths; the target needs an address (portal) for each too.", evidence...)
}

// sambaChannels: SMB multichannel that asks for interfaces which do not answer, or
// is bound to one.
func sambaChannels(v *scene.View) {
	for _, h := range v.Hosts {
		for _, e := range h.Events {
			if e.Kind != "channel-failed" {
				continue
			}
			evidence := []record.Evidence{scene.Saw("log of "+scene.NameOf(h), e.Text, e.Source)}
			remedy := "On the server bind SMB to the interfaces that clients reach, by their real addresses (`interfaces = ...` with all of them), and take link-local ones (169.254.*, fe80::) out."
			for _, other := range v.Hosts {
				if x, ok := other.Get("config smb", "interfaces"); ok {
					evidence = append(evidence, scene.Saw("interfaces of "+scene.NameOf(other), x.Text, x.Source))
				}
			}
			v.Add(record.SingleLink, 0.8, h, "SMB channels of "+scene.NameOf(h),
				"SMB multichannel has one channel only: the server offers interfaces that the client cannot reach (link-local addresses, or one interface bound), so extra channels fail and one link carries all.", remedy, evidence...)
			return
		}
	}
}

// syncWrites: a copy whose own way to write is what it comes to: small blocks, each
// on the disk before the next.
func syncWrites(v *scene.View) {
	for _, r := range v.Case.Runs {
		if r.Tool != "dd" && r.Tool != "fio" {
			continue
		}
		flags := r.Detail["oflag"] + r.Detail["conv"] + r.Detail["flags"] + r.Detail["command"]
		if !scene.Contains(flags, "sync") || r.Rate > 2e9 {
			continue
		}
		sure := 0.82
		if h, x, told := v.SaidBy("lossy"); told && r.Retransmits < 0 {
			sure = 0.45
			v.Add(record.Congestion, 0.5, h, "the way to the server (packets sent again)",
				fmt.Sprintf("%s gets %v, and by what is said packets are sent again: each loss costs a copy that waits for every block its timeout, so that the losses come first, and not how it writes.", r.Tool, r.Rate),
				"Find where they are lost: the card's and the switch's drops and errors on the way (`ethtool -S`, `kstat -p | grep -i drop`, `show interfaces counters errors`), pause frames, the receive ring; large bursts after small requests overflow a short ring or queue.",
				scene.Saw(r.Tool, r.Rate.String(), r.Source), scene.Saw("said", x.Text, x.Source))
		}
		v.Add(record.Application, sure, nil, r.Tool+" (synchronous writes)",
			fmt.Sprintf("%s writes synchronously, a block at a time: each waits for the disk or server to confirm it, so that the round trip and the disk set the rate (%v), not the links.", r.Tool, r.Rate),
			"Measure with larger blocks (bs=1M) and without dsync or sync (conv=fsync once at the end), or with many writes in flight (fio iodepth); the program that is slow may need the same.",
			scene.Saw(r.Tool, strings.TrimSpace(flags)+", "+r.Rate.String(), r.Source))
	}
}
