package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// outward reports links whose queues real traffic leaves by: cards and bonds,
// not the virtual links that shapers emulate a network on.
func outward(l netstate.Link) bool { return l.Up && (Physical(l) || l.Kind == "bond" && l.Bond != nil) }

// leftShapers finds limits, delay and loss that somebody put on a link, for a
// test as a rule, and did not take away.
func leftShapers(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !outward(l) {
			continue
		}
		for _, q := range l.Qdiscs {
			does := impairs(q, l.Speed)
			if len(does) == 0 {
				continue
			}
			f := Finding{
				Kind:     ShaperLeft,
				What:     fmt.Sprintf("a %s on %s %s", q.Kind, l.Name, strings.Join(does, ", ")),
				Severity: Warning,
				Evidence: []record.Evidence{diagnose.Fact("queueing discipline of "+l.Name, q.Kind+" "+q.Handle+" "+q.Parent, diagnose.FromQdisc)},
				Remedy:   fmt.Sprintf("tc qdisc delete dev %s root, unless it is meant", l.Name),
			}
			if q.Loss > 0 {
				f.Severity = Fault
			}
			found = append(found, f)
		}
	}
	return found
}

// impairs says what a shaper does to what passes; nil for other queues.
func impairs(q netstate.Qdisc, speed unit.BitRate) []string {
	if q.Kind != "tbf" && q.Kind != "netem" || q.Parent == "ingress" {
		return nil
	}
	var does []string
	if q.Rate > 0 && (speed == 0 || q.Rate < speed) {
		does = append(does, fmt.Sprintf("lets no more than %s through", q.Rate))
	}
	if q.Delay > 0 {
		does = append(does, fmt.Sprintf("delays every packet by %s", q.Delay.Round(time.Microsecond)))
	}
	if q.Loss > 0 {
		does = append(does, fmt.Sprintf("loses %s of packets", diagnose.Percent(q.Loss)))
	}
	if q.Kind == "netem" && len(does) == 0 {
		does = append(does, "is there without limiting anything")
	}
	return does
}

// unpacedQueues finds queues that do not suit what the host's TCP wants.
func unpacedQueues(h netstate.Host) []Finding {
	var found []Finding
	congestion, wanted := h.Sysctls["net.ipv4.tcp_congestion_control"].Value, h.Sysctls["net.core.default_qdisc"].Value
	for _, l := range h.Links {
		if !Physical(l) || !l.Up {
			continue
		}
		leaf := leaves(l)
		switch {
		case len(leaf) == 0:
		case slices.Contains(leaf, "noqueue"):
			found = append(found, Finding{
				Kind:     NoQueue,
				What:     fmt.Sprintf("%s has no queue: what its ring cannot take at once is lost", l.Name),
				Severity: Info,
				Evidence: []record.Evidence{diagnose.Fact("queueing discipline of "+l.Name, "noqueue", diagnose.FromQdisc)},
				Remedy:   fmt.Sprintf("tc qdisc replace dev %s root fq", l.Name),
			})
		case congestion == "bbr" && !slices.Contains(leaf, "fq"):
			found = append(found, unpaced(h, l, leaf[0]))
		case wanted != "" && !slices.Contains(leaf, wanted) && slices.ContainsFunc(leaf, isDefault):
			found = append(found, Finding{
				Kind:     QdiscDefault,
				What:     fmt.Sprintf("%s queues with %s although default_qdisc is %s: a link keeps what it started with", l.Name, leaf[0], wanted),
				Severity: Info,
				Evidence: []record.Evidence{diagnose.Fact("queueing discipline of "+l.Name, leaf[0], diagnose.FromQdisc), diagnose.Fact("net.core.default_qdisc", wanted, sysctlFile("net.core.default_qdisc"))},
				Remedy:   fmt.Sprintf("tc qdisc replace dev %s root %s", l.Name, wanted),
			})
		}
	}
	return found
}

// unpaced: BBR's packets must leave evenly. Up to 4.12 only fq does it; since,
// TCP has timers of its own, one a socket (commit 218af599fa63).
func unpaced(h netstate.Host, l netstate.Link, qdisc string) Finding {
	f := Finding{
		Kind:     QdiscPacing,
		What:     fmt.Sprintf("BBR paces by a timer for every socket because %s queues with %s: fq does it for less", l.Name, qdisc),
		Severity: Info,
		Evidence: []record.Evidence{
			diagnose.Fact("net.ipv4.tcp_congestion_control", "bbr", sysctlFile("net.ipv4.tcp_congestion_control")),
			diagnose.Fact("queueing discipline of "+l.Name, qdisc, diagnose.FromQdisc),
		},
		Remedy: fmt.Sprintf("tc qdisc replace dev %s root fq, and net.core.default_qdisc=fq", l.Name),
	}
	if newer, known := h.Kernel.AtLeast(4, 13); known && !newer {
		f.What = fmt.Sprintf("BBR sends in bursts: %s queues with %s, and before Linux 4.13 only fq paces", l.Name, qdisc)
		f.Severity = Warning
	}
	return f
}

// isDefault reports queues that nobody chooses by hand: what the kernel and
// distributions start a link with.
func isDefault(kind string) bool {
	return kind == "pfifo_fast" || kind == "fq_codel" || kind == "fq" || kind == "pfifo"
}

// leaves are the kinds of a link's queues below mq, or of its root.
func leaves(l netstate.Link) []string {
	var kinds []string
	for _, q := range l.Qdiscs {
		if q.Parent == "ingress" || q.Kind == "mq" || q.Kind == "clsact" || q.Kind == "ingress" {
			continue
		}
		if !slices.Contains(kinds, q.Kind) {
			kinds = append(kinds, q.Kind)
		}
	}
	return kinds
}
