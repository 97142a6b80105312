// Package describe writes observed hosts as a fabric file. What the file has
// no words for it says in a comment.
package describe

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// describedSysctls are the tunables that a prediction reads.
var describedSysctls = []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}

// profilesRemark is a line to uncomment: nothing sets a sysctl that no file names.
const profilesRemark = "profiles: [throughput]  # would set TCP's buffers for the rates and round trips of the paths; `linerate plan` shows it first"

// Write writes a fabric file from observed hosts: what Parse reads back as
// the same state. Reach is each host's by name. What is not known, and what
// a fabric cannot say, stands in comments.
func Write(hosts []netstate.Host, paths []fabric.Path, reach map[string]string, measure fabric.Measure) []byte {
	root := &yamldoc.Node{Kind: yamldoc.MappingNode}
	root.Set("linerate", yamldoc.Text(fabric.Version))
	all := &yamldoc.Node{Kind: yamldoc.MappingNode}
	shared, taken := sharedAddresses(hosts), map[netip.Addr]string{}
	for _, h := range hosts {
		all.Set(h.Name, describeHost(h, reach[h.Name], shared, taken))
	}
	root.Set("hosts", all)
	if n := switchesOf(paths); n != nil {
		root.Set("switches", n)
	}
	if n := describePaths(paths); n != nil {
		root.Set("paths", n)
	}
	if n := describeMeasure(measure); n != nil {
		root.Set("measure", n)
	}
	return []byte(yamldoc.Write(root))
}

func rateText(r unit.BitRate) *yamldoc.Node {
	b, err := r.MarshalText()
	if r <= 0 || err != nil {
		return nil
	}
	return yamldoc.Text(string(b))
}

func timeText(d time.Duration) *yamldoc.Node {
	if d <= 0 {
		return nil
	}
	return yamldoc.Text(strings.ReplaceAll(d.String(), "µ", "u"))
}

// sharedAddresses are those that several hosts have, as every host's own
// container bridge does: they lead to no other host.
func sharedAddresses(hosts []netstate.Host) map[netip.Addr]bool {
	owner, shared := map[netip.Addr]int{}, map[netip.Addr]bool{}
	for i, h := range hosts {
		for _, l := range h.Links {
			for _, p := range l.Addresses {
				if first, seen := owner[p.Addr()]; seen && first != i {
					shared[p.Addr()] = true
				}
				owner[p.Addr()] = i
			}
		}
	}
	return shared
}

func describeHost(h netstate.Host, reach string, shared map[netip.Addr]bool, taken map[netip.Addr]string) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	if reach != "" {
		way, become, _ := strings.Cut(reach, fabric.BecomeQuery)
		n.Set("reach", yamldoc.Text(way))
		if become != "" {
			n.Set("become", yamldoc.Text(become))
		}
	}
	other := otherSystem(h)
	if other != "" {
		n.Set("system", yamldoc.Text(other))
	}
	for _, missing := range h.Missing {
		n.Remark("not read: %s", missing)
	}
	d := newDescriber(h, shared, taken)
	network := d.network()
	n.Set("network", network)
	n.Pairs[len(n.Pairs)-1].Comment = d.useRemark()
	n.Set("leased", d.leased())
	n.Set("bonding", d.bonding())
	n.Set("links", d.portSettings())
	n.Set("multipath", yamldoc.Filled(d.multipath()))
	n.Set("mptcp", d.mptcp())
	d.rest()
	d.unsaid.remark(network)
	n.Set("hardware", describeHardware(h, d.ports()))
	if h.Kernel.Release != "" {
		n.Set("kernel", yamldoc.Quoted(h.Kernel.Release))
	}
	if other == "" {
		n.Set("sysctl", yamldoc.Filled(describeSysctls(h, d.restsOn, n)))
		n.Pairs[len(n.Pairs)-1].Comment = profilesRemark
	}
	n.Set("rate", rateText(h.Rate))
	if c := h.Cloud; c != nil {
		n.Set("cloud", describeCloud(*c))
	}
	return n
}

