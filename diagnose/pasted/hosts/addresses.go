package hosts

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// slowerAddress: a share is mounted, or a test runs, by an address of a server that is
// on a slow link, while another link of it is a good deal faster.
func slowerAddress(v *scene.View) {
	for _, server := range v.Hosts {
		all := scene.Addresses(server)
		for _, slow := range all {
			for _, fast := range all {
				was, could := scene.SpeedOf(server, slow.Link), scene.SpeedOf(server, fast.Link)
				if slow.Link == fast.Link || was == 0 || could < 2*was || slow.Prefix.Masked() == fast.Prefix.Masked() {
					continue
				}
				if use, who, at, ok := usedAddress(v, server, slow.Prefix.Addr()); ok {
					addSlower(v, server, slow, fast, was, could, use, who, at)
				}
			}
		}
	}
}

// usedAddress is who uses an address of a server, and for what.
func usedAddress(v *scene.View, server *piece.Host, a netip.Addr) (use string, client *piece.Host, at piece.Source, ok bool) {
	for _, h := range v.Hosts {
		if h == server {
			continue
		}
		for _, m := range h.Mounts {
			if m.Options["addr"] == a.String() {
				return "the mount " + cmp.Or(m.Path, m.Device), h, m.Source, true
			}
		}
	}
	for _, r := range v.Case.Runs {
		if r.Detail["target"] == a.String() {
			return "the run of " + r.Tool, v.HostOf(r.Client), r.Source, true
		}
	}
	return "", nil, piece.Source{}, false
}

func addSlower(v *scene.View, server *piece.Host, slow, fast scene.Own, was, could unit.BitRate, use string, client *piece.Host, at piece.Source) {
	evidence := []record.Evidence{
		scene.Saw(use, "by "+slow.Prefix.Addr().String(), at),
		scene.Saw("link of "+slow.Prefix.Addr().String(), fmt.Sprintf("%s of %s, %v", slow.Link, scene.NameOf(server), was), slow.At),
		scene.Saw("link of "+fast.Prefix.Addr().String(), fmt.Sprintf("%s of %s, %v", fast.Link, scene.NameOf(server), could), fast.At),
	}
	sure := 0.7
	for _, r := range v.Case.Runs {
		switch r.Detail["target"] {
		case fast.Prefix.Addr().String():
			if r.Rate > was {
				evidence, sure = append(evidence, scene.Saw(r.Tool+" to "+fast.Prefix.Addr().String(), r.Rate.String(), r.Source)), sure+0.12
			}
		case slow.Prefix.Addr().String():
			if r.Rate > 0 && r.Rate <= was {
				evidence, sure = append(evidence, scene.Saw(r.Tool+" to "+slow.Prefix.Addr().String(), r.Rate.String(), r.Source)), sure+0.06
			}
		}
	}
	way := ""
	if client != nil {
		for _, near := range scene.Addresses(client) {
			if near.Prefix.Masked() == fast.Prefix.Masked() {
				way = fmt.Sprintf(" %s has an address of its own in %s's subnet, so that no router is in between there.", scene.NameOf(client), fast.Link)
				sure += 0.05
				break
			}
		}
	}
	v.Add(record.AsymmetricRoute, min(sure, 0.9), server, fmt.Sprintf("%s, the address of %s", slow.Prefix.Addr(), slow.Link),
		fmt.Sprintf("%s goes by %s, which is on %s of %s (%v); its address %s is on %s (%v) and is not used.%s", upperFirst(use), slow.Prefix.Addr(), slow.Link, scene.NameOf(server), was, fast.Prefix.Addr(), fast.Link, could, way),
		fmt.Sprintf("Use %s: mount or connect by that address, or have the server's name resolve to it (DNS, /etc/hosts); then mount anew.", fast.Prefix.Addr()), evidence...)
}

func upperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-32) + s[1:]
	}
	return s
}
