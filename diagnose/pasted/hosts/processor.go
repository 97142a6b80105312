package hosts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	fullCore = 5.0  // per cent idle: no more than this is full
	fullTask = 88.0 // per cent of a core: a thread that has no more
)

// oneOfAll: soft interrupts whose share of all cores is just one core, where only the sum
// of them was read (busybox' top).
func oneOfAll(v *scene.View) {
	for _, h := range v.Hosts {
		cores, _, known := scene.Number(h, "host", "cores")
		if len(h.Cores) != 1 || h.Cores[0].ID != "all" || !v.Complains() {
			continue
		}
		all := h.Cores[0]
		for _, n := range []float64{2, 4, 8} {
			if known && cores != n || all.Soft < 92/n || all.Soft > 106/n || all.Idle < 100/n || all.User+all.System > 50/n {
				continue
			}
			sure := 0.56
			if known {
				sure = 0.74
			}
			v.Add(record.ReceiverCPU, sure, h, fmt.Sprintf("one core of %.0f of %s", n, scene.NameOf(h)),
				fmt.Sprintf("Soft interrupts take %.0f %% of all cores together, and little else runs: that is the whole of one core of %.0f, while the others idle. One core takes all packets, and it is full.", all.Soft, n),
				"Spread them: more queues (`ethtool -L`), RPS (`echo f > /sys/class/net/LINK/queues/rx-0/rps_cpus`; OpenWrt: `option packet_steering 2`), irqbalance; or less work a packet: flow offload of the firewall (software, hardware), no SQM, GRO.",
				scene.Saw("all cores of "+scene.NameOf(h), fmt.Sprintf("%.0f %% soft interrupts, %.0f %% idle", all.Soft, all.Idle), all.Source)).Ask = []scene.Missing{
				{Command: "grep -c processor /proc/cpuinfo; cat /proc/stat, twice", Host: scene.NameOf(h), Why: "how many cores there are, and which one the soft interrupts fill"},
				{Command: "cat /proc/interrupts; cat /proc/net/softnet_stat", Host: scene.NameOf(h), Why: "which core takes the card's interrupts, and whether packets are dropped"}}
		}
	}
}

// leastFull is the work of all cores together, in per cent, from which none has any left.
const leastFull = 80

// allFull: all cores together are full, where only their sum was read.
func allFull(v *scene.View) {
	for _, h := range v.Hosts {
		if n, _, _ := scene.Number(h, "host", "cores"); n == 1 || len(h.Cores) != 1 || h.Cores[0].ID != "all" || !v.Complains() {
			continue
		}
		all := h.Cores[0]
		if all.User+all.System+all.Soft+all.Steal < leastFull || all.Idle > fullCore {
			continue
		}
		cause := record.SenderCPU
		if v.Receives(h) && !slowSender(v, h) || all.Soft >= 60 && !sends(v, h) {
			cause = record.ReceiverCPU
		}
		if slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool { return r.Detail["to"] == "/dev/null" }) {
			cause = record.ReceiverCPU // it reads
		}
		v.Add(cause, 0.72, h, "all cores of "+scene.NameOf(h),
			fmt.Sprintf("All cores of %s together are full (%.0f %% programs, %.0f %% system, %.0f %% soft interrupts): the processor limits, not the links.", scene.NameOf(h), all.User, all.System, all.Soft),
			"Find what takes it (`top -H`, `perf top`). More or faster cores (a guest: more vCPUs, virtio instead of an emulated card or disk), or less work a packet: larger frames, offloads (GRO, TSO) on, larger requests.",
			scene.Saw("all cores of "+scene.NameOf(h), fmt.Sprintf("%.0f %% idle, %.0f %% system", all.Idle, all.System), all.Source))
	}
}

