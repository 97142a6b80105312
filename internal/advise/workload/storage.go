package workload

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// nfs41 is the place of 4.1 among the words of vers: those up to it know that
// several addresses are one server (session trunking).
const nfs41 = 1

// MostNFS is the kernel's limit of nconnect (NFS_MAX_CONNECTIONS) and of
// max_connect (NFS_MAX_TRANSPORTS), fs/nfs/fs_context.c.
const MostNFS = 16

// NVMePolicies are the I/O policies that use several paths (NVME_IOPOLICY_* of
// drivers/nvme/host/multipath.c).
const NVMePolicies = "round-robin (queue-depth from Linux 6.11)"

// storage are file systems and block devices.
func storage() []Program {
	return []Program{
		// nconnect: Linux 5.3, of NFS 3 too (commits 6619079d0540, 53c326307156).
		// max_connect: Linux 5.15 (7e134205f629, 2a7a451a9084): connections to
		// further addresses of one server, of NFS 4.1 and later; without it a mount
		// of another address is put on the first one's connections.
		// trunkdiscovery: off by default since it is an option, 5.18 (a43bf6044464).
		// Ports: xs_get_random_port of net/sunrpc/xprtsock.c.
		{
			Name: "nfs", What: "an NFS mount", Kernel: true, Protocol: "NFS", Mounts: []string{"nfs", "nfs4"},
			Params: []Param{
				{Key: "nconnect", Doc: "connections of a mount", Counts: PerAddress, Default: 1, Most: MostNFS, Written: "nconnect={n}", Since: "Linux 5.3"},
				{Key: "mounts", Doc: "mounts, each of another address of the server", Counts: Addresses, Default: 1, Most: MostNFS, Written: "a mount of each of {n} server addresses"},
				{Key: "max_connect", Doc: "addresses of one server that NFS 4.1 and later use", Counts: Addresses, Default: 1, Most: MostNFS, Written: "max_connect={n}", Since: "Linux 5.15"},
				{Key: "vers", Doc: "version of NFS", Words: []string{"4.2", "4.1", "4.0", "3"}, Written: "vers={n}"},
			},
			Opens:    "One connection for all mounts of one server address, of NFS 3 as of NFS 4; nconnect makes it several, all to the same address.",
			Source:   Reserved,
			Ports:    []flow.PortRange{one(2049)},
			ChosenBy: "sunrpc.min_resvport and sunrpc.max_resvport, which bound the ports of all mounts",
			More:     "mount with nconnect=N (up to 16; Linux 5.3 and later, NFS 3 too); unmount what is mounted of this server first, for later mounts share its connections",
			Spread:   "mount one address of the server for each link, each time another directory, with max_connect=N (Linux 5.15 and later) or vers=3, without which NFS 4.1 and later keep to one connection",
			Needs: []string{
				"requests take turns on the connections: one that shares a link slows the others",
				"with noresvport source ports are chosen by the kernel from ip_local_port_range",
			},
			open: openNFS, widen: widenNFS,
		},
		// learn.microsoft.com, Performance tuning for SMB file servers:
		// ConnectionCountPerRssNetworkInterface 4, PerRdma 2, of other cards 1;
		// MaximumConnectionCountPerServer 32. Of cards only the best kind is used:
		// RDMA, then RSS, then others, and of those the fastest (blog of the file
		// server's team, 2012: a card whose RSS has one queue counts as without).
		{
			Name: "smb", What: "SMB from a Windows client", Each: true, Most: 32,
			Params: []Param{
				{Key: "connections", Doc: "connections of each card (ConnectionCountPerRssNetworkInterface); 1 without RSS", Counts: PerAddress, Default: 4, Most: 16,
					Written: "Set-SmbClientConfiguration -ConnectionCountPerRssNetworkInterface {n}"},
			},
			Opens:     "SMB multichannel: four connections of each card whose RSS has several queues, one of a card without, at most 32 to a server.",
			Ports:     []flow.PortRange{one(445)},
			More:      "turn RSS on at both ends (Enable-NetAdapterRss; Samba 4.15 and later: `interfaces = \"ADDRESS;speed=N,capability=RSS\"` with `server multi channel support = yes`); `Set-SmbClientConfiguration -ConnectionCountPerRssNetworkInterface N` makes more than four; a Linux client mounts with multichannel,max_channels=N",
			Spread:    "give both hosts an address on each link, in subnets of their own, without a team: multichannel uses them all by itself (Get-SmbMultichannelConnection)",
			Needs:     []string{"only cards of the best kind and one speed are used: RDMA, then RSS, then others"},
			Processes: []string{"smbd"},
		},
		// CIFS_MAX_CHANNELS 16 (fs/smb/client/cifsglob.h); multichannel is two
		// channels (commit 1ee0e6d47d08, Linux 5.8), max_channels asks for it by
		// itself (c1f8a398b6d6, 5.13). The server must offer it: Samba's `server
		// multi channel support` is on by default from 4.15 (smb.conf(5): until 4.14
		// an experiment), ksmbd's is off.
		{
			Name: "cifs", What: "an SMB mount of Linux", Each: true, Kernel: true, Protocol: "SMB", Mounts: []string{"cifs", "smb3"},
			Params: []Param{
				{Key: "max_channels", Doc: "channels of a mount, over the server's interfaces", Counts: InAll, Default: 1, Most: 16, Written: "multichannel,max_channels={n}", Since: "Linux 5.8"},
			},
			Opens:  "One connection; with multichannel two, with max_channels=N so many, over the interfaces that the server names.",
			Ports:  []flow.PortRange{one(445)},
			More:   "mount with multichannel,max_channels=N (up to 16); the server must offer it (Samba 4.15 and later do, ksmbd with `server multi channel support = yes`)",
			Spread: "give the server an address on each link and mount with multichannel,max_channels=N: it names its interfaces to the client",
			Needs:  []string{"several channels to one address need RSS of that interface, as the server says it (`interfaces = \"ADDRESS;speed=N,capability=RSS\"`)"},
		},
		// open-iscsi: a session is one connection (scsi_transport_iscsi.c: "we do
		// not support MCS"), node.session.nr_sessions to a portal of each iface. An
		// iface binds its device or MAC address; an IP address is refused for
		// software iSCSI (bind_conn_to_iface of usr/io.c).
		{
			Name: "iscsi", What: "iSCSI sessions", Each: true, Kernel: true, Protocol: "iSCSI",
			Params: []Param{
				{Key: "sessions", Doc: "sessions to each portal (node.session.nr_sessions)", Counts: PerAddress, Default: 1, Most: 32, Written: "iscsiadm -m node --op update -n node.session.nr_sessions -v {n}"},
			},
			Opens:     "One session is one connection; there is one from each interface to each portal, and Linux has no further connections of a session (MC/S).",
			Ports:     []flow.PortRange{one(3260)},
			More:      "several sessions to a portal (`iscsiadm -m node --op update -n node.session.nr_sessions -v N`, then log in again)",
			Spread:    "a portal on each link and an iface for each card (`iscsiadm -m iface -I NAME --op=new`, then `-n iface.net_ifacename -v DEVICE`), and a session by each",
			Needs:     []string{"multipath in one group: `path_grouping_policy multibus` with `path_selector service-time` or round-robin (Windows: MPIO with round robin); a policy of failover uses one session"},
			Processes: []string{"iscsid"},
		},
		// nvmf_parse_options of drivers/nvme/host/fabrics.c: nr_io_queues is
		// num_online_cpus(); a queue is a connection, with one more for
		// administration (drivers/nvme/host/tcp.c). A request takes the queue of the
		// core that makes it (blk-mq). iopolicy: drivers/nvme/host/multipath.c.
		{
			Name: "nvme", What: "NVMe over TCP", Each: true, Kernel: true, Protocol: "NVMe over TCP",
			Params: []Param{
				{Key: "queues", Doc: "I/O queues of each controller (--nr-io-queues); one for each core by default", Counts: PerAddress, Most: 1024, PerCores: asMany, Written: "nvme connect --nr-io-queues={n}"},
			},
			Opens:  "A connection for each I/O queue of a controller, one for each core unless the target allows fewer; several controllers are several paths.",
			Beside: "one connection of each controller for administration",
			Ports:  []flow.PortRange{one(4420)},
			More:   "`nvme connect --nr-io-queues=N`, and as many cores that ask for data: a request takes the queue of its core",
			Spread: "a controller for each link (`nvme connect -a ADDRESS -w OWN_ADDRESS` once for each), with iopolicy " + NVMePolicies,
			Needs: []string{
				"a job of one thread on one core uses one queue, and so one connection",
				"iopolicy numa, the default, uses one path of several",
			},
		},
		// ms_bind_port_min 6800, ms_bind_port_max 7568 (7300 in older releases):
		// src/common/options/global.yaml.in. Monitors: 3300 (v2), 6789 (v1).
		{
			Name: "ceph", What: "Ceph between two hosts", Kernel: true, Protocol: "ceph", Mounts: []string{"ceph"},
			Params: []Param{
				{Key: "pairs", Doc: "pairs of daemons (or clients) that move data between the two hosts", Counts: PerAddress, Default: 1, Most: 4096, Written: "{n} pairs of daemons"},
			},
			Opens:     "One connection for each pair of daemons, of messenger v2 as of v1; nothing makes it several.",
			Beside:    "heartbeats, on connections of their own",
			Ports:     []flow.PortRange{{First: 6800, Last: 7568}, one(3300), one(6789)},
			ManyPorts: true,
			More:      "more OSDs on each host: every pair of daemons has its own connection, and none has several",
			Needs:     []string{"public_network and cluster_network name one address of a daemon each: further addresses are not used"},
			Processes: []string{"ceph-osd", "ceph-mds"},
		},
		// drbd-9.2 (commit 7d3945b1d1fb): DATA_STREAM and CONTROL_STREAM; transport
		// tcp uses the first path that works, lb-tcp has both on every path. lb-tcp
		// and the option: ChangeLog of 9.2.6.
		{
			Name: "drbd", What: "DRBD", Kernel: true, Protocol: "DRBD",
			Params: []Param{
				{Key: "resources", Doc: "resources that replicate at the same time", Counts: PerAddress, Default: 1, Most: 1024, Written: "{n} resources"},
				{Key: "load-balance-paths", Doc: "use every path of a connection at once", Counts: Addresses, Words: []string{"no", "yes"}, Written: "load-balance-paths {n};", Since: "DRBD 9.2.6"},
			},
			Opens:     "One connection for the data of a resource; of several paths TCP uses one, and the others wait for it to fail.",
			Beside:    "one connection of each resource for control",
			Ports:     []flow.PortRange{{First: 7788, Last: 7799}},
			ManyPorts: true,
			More:      "spread the data over several resources, each with a port of its own",
			Spread:    "a path { } with the addresses of each link, and `load-balance-paths yes;` in net { } on both hosts (DRBD 9.2.6 and later; before that paths are for failover alone)",
			Needs:     []string{"load-balance-paths cannot be changed while the resource is connected"},
		},
	}
}