// otherSystem is a host's system, where that is not Linux, and its bonds are said in
// its own words; "" else.
func otherSystem(h netstate.Host) string {
	system, foreign := bondopt.SystemOf(h.Kernel.OS)
	if !foreign || slices.ContainsFunc(h.Links, func(l netstate.Link) bool { return l.Bond != nil && l.Bond.Own == nil }) {
		return ""
	}
	return system.Name
}

// describeSysctls are the tunables that a prediction reads, and those that what
// was written rests on: they are as they are, and a plan leaves them.
func describeSysctls(h netstate.Host, restsOn []string, host *yamldoc.Node) *yamldoc.Node {
	sysctl := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, name := range append(restsOn, describedSysctls...) {
		if v, ok := h.Sysctls[name]; ok && v.Value != "" {
			sysctl.Set(name, yamldoc.Quoted(fabric.FoldBlanks(v.Value)))
		} else {
			host.Remark("sysctl %s is unknown", name)
		}
	}
	return sysctl
}

func describeCloud(c netstate.Cloud) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	n.Set("provider", yamldoc.Quoted(c.Provider))
	n.Set("vcpus", yamldoc.Count(c.VCPUs))
	for _, word := range []struct{ key, value string }{
		{"instance", c.Instance}, {"placement", c.Placement}, {"region", c.Region}, {"zone", c.Zone},
	} {
		if word.value != "" {
			n.Set(word.key, yamldoc.Quoted(word.value))
		}
	}
	if c.NetworkShare > 0 {
		n.Set("network_share", yamldoc.Text(strconv.FormatFloat(c.NetworkShare, 'f', -1, 64)))
	}
	for _, on := range []struct {
		key   string
		value bool
	}{{"ena_express", c.ENAExpress}, {"tier1", c.Tier1}} {
		if on.value {
			n.Set(on.key, yamldoc.Text("true"))
		}
	}
	n.Set("bandwidth", rateText(c.Bandwidth))
	n.Set("interface_rate", rateText(c.InterfaceRate))
	n.Set("flow_rate", rateText(c.FlowRate))
	return n
}

// shaped is the rate that a queueing discipline limits the link to, which
// counts from the Ethernet header on; zero without one.
func shaped(l netstate.Link) unit.BitRate {
	var least unit.BitRate
	for _, q := range l.Qdiscs {
		if q.Rate > 0 && (least == 0 || q.Rate < least) {
			least = q.Rate
		}
	}
	return least
}

func describeHardware(h netstate.Host, ports []netstate.Link) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	links := &yamldoc.Node{Kind: yamldoc.MappingNode}
	cards := map[string]bool{}
	for _, l := range ports {
		if l.Loopback() {
			continue
		}
		if link := describeLink(l, links); link != nil {
			if card := knownCard(h, l.Card); card != nil {
				cards[l.Card] = true
				link.Set("card", yamldoc.Quoted(l.Card))
			}
			links.Set(l.Name, link)
		}
	}
	if links.Comment != "" && len(links.Pairs) == 0 {
		n.Comment, links.Comment = "links:\n  "+strings.ReplaceAll(links.Comment, "\n", "\n  "), ""
	}
	n.Set("links", yamldoc.Filled(links))
	slots := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, c := range h.Cards {
		if cards[c.Name] {
			slots.Set(c.Name, describeCard(c))
		}
	}
	n.Set("cards", yamldoc.Filled(slots))
	cpu := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	cpu.Set("cores", yamldoc.Count(h.CPU.Cores))
	cpu.Set("stream_rate", rateText(h.CPU.StreamRate))
	if r := h.CPU.PacketRate; r > 0 {
		cpu.Set("packet_rate", yamldoc.Text(strconv.FormatFloat(r, 'f', 0, 64)))
	}
	if h.CPU.Model != "" {
		cpu.Set("model", yamldoc.Quoted(h.CPU.Model))
	}
	n.Set("cpu", yamldoc.Filled(cpu))
	if h.CPU.StreamRate == 0 && h.CPU.Cores > 0 {
		n.Pairs[len(n.Pairs)-1].Comment = "stream_rate is unknown: inspect --calibrate measures it"
	}
	return yamldoc.Filled(n)
}