// busyCores: cores that are full, and what fills them.
func busyCores(v *scene.View) {
	for _, h := range v.Hosts {
		var full []piece.Core
		idle, cores := 0, 0
		single, _, _ := scene.Number(h, "host", "cores")
		for _, c := range h.Cores {
			if c.ID == "all" && single != 1 {
				continue
			}
			cores++
			switch {
			case c.Idle <= fullCore:
				full = append(full, c)
			case c.Idle > 50:
				idle++
			}
		}
		if len(full) == 0 {
			continue
		}
		soft := 0.0
		for _, c := range full {
			soft = max(soft, c.Soft)
		}
		worst := full[0]
		cause := record.SenderCPU
		if v.Receives(h) && !slowSender(v, h) || soft >= 60 && !sends(v, h) {
			cause = record.ReceiverCPU // receiving is what soft interrupts mostly do
		}
		if single == 1 {
			worst.ID = "0"
		}
		e := scene.Saw("core "+worst.ID+" of "+scene.NameOf(h), fmt.Sprintf("%.0f %% idle, %.0f %% soft interrupts", worst.Idle, worst.Soft), worst.Source)
		if len(full) == cores && cores > 1 {
			v.Add(cause, 0.88, h, fmt.Sprintf("the %d cores of %s", cores, scene.NameOf(h)),
				fmt.Sprintf("All %d cores of %s are full (%.0f %% soft interrupts on the busiest): the processor limits, not the links.", cores, scene.NameOf(h), soft),
				"Use more or faster cores, or less work a packet: larger frames, offloads (GRO, TSO) on, interrupts spread over all cores, a newer platform.", e)
			continue
		}
		where := "core " + worst.ID + " of " + scene.NameOf(h)
		if program, why, at, ok := heaviest(h); ok && single == 1 {
			v.Add(cause, 0.88, h, program+" on "+scene.NameOf(h), fmt.Sprintf("The one core (vCPU) of %s is full, most of it %s: the processor is the limit, not the network.", scene.NameOf(h), program),
				"Use more or faster cores (a larger instance). "+why+".", e, scene.Saw("the heaviest", program, at))
			continue
		}
		sure := 0.8
		if soft < 60 && !v.Receives(h) && !sends(v, h) {
			sure = 0.72 // which way it works was not read
		}
		v.Add(cause, sure, h, where,
			fmt.Sprintf("One core of %s is full (core %s: %.0f %% soft interrupts)%s: one queue, or one single thread, does all the work.", scene.NameOf(h), worst.ID, worst.Soft, othersIdle(idle)),
			"Spread it: more receive queues (`ethtool -L`, multiqueue for a guest) with interrupts on several cores (irqbalance or smp_affinity), RPS where there is one queue only; several processes or threads where a program is the one.", e)
	}
}

// othersIdle says how many cores idle beside; "" none was read.
func othersIdle(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" while %d others are idle", n)
}

// slowSender reports a host that was tested both ways and is slower to send.
func slowSender(v *scene.View, h *piece.Host) bool {
	var out, in unit.BitRate
	for _, r := range v.Case.Runs {
		switch from, to := scene.Sides(r); {
		case r.Rate == 0 || h.Name == "":
		case from == h.Name && (out == 0 || r.Rate < out):
			out = r.Rate
		case to == h.Name && (in == 0 || r.Rate < in):
			in = r.Rate
		}
	}
	return out > 0 && in > 0 && out < in
}

// sends reports a host that sent in the runs of the case, or by its monitors.
func sends(v *scene.View, h *piece.Host) bool {
	if v.Sends(h) {
		return true
	}
	sent, got := 0.0, 0.0
	for _, name := range h.Subjects("link") {
		t, _, _ := scene.Number(h, "link "+name, "seen_tx_bps")
		r, _, _ := scene.Number(h, "link "+name, "seen_rx_bps")
		sent, got = max(sent, t), max(got, r)
	}
	return sent > 2*got
}

// threads: programs whose one thread is full.
func threads(v *scene.View) {
	for _, h := range v.Hosts {
		for _, p := range h.Processes {
			if p.CPU < fullTask {
				continue
			}
			e := scene.Saw(p.Name+" on "+scene.NameOf(h), fmt.Sprintf("%.0f %% of a core", p.CPU), p.Source)
			switch name := strings.ToLower(p.Name); {
			case strings.HasPrefix(name, "vhost"):
				cause, sure := guestWay(v, h)
				v.Add(cause, sure, h, "the vhost thread of the guest on "+scene.NameOf(h),
					fmt.Sprintf("The thread %s is full: it carries all of the guest's (VM's) packets of one virtio queue (one thread), and one core is all that it has.", p.Name),
					"Give the guest's virtio card more queues (multiqueue: queues=N, then `ethtool -L eth0 combined N` in the guest), or pass a card through (SR-IOV).", e)
			case strings.HasPrefix(name, "iperf3"):
				threadOf(v, h, record.SenderCPU, 0.93, e)
			case strings.HasPrefix(name, "ksoftirqd"):
				v.Add(record.ReceiverCPU, 0.85, h, p.Name+" of "+scene.NameOf(h), fmt.Sprintf("%s is full: one core does the receiving of all packets that its interrupts bring.", p.Name),
					"Spread the card's queues over cores (`ethtool -L`, irqbalance), GRO on, larger frames.", e)
			case strings.HasPrefix(name, "ssh") || strings.HasPrefix(name, "scp") || strings.HasPrefix(name, "rsync"):
				v.Add(record.Application, 0.85, h, p.Name+" on "+scene.NameOf(h), fmt.Sprintf("%s fills one core: the program limits, not the network.", p.Name),
					"Run several at a time, or one without encryption and compression.", e)
			}
		}
	}
}

// offloads: work that the card could do and the host does.
func offloads(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if x, ok := h.Get("link "+name, "offload.generic-receive-offload"); ok && x.Text == "off" && len(v.Case.Runs)+len(h.Cores)+len(h.Processes) > 0 {
				sure := 0.6
				for _, c := range h.Cores {
					if c.ID != "all" && c.Soft > 60 {
						sure = 0.9
					}
				}
				v.Add(record.ReceiverCPU, sure, h, name+" (GRO off)",
					fmt.Sprintf("%s has generic-receive-offload (GRO) off: the receiver's core handles every packet singly, and one core fills.", name),
					fmt.Sprintf("`ethtool -K %s gro on`; keep it with the link's configuration.", name), scene.Saw("offload of "+name, "generic-receive-offload off", x.Source))
			}
			overlayChecksums(v, h, name)
			if scene.Contains(name, "tap", "vnet") && guestEnd.MatchString(name) {
				uncutGuest(v, h, name)
			}
		}
	}
}

