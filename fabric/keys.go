package fabric

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// fileKeys is the whole file.
var fileKeys = object[Fabric]{
	name: "fabric", doc: "Hosts, the paths between them, and what to measure.",
	keys: []key[Fabric]{
		{"linerate", Version + ", this format's version", one(version, func(*Fabric) *string { return new(string) })},
		{"hosts", "hosts by name", named("host", hostKeys, func(f *Fabric, name string) *Host {
			f.Hosts = append(f.Hosts, Host{Name: name})
			return &f.Hosts[len(f.Hosts)-1]
		})},
		{"paths", "paths between hosts; left out: every pair with a common subnet", list(pathKeys, func(f *Fabric) *[]Path { return &f.Paths })},
		{"measure", "what to measure", sub(measureKeys, func(f *Fabric) *Measure { return &f.Measure })},
		{"prices", "what links cost, for predict --buy", reader[Fabric]{schema: sub(pricesKeys, func(*Fabric) *Prices { return nil }).schema, read: readPrices}},
		{"catalog", "cards that could be bought, by name, for predict --buy", catalogReader},
		{"switches", "the switches by name; or for predict --buy how many a host's links may be spread over: 0 cables hosts to each other, 2 needs MLAG; left out: 1", switchesReader},
		{scenarioKey, "what `lab run` does with a network like this one", reader[Fabric]{
			schema: func(*schemaWriter) map[string]any { return map[string]any{"type": "object"} },
			read: func(d *decoder, at place, n *yamldoc.Node, into *Fabric) {
				if d.want(at, n, yamldoc.MappingNode) {
					into.Scenario = n
				}
			},
		}},
	},
	required: []string{"linerate", "hosts"},
	alias:    map[string]string{"version": "linerate", "nodes": "hosts", "links": "paths", "price": "prices", "models": "catalog", "cards": "catalog"},
}

// scenarioKey is of the one key that another package reads.
const scenarioKey = "scenario"

var version = scalar[string]{
	schema: map[string]any{"const": Version},
	parse: func(s string) (string, error) {
		if s != Version {
			return "", fmt.Errorf("%q is not a version that is read here", s)
		}
		return s, nil
	},
	hint: "write linerate: " + Version,
}

var hostKeys = object[Host]{
	name: "host", doc: "One host. What is left out is unknown, never guessed.",
	keys: append([]key[Host]{
		{"reach", "how to get there: ssh://user@host, local:, netns:NAME, nats:NAME; left out: predict and render only", one(reach, func(h *Host) *string { return &h.Reach })},
		{"become", "how linerate gets root on a host reached by ssh as somebody else: sudo, without a password", one(word(becomeSudo), func(h *Host) *string { return &h.Become })},
		{"use", "the links that carry traffic and may be changed, by their names in network; left out: all that the file names, less the one over which the host is managed", distinct(deviceName, func(h *Host) *[]string { return &h.Use })},
		{"system", "what the host runs, where that is not Linux: its bonds then take that system's own words for mode and transmit-hash-policy (TrueNAS CORE is freebsd, SCALE linux)", one(systemWord, func(h *Host) *string { return &h.System })},
		{"network", networkKeys.doc, reader[Host]{schema: networkSchema, read: readNetwork}},
		{"leased", "what DHCP servers and routers gave the network's devices: predictions count on it, nothing of it is planned or rendered", named("device", leasedKeys, func(h *Host, id string) *Device {
			h.Leased = append(h.Leased, Device{ID: id})
			return &h.Leased[len(h.Leased)-1]
		})},
		{"hardware", "what netplan has no key for: the devices", sub(hardwareKeys, func(h *Host) *Hardware { return &h.Hardware })},
		{"kernel", "kernel release, as uname -r prints it", one(release, func(h *Host) *string { return &h.Kernel })},
		{"sysctl", "kernel tunables by dotted name", reader[Host]{schema: sysctlSchema, read: readSysctl}},
		{"rate", "a cap on the host in all, each direction", one(rate, func(h *Host) *unit.BitRate { return &h.Rate })},
		{"cloud", "where the host runs", reader[Host]{schema: sub(cloudKeys, func(h *Host) *netstate.Cloud { return nil }).schema, read: readCloud}},
		{"names", "device names on AIX and FreeBSD by netplan name", texts(free, func(h *Host) *map[string]string { return &h.Names })},
	}, lifted(settingKeys, func(h *Host) *Settings { return &h.Settings })...),
	begin: ofSystem,
	alias: map[string]string{
		"ssh": "reach", "os": "system", "platform": "system", "hypervisor": "system", "sudo": "become", "uses": "use", "use_links": "use", "netplan": "network", "sysctls": "sysctl", "ethernets": "network", "bonds": "network", "vlans": "network",
		"bond": "bonding", "ecmp": "multipath", "profile": "profiles", "role": "roles", "link": "links",
		"source-rules": "source_rules", "source_routes": "source_rules", "remove": "absent", "endpoints": "mptcp",
	},
}

