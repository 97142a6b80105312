package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
)

// checker fills in what was left out and finds what single keys cannot tell.
type checker struct {
	s        *Scenario
	root     *yamldoc.Node
	complain func(n *yamldoc.Node, what, hint string)
}

func (c checker) wrong(what, hint string, path ...any) { c.complain(c.root.Find(path...), what, hint) }

func (c checker) check() {
	c.switches()
	if c.s.Slow > c.s.Scale {
		c.wrong(fmt.Sprintf("slow: %g is more than the scale, of which it is a part", c.s.Slow), fmt.Sprintf("write %g at most", c.s.Scale), "slow")
	}
	if len(c.s.Steps) == 0 {
		c.wrong("steps: there is none", "write at least one step that measures", "steps")
	}
	if c.s.Kernel != "" && (c.s.BackEnd == "host" || c.s.BackEnd == "uml") {
		c.wrong(fmt.Sprintf("kernel: back end %s has one kernel only", c.s.BackEnd), "leave back_end out, or write qemu", "kernel")
	}
	uplinks, err := c.s.Uplinks()
	if err != nil {
		c.wrong(err.Error(), "")
	}
	for _, h := range c.s.Fabric.Hosts {
		if n := c.switchesOf(h.Name); n > 1 && uplinks[h.Name].Rate > 0 {
			c.wrong(fmt.Sprintf("switches: %s is in %d, and its paths have a rate, which a lab keeps on one uplink", h.Name, n), "leave the rate out, or switches", "switches")
		}
	}
	c.changes()
	seen := map[string]int{}
	for i := range c.s.Steps {
		step := &c.s.Steps[i]
		if _, twice := seen[step.Name]; twice {
			c.wrong(fmt.Sprintf("step %q is there already", step.Name), "", "steps", i, "name")
		}
		c.step(i, step, seen)
		seen[step.Name] = i
	}
}

// hosts are the names of the fabric's.
func (c checker) hosts() []string {
	var names []string
	for _, h := range c.s.Fabric.Hosts {
		names = append(names, h.Name)
	}
	return names
}

func (c checker) host(name string, path ...any) {
	if names := c.hosts(); !slices.Contains(names, name) {
		c.wrong(fmt.Sprintf("host %q is not under hosts%s", name, yamldoc.Nearest(name, names)), "one of: "+strings.Join(names, ", "), path...)
	}
}

// switches must hold every port once.
func (c checker) switches() {
	free := map[string]bool{}
	var all []string
	for _, p := range Ports(c.s.Fabric) {
		free[p.String()] = true
		all = append(all, p.String())
	}
	for i, sw := range c.s.Switches {
		for j, port := range sw.Ports {
			if there, known := free[port]; !known {
				c.wrong(fmt.Sprintf("switches: %q is no port of a host%s", port, yamldoc.Nearest(port, all)), "write HOST.LINK", "switches", i, "ports", j)
			} else if !there {
				c.wrong(fmt.Sprintf("switches: %s is in a switch already", port), "", "switches", i, "ports", j)
			}
			if free[port] {
				free[port] = false
			}
		}
	}
	for _, port := range all {
		if len(c.s.Switches) > 0 && free[port] {
			c.wrong(fmt.Sprintf("switches: %s is in none", port), "put it into one, or leave switches out", "switches")
		}
	}
}

// switchesOf is in how many switches a host is.
func (c checker) switchesOf(host string) (n int) {
	for _, sw := range c.s.Switches {
		if slices.ContainsFunc(sw.Ports, func(p string) bool { return strings.HasPrefix(p, host+".") }) {
			n++
		}
	}
	return n
}

func (c checker) step(i int, step *Step, before map[string]int) {
	for j, h := range step.Hosts {
		c.host(h, "steps", i, "hosts", j)
	}
	if err := CheckChange(step.With); err != nil {
		c.wrong("with: "+err.Error(), ChangeHint(), "steps", i, "with")
	}
	if _, err := ParseBond(step.Bond); err != nil {
		c.wrong("bond: "+err.Error(), "lacp-rate: slow or fast; mii-monitor-interval, down-delay, up-delay: milliseconds", "steps", i, "bond")
	}
	for j := range step.Measure {
		c.measurement(i, j, &step.Measure[j], before)
	}
}

