package remedy

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// noMaxrate is the number that fq takes for no rate, ~0U bytes a second (fq_change,
// net/sched/sch_fq.c), as tc(8) writes it. fq that is replaced by fq keeps its maxrate, and
// a shaper whose queue is deleted drops all (tbf_graft): it is changed where it stands.
const noMaxrate = "34359738360bit"

// Unpaced lets flows through the host's fq at any rate.
func Unpaced(host string, devices ...netstate.Link) record.Way {
	var w record.Way
	for _, l := range devices {
		for _, q := range l.Qdiscs {
			if q.FlowRate > 0 && q.Kind == "fq" {
				w = append(w, record.Run(host, append(append([]string{"tc", "qdisc", "change", "dev", l.Name}, place(q)...), "fq", "maxrate", noMaxrate)...))
			}
		}
	}
	return w
}

// Unshaped takes the root queues with a rate off the host's devices: what the kernel
// gives such a device by itself comes back.
func Unshaped(host string, devices ...netstate.Link) record.Way {
	var w record.Way
	for _, l := range devices {
		for _, q := range l.Qdiscs {
			if q.Parent == "root" && q.Rate > 0 {
				w = append(w, record.Run(host, "tc", "qdisc", "del", "dev", l.Name, "root"))
			}
		}
	}
	return w
}

// place is where a queue stands, in tc(8)'s words.
func place(q netstate.Qdisc) []string {
	if q.Parent == "root" || q.Parent == "" {
		return []string{"root"}
	}
	return []string{"parent", q.Parent}
}