// networkSchema is netplan's mapping, or a whole file of it pasted.
func networkSchema(w *schemaWriter) map[string]any {
	network := define(w, networkKeys)
	return either(network, map[string]any{
		"type": "object", "properties": map[string]any{"network": network},
		"required": []string{"network"}, "additionalProperties": false,
	})
}

// readNetwork takes netplan's text with or without its own "network" key.
func readNetwork(d *decoder, at place, n *yamldoc.Node, into *Host) {
	networkKeys.decode(d, at, unwrapped(n), &into.Network)
	into.Network.partOVS(d, at, unwrapped(n))
}

// unwrapped is the mapping under a pasted file's own top level key.
func unwrapped(n *yamldoc.Node) *yamldoc.Node {
	if len(n.Pairs) == 1 && n.Pairs[0].Key == "network" && n.Pairs[0].Value.Kind == yamldoc.MappingNode {
		return n.Pairs[0].Value
	}
	return n
}

func readCloud(d *decoder, at place, n *yamldoc.Node, into *Host) {
	into.Cloud = &netstate.Cloud{}
	cloudKeys.decode(d, at, n, into.Cloud)
}

var cloudKeys = object[netstate.Cloud]{
	name: "cloud", doc: "A cloud instance, for the caps that its provider documents.",
	keys: []key[netstate.Cloud]{
		{"provider", "cloud provider: ibm-vpc, aws, gcp, azure", one(free, func(c *netstate.Cloud) *string { return &c.Provider })},
		{"vcpus", "virtual processors", one(integer(1, 65536), func(c *netstate.Cloud) *int { return &c.VCPUs })},
		{"instance", "instance type", one(free, func(c *netstate.Cloud) *string { return &c.Instance })},
		{"placement", "placement group kind", one(word("cluster", "partition", "spread"), func(c *netstate.Cloud) *string { return &c.Placement })},
		{"region", "its region, where the peer's counts", one(free, func(c *netstate.Cloud) *string { return &c.Region })},
		{"zone", "its availability zone, where the peer's counts", one(free, func(c *netstate.Cloud) *string { return &c.Zone })},
		{"network_share", "part of the instance's bandwidth that is the network's, the rest being its volumes': 0.75 or 75% (IBM VPC)", one(ratio, func(c *netstate.Cloud) *float64 { return &c.NetworkShare })},
		{"ena_express", "ENA Express is on for its interfaces (AWS)", one(truth, func(c *netstate.Cloud) *bool { return &c.ENAExpress })},
		{"tier1", "per VM Tier_1 networking is on (GCP)", one(truth, func(c *netstate.Cloud) *bool { return &c.Tier1 })},
		{"bandwidth", "your own word on what the network of the host gets, each direction", one(rate, func(c *netstate.Cloud) *unit.BitRate { return &c.Bandwidth })},
		{"interface_rate", "your own word on what each interface gets, each direction", one(rate, func(c *netstate.Cloud) *unit.BitRate { return &c.InterfaceRate })},
		{"flow_rate", "your own word on what one flow gets", one(rate, func(c *netstate.Cloud) *unit.BitRate { return &c.FlowRate })},
	},
	required: []string{"provider"},
}

