package workload

import "github.com/linerate/linerate/flow"

// guests are live migrations of virtual machines.
func guests() []Program {
	return []Program{
		// qapi/migration.json: multifd-channels "is the same number that the number
		// of sockets used for migration", 2 by default, QEMU 4.0; libvirt 5.2.0 has
		// VIR_MIGRATE_PARALLEL, which tunnelled migration excludes.
		// QEMU_MIGRATION_PORT_MIN, _MAX of src/qemu/qemu_conf.c.
		{
			Name: "qemu", Aliases: []string{"libvirt", "kvm"}, What: "a live migration of QEMU or libvirt",
			Params: []Param{
				{Key: "channels", Doc: "connections of a migration (multifd-channels; virsh migrate --parallel-connections)", Counts: PerAddress, Default: 1, Most: 255,
					Written: "virsh migrate --live --parallel --parallel-connections {n}", Since: "QEMU 4.0 and libvirt 5.2"},
			},
			Opens:     "One connection; with multifd two, or as many as multifd-channels says.",
			Beside:    "with multifd the main channel, for the state of devices",
			Ports:     []flow.PortRange{{First: 49152, Last: 49215}},
			More:      "`virsh migrate --live --parallel --parallel-connections N` (libvirt 5.2 and QEMU 4.0 or later, without --tunnelled); in QEMU's monitor `migrate_set_capability multifd on` and `migrate_set_parameter multifd-channels N` on both ends",
			Needs:     []string{"each channel is a thread: as many cores that are free at both ends"},
			Processes: []string{"qemu-*", "kvm*"},
		},
		// next_migrate_port of PVE::Tools (pve-common): 60000 to 60050. Without
		// `migration: insecure` the memory goes through ssh.
		{
			Name: "proxmox", Aliases: []string{"pve"}, What: "live migrations of Proxmox VE",
			Params: []Param{
				{Key: "guests", Doc: "guests that migrate at the same time", Counts: PerAddress, Default: 1, Most: 64, Written: "migrate {n} guests at once"},
			},
			Opens:     "One connection for the memory of a guest, through ssh unless the migration is insecure; it has no multifd.",
			Ports:     []flow.PortRange{{First: 60000, Last: 60050}, one(22)},
			ManyPorts: true,
			More:      "migrate several guests at once (bulk migration, parallel jobs), on a network of its own (`migration: type=insecure,network=CIDR` in datacenter.cfg)",
			Needs:     []string{"type=secure encrypts in ssh, on one core for each guest"},
			Processes: []string{"kvm*", "qemu-*"},
		},
	}
}
