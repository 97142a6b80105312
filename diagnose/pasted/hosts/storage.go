package hosts

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// oneConnection: programs that use one connection where only several can use
// several links.
func oneConnection(v *scene.View) {
	bundled := len(v.Bonds) > 0
	for _, h := range v.Hosts {
		for _, m := range h.Mounts {
			if !strings.HasPrefix(m.Kind, "nfs") || m.Options["nconnect"] != "" && m.Options["nconnect"] != "1" || m.Options["max_connect"] != "" {
				continue
			}
			if len(m.Ports) > 1 {
				continue
			}
			sure := 0.3 // without a bundle there is nothing to add up
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
				"Mount it with `nconnect=4` (Linux 5.3 and later; NFS 4.1 also with several server addresses and max_connect), with layer3+4 on both hosts and a hash of ports on the switch; source ports decide whether all links are used (`linerate steer nfs`).", evidence...)
		}
		if x, ok := h.Get("host", "iscsi_sessions"); ok && x.Text == "1" {
			v.Add(record.SingleLink, 0.6, h, "iSCSI of "+scene.NameOf(h), "There is one iSCSI session, and one session is one connection: it takes a single link.",
				"Use MPIO: one address and one session on each link, with round-robin paths.", scene.Saw("iSCSI sessions", x.Text, x.Source))
		}
	}
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
		v.Add(record.Application, 0.82, nil, r.Tool+" (synchronous writes)",
			fmt.Sprintf("%s writes synchronously, a block at a time: each waits for the disk or server to confirm it, so that the round trip and the disk set the rate (%v), not the links.", r.Tool, r.Rate),
			"Measure with larger blocks (bs=1M) and without dsync or sync (conv=fsync once at the end), or with many writes in flight (fio iodepth); the program that is slow may need the same.",
			scene.Saw(r.Tool, strings.TrimSpace(flags)+", "+r.Rate.String(), r.Source))
	}
}