var hardwareKeys = object[Hardware]{
	name: "hardware", doc: "The host's devices. Netplan has no keys for these.",
	keys: []key[Hardware]{
		{"links", "ports by interface name", byName("link", linkKeys, func(h *Hardware) *map[string]HardwareLink { return &h.Links })},
		{"cards", "network cards by a name of your own", byName("card", cardKeys, func(h *Hardware) *map[string]netstate.Card { return &h.Cards })},
		{"cpu", "processors", sub(cpuKeys, func(h *Hardware) *netstate.CPU { return &h.CPU })},
		{"free_slots", "slots in which a card could be put; left out: not known to be few", one(integer(1, 64), func(h *Hardware) *int { return &h.FreeSlots })},
	},
	alias: map[string]string{"ports": "links", "nics": "links"},
}

// byName is named into a map.
func byName[T, V any](what string, o object[V], at func(*T) *map[string]V) reader[T] {
	base := named(what, o, func(*T, string) *V { return new(V) })
	return reader[T]{schema: base.schema, read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
		values := map[string]*V{}
		named(what, o, func(_ *T, name string) *V {
			values[name] = new(V)
			return values[name]
		}).read(d, p, n, into)
		if len(values) == 0 {
			return
		}
		m := make(map[string]V, len(values))
		for name, v := range values {
			m[name] = *v
		}
		*at(into) = m
	}}
}

var linkKeys = object[HardwareLink]{
	name: "hardware_link", doc: "One port.",
	keys: []key[HardwareLink]{
		{"speed", "line rate each direction", one(rate, func(l *HardwareLink) *unit.BitRate { return &l.Speed })},
		{"framing", "which bytes the speed counts: l1 is Ethernet line rate, l2 a shaper's count from the Ethernet header on", one(framing, func(l *HardwareLink) *netstate.Framing { return &l.Framing })},
		{"card", "the card it is a port of, by its name under cards", one(free, func(l *HardwareLink) *string { return &l.Card })},
		{"queues", "of a guest's virtio card, its pairs of queues: each is one thread (vhost) of the host below; left out: as many as the driver uses", one(integer(1, 256), func(l *HardwareLink) *int { return &l.Queues.Count })},
		{"queue_rate", "what one of these threads moves, both directions together", one(rate, func(l *HardwareLink) *unit.BitRate { return &l.Queues.Rate })},
	},
}

var framing = scalar[netstate.Framing]{
	schema: map[string]any{"enum": []string{"l1", "l2"}},
	parse: func(s string) (netstate.Framing, error) {
		switch s {
		case "l1":
			return netstate.FramingL1, nil
		case "l2":
			return netstate.FramingL2, nil
		}
		return "", fmt.Errorf("%q is neither l1 nor l2", s)
	},
}

var cardKeys = object[netstate.Card]{
	name: "card", doc: "One PCI device with one or more ports.",
	keys: []key[netstate.Card]{
		{"pcie", "its slot", sub(pcieKeys, func(c *netstate.Card) *netstate.Card { return c })},
		{"price", "what it costs, for comparing remedies", one(amount, func(c *netstate.Card) *float64 { return &c.Price })},
		{"keep", "it is there and stays: predict --buy uses it at no cost", one(truth, func(c *netstate.Card) *bool { return &c.Keep })},
	},
}

var pcieKeys = object[netstate.Card]{
	name: "pcie", doc: "A PCI Express slot as the card runs in it.",
	keys: []key[netstate.Card]{
		{"generation", "PCIe generation", one(integer(1, 7), func(c *netstate.Card) *int { return &c.Generation })},
		{"lanes", "lanes in use", one(lanes, func(c *netstate.Card) *int { return &c.Lanes })},
		{"max_payload", "largest payload of a transaction in bytes", one(integer(128, 4096), func(c *netstate.Card) *int { return &c.MaxPayload })},
		{"max_generation", "generation the card could do", one(integer(1, 7), func(c *netstate.Card) *int { return &c.MaxGeneration })},
		{"max_lanes", "lanes the card could use", one(lanes, func(c *netstate.Card) *int { return &c.MaxLanes })},
	},
}

