package steer

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/flow"
)

// What the kernel's NFS client goes by (net/sunrpc/xprtsock.c): it takes a
// port at random between sunrpc.min_resvport and sunrpc.max_resvport, and
// another when the flow exists already; nconnect is 16 at most
// (NFS_MAX_CONNECTIONS).
const (
	nfsPort          uint16 = 2049
	firstReserved    uint16 = 665
	lowestReserved   uint16 = 512
	lastReserved     uint16 = 1023
	mostNFSConnected        = 16
)

// pickNFS chooses a window of as many reserved ports as there are connections:
// they then fill it, in whatever order. Where no window of the size is even,
// it takes the next larger number of connections that gives every link the
// same, or else one that is even.
func pickNFS(req PickRequest) (Picked, Recipe, error) {
	req.Proto, req.Dport, req.Dports = flow.TCP, nfsPort, nil
	asked := req.Streams
	best, err := nfsWindow(req)
	if err != nil {
		return best, Recipe{}, err
	}
	links := len(req.Near.Links())
	for req.Streams = asked + 1; req.Streams <= mostNFSConnected && !(best.Even && (len(best.Streams) == asked || len(best.Streams)%links == 0)); req.Streams++ {
		p, err := nfsWindow(req)
		if err == nil && p.Even && (!best.Even || req.Streams%links == 0) {
			best = p
		}
	}
	return best, best.nfs(asked), nil
}

// nfsWindow is the run of ports: the request's own, else among those that the
// kernel's client takes by itself, else further down.
func nfsWindow(req PickRequest) (p Picked, err error) {
	if req.FirstPort != 0 || req.LastPort != 0 {
		return PickWindow(req)
	}
	for _, req.FirstPort = range [...]uint16{firstReserved, lowestReserved} {
		req.LastPort = lastReserved
		if p, err = PickWindow(req); err == nil && p.Even {
			break
		}
	}
	return p, err
}

func (p Picked) nfs(asked int) Recipe {
	n, s := len(p.Streams), p.Streams[0]
	r := Recipe{Program: NFS, Exact: n <= mostNFSConnected}
	r.Sender = []string{
		"modprobe sunrpc",
		fmt.Sprintf("sysctl -w sunrpc.min_resvport=%d sunrpc.max_resvport=%d", s.Sport, int(s.Sport)+n-1),
		fmt.Sprintf("mount -t nfs -o nconnect=%d,proto=tcp %s:/EXPORT /MOUNTPOINT", n, mountHost(s)),
	}
	if n != asked {
		r.Notes = append(r.Notes, fmt.Sprintf("no run of %d ports is even over the links: %d connections instead", asked, n))
	}
	if n > mostNFSConnected {
		r.Notes = append(r.Notes, fmt.Sprintf("nconnect is at most %d", mostNFSConnected))
	}
	if p.Streams[n-1].Sport > lastReserved {
		r.Notes = append(r.Notes, "source ports above 1023 need the option insecure in the server's exports")
	}
	r.Notes = append(r.Notes,
		fmt.Sprintf("the client must send from %s, which its route to the server decides", s.Src),
		fmt.Sprintf("the %d connections need all %d ports of the window, so nothing else may use them; the window is the whole machine's and must stay while the mount does, since a connection that is made anew takes a port out of it", n, n),
		"mount before anything else of this server is mounted: later mounts share its connections; connections come up one by one with traffic",
		"with noresvport the kernel chooses any port and the window has no effect")
	return r
}

// mountHost is the server as a mount names it.
func mountHost(s Stream) string {
	if is6(s.Dst) {
		return "[" + s.Dst.String() + "]"
	}
	return s.Dst.String()
}

// rclone binds an address and never a port: processes with an address each
// are exact where addresses decide the link, and chance where ports do.
func (p Picked) rclone(req PickRequest) Recipe {
	r := Recipe{Program: Rclone, Exact: p.Even && req.withoutSourcePorts(p)}
	lanes := distinctLanes(p.Streams)
	each := (len(p.Streams) + len(lanes) - 1) / len(lanes)
	for i, l := range lanes {
		r.Sender = append(r.Sender, fmt.Sprintf("rclone copy SOURCE%s REMOTE:PATH --bind %s --transfers %d%s", part(i, len(lanes)), l.Src, each, background(i, len(lanes))))
	}
	if len(lanes) > 1 {
		r.Notes = append(r.Notes, "each process copies a part of the source of its own; a remote of its own for each destination address, where those differ")
	}
	if !r.Exact {
		r.Notes = append(r.Notes, chance("rclone", req, len(p.Streams)))
	}
	r.Notes = append(r.Notes, "--transfers is connections for as many files; --multi-thread-streams splits a large file over more, with the remotes that can")
	return r
}