// guestEnd is a hypervisor's end of a guest's card.
var guestEnd = regexp.MustCompile(`^(?:tap|vnet)[0-9a-z]`)

// uncutGuest: a guest's end with neither checksum nor segmentation offload: the guest
// sends and gets its packets singly.
func uncutGuest(v *scene.View, h *piece.Host, name string) {
	cut, ok := h.Get("link "+name, "offload.tcp-segmentation-offload")
	sum, told := h.Get("link "+name, "offload.tx-checksumming")
	if !ok || !told || cut.Text != "off" || sum.Text != "off" || len(v.Case.Runs) == 0 {
		return
	}
	v.Add(record.ReceiverCPU, 0.66, h, name+" (no offloads to the guest)",
		fmt.Sprintf("%s, the hypervisor's end of the guest's card, has checksum and segmentation offload off: host and guest handle each packet of 1500 bytes singly instead of 64 KiB at once, and a core fills.", name),
		"Let the hypervisor offer them: QEMU `-device virtio-net-pci,csum=on,guest_csum=on,guest_tso4=on,guest_tso6=on,host_tso4=on,host_tso6=on` with a tap opened with vnet_hdr (`-netdev tap,vhost=on`), libvirt `<driver name='vhost'><host csum='on' gso='on' tso4='on'/><guest csum='on' tso4='on'/></driver>`.",
		scene.Saw("offloads of "+name, "tcp-segmentation-offload off, tx-checksumming off", cut.Source))
}

// networkPrograms are those that move data by one thread a connection, and what
// makes that dear.
var networkPrograms = map[string]string{
	"smbd":    "SMB handles each client in one process; signing and encryption make each byte dear: turn off what policy allows (`server signing`, `smb encrypt`), or use AES-GMAC signing",
	"ksmbd":   "SMB handles each connection in one thread; signing and encryption make each byte dear",
	"wg":      "WireGuard encrypts (crypt workers) on this host's cores: more or faster cores, or larger frames",
	"openvpn": "OpenVPN is one thread: use its kernel module (DCO), WireGuard, or several tunnels",
	"ssh":     "ssh encrypts in one thread: use a cheaper cipher (aes128-gcm@openssh.com), or several transfers at once",
	"rsync":   "rsync is one thread: several at once, or without compression",
	"nfsd":    "more nfsd threads, and several connections: " + workload.MoreOf("nfs"),
	"haproxy": "more threads (nbthread)",
	"nginx":   "more workers",
	"squid":   "more workers",
}

// heaviest is the busiest process that is known to move data, and why it costs.
func heaviest(h *piece.Host) (name, why string, at piece.Source, ok bool) {
	most := 30.0
	for _, p := range h.Processes {
		low := programName(p.Name)
		for _, prefix := range slices.Sorted(maps.Keys(networkPrograms)) {
			if p.CPU > most && (strings.HasPrefix(low, prefix) || strings.Contains(low, "-"+prefix+"-") || strings.Contains(low, prefix+"_")) {
				name, why, at, ok, most = p.Name, networkPrograms[prefix], p.Source, true, p.CPU
			}
		}
	}
	return name, why, at, ok
}

// busyPrograms: a program of the network whose thread is full.
func busyPrograms(v *scene.View) {
	for _, h := range v.Hosts {
		for _, p := range h.Processes {
			name := programName(p.Name)
			if p.CPU < fullTask {
				continue
			}
			for _, prefix := range slices.Sorted(maps.Keys(networkPrograms)) {
				why := networkPrograms[prefix]
				if !strings.HasPrefix(name, prefix) && !strings.Contains(name, "-"+prefix) && !strings.Contains(name, prefix+"-") && !strings.Contains(name, prefix+"_") {
					continue
				}
				cause := record.SenderCPU
				if v.Receives(h) {
					cause = record.ReceiverCPU
				}
				v.Add(cause, 0.86, h, p.Name+" on "+scene.NameOf(h), fmt.Sprintf("%s fills a core (CPU %.0f %%): that program is the limit, not the network.", p.Name, p.CPU),
					sentence(why)+".", scene.Saw(p.Name, fmt.Sprintf("%.0f %% of a core", p.CPU), p.Source))
			}
		}
	}
}

// programName is a process's name without its path.
func programName(s string) string {
	first, rest, _ := strings.Cut(strings.ToLower(s), " ")
	if at := strings.LastIndexByte(first, '/'); at >= 0 && at+1 < len(first) && strings.HasPrefix(first, "/") {
		first = first[at+1:]
	}
	return strings.TrimSpace(first + " " + rest)
}
