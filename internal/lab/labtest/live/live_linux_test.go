package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// limit is a program whose limit is known: two connections of it.
type limit struct {
	name   string // of the program
	cause  string
	role   string
	server string // role of the far end; "" is iperf3's
	port   uint16
	// least is what each connection moves where the limit is what holds it:
	// some 60 % of what the limit lets through on a core that has time.
	least unit.BitRate
}

var limits = []limit{
	{"backup", "hash-imbalance", roleBulk, roleSink, 7001, 0.2 * rate},
	{"archive", "receive-window", roleBulk, roleTight, 7002, 1.2 * unit.Mbps},
	{"export", "send-buffer", roleSmall, roleSink, 7003, 1.0 * unit.Mbps},
	{"feed", "application", roleFeed, roleSink, 7004, 0.5 * unit.Mbps},
	{"iperf3", "pacing", "", "", 5201, 0.7 * unit.Mbps},
}

// mirror's reader is slow. From the sender's end that can look like a small
// buffer; the receiver's end tells.
var mirror = limit{"mirror", "application", roleBulk, roleSlow, 7005, 0}

// What must hold of every run (of 8 connections).
const (
	drawn      = 4 // programs of a run
	each       = 2 // connections of a program
	leastRight = 7 // limits
	span       = 6 * time.Second
	paced      = "1M"
	leastSteps = 3 * time.Second // until windows and caps are what holds
)

// begin starts a limit's programs. Busy is the link that two connections of
// one of them fill, "" none: the others' own limits hold on the other link
// only. Where none is filled, the links are as the ports fall.
func (s *stand) begin(l limit, busy string, random *rand.Rand) {
	s.t.Helper()
	from := uint16(20000 + random.IntN(10000))
	ports := []uint16{from, from + 1}
	switch {
	case l.cause == "hash-imbalance":
		ports = s.portsOn(busy, each, from, l.port)
	case busy != "":
		ports = s.portsOn(otherLink[busy], each, from, l.port)
	}
	if l.role == "" {
		s.start(s.far, exec.Command("iperf3", "-s", "-p", fmt.Sprint(l.port)))
		s.listening(int(l.port))
		s.iperf3(l, busy, random)
		return
	}
	s.run(s.far, l.name+"-srv", l.server, fmt.Sprintf("%s:%d", farAddr, l.port))
	s.listening(int(l.port))
	args := []string{fmt.Sprintf("%s:%d", farAddr, l.port)}
	for _, p := range ports {
		args = append(args, fmt.Sprint(p))
	}
	s.run(s.near, l.name, l.role, args...)
}

// iperf3 takes ports in a row: those that it is given are two that leave by
// one link where one is filled.
func (s *stand) iperf3(l limit, busy string, random *rand.Rand) {
	s.t.Helper()
	from := uint16(31000 + random.IntN(2000))
	if busy != "" {
		from = s.rowOn(otherLink[busy], each, from, l.port)
	}
	s.start(s.near, exec.Command("iperf3", "-c", farAddr.String(), "-p", fmt.Sprint(l.port), "--cport", fmt.Sprint(from), "-P", fmt.Sprint(each), "--fq-rate", paced, "-t", "120"))
}

var otherLink = map[string]string{"eth0": "eth1", "eth1": "eth0"}

// TestLive: eight connections of four programs with four known limits over a
// bond of two links. By which link each leaves is right eight times of eight,
// what limits it seven times of eight.
func TestLive(t *testing.T) {
	if os.Getenv("PROVE_RUN") == "" {
		floor.Turn(t, floor.Live)
	}
	seed := floor.Number(t, "PROVE_SEED", floor.Draw(t))
	number, runs := floor.Number(t, "PROVE_RUN", 0), floor.Number(t, "PROVE_RUNS", 1)
	t.Logf("seed %d, run %d", seed, number)
	for n := range runs {
		t.Run(fmt.Sprint(n), func(t *testing.T) { live(t, rand.New(rand.NewPCG(seed, number<<32|n))) })
	}
}

