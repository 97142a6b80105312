package compare

import (
	"cmp"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// Latency is the round trip of one path before and after, medians of the runs
// of a side. It is shown and not judged: a record holds no single answers.
// Times are in milliseconds.
type Latency struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Protocol string `json:"protocol"`
	// Load is the traffic that ran meanwhile: "idle", or "8 streams forward".
	LoadDirection flow.Direction `json:"load_direction,omitempty"`
	LoadStreams   int            `json:"load_streams,omitempty"`
	// The median is the average where a record has no median.
	BeforeP50 float64 `json:"before_p50_ms"`
	AfterP50  float64 `json:"after_p50_ms"`
	BeforeP99 float64 `json:"before_p99_ms"`
	AfterP99  float64 `json:"after_p99_ms"`
}

type path struct {
	from, to, protocol string
	direction          flow.Direction
	streams            int
}

func latencies(before, after []record.Record) []Latency {
	b, order := series(before)
	a, _ := series(after)
	out := []Latency{}
	for _, k := range order {
		if len(a[k]) == 0 {
			continue
		}
		l := Latency{From: k.from, To: k.to, Protocol: k.protocol, LoadDirection: k.direction, LoadStreams: k.streams}
		l.BeforeP50, l.BeforeP99 = middle(b[k], typical), middle(b[k], worst)
		l.AfterP50, l.AfterP99 = middle(a[k], typical), middle(a[k], worst)
		out = append(out, l)
	}
	return out
}

// series are the round trips of records by path, those with an answer.
func series(records []record.Record) (of map[path][]record.Latency, order []path) {
	of = make(map[path][]record.Latency)
	for _, r := range records {
		for _, l := range r.Latency {
			if l.LossRatio >= 1 {
				continue
			}
			k := path{from: l.From, to: l.To, protocol: cmp.Or(l.Protocol, "icmp")}
			if l.Load != nil {
				k.direction, k.streams = l.Load.Direction, l.Load.Streams
			}
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], l)
		}
	}
	return of, order
}

func typical(l record.Latency) float64 { return cmp.Or(l.P50MS, l.AvgMS) }

func worst(l record.Latency) float64 { return l.P99MS }

// middle is the median of one value over runs.
func middle(runs []record.Latency, value func(record.Latency) float64) float64 {
	var all []float64
	for _, l := range runs {
		all = append(all, value(l))
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// Cores is one host's processors before and after, averages of the runs, in
// cores.
type Cores struct {
	Host   string  `json:"host"`
	Before float64 `json:"before_busy_cores"`
	After  float64 `json:"after_busy_cores"`
	// The same per gigabyte of goodput, in seconds.
	BeforePerGB float64 `json:"before_cpu_s_per_gb"`
	AfterPerGB  float64 `json:"after_cpu_s_per_gb"`
}

func cores(before, after []record.Trial) []Cores {
	b, order := busy(before)
	a, _ := busy(after)
	out := []Cores{}
	for _, host := range order {
		if x, there := a[host]; there {
			out = append(out, Cores{Host: host, Before: b[host][0], After: x[0], BeforePerGB: b[host][1], AfterPerGB: x[1]})
		}
	}
	return out
}

// busy is each host's busy cores, and core seconds per gigabyte, averaged.
func busy(trials []record.Trial) (of map[string][2]float64, order []string) {
	of = make(map[string][2]float64)
	count := make(map[string]float64)
	for _, t := range trials {
		for _, c := range t.CPU {
			if count[c.Host] == 0 {
				order = append(order, c.Host)
			}
			count[c.Host]++
			sum := of[c.Host]
			sum[0] += c.Busy
			if t.Goodput > 0 {
				sum[1] += c.Busy / (float64(t.Goodput) / 8e9)
			}
			of[c.Host] = sum
		}
	}
	for host, sum := range of {
		of[host] = [2]float64{sum[0] / count[host], sum[1] / count[host]}
	}
	return of, order
}
