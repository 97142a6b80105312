package piece

import (
	"net/netip"
	"slices"
)

// Socket is a connection of a host, as ss or netstat lists it.
type Socket struct {
	Local, Remote netip.AddrPort // invalid where only what is inside is shown
	State         string         // "ESTAB", ...
	RecvQ, SendQ  int64          // bytes
	Process       string         // "" not shown
	// Info is what ss -i prints: rtt "31.1/0.05" (ms), cwnd, mss, rwnd_limited and
	// sndbuf_limited in percent of busy_ms, snd_wnd, delivery_bps, pacing_bps,
	// retrans_now, retrans_total, bytes_sent, reordering, app_limited "yes",
	// congestion, and the others by ss's own names.
	Info map[string]string
	Source
}

// NDT7 is the process of a socket that a speed test of that name tells of.
const NDT7 = "ndt7"

// Core is one core's load in percent, or that of all where ID is "all".
type Core struct {
	ID                              string
	User, System, Soft, Steal, Idle float64
	Source
}

// Process is a program, or one of its threads, that uses a core: 100 is one core.
type Process struct {
	Name string
	CPU  float64
	Source
}

// Event is a line of a kernel's or a service's log that speaks of a link.
type Event struct {
	Text string
	// Kind is link-up, link-down, lacp-no-response, active-up, no-active, enslaved,
	// released, speed, pcie-limited, watchdog, hang, reset, mtu, checksum, loopback,
	// channel-failed, arp-overflow, arp-moved, conntrack-full, renamed, lacp,
	// wait-failed (for the network, at boot), bridged and unbridged (a device enters
	// or leaves promiscuous mode) or other.
	Kind string
	Link string // "" none named
	// Seconds is the time stamp: since the boot or since 1970, whatever the log has;
	// 0 none.
	Seconds float64
	Source
}

// Mount is a file system that is mounted over the network.
type Mount struct {
	Device, Path, Kind string
	Options            map[string]string // "" is the value of one that has none
	Ports              []uint16          // source ports of its connections, where mountstats lists them
	Source
}

// Ping is a test of whether packets of a size get through, and how fast.
type Ping struct {
	Target         string
	Size           int  // payload; 0 not said
	DontFragment   bool // -M do, -f, -D
	Sent, Received int  // -1 not said
	MTU            int  // that a "frag needed" or "message too long" names; 0 none
	TooLong        bool
	// MinMS, AvgMS and MaxMS are round trips; 0 not said.
	MinMS, AvgMS, MaxMS float64
	Source
}

// Hop is a router on a trace.
type Hop struct {
	Number int
	Names  []string // "*" no answer; several where packets took several paths
	Loss   float64  // percent; -1 not said
	AvgMS  float64  // 0 not said
}

// Trace is what traceroute, tracepath or mtr found.
type Trace struct {
	Target string
	Hops   []Hop
	MTU    int // that tracepath found; 0 not said
	Source
}

// Path is one path to a disk or a share: of multipath, iSCSI, NVMe or SMB.
type Path struct {
	Kind   string // multipath, iscsi, nvme, smb
	Device string // mpatha, an IQN, a subsystem, a share
	Local  string // address or name of the near end; "" not said
	Remote string // likewise of the far end
	Link   string // that it runs over, where the tool says so
	State  string // "active ready running", "live optimized", "LOGGED IN", ...
	Group  int    // of multipath: paths of one group share the load; from 1
	Policy string // service-time, round-robin, numa, ...
	Source
}

// Add adds a hop; a row of the same number is another path, or a second look.
func (t *Trace) Add(h Hop) {
	for i := range t.Hops {
		if t.Hops[i].Number != h.Number {
			continue
		}
		for _, name := range h.Names {
			if name != "*" && name != "localhost" && !slices.Contains(t.Hops[i].Names, name) {
				t.Hops[i].Names = append(t.Hops[i].Names, name)
			}
		}
		return
	}
	if len(t.Hops) < 256 {
		t.Hops = append(t.Hops, h)
	}
}

var Tables = map[string]int{"main": 254, "local": 255, "default": 253}

// Words reads what stands behind a route's destination.
func (r *Route) Words(f []string) {
	for i := 0; i < len(f); i++ {
		value := ""
		if i+1 < len(f) {
			value = f[i+1]
		}
		switch f[i] {
		case "via":
			if (value == "inet6" || value == "inet") && i+2 < len(f) {
				i++
				value = f[i+1]
			}
			r.Gateway, _ = netip.ParseAddr(value)
		case "dev":
			r.Link = value
		case "src":
			r.Route.Source, _ = netip.ParseAddr(value)
		case "proto":
			r.Protocol = value
		case "metric":
			r.Metric = max(Atoi(value), 0)
		case "mtu":
			r.MTU = max(Atoi(value), 0)
		case "nhid":
			r.Object = max(Atoi(value), 0)
		case "table":
			if n, ok := Tables[value]; ok {
				r.Table = n
			} else if r.Table = max(Atoi(value), 0); r.Table == 0 {
				r.TableName = value
			}
		case "onlink":
			r.OnLink = true
			continue
		case "linkdown", "dead":
			r.Down = true
			continue
		case "scope", "weight", "error", "pref", "expires":
		default:
			continue
		}
		i++
	}
}