// slotWidths are the widths of PCI Express links (PCI Express Base Specification
// 5.0, section 4.2.4).
var slotWidths = []int{1, 2, 4, 8, 12, 16, 32}

var lanes = scalar[int]{
	schema: map[string]any{"type": "integer", "minimum": 1, "maximum": 32},
	parse: func(s string) (int, error) {
		if n, err := strconv.Atoi(s); err == nil && slices.Contains(slotWidths, n) {
			return n, nil
		}
		return 0, fmt.Errorf("%q is no width of a slot", s)
	},
	hint: "write 1, 2, 4, 8, 12, 16 or 32",
}

// release is a kernel's: two numbers, and whatever its maker adds; or unknown.
var release = scalar[string]{
	schema: either(pattern(`^[0-9]+\.[0-9]+`), map[string]any{"type": "number"}, map[string]any{"const": "unknown"}),
	parse: func(s string) (string, error) {
		if s == "unknown" {
			return s, nil
		}
		major, rest, _ := strings.Cut(s, ".")
		if _, err := strconv.Atoi(major); err != nil || rest == "" || rest[0] < '0' || rest[0] > '9' {
			return "", fmt.Errorf("%q is no kernel release", s)
		}
		return s, nil
	},
	hint: `write it as uname -r does: "6.1", "5.15.0-91-generic"`,
}

var cpuKeys = object[netstate.CPU]{
	name: "cpu", doc: "The host's processors.",
	keys: []key[netstate.CPU]{
		{"cores", "cores", one(integer(1, 1<<16), func(c *netstate.CPU) *int { return &c.Cores })},
		{"stream_rate", "what one core can send or receive on one stream, payload", one(rate, func(c *netstate.CPU) *unit.BitRate { return &c.StreamRate })},
		{"packet_rate", "packets a second that one core takes in singly", one(amount, func(c *netstate.CPU) *float64 { return &c.PacketRate })},
		{"model", "model name", one(free, func(c *netstate.CPU) *string { return &c.Model })},
	},
}

var measureKeys = object[Measure]{
	name: "measure", doc: "What to measure on every path.",
	keys: []key[Measure]{
		{"streams", "stream counts, in all and in each direction", many(integer(1, 1024), func(m *Measure) *[]int { return &m.Streams })},
		{"directions", "forward, reverse, both", many(direction, func(m *Measure) *[]flow.Direction { return &m.Directions })},
		{"duration", "the longest a trial may take", one(duration, func(m *Measure) *time.Duration { return &m.Duration })},
		{"ports", "source ports: chosen spreads flows over the links, kernel leaves it to the kernel", one(word("chosen", "kernel"), func(m *Measure) *string { return &m.Ports })},
		{"socket_buffer", "default leaves autotuning on, or a size such as 8Mi", one(buffer, func(m *Measure) *unit.Bytes { return &m.SocketBuffer })},
		{"protocol", "tcp, udp or mptcp", one(word("tcp", "udp", "mptcp"), func(m *Measure) *string { return &m.Protocol })},
	},
}

var direction = scalar[flow.Direction]{
	schema: map[string]any{"enum": flow.Directions()},
	parse: func(s string) (d flow.Direction, err error) {
		err = d.UnmarshalText([]byte(s))
		return d, err
	},
}

