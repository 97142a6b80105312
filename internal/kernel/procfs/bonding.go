package procfs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Bonding is /proc/net/bonding/BOND (drivers/net/bonding/bond_procfs.c
// bond_info_show). What only a reader with CAP_NET_ADMIN gets to see is zero
// for others: Bond.AD, each port's actor and partner.
type Bonding struct {
	// Bond is what the file says of the bond; Ports are in enslave order.
	Bond  netstate.Bond
	MIIUp bool
	Ports []BondingPort
}

// BondingPort is one slave's paragraph.
type BondingPort struct {
	Name         string
	Port         netstate.BondPort // without Bond, the file's own name
	Speed        unit.BitRate      // zero unknown
	Duplex       string
	PermanentMAC flow.MAC
	// MIIStatus is the monitor's word: up, going down, down, going back.
	MIIStatus string
}

// bondingSection is the part of the file a line is in.
type bondingSection int

const (
	sectionBond bondingSection = iota
	sectionAggregator
	sectionPort
	sectionActor
	sectionPartner
)

type bondingParser struct {
	b       Bonding
	section bondingSection
	mode    bool // a mode was seen
	lines   []string
	err     error
}

// ParseBonding reads the text of /proc/net/bonding/BOND. A text without a
// known bonding mode is an error; unknown lines are passed over.
func ParseBonding(text []byte) (Bonding, error) {
	b, _, err := ParseBondingTold(text)
	return b, err
}

// ParseBondingTold is ParseBonding with the options that the text has a line of,
// as the kernel names them: of the others the zero values are no word of its.
func ParseBondingTold(text []byte) (b Bonding, told []string, err error) {
	var p bondingParser
	err = lines(text, func(line []byte) error {
		k, v, _ := bytes.Cut(line, []byte(":"))
		p.line(string(bytes.TrimSpace(k)), string(bytes.TrimSpace(v)))
		return p.err
	})
	if err != nil {
		return Bonding{}, nil, fmt.Errorf("parse bonding: %w", err)
	}
	if !p.mode {
		return Bonding{}, nil, fmt.Errorf("parse bonding: no bonding mode")
	}
	for _, port := range p.b.Ports {
		p.b.Bond.Ports = append(p.b.Bond.Ports, port.Name)
	}
	p.told("slaves")
	p.markActive()
	return p.b, p.lines, nil
}

func (p *bondingParser) line(key, value string) {
	switch key {
	case "Slave Interface":
		p.section = sectionPort
		p.b.Ports = append(p.b.Ports, BondingPort{Name: value})
		return
	case "Active Aggregator Info":
		p.section = sectionAggregator
		p.b.Bond.AD = &netstate.Aggregator{}
		return
	case "details actor lacp pdu":
		p.section = sectionActor
		return
	case "details partner lacp pdu":
		p.section = sectionPartner
		return
	}
	switch {
	case strings.HasPrefix(key, "bond ") && strings.HasSuffix(key, " has no active aggregator"):
		p.b.Bond.AD = &netstate.Aggregator{}
	case p.section == sectionBond:
		p.bond(key, value)
	case p.section == sectionAggregator:
		p.aggregator(key, value)
	case len(p.b.Ports) > 0:
		p.port(&p.b.Ports[len(p.b.Ports)-1], key, value)
	}
}

func (p *bondingParser) bond(key, value string) {
	b := &p.b.Bond
	switch key {
	case "Bonding Mode":
		p.setMode(value)
	case "MII Status":
		p.b.MIIUp = value == "up"
	case "Currently Active Slave":
		if value != "None" {
			b.Active = value
		}
	default:
		if o, known := bondopt.ByProc(key); known {
			p.option(o, value)
		}
	}
}

// option reads the line of an option.
func (p *bondingParser) option(o bondopt.Option, value string) {
	switch {
	case o.Kind == bondopt.Port:
		if value, _, _ = strings.Cut(value, " (primary_reselect"); value == "None" {
			return
		}
	case o.Listed():
		value = listed(strings.TrimPrefix(value, ":xx form):")) // what is left of IPv6's title
	case o.Words != nil:
		value, _, _ = strings.Cut(value, " ") // its number is behind it: "layer3+4 (1)"
	case o.Own():
		value = strconv.Itoa(integer(value))
	}
	switch err := o.Put(&p.b.Bond, value); {
	case o.Own() && err == nil:
		p.told(o.Name)
	case o.Name == "xmit_hash_policy":
		p.err = err
	}
}

func (p *bondingParser) told(option string) { p.lines = append(p.lines, option) }

// listed is a list as netlink's readers have it: commas without blanks.
func listed(value string) string {
	return strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), ",")
}

