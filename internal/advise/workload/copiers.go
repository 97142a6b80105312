package workload

import "github.com/linerate/linerate/flow"

// processes is the parameter of programs that have one connection: how many of
// them run.
func processes(written string) Param {
	return Param{Key: "processes", Doc: "how many run at the same time", Counts: PerAddress, Default: 1, Most: 1024, Written: written}
}

// copiers copy files from one host to another.
func copiers() []Program {
	return []Program{
		{
			Name: "ssh", Aliases: []string{"scp", "sftp"}, What: "ssh, scp or sftp",
			Params:    []Param{processes("{n} transfers at the same time")},
			Opens:     "One connection, whatever it copies.",
			Ports:     []flow.PortRange{one(22)},
			More:      "run several at once, each with a part of the files (mscp does so by itself: `mscp -n N`)",
			Spread:    "`-o BindAddress=OWN_ADDRESS` (ssh -b) for each process, to another address of the far host",
			Needs:     []string{"each process encrypts on one core"},
			Processes: []string{"ssh", "sshd", "sshd-session", "scp", "sftp", "sftp-server"},
		},
		{
			Name: "rsync", What: "rsync",
			Params:    []Param{processes("{n} rsync processes")},
			Opens:     "One connection, through ssh or to rsync's daemon.",
			Ports:     []flow.PortRange{one(22), one(873)},
			More:      "run several at once, each with a part of the tree",
			Spread:    "`-e 'ssh -b OWN_ADDRESS'` (of the daemon `--address=OWN_ADDRESS`) for each process, to another address of the far host",
			Needs:     []string{"through ssh each process encrypts on one core"},
			Processes: []string{"rsync"},
		},
		{
			Name: "zfs", Aliases: []string{"zfs-send"}, What: "zfs send to another host",
			Params: []Param{processes("{n} streams of zfs send")},
			Opens:  "One stream, and so the one connection of what carries it (ssh, mbuffer, nc).",
			Ports:  []flow.PortRange{one(22)},
			More:   "send several datasets at once, each by its own zfs send",
			Needs:  []string{"through ssh each stream is encrypted on one core"},
		},
		// rclone.org/flags: --transfers 4, --multi-thread-streams 4 for files above
		// --multi-thread-cutoff, 256 MiB. HTTP/2 is used where the remote has it
		// (--disable-http2).
		{
			Name: "rclone", What: "rclone",
			Params: []Param{
				{Key: "transfers", Doc: "files at the same time (--transfers)", Counts: PerAddress, Default: 4, Most: 1024, Written: "--transfers {n}"},
				{Key: "multi-thread-streams", Doc: "connections of a file above 256 MiB (--multi-thread-streams); 1 for smaller files", Counts: PerAddress, Default: 4, Most: 1024, Written: "--multi-thread-streams {n}"},
			},
			Opens:     "A connection for each file under way (--transfers), several for a large one where the remote can (--multi-thread-streams).",
			Ports:     []flow.PortRange{one(443), one(22), one(80)},
			More:      "--transfers N for several files, --multi-thread-streams N for large ones",
			Spread:    "a process for each own address (--bind), each with a part of the source",
			Needs:     []string{"a remote that speaks HTTP/2 takes one connection for all: --disable-http2"},
			Processes: []string{"rclone"},
		},
		// WdtOptions.h of facebook/wdt: start_port 22356, num_ports 8, a connection
		// to each.
		{
			Name: "wdt", What: "wdt",
			Params: []Param{
				{Key: "num_ports", Doc: "ports of the receiver, a connection to each", Counts: PerAddress, Default: 8, Most: 1024, Written: "-num_ports {n}"},
			},
			Opens:     "A connection to each port of the receiver: eight, from 22356 on.",
			Ports:     []flow.PortRange{{First: 22356, Last: 22363}},
			ManyPorts: true,
			More:      "-num_ports N at both ends",
			Processes: []string{"wdt"},
		},
		// mscp(1) 0.2.1: floor(log(nr_cores)*2)+1.
		{
			Name: "mscp", What: "mscp",
			Params: []Param{
				{Key: "n", Doc: "ssh connections; floor(2 ln cores) + 1 by default", Counts: PerAddress, Most: 1024, PerCores: halfLog, Written: "-n {n}"},
			},
			Opens:     "Several ssh connections, by the number of cores.",
			Ports:     []flow.PortRange{one(22)},
			More:      "-n N (sshd's MaxStartups must allow as many at once; -u and -I slow their start)",
			Needs:     []string{"each connection encrypts on one core"},
			Processes: []string{"mscp"},
		},
		// aria2c(1): max-connection-per-server 1 to 16, 1 by default; split 5.
		{
			Name: "aria2", Aliases: []string{"aria2c"}, What: "aria2",
			Params: []Param{
				{Key: "x", Doc: "connections to a server (--max-connection-per-server)", Counts: PerAddress, Default: 1, Most: 16, Written: "-x {n} -s {n}"},
			},
			Opens:     "One connection of a file to one server, though --split is 5.",
			Ports:     []flow.PortRange{one(443), one(80), one(21)},
			More:      "-x N -s N (up to 16); --min-split-size, 20M by default, is the least part of a file",
			Spread:    "--multiple-interface=ADDRESS,ADDRESS",
			Processes: []string{"aria2c"},
		},
		// curl 7.66.0: -Z; --parallel-max 50. A file is never split.
		{
			Name: "curl", Aliases: []string{"wget"}, What: "curl or wget",
			Params: []Param{
				{Key: "parallel", Doc: "files at the same time (-Z)", Counts: PerAddress, Default: 1, Most: 300, Written: "-Z --parallel-max {n}", Since: "curl 7.66"},
			},
			Opens:     "One connection: files come one after the other, and none is split.",
			Ports:     []flow.PortRange{one(443), one(80)},
			More:      "several files at once (`curl -Z --parallel-max N`), or a program that splits a file (`aria2c -x N -s N`)",
			Spread:    "--interface OWN_ADDRESS for each process",
			Needs:     []string{"HTTP/2 may put several files on one connection (--http1.1)"},
			Processes: []string{"curl", "wget"},
		},
		// DistCpConstants.DEFAULT_MAPS 20. dfs.datanode.address: 9866, 50010 in
		// Hadoop 2.
		{
			Name: "distcp", Aliases: []string{"hadoop"}, What: "Hadoop's distcp",
			Params: []Param{
				{Key: "maps", Doc: "maps that copy between these two hosts, of 20 (-m) in a whole cluster", Counts: PerAddress, Default: 20, Most: 4096, Written: "-m {n}"},
			},
			Opens: "A connection of each map to the data node that it reads or writes: 20 maps over the whole cluster.",
			Ports: []flow.PortRange{one(9866), one(50010)},
			More:  "-m N, and -blocksperchunk N so that large files are split",
			Needs: []string{"each map is a container of its own on some host"},
		},
	}
}

