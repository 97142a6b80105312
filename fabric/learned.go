package fabric

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

var learnedKeys = object[flow.LearnedHash]{
	name: "learned", doc: "A switch's hash towards one host, as `steer probe --learn` found it.",
	keys: []key[flow.LearnedHash]{
		{"to", "the host whose links the switch chooses among", one(free, func(l *flow.LearnedHash) *string { return &l.To })},
		{"links", "its links by number: 2, 4 or 8", many(free, func(l *flow.LearnedHash) *[]string { return &l.Links })},
		{"field", "the port that the masks are of: sport or dport", one(word(flow.LearnedSport, flow.LearnedDport), func(l *flow.LearnedHash) *string { return &l.Field })},
		{"masks", "one a bit of a link's number, the lowest first: set where the port has an odd number of the mask's bits", many(mask, func(l *flow.LearnedHash) *[]uint16 { return &l.Masks })},
		{"ports", "the ports that it was learned for", one(portRange, func(l *flow.LearnedHash) *flow.PortRange { return &l.Ports })},
		{"flows", "the other parts of the flows that it was learned from", list(learnedFlowKeys, func(l *flow.LearnedHash) *[]flow.LearnedFlow { return &l.Flows })},
		{"observed", "flows that it took", one(integer(1, 1<<16), func(l *flow.LearnedHash) *int { return &l.Observed })},
		{"checked", "further flows that were where they had to be", one(integer(1, 1<<16), func(l *flow.LearnedHash) *int { return &l.Checked })},
		{"date", "the day on which it was learned", one(day, func(l *flow.LearnedHash) *string { return &l.Date })},
	},
	required: []string{"to", "links", "field", "masks", "ports", "flows"},
	finish: func(d *decoder, at place, n *yamldoc.Node, l *flow.LearnedHash) {
		if err := l.Check(); err != nil {
			d.wrong(at, n, err.Error(), "`linerate steer probe --learn` writes it")
		}
	},
}

var learnedFlowKeys = object[flow.LearnedFlow]{
	name: "learned_flow", doc: "Flows that differ in one port alone.",
	keys: []key[flow.LearnedFlow]{
		{"src", "source address", one(address, func(f *flow.LearnedFlow) *netip.Addr { return &f.Src })},
		{"dst", "destination address", one(address, func(f *flow.LearnedFlow) *netip.Addr { return &f.Dst })},
		{"port", "the port that does not vary", one(portNumber, func(f *flow.LearnedFlow) *uint16 { return &f.Port })},
		{"start", "number of the link where no mask sets a bit", one(integer(0, 7), func(f *flow.LearnedFlow) *int { return &f.Start })},
	},
	required: []string{"src", "dst", "port", "start"},
}

var mask = scalar[uint16]{
	schema: either(pattern(`^0x[0-9a-fA-F]{1,4}$`), integer(0, 1<<16-1).schema),
	parse: func(s string) (uint16, error) {
		v, err := strconv.ParseUint(s, 0, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is no mask of 16 bits", s)
		}
		return uint16(v), nil
	},
	hint: "write 0x8f31",
}

var portRange = scalar[flow.PortRange]{
	schema: either(pattern(`^[0-9]{1,5}(-[0-9]{1,5})?$`), integer(1, 1<<16-1).schema),
	parse:  flow.ParsePortRange,
	hint:   "write 1024-65535",
}

var day = scalar[string]{
	schema: pattern(`^\d{4}-\d{2}-\d{2}$`),
	parse: func(s string) (string, error) {
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "", fmt.Errorf("%q is no day", s)
		}
		return s, nil
	},
	hint: "write 2026-11-26",
}

// checkLearned judges which hosts a path's learned hashes name.
func checkLearned(ps *yamldoc.Collector, at place, n *yamldoc.Node, p Path) {
	for i, l := range p.Learned {
		if l.To != "" && p.From != "" && l.To != p.From && l.To != p.To {
			ps.At(n.Find("learned", i, "to"), fmt.Sprintf("%s: host %q is no end of this path", at.key("learned").item(i), l.To), yamldoc.Choices([]string{p.From, p.To}))
		}
	}
}
