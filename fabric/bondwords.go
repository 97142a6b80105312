package fabric

import (
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// BondParameters is the bond's options that are not the kernel's defaults, the
// mode always.
func BondParameters(b netstate.Bond) *yamldoc.Node {
	if b.Own != nil {
		return ownParameters(*b.Own)
	}
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, o := range bondopt.Options() {
		said, netplans := o.Saying(bondopt.Netplan)
		value := o.Of(b)
		switch {
		case !netplans || value == "" || !said.Has(value) || !o.Allows(b.Mode):
		case value == "not read" || b.Unread(o.Name): // bonding says so
		case o.Name != "mode" && value == InitialOption(o.Name):
		default:
			node := netplanValue(o, value)
			ps := &yamldoc.Collector{}
			parameterReader(o).read(&decoder{Collector: ps}, place(said.Name), node, &Bond{})
			if len(ps.All) == 0 {
				n.Set(said.Name, node)
			}
		}
	}
	return n
}

// BondOptions are the bond's options that netplan has no word for, or not the
// one that said holds, where they are not the kernel's defaults; unsaid is told
// of those that the file cannot say.
func BondOptions(l netstate.Link, said *yamldoc.Node, unsaid func(what, why string)) *yamldoc.Node {
	options := &yamldoc.Node{Kind: yamldoc.MappingNode}
	if l.Bond.Own != nil {
		return options // the parameters are all that the system has
	}
	for _, k := range bondingKeys.keys {
		value, _, _ := strings.Cut(Option(*l.Bond, k.name), " ")
		name, netplans := BondParameter(k.name)
		switch {
		case Option(*l.Bond, k.name) == "not read" || l.Bond.Unread(k.name):
			unsaid("bond "+l.Name+" "+k.name, "which was not read")
		case value == "" || value == InitialOption(k.name) || !OptionInMode(k.name, l.Bond.Mode):
		case k.name == "active_slave", k.name == "num_unsol_na": // the moment's; another's other name
		case netplans && said.Get(name) != nil:
		default:
			ps := &yamldoc.Collector{}
			k.value.read(&decoder{Collector: ps}, place(k.name), yamldoc.Quoted(value), &map[string]string{})
			if len(ps.All) > 0 {
				unsaid("bond "+l.Name+" "+k.name+" "+value, "which the file cannot represent")
				continue
			}
			options.Set(k.name, yamldoc.Quoted(value))
		}
	}
	return options
}