func (p *bondingParser) setMode(title string) {
	mode, rest, ok := bondopt.ModeByTitle(title)
	if !ok {
		p.err = fmt.Errorf("unknown bonding mode %.60q", title)
		return
	}
	p.b.Bond.Mode, p.mode = mode, true
	p.told("mode")
	if word, ok := strings.CutPrefix(rest, " (fail_over_mac "); ok { // active-backup has it behind the title
		o, _ := bondopt.Find("fail_over_mac")
		p.option(o, strings.TrimSuffix(word, ")"))
	}
}

func (p *bondingParser) aggregator(key, value string) {
	ad := p.b.Bond.AD
	switch key {
	case "Aggregator ID":
		ad.ID = integer(value)
	case "Number of ports":
		ad.Ports = integer(value)
	case "Actor Key":
		ad.ActorKey = integer(value)
	case "Partner Key":
		ad.PartnerKey = integer(value)
	case "Partner Mac Address":
		ad.PartnerMAC, _ = flow.ParseMAC(value)
	}
}

func (p *bondingParser) port(port *BondingPort, key, value string) {
	switch key {
	case "MII Status":
		port.MIIStatus, port.Port.MIIUp = value, value == "up"
	case "Speed":
		if mbps, ok := strings.CutSuffix(value, " Mbps"); ok {
			port.Speed = unit.BitRate(integer(mbps)) * unit.Mbps
		}
	case "Duplex":
		if value != "Unknown" {
			port.Duplex = value
		}
	case "Link Failure Count":
		port.Port.FailureCount = integer(value)
	case "Permanent HW addr":
		port.PermanentMAC, _ = flow.ParseMAC(value)
	case "Slave queue ID":
		port.Port.QueueID = integer(value)
	case "Aggregator ID":
		port.Port.AggregatorID = integer(value) // "N/A" is none
	case "Actor Churn State":
		port.Port.ActorChurn = value
	case "Partner Churn State":
		port.Port.PartnerChurn = value
	case "port state":
		if p.section == sectionActor {
			port.Port.ActorState = uint8(integer(value))
		} else if p.section == sectionPartner {
			port.Port.PartnerState = uint8(integer(value))
		}
	case "system mac address":
		if p.section == sectionPartner {
			port.Port.PartnerMAC, _ = flow.ParseMAC(value)
		}
	case "oper key":
		port.Port.PartnerKey = integer(value)
	}
}

// markActive says which ports may send. The file does not: outside 802.3ad it
// is the active slave's mode or every port; inside, a port of another than the
// active aggregator is in the backup state (ad_disable_collecting_distributing).
func (p *bondingParser) markActive() {
	b := p.b.Bond
	for i := range p.b.Ports {
		port := &p.b.Ports[i]
		switch {
		case b.Mode == netstate.ActiveBackup:
			port.Port.Active = port.Name == b.Active
		case b.Mode == netstate.LACP && b.AD != nil:
			port.Port.Active = port.Port.AggregatorID == b.AD.ID
		default:
			port.Port.Active = true
		}
	}
}

// integer reads a small count; zero for anything else.
func integer(value string) int {
	v, err := strconv.ParseInt(value, 10, 32)
	if err != nil || v < 0 {
		return 0
	}
	return int(v)
}