// describeLink is a port's speed, or nil with a remark that it is unknown.
func describeLink(l netstate.Link, links *yamldoc.Node) *yamldoc.Node {
	link := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	rate, limit := l.Speed, shaped(l)
	framing := l.Framing
	switch {
	case limit > 0 && (rate == 0 || l.Kind != ""):
		rate, framing = limit, netstate.FramingL2 // a device of software has no speed but this
	case limit > 0 && limit < rate:
		links.Remark("%s: a queueing discipline lets through %v of it (tc qdisc show dev %s)", yamldoc.QuotedKey(l.Name), limit, l.Name)
	}
	if rate == 0 {
		links.Remark("%s: {speed: 25G}  # unknown: write its speed here", yamldoc.QuotedKey(l.Name))
		return nil
	}
	link.Set("speed", rateText(rate))
	if framing == netstate.FramingL2 {
		link.Set("framing", yamldoc.Text("l2"))
	}
	return link
}

// knownCard is a card that something is known of.
func knownCard(h netstate.Host, name string) *netstate.Card {
	for i, c := range h.Cards {
		if c.Name == name && name != "" && fabric.BadName(name) == "" && describeCard(c) != nil {
			return &h.Cards[i]
		}
	}
	return nil
}

// describeCard is nil when nothing is known, or when what is known is outside
// what the file takes (a device without a PCIe link reports zero lanes).
func describeCard(c netstate.Card) *yamldoc.Node {
	pcie := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	pcie.Set("generation", yamldoc.Count(c.Generation))
	pcie.Set("lanes", yamldoc.Count(c.Lanes))
	pcie.Set("max_payload", yamldoc.Count(c.MaxPayload))
	pcie.Set("max_generation", yamldoc.Count(c.MaxGeneration))
	pcie.Set("max_lanes", yamldoc.Count(c.MaxLanes))
	card := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	card.Set("pcie", yamldoc.Filled(pcie))
	if c.Price > 0 {
		card.Set("price", yamldoc.Text(strconv.FormatFloat(c.Price, 'f', -1, 64)))
	}
	if c.Keep {
		card.Set("keep", yamldoc.Text("true"))
	}
	if !fabric.CanSayCard(card) {
		return nil
	}
	return yamldoc.Filled(card)
}

func describePaths(paths []fabric.Path) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.SequenceNode}
	for _, p := range paths {
		item := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		item.Set("between", &yamldoc.Node{Kind: yamldoc.SequenceNode, Items: []*yamldoc.Node{yamldoc.Text(p.From), yamldoc.Text(p.To)}})
		if p.Directed {
			item.Set("directed", yamldoc.Text("true"))
		}
		item.Set("rtt", timeText(p.RTT))
		item.Set("rate", rateText(p.Rate))
		if p.Bucket > 0 {
			item.Set("bucket", yamldoc.Count(int(p.Bucket)))
		}
		if p.Loss > 0 && p.Loss < 1 {
			item.Set("loss", yamldoc.Text(strconv.FormatFloat(p.Loss, 'f', -1, 64)))
		}
		if p.SwitchHash != "" {
			item.Set("switch_hash", yamldoc.Text(p.SwitchHash))
		}
		item.Set("learned", Learned(p.Learned))
		if p.Family != "" {
			item.Set("family", yamldoc.Text(p.Family))
		}
		if p.RTT == 0 {
			n.Remark("rtt between %s and %s is unknown", p.From, p.To)
		}
		n.Items = append(n.Items, item)
	}
	return yamldoc.Filled(n)
}

func describeMeasure(m fabric.Measure) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	list := func(words []string) *yamldoc.Node {
		l := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
		for _, w := range words {
			l.Items = append(l.Items, yamldoc.Text(w))
		}
		return yamldoc.Filled(l)
	}
	var streams, directions []string
	for _, s := range m.Streams {
		streams = append(streams, strconv.Itoa(s))
	}
	for _, d := range m.Directions {
		directions = append(directions, string(d))
	}
	n.Set("streams", list(streams))
	n.Set("directions", list(directions))
	n.Set("duration", timeText(m.Duration))
	if m.Ports != "" {
		n.Set("ports", yamldoc.Text(m.Ports))
	}
	n.Set("socket_buffer", yamldoc.Count(int(m.SocketBuffer)))
	if m.Protocol != "" {
		n.Set("protocol", yamldoc.Text(m.Protocol))
	}
	return yamldoc.Filled(n)
}
