package bench

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// congestionControl is set per socket for every tool that can.
const congestionControl = "cubic"

// datagramPayload is what one datagram carries: an Ethernet frame's worth.
const datagramPayload = 1472

// place is a namespace that processes are started in.
type place = netns.Namespace

// pair is two namespaces with a cable between, and how long to measure.
type pair struct {
	from, to         place
	fromAddr, toAddr netip.Addr
	length           time.Duration
	pinned           bool // the sender's processes on the first core, the receiver's on the second
}

// command is one that starts at an end, on that end's core where ends are pinned.
func (p pair) command(at place, argv ...string) *exec.Cmd {
	if p.pinned {
		core := "0"
		if at == p.to {
			core = "1"
		}
		argv = append([]string{"taskset", "-c", core}, argv...)
	}
	return exec.Command(argv[0], argv[1:]...)
}

// outcome is one measurement.
type outcome struct {
	Bytes     uint64        `json:"bytes"` // taken by the receiving application in so many seconds
	Seconds   float64       `json:"seconds"`
	Total     uint64        `json:"total_bytes"` // and in the whole run, which the processor time is of
	Datagrams uint64        `json:"datagrams"`
	CPU       time.Duration `json:"cpu_ns"`     // user and system time of both processes
	Softirq   time.Duration `json:"softirq_ns"` // of ksoftirqd, which works for nobody by name
	Method    string        `json:"method"`
}

func (o outcome) gigabits() float64 { return float64(o.Bytes) * 8 / o.Seconds / 1e9 }

// cost is processor seconds per gigabyte (10^9), both ends together.
func (o outcome) cost() float64 {
	return (o.CPU + o.Softirq).Seconds() / (float64(o.Total) / 1e9)
}

func (o outcome) packets() float64 { return float64(o.Datagrams) / o.Seconds / 1e6 }

// used is the processor time of an ended process, and of those it waited for.
func used(c *exec.Cmd) time.Duration {
	if c.ProcessState == nil {
		return 0
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// contender is a tool in one of its forms.
type contender struct {
	name string
	kind kind
	our  bool
	run  func(pair, int) (outcome, error)
	bin  string // what must be installed; "" is nothing
}

// kind is what contenders are compared in.
type kind int

const (
	copying kind = iota
	zeroCopy
	datagramsSingle
	datagramsJoined
)

var contenders = []contender{
	{"linerate", copying, true, ours(agentapi.ModeCopy, nil), ""},
	{"iperf3", copying, false, iperf3("-C", congestionControl), "iperf3"},
	{"iperf3 -l 1M", copying, false, iperf3("-C", congestionControl, "-l", "1M"), "iperf3"},
	{"iperf2", copying, false, iperf2(), "iperf"},
	{"iperf2 -l 1M", copying, false, iperf2("-l", "1M"), "iperf"},
	{"nuttcp", copying, false, nuttcp(), "nuttcp"},
	{"linerate zero-copy", zeroCopy, true, ours(agentapi.ModeZeroCopy, nil), ""},
	{"iperf3 -Z", zeroCopy, false, iperf3("-C", congestionControl, "-Z"), "iperf3"},
	{"iperf3 -Z -l 1M", zeroCopy, false, iperf3("-C", congestionControl, "-Z", "-l", "1M"), "iperf3"},
	{"linerate UDP, single", datagramsSingle, true, ours(agentapi.ModeCopy, &agentapi.Datagrams{Payload: datagramPayload, Single: true}), ""},
	{"linerate UDP, GSO", datagramsJoined, true, ours(agentapi.ModeCopy, &agentapi.Datagrams{Payload: datagramPayload}), ""},
	{"iperf3 -u", datagramsSingle, false, iperf3("-u", "-b", "0", "-l", fmt.Sprint(datagramPayload)), "iperf3"},
}

// cable makes the two namespaces.
func cable(t *testing.T) (pair, func(mtu int)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	a, b := floor.NewSpace(t, "bench-a"), floor.NewSpace(t, "bench-b")
	floor.Must(t, a.Builder.Veth("eth0", b.Builder, "eth0"))
	on := pair{from: a.NS, to: b.NS, fromAddr: netip.MustParseAddr("10.78.0.1"), toAddr: netip.MustParseAddr("10.78.0.2")}
	for s, addr := range map[floor.Space]netip.Addr{a: on.fromAddr, b: on.toAddr} {
		floor.Must(t, s.Builder.Address("eth0", netip.PrefixFrom(addr, 24)))
		floor.Must(t, s.Builder.Up("eth0"))
		floor.Must(t, s.Builder.Up("lo"))
		// nuttcp cannot be told: the nearest that a namespace may have.
		floor.Must(t, s.NS.Do(func() error { return sysctl.Write("net.ipv4.tcp_congestion_control", "reno", true) }))
	}
	return on, func(mtu int) {
		floor.Must(t, a.Builder.MTU("eth0", mtu))
		floor.Must(t, b.Builder.MTU("eth0", mtu))
	}
}

// missing are the tools that are not installed.
func missing(of []contender) []string {
	var out []string
	for _, c := range of {
		if c.bin == "" || slices.Contains(out, c.bin) {
			continue
		}
		if _, err := exec.LookPath(c.bin); err != nil {
			out = append(out, c.bin)
		}
	}
	return out
}

// run measures one contender once.
func (c contender) measure(on pair, streams int) (outcome, error) {
	before := softirqThreads()
	out, err := c.run(on, streams)
	out.Softirq = softirqThreads() - before
	return out, err
}

// softirqThreads is the time of the threads that do network work which nobody
// was running for.
func softirqThreads() time.Duration {
	var sum time.Duration
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		if comm, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(comm), "ksoftirqd/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(name), "schedstat"))
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(text)); len(fields) > 0 {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}

// TestSample: the engine is no slower than what people know, with wide
// margins; `make bench` has the figures.
func TestSample(t *testing.T) {
	if os.Getenv("BENCH_ROUNDS") != "" {
		t.Skip("the whole comparison runs")
	}
	var chosen []contender
	for _, c := range contenders {
		if c.name == "linerate" || c.name == "iperf3" {
			chosen = append(chosen, c)
		}
	}
	if m := missing(chosen); len(m) > 0 {
		t.Skipf("not installed: %s (make deps-bench)", strings.Join(m, ", "))
	}
	on, mtu := cable(t)
	on.length = time.Second
	mtu(1500)
	const least = 0.9
	var ratios []float64
	for range 3 {
		rates := map[string]float64{}
		for _, c := range chosen {
			o, err := c.measure(on, 1)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			rates[c.name] = o.gigabits()
		}
		ratios = append(ratios, rates["linerate"]/rates["iperf3"])
		t.Logf("linerate %.1f Gb/s, iperf3 %.1f Gb/s", rates["linerate"], rates["iperf3"])
	}
	if m := quantile(ratios, 0.5); m < least {
		t.Errorf("one stream carries %.2f of what iperf3's does, want %.2f", m, least)
	}
}
