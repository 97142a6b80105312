package snippet

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/steer"
)

// What the kernel's NFS client goes by (net/sunrpc/xprtsock.c): it takes a
// port at random between sunrpc.min_resvport and sunrpc.max_resvport, and
// another when the flow exists already.
const (
	nfsPort        uint16 = 2049
	firstReserved  uint16 = 665
	lowestReserved uint16 = 512
	lastReserved   uint16 = 1023
)

// nfs chooses a window of as many reserved ports as there are connections:
// they then fill it, in whatever order. Where no window of the size is even,
// it takes the next larger number of connections that gives every link the
// same, or else one that is even.
func nfs(req steer.PickRequest) (steer.Picked, Snippet, error) {
	switch {
	case req.Proto != 0 && req.Proto != flow.TCP:
		return steer.Picked{}, Snippet{}, fmt.Errorf("nfs over several connections is TCP, not %s", req.Proto)
	case req.Streams > workload.MostNFS:
		return steer.Picked{}, Snippet{}, fmt.Errorf("%d streams for nfs: a mount has at most %d connections (nconnect)", req.Streams, workload.MostNFS)
	}
	req.Proto, req.Dport, req.Dports = flow.TCP, nfsPort, nil
	asked := req.Streams
	best, err := nfsWindow(req)
	if err != nil {
		return best, Snippet{}, err
	}
	links := len(req.Near.Links())
	for req.Streams = asked + 1; req.Streams <= workload.MostNFS && !(best.Even && (len(best.Streams) == asked || len(best.Streams)%links == 0)); req.Streams++ {
		p, err := nfsWindow(req)
		if err == nil && p.Even && (!best.Even || req.Streams%links == 0) {
			best = p
		}
	}
	return best, mountOverWindow(best, asked), nil
}

// nfsWindow is the run of ports: the request's own, else among those that the
// kernel's client takes by itself, else further down.
func nfsWindow(req steer.PickRequest) (p steer.Picked, err error) {
	if req.FirstPort != 0 || req.LastPort != 0 {
		return steer.PickWindow(req)
	}
	for _, req.FirstPort = range [...]uint16{firstReserved, lowestReserved} {
		req.LastPort = lastReserved
		if p, err = steer.PickWindow(req); err == nil && p.Even {
			break
		}
	}
	return p, err
}

// mountOverWindow mounts over the connections that take a window of ports.
func mountOverWindow(p steer.Picked, asked int) Snippet {
	n, s := len(p.Streams), p.Streams[0]
	r := Snippet{Program: NFS, Exact: true}
	r.Sender = []string{
		"modprobe sunrpc",
		fmt.Sprintf("sysctl -w sunrpc.min_resvport=%d sunrpc.max_resvport=%d", s.Sport, int(s.Sport)+n-1),
		fmt.Sprintf("mount -t nfs -o nconnect=%d,proto=tcp %s:/EXPORT /MOUNTPOINT", n, mountHost(s.Dst)),
	}
	if n != asked {
		r.Notes = append(r.Notes, fmt.Sprintf("no run of %d ports is even over the links: %d connections instead", asked, n))
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
func mountHost(server netip.Addr) string {
	if is6(server) {
		return "[" + server.String() + "]"
	}
	return server.String()
}

// rclone binds an address and never a port: processes with an address each
// are exact where addresses decide the link, and chance where ports do.
func rclone(p steer.Picked, req steer.PickRequest) Snippet {
	r := Snippet{Program: Rclone, Exact: p.Even && req.KeepsLinks(p)}
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

func distinctLanes(streams []steer.Stream) []flow.Lane {
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

// wdt chooses the receiver's ports, which wdt counts on from -start_port
// with a connection to each; its source ports are the kernel's choice. That
// is exact where the destination port alone decides.
func wdt(req steer.PickRequest) (steer.Picked, Snippet, error) {
	r := Snippet{Program: WDT}
	if req.Dport == 0 {
		req.Dport = 22356 // wdt's own
	}
	own := req
	if len(req.Dports) > 1 {
		own.Dport, own.Dports = req.Dports[0], nil
	}
	own, err := serverPorts(own)
	if err != nil {
		return steer.Picked{}, r, err
	}
	p, err := steer.Pick(own)
	if err != nil {
		return p, r, err
	}
	first := p.Streams[0].Dport
	seen := make(map[uint16]bool)
	for _, s := range p.Streams {
		first = min(first, s.Dport)
		seen[s.Dport] = true
	}
	r.Exact = p.Even && len(seen) == len(p.Streams) && own.KeepsLinks(p)
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
func chance(program string, req steer.PickRequest, streams int) string {
	n := len(req.Near.Links())
	if !req.Near.Reach().Ports || n < 2 {
		return program + " chooses no source ports, and the addresses given do not spread over the links: linerate steer addresses chooses some that do"
	}
	more := ""
	if enough := steer.FlowsToCover(n, 0.99); enough > streams {
		more = fmt.Sprintf("; with %d that is 99 %%", enough)
	}
	return fmt.Sprintf("%s chooses no source ports: the links are left to chance. %d connections use all %d links %s of the time%s, though not evenly. With layer2+3 and chosen addresses it would be exact (linerate steer addresses)",
		program, streams, n, steer.Percent(steer.Coverage(streams, n)), more)
}