// others are what neither copies files nor mounts.
func others() []Program {
	return []Program{
		// pg_basebackup(1): -X stream, the default from 10 on, "will open a second
		// connection".
		{
			Name: "pg_basebackup", Aliases: []string{"postgres"}, What: "pg_basebackup",
			Opens:     "One connection for the data of a whole cluster; it has no option for several.",
			Beside:    "one connection for the write-ahead log (-X stream)",
			Ports:     []flow.PortRange{one(5432)},
			Processes: []string{"pg_basebackup"},
		},
		// iperf_create_streams counts source ports on from --cport; from 3.16 each
		// stream has a thread.
		{
			Name: "iperf3", What: "iperf3",
			Params: []Param{
				{Key: "P", Doc: "streams (-P)", Counts: PerAddress, Default: 1, Most: 128, Written: "-P {n}"},
			},
			Opens:     "One connection; -P makes several to the same address and port.",
			Beside:    "one connection for control",
			Ports:     []flow.PortRange{one(5201)},
			ChosenBy:  "--cport, the first of as many ports as there are streams",
			More:      "-P N (version 3.16 and later run each stream on a core of its own)",
			Spread:    "a process for each address: -B OWN_ADDRESS -c ADDRESS, each with a server of its own",
			Processes: []string{"iperf3"},
		},
	}
}
