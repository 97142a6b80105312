package measure

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// addCPU adds an end's processors, once a host, and its streams' threads.
func (t *trial) addCPU(out *record.Trial, e *end) {
	open, shut := e.edges()
	window := (shut.At - open.At).Seconds()
	at := slices.IndexFunc(out.CPU, func(c record.CPUUse) bool { return c.Host == e.host })
	if at < 0 {
		at = len(out.CPU)
		out.CPU = append(out.CPU, t.processors(e.host, open.CPU, shut.CPU, window))
		out.CPU[at].TCPExt = e.increases(func(s agentapi.Sample) map[string]uint64 { return s.CPU.TCPExt })
	}
	use := &out.CPU[at]
	if q := shut.CPU.Quota; q > 0 && (use.Quota == 0 || q < use.Quota) {
		use.Quota = q
	}
	use.Throttled = max(use.Throttled, ratio(shut.CPU.Throttled-open.CPU.Throttled, window))
	for _, u := range threadsOf(open.CPU, shut.CPU, window) {
		u.Way, u.Sending = e.way.name, e.sending
		use.BusiestThread = max(use.BusiestThread, u.Busy)
		use.Threads = append(use.Threads, u)
	}
}

// processors is a host's cores over the window.
func (t *trial) processors(host string, open, shut agentapi.CPUCount, window float64) record.CPUUse {
	use := record.CPUUse{
		Host: host, Cores: len(shut.Busy), Shared: t.shared(host),
		SoftnetDrops: netstate.Grown32(open.SoftnetDropped, shut.SoftnetDropped), TimeSqueezes: netstate.Grown32(open.SoftnetSqueezed, shut.SoftnetSqueezed),
	}
	for i := range min(len(open.Busy), len(shut.Busy)) {
		core := record.CoreUse{Core: coreNumber(shut, i), Busy: ratio(shut.Busy[i]-open.Busy[i], window)}
		if i < len(shut.Softirq) && i < len(open.Softirq) {
			core.Softirq = ratio(shut.Softirq[i]-open.Softirq[i], window)
		}
		use.Busy += core.Busy
		use.Softirq += core.Softirq
		use.Busiest = max(use.Busiest, core.Busy)
		use.PerCore = append(use.PerCore, core)
	}
	use.Steal = ratio(shut.Steal-open.Steal, window*float64(use.Cores))
	return use
}

// coreNumber is the kernel's number of the i-th core of a sample: offline ones
// leave gaps.
func coreNumber(c agentapi.CPUCount, i int) int {
	if i < len(c.Cores) {
		return c.Cores[i]
	}
	return i
}

// threadsOf is each stream's thread over the window.
func threadsOf(open, shut agentapi.CPUCount, window float64) []record.ThreadUse {
	var out []record.ThreadUse
	for i := range min(len(open.Threads), len(shut.Threads)) {
		u := record.ThreadUse{Busy: ratio(shut.Threads[i]-open.Threads[i], window)}
		if i < len(open.Switches) && i < len(shut.Switches) {
			u.Voluntary = netstate.Grown(open.Switches[i].Voluntary, shut.Switches[i].Voluntary)
			u.Involuntary = netstate.Grown(open.Switches[i].Involuntary, shut.Switches[i].Involuntary)
		}
		if i < len(open.Waited) && i < len(shut.Waited) {
			u.Waited = ratio(shut.Waited[i]-open.Waited[i], window)
		}
		if i < len(shut.Pinned) && shut.Pinned[i] >= 0 {
			core := shut.Pinned[i]
			u.Pinned = &core
		}
		out = append(out, u)
	}
	return out
}

// processorShare is how near a trial must come to what it was to reach before
// a full processor is no reason for anything.
const processorShare = 0.97

// processorNotes says of a trial that stayed below what its links, or its own
// limit, allow while a processor was full, that its figure is the machine's.
func processorNotes(t record.Trial) []string {
	goal := t.Ceiling
	if limit := t.RateLimit * unit.BitRate(len(t.Direction.Ways())); limit > 0 {
		goal = min(goal, limit)
	}
	if !t.CPUBound() || t.Goodput >= goal*processorShare || linksFull(t) {
		return nil
	}
	for _, c := range t.CPU {
		if what := fullest(c); what != "" {
			return []string{fmt.Sprintf("limited by the measuring host's own processor: %s; not a link's figure", what)}
		}
	}
	return nil
}

// linkInUse is the share of a link from which a trial counts as using it.
const linkInUse = 0.2

// linksFull reports a trial in which each direction filled the links that it
// used, at one end at least: such a figure is the links', whatever a processor
// did.
func linksFull(t record.Trial) bool {
	for _, way := range t.Direction.Ways() {
		from, to := t.From, t.To
		if way == flow.Reverse {
			from, to = to, from
		}
		sent := fullSide(t.Links, from, func(l record.LinkUse) unit.BitRate { return l.TxPayload })
		if !sent && !fullSide(t.Links, to, func(l record.LinkUse) unit.BitRate { return l.RxPayload }) {
			return false
		}
	}
	return true
}

// fullSide reports whether a host's links in use are all full.
func fullSide(links []record.LinkUse, host string, carried func(record.LinkUse) unit.BitRate) bool {
	used := false
	for _, l := range links {
		if l.Host != host || l.Ceiling > 0 && carried(l) <= l.Ceiling*linkInUse {
			continue
		}
		if carried(l) < l.Ceiling*processorShare || l.Ceiling <= 0 {
			return false
		}
		used = true
	}
	return used
}

// fullest names what the streams themselves filled on a host; "" for nothing.
// A core that is full with something else may have nothing to do with them.
func fullest(c record.CPUUse) string {
	for _, u := range c.Threads {
		if u.Busy >= c.BusiestThread && u.Busy >= record.FullProcessor {
			verb := "receiving"
			if u.Sending {
				verb = "sending"
			}
			return fmt.Sprintf("the thread %s stream %d used %.0f %% of a core on %s", verb, streamOf(c, u), 100*u.Busy, c.Host)
		}
	}
	for _, core := range c.PerCore {
		own := c.Shared || core.Softirq >= record.FullProcessor || c.Busy >= record.FullProcessor*float64(c.Cores)
		if own && core.Busy >= c.Busiest && core.Busy >= record.FullProcessor {
			return fmt.Sprintf("core %d of %s was %.0f %% busy, %.0f %% with the network's interrupts", core.Core, c.Host, 100*core.Busy, 100*core.Softirq)
		}
	}
	return ""
}

// streamOf is the number, from 1, of a thread's stream in its way.
func streamOf(c record.CPUUse, u record.ThreadUse) int {
	n := 0
	for _, other := range c.Threads {
		if other.Way == u.Way && other.Sending == u.Sending {
			n++
		}
		if other == u {
			break
		}
	}
	return n
}

// shared reports whether another host of the trial runs on the same machine.
func (t *trial) shared(host string) bool {
	m := t.cfg.Network.Machines
	for _, other := range []string{t.spec.From, t.spec.To} {
		if other != host && m[other] != "" && m[other] == m[host] {
			return true
		}
	}
	return false
}