var pathKeys = object[Path]{
	name: "path", doc: "What lies between two hosts. Rates are per direction, shared by all flows of the pair.",
	keys: []key[Path]{
		{"between", "the two hosts", reader[Path]{
			schema: func(*schemaWriter) map[string]any {
				return map[string]any{"type": "array", "minItems": 2, "maxItems": 2, "items": map[string]any{"type": "string"}}
			}, read: readBetween}},
		{"directed", "applies to one direction only", one(truth, func(p *Path) *bool { return &p.Directed })},
		{"rtt", "round-trip time", one(duration, func(p *Path) *time.Duration { return &p.RTT })},
		{"rate", "a shaper's rate, each direction", one(rate, func(p *Path) *unit.BitRate { return &p.Rate })},
		{"bucket", "what that shaper lets through at once after a pause", one(size, func(p *Path) *unit.Bytes { return &p.Bucket })},
		{"loss", "share of packets lost", one(ratio, func(p *Path) *float64 { return &p.Loss })},
		{"switch_hash", "how the far side spreads flows over its links: a transmit hash policy, or what the switch calls it (catalyst-...: a Catalyst 2950 to 3750, whose function is known); unknown", one(switchHash, func(p *Path) *string { return &p.SwitchHash })},
		{"learned", "what probes learned of the switches' hashes; it counts before switch_hash", list(learnedKeys, func(p *Path) *[]flow.LearnedHash { return &p.Learned })},
		{"family", "address family to use; left out: IPv4 where both ends have it", one(word("ipv4", "ipv6"), func(p *Path) *string { return &p.Family })},
	},
	required: []string{"between"},
	alias:    map[string]string{"from": "between", "to": "between", "hosts": "between", "latency": "rtt", "bandwidth": "rate", "speed": "rate"},
	finish:   func(_ *decoder, _ place, _ *yamldoc.Node, p *Path) { p.Declared = true },
}

// switchHash are the words for a switch's hash, of a path and of a channel alike.
var switchHash = word(append(wordsOf("xmit_hash_policy"), topology.Words()...)...)

func readBetween(d *decoder, at place, n *yamldoc.Node, into *Path) {
	var ends []string
	many(free, func(*Path) *[]string { return &ends }).read(d, at, n, into)
	if n.Kind == yamldoc.SequenceNode && len(n.Items) != 2 || n.Kind == yamldoc.NullNode {
		d.wrong(at, n, fmt.Sprintf("names %d hosts, must name two", len(n.Items)), "write between: [one, other]")
	}
	if len(ends) == 2 {
		into.From, into.To = ends[0], ends[1]
	}
}

// How linerate gets root, and how a reach says so.
const (
	becomeSudo  = "sudo"
	BecomeQuery = "?become="
)

// reachSchemes are the ways to a host.
var reachSchemes = []string{"ssh:", "local:", "netns:", "nats:"}

var reach = scalar[string]{
	schema: pattern(`^(ssh://.+|local:|netns:.+|nats:.+)$`),
	parse:  parseReach,
	hint:   "write ssh://user@host, local:, netns:NAME or nats:NAME",
}

func parseReach(s string) (string, error) {
	switch {
	case s == "local:":
		return s, nil
	case strings.HasPrefix(s, "ssh://") && strings.Contains(s, BecomeQuery):
		return "", fmt.Errorf("%q: how to get root is a key of its own: become: sudo", s)
	case strings.HasPrefix(s, "ssh://"):
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return "", fmt.Errorf("%q names no host", s)
		}
		// A name that starts with a dash would be an option to ssh(1).
		if strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-") {
			return "", fmt.Errorf("%q: a name must not begin with a dash", s)
		}
		return s, nil
	}
	for _, scheme := range []string{"netns:", "nats:"} {
		if name, ok := strings.CutPrefix(s, scheme); ok {
			if why := BadName(name); why != "" {
				return "", fmt.Errorf("%q: the name %s", s, why)
			}
			return s, nil
		}
	}
	return "", fmt.Errorf("%q has no known scheme%s", s, yamldoc.Nearest(schemeOf(s), reachSchemes))
}

func schemeOf(s string) string {
	scheme, _, found := strings.Cut(s, ":")
	if !found {
		return ""
	}
	return scheme + ":"
}