func part(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("/PART%d", i+1)
}

func distinctLanes(streams []Stream) []flow.Lane {
	var lanes []flow.Lane
	seen := make(map[flow.Lane]bool)
	for _, s := range streams {
		if !seen[s.Lane] {
			seen[s.Lane] = true
			lanes = append(lanes, s.Lane)
		}
	}
	return lanes
}

// withoutSourcePorts reports whether the streams keep their links on every
// side whatever their source ports, as far as trying some tells.
func (req PickRequest) withoutSourcePorts(p Picked) bool {
	full, err := req.complete()
	if err != nil {
		return false
	}
	for _, side := range full.sides() {
		if !side.computed {
			return false
		}
		for _, s := range p.Streams {
			want := *s.linkOn(side)
			for _, sport := range [...]uint16{1, 1023, 32768, 40001, 50006, 60999} {
				if side.class(full.frame(side, s.Lane, sport, s.Dport)) != want {
					return false
				}
			}
		}
	}
	return true
}

// pickWDT chooses the receiver's ports, which wdt counts on from -start_port
// with a connection to each; its source ports are the kernel's choice. That
// is exact where the destination port alone decides.
func pickWDT(req PickRequest) (Picked, Recipe, error) {
	r := Recipe{Program: WDT}
	if req.Dport == 0 {
		req.Dport = 22356 // wdt's own
	}
	own := req
	if len(req.Dports) > 1 {
		own.Dport, own.Dports = req.Dports[0], nil
	}
	own, err := own.serverPorts()
	if err != nil {
		return Picked{}, r, err
	}
	p, err := Pick(own)
	if err != nil {
		return p, r, err
	}
	first := p.Streams[0].Dport
	seen := make(map[uint16]bool)
	for _, s := range p.Streams {
		first = min(first, s.Dport)
		seen[s.Dport] = true
	}
	r.Exact = p.Even && len(seen) == len(p.Streams) && own.withoutSourcePorts(p)
	lane := p.Streams[0].Lane
	ports := fmt.Sprintf("-start_port %d -num_ports %d", first, len(p.Streams))
	r.Receiver = []string{fmt.Sprintf("wdt -directory /DESTINATION %s", ports)}
	r.Sender = []string{fmt.Sprintf("wdt -directory /SOURCE -destination %s %s", lane.Dst, ports)}
	if !r.Exact {
		r.Notes = append(r.Notes, chance("wdt", own, len(p.Streams)))
	}
	return p, r, nil
}

// chance says that a program leaves links to chance, and how good it is.
func chance(program string, req PickRequest, streams int) string {
	n := len(req.Near.Links())
	if !req.Near.Reach().Ports || n < 2 {
		return program + " chooses no source ports, and the addresses given do not spread over the links: linerate steer addresses chooses some that do"
	}
	enough := streams
	for coverage(enough, n) < 0.99 {
		enough++
	}
	return fmt.Sprintf("%s chooses no source ports: the links are left to chance. %d connections use all %d links %.0f %% of the time; with %d that is 99 %%, though not evenly. With layer2+3 and chosen addresses it would be exact (linerate steer addresses)",
		program, streams, n, 100*coverage(streams, n), enough)
}

// coverage is the probability that so many streams, each on a link at random,
// use every link.
func coverage(streams, n int) float64 {
	// The distribution of the number of links in use, one stream at a time.
	used := make([]float64, n+1)
	used[0] = 1
	for range streams {
		for k := n; k >= 0; k-- {
			used[k] *= float64(k) / float64(n)
			if k > 0 {
				used[k] += used[k-1] * float64(n-k+1) / float64(n)
			}
		}
	}
	return math.Min(used[n], 1)
}
