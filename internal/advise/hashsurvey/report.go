package hashsurvey

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/recognise"
	"github.com/linerate/linerate/unit"
)

// sideWords is the one table of side names, indexed by side.
var sideWords = [sideCount]string{"a_sends", "b_receives", "b_sends", "a_receives"}

// String is the side's word in documents: a_sends, b_receives, b_sends,
// a_receives. A is the host that connects.
func (s Side) String() string {
	if s >= 0 && s < sideCount {
		return sideWords[s]
	}
	return "unknown-" + strconv.Itoa(int(s))
}

// MarshalText writes String.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Report is what a survey of two hosts found out.
type Report struct {
	A string `json:"a"`
	B string `json:"b"`
	// Probes is how many flows were looked at, Found how many of them it took
	// until the set was there; Repeats how many bursts more than one each that
	// took, because of other traffic.
	Probes  int        `json:"probes_count"`
	Found   int        `json:"found_after_count"`
	Repeats int        `json:"repeats_count"`
	Sent    unit.Bytes `json:"sent_bytes"`
	// Expected is n*H(n) of the larger number of links n, Limit the most flows
	// that were allowed.
	Expected float64 `json:"expected_probes"`
	Limit    int     `json:"limit_count"`
	// Even: the set uses every link of every side evenly.
	Even    bool         `json:"even"`
	Streams []Stream     `json:"streams"`
	Ports   []uint16     `json:"ports"`
	Sides   []SideReport `json:"sides"`
	// Separate: both hosts have separate interfaces, and nothing hashes.
	Separate bool `json:"separate,omitempty"`
	// Why says what stands in the way of an even set; "" nothing.
	Why       string         `json:"why,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	Trunks    []Trunk        `json:"trunks"`
	Neighbors []HostNeighbor `json:"neighbors,omitempty"`
}

// Stream is one flow of the set, A's end first.
type Stream struct {
	Src   netip.Addr `json:"src"`
	Dst   netip.Addr `json:"dst"`
	Sport uint16     `json:"sport"`
	Dport uint16     `json:"dport"`
	// Links are the link's names by side; "" unknown.
	Links map[Side]string `json:"links"`
	// Seen: it was looked at; otherwise its links follow from the rule that
	// explains what was seen.
	Seen bool `json:"seen"`
}

// SideReport is what was found out about one side.
type SideReport struct {
	Side  Side     `json:"side"`
	Host  string   `json:"host"` // whose links they are
	Links []string `json:"links"`
	// Seen counts the flows looked at on each link, PerLink the set's.
	Seen    []int `json:"seen"`
	PerLink []int `json:"per_link"`
	Even    bool  `json:"even"`
	// Unreached are links that no flow took.
	Unreached []string `json:"unreached,omitempty"`
	// Ignored says why flows have no link of their own here, or cannot be
	// spread; "" when they have.
	Ignored string `json:"ignored,omitempty"`
	// Guesses explain what was seen, likeliest first; none for a host's own
	// rule, which is computed.
	Guesses []recognise.Guess `json:"guesses,omitempty"`
	// Separate: each address has one link here, and nothing hashes.
	Separate bool `json:"separate,omitempty"`
	// PortsHelp and AddressesHelp are how likely other source ports, and other
	// addresses, are to change a flow's link.
	PortsHelp     float64 `json:"ports_help_ratio"`
	AddressesHelp float64 `json:"addresses_help_ratio"`
}

// Trunk is a host's bond as far as the other end of its cables matters.
type Trunk struct {
	Host string `json:"host"`
	Bond string `json:"bond,omitempty"`
	// Mode and Policy are the host's own; "" without a bond.
	Mode   string      `json:"mode,omitempty"`
	Policy string      `json:"policy,omitempty"`
	MTU    int         `json:"mtu_bytes"`
	Ports  []TrunkPort `json:"ports"`
	// LACP is the active aggregator; nil outside 802.3ad.
	LACP *netstate.Aggregator `json:"lacp,omitempty"`
	// Fast: it asks for LACP every second.
	Fast bool `json:"lacp_fast,omitempty"`
}

// TrunkPort is one cable of a trunk.
type TrunkPort struct {
	Link   string   `json:"link"`
	MAC    flow.MAC `json:"mac,omitzero"`
	Usable bool     `json:"usable"`
	// Aggregator is the one the port is in; zero outside 802.3ad.
	Aggregator int  `json:"aggregator_id,omitempty"`
	Up         bool `json:"up"`
}

// HostNeighbor is a neighbour heard by LLDP.
type HostNeighbor struct {
	Host string `json:"host"`
	netstate.Neighbor
}

// TrunkOf reads the bond below a link, or the link alone, as a trunk.
func TrunkOf(h netstate.Host, link string) Trunk {
	t := Trunk{Host: h.Name}
	l, _ := h.Link(link)
	t.MTU = l.MTU
	below, _, bond := h.Below(link)
	names := make([]string, 0, len(below))
	usable := make(map[string]bool)
	for _, p := range below {
		usable[p.Name] = true
		names = append(names, p.Name)
	}
	if bond != nil {
		t.Bond, t.Mode, t.LACP = bond.Name, bond.Bond.Mode.String(), bond.Bond.AD
		t.Fast = bond.Bond.LACPRate == netstate.LACPFast
		if bond.Bond.Mode.Hashes() {
			t.Policy = bond.Bond.HashPolicy.String()
		}
		names = bond.Bond.Ports
	}
	for _, name := range names {
		p, _ := h.Link(name)
		port := TrunkPort{Link: name, MAC: p.PermanentMAC, Usable: usable[name], Up: p.Carrier}
		if port.MAC.IsZero() {
			port.MAC = p.MAC
		}
		if p.Port != nil {
			port.Aggregator = p.Port.AggregatorID
		}
		t.Ports = append(t.Ports, port)
	}
	return t
}

// Names are what a report calls the parts of a survey.
type Names struct {
	A, B    string
	Links   [sideCount][]string
	Ignored [sideCount]string
	// Separate are sides on which each address has one link: nothing hashes.
	Separate [sideCount]bool
}

// Nothing reports that nothing hashes on any side.
func (n Names) Nothing() bool {
	return !slices.ContainsFunc(Sides(), func(side Side) bool { return !n.Separate[side] })
}

// Report puts the state and the last decision into a report; what a survey
// does not know (bytes, trunks, neighbours) is the caller's to fill in.
func (s State) Report(names Names, d Decision) Report {
	r := Report{
		A: names.A, B: names.B, Probes: len(s.Seen), Expected: s.Expected(), Limit: s.ProbeLimit(), Why: d.Why,
		Even: len(d.Cover.Flows) > 0 && d.Cover.EvenAll(), Separate: names.Nothing(), Streams: []Stream{}, Ports: []uint16{},
	}
	for _, f := range d.Cover.Flows {
		st := Stream{Src: f.Frame.Src, Dst: f.Frame.Dst, Sport: f.Frame.Sport, Dport: f.Frame.Dport, Seen: f.Seen, Links: make(map[Side]string)}
		for _, side := range Sides() {
			st.Links[side] = ""
			if at := f.Links[side]; at >= 0 && at < len(names.Links[side]) {
				st.Links[side] = names.Links[side][at]
			}
		}
		r.Streams, r.Ports = append(r.Streams, st), append(r.Ports, st.Sport)
	}
	for _, side := range Sides() {
		r.Sides = append(r.Sides, s.sideReport(side, names, d.Cover))
	}
	return r
}

func (s State) sideReport(side Side, names Names, c Cover) SideReport {
	r := SideReport{Side: side, Host: names.A, Links: names.Links[side], Seen: make([]int, s.Links[side]), PerLink: make([]int, s.Links[side]), Ignored: names.Ignored[side], Separate: names.Separate[side]}
	if side.Far() {
		r.Host = names.B
	}
	if len(c.Flows) > 0 {
		r.PerLink, r.Even = c.PerLink[side], c.Even[side]
	}
	for _, seen := range s.Sightings(side) {
		r.Seen[seen.Link]++
	}
	for i, n := range r.Seen {
		if n == 0 && len(s.Seen) > 0 && s.Links[side] > 1 {
			r.Unreached = append(r.Unreached, names.Links[side][i])
		}
	}
	if s.Links[side] > 1 && len(s.Seen) > 0 {
		b := s.Belief(side)
		r.PortsHelp, r.AddressesHelp = b.Reads()
		if s.Own[side] == nil {
			r.Guesses = b.Guesses()
		}
	}
	return r
}
