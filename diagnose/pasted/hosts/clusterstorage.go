package hosts

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// clientChannels: Linux's SMB client has one channel (TCP connection) to its server.
func clientChannels(v *scene.View) {
	for _, h := range v.Hosts {
		extra, ok := h.Get("smb client", "extra_channels")
		offered, at, _ := scene.Number(h, "smb client", "server_interfaces")
		if !ok || extra.Text != "0" || linksFor(v, h) == 1 {
			continue
		}
		sure, why := 0.65, "the server offers one interface only, and the client opens further channels to what it offers"
		remedy := "On the server offer every interface (`server multi channel support = yes`, `interfaces = ...` with all of their addresses and `;capability=RSS,speed=...`), an address in each link's subnet on both ends; then mount again with `multichannel,max_channels=4`, and look for \"Extra Channels\"."
		if offered > 1 {
			sure, why = 0.72, fmt.Sprintf("the server offers %.0f interfaces, and the mount did not ask for more channels", offered)
			remedy = "Mount again with `multichannel,max_channels=4` (`umount` first: a session that is there is used again), and look for \"Extra Channels\" in /proc/fs/cifs/DebugData."
		}
		v.Add(record.SingleLink, sure, h, "the SMB mount of "+scene.NameOf(h),
			fmt.Sprintf("The SMB client of %s has one channel, one TCP connection, which takes a single link: %s.", scene.NameOf(h), why), remedy,
			scene.Saw("extra channels", "none", extra.Source), scene.Saw("server interfaces", fmt.Sprintf("%.0f", offered), at))
	}
}

// secureMigration: Proxmox sends a guest's memory through SSH: one process encrypts.
func secureMigration(v *scene.View) {
	for _, h := range v.Hosts {
		x, ok := h.Get("config datacenter", "migration")
		if !ok || x.Text != "secure" {
			continue
		}
		sure := 0.55
		if len(v.Case.Runs) > 0 {
			sure = 0.4 // the question is another rate
		}
		v.Add(record.SenderCPU, sure, h, "the migration of Proxmox (secure)",
			"Migrations are secure: each goes through one SSH connection, which one core encrypts and which takes one link of a bond: some hundreds of MB/s at most, whatever the network carries.",
			"In a network that only the nodes share: `migration: insecure,network=SUBNET` in /etc/pve/datacenter.cfg (Datacenter, Options, Migration Settings), or `qm migrate ... --migration_type insecure`; several guests at once use several cores and links.",
			scene.Saw("migration of datacenter.cfg", x.Text, x.Source))
	}
}

// linksFor is how many links a host has for several connections; zero unknown.
func linksFor(v *scene.View, h *piece.Host) (n int) {
	for _, name := range h.Subjects("link") {
		if scene.Physical(name) && scene.Word(h, name, "state") != "down" && scene.Word(h, name, "kind") == "" {
			n++
		}
	}
	if v.Bundled(h) {
		return max(n, 2)
	}
	return n
}
