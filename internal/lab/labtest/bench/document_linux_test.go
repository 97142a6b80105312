package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

const preamble = `# Benchmarks

    make deps-bench bench        # all of it, half an hour
    make bench-compare           # a few, beside this table, in three minutes

One sender and one receiver, a process each in a network namespace, a veth between, on %d cores
(%s, Linux %s, %s). Every tool in turn, %d rounds; a figure is the
median, the quartiles behind it. On a second machine (Linux 6.18.44-fc-v782,
iperf 3.22, 2026-11-30, 3 rounds, ends on different cores) copying TCP was between 0.91 and
2.08 of the best peer, zero-copy between 0.65 and 0.98.

- What the receiver took in 2 s counts, after 1 s of warm-up. iperf2 and nuttcp have no
  warm-up: the whole 2 s; of iperf2 its server's report.
- Processor time is user and system time of both processes, and of ksoftirqd meanwhile, over
  the bytes of the full run.
- The ratio is of one round's figures, to the peer with the best median.
- Congestion control is %s, set per socket; nuttcp's namespace has reno.
- Copying: every byte is written and read by the application. Zero-copy: linerate sends with
  sendfile and the receiver drops the bytes uncopied (MSG_TRUNC); iperf3 -Z sends with
  sendfile and copies at the receiver.
- Both ends share the cores. With one copied stream linerate's reader tries its sender's core
  while the rate settles, and stays where it does better.

Versions: %s.
`

// document is the table for people.
func document(all results, chosen []contender) string {
	var b strings.Builder
	fmt.Fprintf(&b, preamble, runtime.NumCPU(), processor(), kernel(), time.Now().UTC().Format("2006-01-02"), all.next()-1, congestionControl,
		strings.Join([]string{version("iperf3", "--version"), version("iperf", "-v"), version("nuttcp", "-V")}, "; "))
	for _, part := range []struct {
		title   string
		own     string
		among   func(contender) bool
		udp     bool
		explain string
	}{
		{"TCP, copying", "linerate", func(c contender) bool { return c.kind == copying }, false, ""},
		{"TCP, zero-copy", "linerate zero-copy", func(c contender) bool { return c.kind == zeroCopy }, false, ""},
		{"UDP, 1472 bytes a datagram", "linerate UDP, single", func(c contender) bool { return c.udp() }, true,
			"Millions of datagrams received a second. GSO: the kernel cuts and joins them.\n\n"},
	} {
		rows := table(all, chosen, part.own, part.among, part.udp)
		if rows != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s%s", part.title, part.explain, rows)
		}
	}
	return b.String()
}

func table(all results, chosen []contender, own string, among func(contender) bool, udp bool) string {
	var b strings.Builder
	for _, mtu := range []int{1500, 9000} {
		for _, streams := range []int{1, 2, 8} {
			of := all[setting{mtu, streams}]
			if len(of[own]) == 0 {
				continue
			}
			if b.Len() == 0 {
				unit := "Gb/s"
				if udp {
					unit = "M/s"
				}
				fmt.Fprintf(&b, "| MTU | streams | tool | %s | to the best peer | CPU s/GB | to the best peer |\n|---|---|---|---|---|---|---|\n", unit)
			}
			for _, c := range chosen {
				if !among(c) || len(of[c.name]) == 0 {
					continue
				}
				rate, format := c.rate()
				fmt.Fprintf(&b, "| %d | %d | %s | %s | %s | %s | %s |\n", mtu, streams, c.name,
					spread(of[c.name].values(rate), format), against(chosen, of, c, among, rate, false),
					spread(of[c.name].values(outcome.cost), "%.3f"), against(chosen, of, c, among, outcome.cost, true))
			}
		}
	}
	return b.String()
}

// against is the paired ratio of one of ours to the best peer; empty of a peer.
func against(chosen []contender, of map[string]series, c contender, among func(contender) bool, value func(outcome) float64, less bool) string {
	peer := best(chosen, of, among, value, less)
	if !c.our || peer == "" {
		return ""
	}
	return fmt.Sprintf("**%s** %s", spread(ratios(of[c.name], of[peer], value), "%.2f"), peer)
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(text))
}
