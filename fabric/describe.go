package fabric

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// describedSysctls are the tunables that a prediction reads.
var describedSysctls = []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}

// profilesRemark is a line to uncomment: nothing sets a sysctl that no file names.
const profilesRemark = "profiles: [throughput]  # would set TCP's buffers for the rates and round trips of the paths; `linerate plan` shows it first"

// Describe writes a fabric file from observed hosts: what Parse reads back as
// the same state. Reach is each host's by name. What is not known, and what
// a fabric cannot say, stands in comments.
func Describe(hosts []netstate.Host, paths []Path, reach map[string]string, measure Measure) []byte {
	root := &Node{Kind: MappingNode}
	root.set("linerate", text(Version))
	all := &Node{Kind: MappingNode}
	shared, taken := sharedAddresses(hosts), map[netip.Addr]string{}
	for _, h := range hosts {
		all.set(h.Name, describeHost(h, reach[h.Name], shared, taken))
	}
	root.set("hosts", all)
	if n := describePaths(paths); n != nil {
		root.set("paths", n)
	}
	if n := describeMeasure(measure); n != nil {
		root.set("measure", n)
	}
	return []byte(Write(root))
}

// set appends a pair, and leaves out what is nil.
func (n *Node) set(key string, value *Node) {
	if value != nil {
		n.Pairs = append(n.Pairs, Pair{Key: key, Value: value})
	}
}

// remark adds a line of comment above a mapping's pairs.
func (n *Node) remark(format string, args ...any) {
	if n.Comment != "" {
		n.Comment += "\n"
	}
	n.Comment += fmt.Sprintf(format, args...)
}

func text(s string) *Node { return &Node{Kind: ScalarNode, Text: s} }

// str is text that stays text though it looks like a number.
func str(s string) *Node { return &Node{Kind: ScalarNode, Text: s, Quoted: true} }

func count(n int) *Node {
	if n == 0 {
		return nil
	}
	return text(strconv.Itoa(n))
}

func rateText(r unit.BitRate) *Node {
	b, err := r.MarshalText()
	if r <= 0 || err != nil {
		return nil
	}
	return text(string(b))
}

func timeText(d time.Duration) *Node {
	if d <= 0 {
		return nil
	}
	return text(strings.ReplaceAll(d.String(), "µ", "u"))
}

