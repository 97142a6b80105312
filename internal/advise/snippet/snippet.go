package snippet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/steer"
)

// Program is another program whose streams can be chosen for it.
type Program uint8

// The programs. AnyProgram binds addresses and ports as it is told.
const (
	AnyProgram Program = iota
	IPerf3
	IPerf2
	NFS
	Rclone
	WDT
)

// programWords are the names of programs with a snippet of their own, indexed by
// program; those of the table of workloads follow.
var programWords = [...]string{"ports", "iperf3", "iperf2", "nfs", "rclone", "wdt"}

// Programs lists the words for programs.
func Programs() []string {
	words := slices.Clone(programWords[:])
	for _, name := range workload.Names() {
		if !slices.Contains(words, name) {
			words = append(words, name)
		}
	}
	return words
}

// String is the program's word.
func (p Program) String() string { return wordOf(Programs(), int(p)) }

// Workload is the program's row in the table of workloads; false for those that
// are no row of it.
func (p Program) Workload() (workload.Program, bool) { return workload.Named(p.String()) }

// MarshalText writes the program's word.
func (p Program) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the program's word.
func (p *Program) UnmarshalText(b []byte) error {
	word := string(b)
	if w, ok := workload.Named(word); ok {
		word = w.Name
	}
	i, err := indexOf("program", Programs(), word)
	*p = Program(i)
	return err
}

// Snippet is how to run a program on picked streams.
type Snippet struct {
	Program Program `json:"program"`
	// Exact: the program uses the picked ports and no others. Otherwise links
	// are left to chance, and a note says so.
	Exact bool `json:"exact"`
	// Receiver are the commands for the receiving host, Sender those for the
	// sending one, in order. Words in capitals stand for what the user knows.
	Receiver []string `json:"receiver,omitempty"`
	Sender   []string `json:"sender"`
	Notes    []string `json:"notes,omitempty"`
}

// For picks streams that a program can be told to use, and says how. They are
// not even where the program cannot be held to them. Errors: those of
// steer.Pick, and more streams than a program can have.
func For(program Program, req steer.PickRequest) (steer.Picked, Snippet, error) {
	p, r, err := pickFor(program, req)
	p.Even = p.Even && r.Exact
	return p, r, err
}

func pickFor(program Program, req steer.PickRequest) (steer.Picked, Snippet, error) {
	switch program {
	case IPerf3:
		return iperf3(req)
	case NFS:
		return nfs(req)
	case WDT:
		return wdt(req)
	}
	if int(program) >= len(programWords) {
		return leftToChance(program, req)
	}
	if w, ok := program.Workload(); ok && req.Dport == 0 && len(req.Dports) == 0 {
		req.Dport = w.Port()
	}
	p, err := steer.Pick(req)
	if err != nil {
		return p, Snippet{}, err
	}
	switch program {
	case IPerf2:
		return p, iperf2(p, req.Proto), nil
	case Rclone:
		return p, rclone(p, req), nil
	}
	return p, ports(p), nil
}

// ports is the plain list: both ends of each stream.
func ports(p steer.Picked) Snippet {
	r := Snippet{Program: AnyProgram, Exact: true, Notes: []string{"one stream each: bind the first address and port (SO_REUSEADDR, bind), then connect to the second"}}
	for _, s := range p.Streams {
		r.Sender = append(r.Sender, netip.AddrPortFrom(s.Src, s.Sport).String()+" "+netip.AddrPortFrom(s.Dst, s.Dport).String())
	}
	return r
}

