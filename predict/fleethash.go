package predict

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/record"
)

// idlePort is the part of its rate below which a port is idle beside one that is full.
const idlePort = 0.5

// hashed names the hash where the port that binds is a bond's, and another of the same
// bond is idle meanwhile: more of the links is there, and the hash does not give it.
func (j *joint) hashed(w jointWay, l Limit, bound map[int]float64) Limit {
	if l.Cause != record.LineRate {
		return l
	}
	for _, side := range []struct {
		at  []attachment
		end end
	}{{w.plan.way.out.at, sending}, {w.plan.way.in.at, receiving}} {
		for _, a := range side.at {
			full, idle := j.portsOf(a, side.end, bound)
			if len(full) == 0 || len(idle) == 0 {
				continue
			}
			l.Cause = record.HashImbalance
			if len(full) == 1 && w.streams(j.flows) <= bound[full[0]] {
				l.Cause = record.SingleLink
			}
			l.Why += fmt.Sprintf(", while %s of %s is idle: %s", strings.Join(idle, ", "), a.base.Name, hashWords(a, side.end))
			return l
		}
	}
	return l
}

// portEnd is a host's port in one direction.
type portEnd struct {
	host, port string
	side       end
}

// weigh notes what the shares put on each resource, and which are ports.
func (j *joint) weigh(s maxmin.Shares) {
	j.loads, j.ports = make([]float64, len(j.capacity)), make(map[portEnd][]int)
	for i := range j.flows.Len() {
		if math.IsInf(s.Rate[i], 1) {
			continue
		}
		for c := j.flows.First[i]; c < j.flows.First[i+1]; c++ {
			j.loads[j.flows.Resource[c]] += j.flows.Weight[c] * s.Rate[i] * j.flows.Count[i]
		}
	}
	for n, r := range j.of {
		if r.host != "" && r.what == "" {
			at := portEnd{r.host, r.part, r.side}
			j.ports[at] = append(j.ports[at], n)
		}
	}
}

// portsOf are an attachment's ports that bind, by number, and those that are idle
// meanwhile, by name.
func (j *joint) portsOf(a attachment, at end, bound map[int]float64) (full []int, idle []string) {
	for _, p := range a.ports {
		for _, n := range j.ports[portEnd{a.host.Name, p.Name, at}] {
			switch {
			case bound[n] > 0:
				full = append(full, n)
			case j.loads[n] < idlePort*j.capacity[n]:
				idle = append(idle, p.Name)
			}
		}
	}
	return full, idle
}

// streams is how many streams a way has.
func (w jointWay) streams(flows maxmin.Flows) (sum float64) {
	for i := w.first; i < w.last; i++ {
		sum += flows.Count[i]
	}
	return sum
}

// hashWords are what spreads over an attachment's ports.
func hashWords(a attachment, at end) string {
	if at == receiving {
		return "the switch's hash spreads no better"
	}
	if a.base.Bond != nil {
		return fmt.Sprintf("%v spreads no better", a.base.Bond.HashPolicy)
	}
	return "the routes spread no better"
}
