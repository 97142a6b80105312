package host

import (
	"slices"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// anywhere are the kinds that mean the same on every system, with what helps where
// that is not Linux; what is told of other kinds is Linux's alone.
var anywhere = map[string]string{
	HalfDuplex: negotiate, AutonegOff: negotiate,
	SlowLink:     "replace the cable (a broken pair lowers the speed); look for a fixed speed on the card or the switch port",
	LinkErrors:   replace,
	LinkFlapping: replace,
	CardSlot:     remedy.Usual(record.CardSlot).Text(),
	CardBelow:    remedy.Usual(record.CardSlot).Text(),
	BondPortDown: "", BondNoPartner: "", BondTwoPartners: "", BondPortOutside: "", BondUnequal: "",
}

const (
	negotiate = "let both ends negotiate: auto on the card, and on the switch port too"
	replace   = "clean or replace cable and module, try another switch port, and see that the counter stands still"
)

// elsewhere are the findings about a host that does not run Linux, with remedies in
// its own words.
func elsewhere(h netstate.Host, found []Finding) []Finding {
	if !bondopt.Foreign(h.Kernel.OS) {
		return found
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { _, is := anywhere[f.Kind]; return !is })
	for i := range found {
		if found[i].Remedy = anywhere[found[i].Kind]; found[i].Remedy == "" {
			found[i].Remedy = onHost(h, record.LACPDown, remedy.Usual(record.LACPDown).Text())
		}
	}
	return found
}

// onHost is a remedy on one host: the text on Linux, else that system's own words.
func onHost(h netstate.Host, c record.Cause, text string) string {
	return remedy.On(map[string]netstate.Host{h.Name: h}, c, h.Name, h.Name, h.Name, record.ByHand(text)).Text()
}