// openNFS is what mounts of one server open. NFS 4.1 and later put a mount of
// another address on the first one's connections, unless max_connect allows it
// more.
func openNFS(u Use, pairs int) (Opened, error) {
	each, mounts, most := u.Value("nconnect"), u.Value("mounts"), u.Value("max_connect")
	trunks := u.Value("vers") <= nfs41
	if _, given := u.given["max_connect"]; given && !trunks {
		return Opened{}, fmt.Errorf("nfs: max_connect needs NFS 4.1 or later: leave it out, or write vers=4.1: %w", ErrParam)
	}
	used := mounts
	if trunks {
		used = min(mounts, most)
	}
	switch {
	case mounts > max(pairs, 1):
		return Opened{}, fmt.Errorf("nfs: mounts=%d, but the hosts have %s of addresses: %w", mounts, unit.Counted(max(pairs, 1), "pair"), ErrAddresses)
	case trunks && used > 1 && each > 1:
		return Opened{}, fmt.Errorf("nfs: nconnect and max_connect at once give the first address more connections than the others, which is not predicted: write one of them: %w", ErrParam)
	}
	return Opened{Connections: each * used, Pairs: used}, nil
}

// widenNFS mounts every address that there is.
func widenNFS(u Use, pairs int) (Use, bool) {
	if pairs > MostNFS {
		return u, false
	}
	w := u.With("mounts", pairs)
	if u.Value("vers") <= nfs41 {
		if u.Value("nconnect") > 1 {
			return u, false
		}
		w = w.With("max_connect", pairs)
	}
	return w, true
}