func (c checker) measurement(i, j int, m *Measurement, before map[string]int) {
	at := func(rest ...any) []any { return append([]any{"steps", i, "measure", j}, rest...) }
	c.pairs(at, m)
	c.tuning(at, i, m)
	if m.Direction == "" {
		m.Direction = flow.Forward
	}
	if m.Ports == "" {
		m.Ports = predict.PortsKernel
	}
	if m.Count == 0 {
		m.Count = usualPings
	}
	switch {
	case m.Tool == Ping && len(m.Streams)+len(m.Aliases) > 0:
		c.wrong("a ping has no streams", "", at("streams")...)
	case m.Tool == NFS && len(m.Streams)+len(m.Aliases) > 0:
		c.wrong("nfs has mounts in place of streams", "mounts: [{server: ADDRESS, vers: \"4.2\"}]", at("streams")...)
	case m.Tool == Ping && len(m.Published)+len(m.Ratios) > 0:
		c.wrong("a ping has no rate", "write published_rtt", at("published")...)
	case m.Tool != Ping && m.RTT > 0:
		c.wrong("published_rtt is of a ping", "", at("published_rtt")...)
	case len(m.Aliases) > 0 && (m.Tool == IPerf3 || m.Direction == flow.Both || len(m.Streams) > 0):
		c.wrong("aliases are measured with linerate or iperf2, one way, in place of streams", "", at("aliases")...)
	case m.Tool != Ping && m.Tool != NFS && m.Tool != Tune && len(m.Streams)+len(m.Aliases) == 0:
		m.Streams = []int{1}
	}
	if m.NoDelay && (m.Tool == Ping || m.Tool == NFS) {
		c.wrong(fmt.Sprintf("no_delay: %s has no such choice", m.Tool), "it is of linerate, iperf3 and iperf2", at("no_delay")...)
	}
	c.protocol(at, m)
	c.failing(at, m)
	c.mounts(at, m)
	c.cpuShares(at, m)
	c.numbers(at, m, before)
}

// usualPings are sent at intervals of a tenth of a second.
const usualPings = 20

// numbers are what was published, row by row.
func (c checker) numbers(at func(...any) []any, m *Measurement, before map[string]int) {
	rows := m.Rows()
	count := func(key string, n int) {
		if n > 0 && n != rows {
			c.wrong(fmt.Sprintf("%s: %d numbers for %d rows", key, n, rows), "", at(key)...)
		}
	}
	count("published", len(m.Published))
	count("published_ratio", len(m.Ratios))
	if len(m.Kinds) > 1 {
		count("kind", len(m.Kinds))
	}
	usual := Rate
	if m.Tool == Tune {
		usual = Best
	}
	if len(m.Ratios) > 0 {
		usual = Ratio
		if len(m.Published) > 0 {
			c.wrong("published and published_ratio are the same rows'", "write one of them", at("published_ratio")...)
		}
		c.of(at, m, before)
	} else if m.Of != "" {
		c.wrong("of: there is no published_ratio", "", at("of")...)
	}
	switch len(m.Kinds) {
	case 0:
		m.Kinds = repeated(usual, rows)
	case 1:
		m.Kinds = repeated(m.Kinds[0], rows)
	}
	if slices.Contains(m.Kinds, Ratio) && len(m.Ratios) == 0 {
		c.wrong("kind: a ratio without published_ratio", "", at("kind")...)
	}
}

// of must name a step above with such a row.
func (c checker) of(at func(...any) []any, m *Measurement, before map[string]int) {
	i, known := before[m.Of]
	switch {
	case m.Of == "":
		c.wrong("missing key \"of\"", "of: the step that published_ratio is of", at()...)
	case !known:
		c.wrong(fmt.Sprintf("of: no step above is %q", m.Of), "", at("of")...)
	case len(c.s.Steps[i].Needs) > 0:
		c.wrong(fmt.Sprintf("of: step %q is left out where a kernel lacks what it needs", m.Of), "name one that is always there", at("of")...)
	case !slices.ContainsFunc(c.s.Steps[i].Measure, m.like):
		c.wrong(fmt.Sprintf("of: step %q measures nothing like it", m.Of), "the same hosts, direction and as many rows", at("of")...)
	}
}

// like reports measurements whose rows can be set against each other.
func (m Measurement) like(other Measurement) bool {
	return slices.Equal(m.Pairs(), other.Pairs()) && m.Direction == other.Direction && m.Tool == other.Tool && m.Rows() == other.Rows()
}