// iperf3 looks for a run of consecutive ports first: iperf3 counts its
// streams' ports on from --cport (iperf_create_streams). Otherwise each stream
// is a process with a server of its own, since a server serves one client.
func iperf3(req steer.PickRequest) (steer.Picked, Snippet, error) {
	r := Snippet{Program: IPerf3, Exact: true}
	udp := ""
	if req.Proto == flow.UDP {
		udp = " -u"
		r.Notes = append(r.Notes, "-b sets the rate of each UDP stream; without it that is 1 Mbit/s")
	}
	if len(req.Lanes) == 1 && len(req.Dports) <= 1 {
		if p, err := steer.PickWindow(req); err == nil && p.Even {
			s := p.Streams[0]
			r.Receiver = []string{fmt.Sprintf("iperf3 -s -1 -p %d", s.Dport)}
			r.Sender = []string{fmt.Sprintf("iperf3 -c %s -p %d -B %s --cport %d -P %d%s", s.Dst, s.Dport, s.Src, s.Sport, len(p.Streams), udp)}
			return p, r, nil
		}
	}
	ownPorts, err := serverPorts(req)
	if err != nil {
		return steer.Picked{}, r, err
	}
	p, err := steer.Pick(ownPorts)
	if err != nil {
		return p, r, err
	}
	for i, s := range p.Streams {
		r.Receiver = append(r.Receiver, fmt.Sprintf("iperf3 -s -1 -D -p %d", s.Dport))
		r.Sender = append(r.Sender, fmt.Sprintf("iperf3 -c %s -p %d -B %s --cport %d%s%s", s.Dst, s.Dport, s.Src, s.Sport, udp, background(i, len(p.Streams))))
		if slices.ContainsFunc(p.Streams[:i], func(other steer.Stream) bool { return other.Dport == s.Dport && other.Dst == s.Dst }) {
			r.Exact = false
		}
	}
	slices.Sort(r.Receiver)
	r.Receiver = slices.Compact(r.Receiver)
	if !r.Exact {
		r.Notes = append(r.Notes, "an iperf3 server serves one client at a time: give as many destination ports as streams (--dport)")
	}
	return p, r, nil
}

// serverPorts gives each stream a destination port of its own, counting on
// from the first, unless there are several already.
func serverPorts(req steer.PickRequest) (steer.PickRequest, error) {
	if len(req.Dports) > 1 || req.Streams <= 1 {
		return req, nil
	}
	req, err := req.Complete()
	if err != nil {
		return req, fmt.Errorf("pick ports: %w", err)
	}
	first := int(req.Dports[0])
	if first+req.Streams-1 > 1<<16-1 {
		return req, fmt.Errorf("pick ports: %d servers from port %d on: no such ports", req.Streams, first)
	}
	req.Dports = make([]uint16, req.Streams)
	for i := range req.Dports {
		req.Dports[i] = uint16(first + i)
	}
	return req, nil
}

// background starts all processes at once and waits with the last.
func background(i, n int) string {
	if i == n-1 {
		if n > 1 {
			return "; wait"
		}
		return ""
	}
	return " &"
}

// iperf2 starts a process a stream: one server takes them all, and every
// version that knows -B ADDRESS:PORT binds just that, of IPv4 (seen with
// 2.1.8: of IPv6 it binds the address alone).
func iperf2(p steer.Picked, proto flow.Proto) Snippet {
	r := Snippet{Program: IPerf2, Exact: true}
	for i, s := range p.Streams {
		options := ""
		if is6(s.Src) {
			options, r.Exact = " -V", false
		}
		if proto == flow.UDP {
			options += " -u"
		}
		r.Receiver = append(r.Receiver, fmt.Sprintf("iperf -s%s -p %d", options, s.Dport))
		r.Sender = append(r.Sender, fmt.Sprintf("iperf -c %s%s -p %d -B %s%s", s.Dst, options, s.Dport, quoted(netip.AddrPortFrom(s.Src, s.Sport)), background(i, len(p.Streams))))
	}
	slices.Sort(r.Receiver)
	r.Receiver = slices.Compact(r.Receiver)
	if !r.Exact {
		r.Notes = append(r.Notes, "iperf 2 does not bind the port of an IPv6 address (2.1.8): the kernel chooses it; iperf3 binds both")
	}
	if proto == flow.UDP {
		r.Notes = append(r.Notes, "-b sets the rate of each UDP stream; without it that is 1 Mbit/s")
	}
	return r
}

// quoted keeps the brackets of an IPv6 address from the shell.
func quoted(a netip.AddrPort) string {
	if s := a.String(); !strings.Contains(s, "[") {
		return s
	}
	return "'" + a.String() + "'"
}