func live(t *testing.T, random *rand.Rand) {
	s := build(t)
	some := slices.Clone(limits)
	random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	some = some[:drawn]
	busy := ""
	if slices.ContainsFunc(some, func(l limit) bool { return l.cause == "hash-imbalance" }) {
		busy = []string{"eth0", "eth1"}[random.IntN(2)]
	}
	for _, l := range some {
		s.begin(l, busy, random)
	}
	time.Sleep(leastSteps)
	s.filled(busy)
	doc := s.whileTrue(some, busy)
	links, right, said := s.judge(some, doc)
	t.Logf("%d connections: links %d right, limits %d right, %.1f %% of the emulated core\n%s", drawn*each, links, right, 100*doc.share(), said)
	if links != drawn*each {
		t.Errorf("the link of %d of %d connections is right", links, drawn*each)
	}
	if right < leastRight {
		t.Errorf("the limit of %d of %d connections is right, want %d", right, drawn*each, leastRight)
	}
	if len(doc.Unseen) > 0 {
		t.Errorf("root does not see %q", doc.Unseen)
	}
	s.asNobody()
}

// share is the part of a core that the whole command took.
func (d told) share() float64 { return d.cpu.Seconds() / d.Watched }

// judge counts the connections whose link, and whose limit, is right.
func (s *stand) judge(some []limit, doc told) (links, right int, said string) {
	s.t.Helper()
	ports := make(map[uint16]bool)
	for _, f := range doc.Flows {
		for _, c := range f.Connections {
			ports[c.Sport] = true
		}
	}
	truth := s.ways(ports)
	var b strings.Builder
	for _, f := range doc.Flows {
		want := slices.IndexFunc(some, func(l limit) bool { return l.name == f.Program.Name })
		if want < 0 || !f.Sends {
			s.t.Errorf("told of a program that is not there: %+v", f)
			continue
		}
		for _, c := range f.Connections {
			if c.Dport != some[want].port {
				s.t.Errorf("%s sends to %d", f.Program.Name, c.Dport)
			}
			at := truth[c.Sport] == c.Link && c.Link != ""
			limited := f.Findings[0].Cause == some[want].cause
			if at {
				links++
			}
			if limited {
				right++
			}
			fmt.Fprintf(&b, "%-8s %5d by %s (%s), %s (%s)\n", f.Program.Name, c.Sport, c.Link, truth[c.Sport], f.Findings[0].Cause, some[want].cause)
			if !limited {
				fmt.Fprintf(&b, "    %s %v\n", f.Findings[0].Summary, f.Findings[0].Evidence)
			}
		}
	}
	return links, right, b.String()
}

// asNobody: without root the same flows are seen, and what is not is said.
func (s *stand) asNobody() {
	s.t.Helper()
	doc, _ := s.explain(s.near, true, "--json", "--duration", "1s")
	connections := 0
	for _, f := range doc.Flows {
		connections += len(f.Connections)
		if !f.Program.Hidden || f.Program.Name != "" {
			s.t.Errorf("nobody sees %+v", f.Program)
		}
		for _, c := range f.Connections {
			if c.Link == "" {
				s.t.Errorf("nobody is not told the link of port %d", c.Sport)
			}
		}
	}
	if connections != drawn*each {
		s.t.Errorf("nobody sees %d connections of %d", connections, drawn*each)
	}
	if !strings.Contains(strings.Join(doc.Unseen, "\n"), "another user's") {
		s.t.Errorf("nobody is told that %q is unseen", doc.Unseen)
	}
}

// TestReceiving: at the receiving end a program that reads slowly is told from
// one that reads at once.
func TestReceiving(t *testing.T) {
	floor.Turn(t, floor.Live)
	s := build(t)
	random := rand.New(rand.NewPCG(1, 1))
	for _, l := range append([]limit{mirror}, limits...) {
		if l.name == "mirror" || l.name == "feed" {
			s.begin(l, "", random)
		}
	}
	time.Sleep(leastSteps)
	doc, text := s.explain(s.far, false, "--json", "--duration", "2s")
	want := map[string]string{"mirror-srv": "application", "feed-srv": "unknown"}
	for _, f := range doc.Flows {
		cause, ok := want[f.Program.Name]
		if !ok || f.Sends || len(f.Connections) != each || f.Findings[0].Cause != cause {
			t.Errorf("told %+v, want %v", f, want)
		}
		delete(want, f.Program.Name)
	}
	if len(want) > 0 {
		t.Errorf("not told of %v: %s", want, text)
	}
}