// filled is nil without pairs and comment.
func filled(n *Node) *Node {
	if len(n.Pairs) == 0 && n.Comment == "" && len(n.Items) == 0 {
		return nil
	}
	return n
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

func describeHost(h netstate.Host, reach string, shared map[netip.Addr]bool, taken map[netip.Addr]string) *Node {
	n := &Node{Kind: MappingNode}
	if reach != "" {
		way, become, _ := strings.Cut(reach, becomeQuery)
		n.set("reach", text(way))
		if become != "" {
			n.set("become", text(become))
		}
	}
	for _, missing := range h.Missing {
		n.remark("not read: %s", missing)
	}
	d := newNetDescriber(h, shared, taken)
	network := d.network()
	n.set("network", network)
	n.Pairs[len(n.Pairs)-1].Comment = d.useRemark()
	n.set("leased", d.leased())
	n.set("bonding", d.bonding())
	n.set("links", d.portSettings())
	n.set("multipath", filled(d.multipath()))
	n.set("mptcp", d.mptcp())
	d.rest()
	d.unsaid.remark(network)
	n.set("hardware", describeHardware(h, d.ports()))
	if h.Kernel.Release != "" {
		n.set("kernel", str(h.Kernel.Release))
	}
	n.set("sysctl", filled(describeSysctls(h, d.restsOn, n)))
	n.Pairs[len(n.Pairs)-1].Comment = profilesRemark
	n.set("rate", rateText(h.Rate))
	if c := h.Cloud; c != nil {
		n.set("cloud", describeCloud(*c))
	}
	return n
}

// describeSysctls are the tunables that a prediction reads, and those that what
// was written rests on: they are as they are, and a plan leaves them.
func describeSysctls(h netstate.Host, restsOn []string, host *Node) *Node {
	sysctl := &Node{Kind: MappingNode}
	for _, name := range append(restsOn, describedSysctls...) {
		if v, ok := h.Sysctls[name]; ok && v.Value != "" {
			sysctl.set(name, str(foldBlanks(v.Value)))
		} else {
			host.remark("sysctl %s is unknown", name)
		}
	}
	return sysctl
}

func describeCloud(c netstate.Cloud) *Node {
	n := &Node{Kind: MappingNode, Flow: true}
	n.set("provider", str(c.Provider))
	n.set("vcpus", count(c.VCPUs))
	for _, word := range []struct{ key, value string }{
		{"instance", c.Instance}, {"placement", c.Placement}, {"region", c.Region}, {"zone", c.Zone},
	} {
		if word.value != "" {
			n.set(word.key, str(word.value))
		}
	}
	if c.NetworkShare > 0 {
		n.set("network_share", text(strconv.FormatFloat(c.NetworkShare, 'f', -1, 64)))
	}
	for _, on := range []struct {
		key   string
		value bool
	}{{"ena_express", c.ENAExpress}, {"tier1", c.Tier1}} {
		if on.value {
			n.set(on.key, text("true"))
		}
	}
	n.set("bandwidth", rateText(c.Bandwidth))
	n.set("interface_rate", rateText(c.InterfaceRate))
	n.set("flow_rate", rateText(c.FlowRate))
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

func describeHardware(h netstate.Host, ports []netstate.Link) *Node {
	n := &Node{Kind: MappingNode}
	links := &Node{Kind: MappingNode}
	cards := map[string]bool{}
	for _, l := range ports {
		if l.Loopback() {
			continue
		}
		if link := describeLink(l, links); link != nil {
			if card := knownCard(h, l.Card); card != nil {
				cards[l.Card] = true
				link.set("card", str(l.Card))
			}
			links.set(l.Name, link)
		}
	}
	if links.Comment != "" && len(links.Pairs) == 0 {
		n.Comment, links.Comment = "links:\n  "+strings.ReplaceAll(links.Comment, "\n", "\n  "), ""
	}
	n.set("links", filled(links))
	slots := &Node{Kind: MappingNode}
	for _, c := range h.Cards {
		if cards[c.Name] {
			slots.set(c.Name, describeCard(c))
		}
	}
	n.set("cards", filled(slots))
	cpu := &Node{Kind: MappingNode, Flow: true}
	cpu.set("cores", count(h.CPU.Cores))
	cpu.set("stream_rate", rateText(h.CPU.StreamRate))
	if r := h.CPU.PacketRate; r > 0 {
		cpu.set("packet_rate", text(strconv.FormatFloat(r, 'f', 0, 64)))
	}
	if h.CPU.Model != "" {
		cpu.set("model", str(h.CPU.Model))
	}
	n.set("cpu", filled(cpu))
	if h.CPU.StreamRate == 0 && h.CPU.Cores > 0 {
		n.Pairs[len(n.Pairs)-1].Comment = "stream_rate is unknown: inspect --calibrate measures it"
	}
	return filled(n)
}

// describeLink is a port's speed, or nil with a remark that it is unknown.
func describeLink(l netstate.Link, links *Node) *Node {
	link := &Node{Kind: MappingNode, Flow: true}
	rate := shaped(l)
	framing := l.Framing
	if rate > 0 {
		framing = netstate.FramingL2
	} else {
		rate = l.Speed
	}
	if rate == 0 {
		links.remark("%s: {speed: 25G}  # unknown: write its speed here", quotedKey(l.Name))
		return nil
	}
	link.set("speed", rateText(rate))
	if framing == netstate.FramingL2 {
		link.set("framing", text("l2"))
	}
	return link
}

// knownCard is a card that something is known of.
func knownCard(h netstate.Host, name string) *netstate.Card {
	for i, c := range h.Cards {
		if c.Name == name && name != "" && badName(name) == "" && describeCard(c) != nil {
			return &h.Cards[i]
		}
	}
	return nil
}

// describeCard is nil when nothing is known, or when what is known is outside
// what the file takes (a device without a PCIe link reports zero lanes).
func describeCard(c netstate.Card) *Node {
	pcie := &Node{Kind: MappingNode, Flow: true}
	pcie.set("generation", count(c.Generation))
	pcie.set("lanes", count(c.Lanes))
	pcie.set("max_payload", count(c.MaxPayload))
	pcie.set("max_generation", count(c.MaxGeneration))
	pcie.set("max_lanes", count(c.MaxLanes))
	card := &Node{Kind: MappingNode, Flow: true}
	card.set("pcie", filled(pcie))
	if c.Price > 0 {
		card.set("price", text(strconv.FormatFloat(c.Price, 'f', -1, 64)))
	}
	if c.Keep {
		card.set("keep", text("true"))
	}
	ps := &problems{}
	cardKeys.decode(&decoder{ps}, "", card, &netstate.Card{})
	if len(ps.all) > 0 {
		return nil
	}
	return filled(card)
}

func describePaths(paths []Path) *Node {
	n := &Node{Kind: SequenceNode}
	for _, p := range paths {
		item := &Node{Kind: MappingNode, Flow: true}
		item.set("between", &Node{Kind: SequenceNode, Items: []*Node{text(p.From), text(p.To)}})
		if p.Directed {
			item.set("directed", text("true"))
		}
		item.set("rtt", timeText(p.RTT))
		item.set("rate", rateText(p.Rate))
		if p.Bucket > 0 {
			item.set("bucket", count(int(p.Bucket)))
		}
		if p.Loss > 0 && p.Loss < 1 {
			item.set("loss", text(strconv.FormatFloat(p.Loss, 'f', -1, 64)))
		}
		if p.SwitchHash != "" {
			item.set("switch_hash", text(p.SwitchHash))
		}
		if p.Family != "" {
			item.set("family", text(p.Family))
		}
		if p.RTT == 0 {
			n.remark("rtt between %s and %s is unknown", p.From, p.To)
		}
		n.Items = append(n.Items, item)
	}
	return filled(n)
}

func describeMeasure(m Measure) *Node {
	n := &Node{Kind: MappingNode}
	list := func(words []string) *Node {
		l := &Node{Kind: SequenceNode, Flow: true}
		for _, w := range words {
			l.Items = append(l.Items, text(w))
		}
		return filled(l)
	}
	var streams, directions []string
	for _, s := range m.Streams {
		streams = append(streams, strconv.Itoa(s))
	}
	for _, d := range m.Directions {
		directions = append(directions, string(d))
	}
	n.set("streams", list(streams))
	n.set("directions", list(directions))
	n.set("duration", timeText(m.Duration))
	if m.Ports != "" {
		n.set("ports", text(m.Ports))
	}
	n.set("socket_buffer", count(int(m.SocketBuffer)))
	if m.Protocol != "" {
		n.set("protocol", text(m.Protocol))
	}
	return filled(n)
}
