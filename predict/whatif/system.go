package whatif

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// ownWord reports a word that some system which is not Linux has for an option, by
// its kernel name.
func ownWord(option, word string) bool {
	return slices.ContainsFunc(bondopt.WordsOf(option), func(w string) bool { return strings.EqualFold(w, word) })
}

// setOwn gives a bond of a host that is not Linux a mode or a policy in its system's
// words; one that its system does not have, or Linux's for it, leaves it as it is.
func setOwn(h *netstate.Host, bond *netstate.Bond, option, word string) {
	system, foreign := bondopt.SystemOf(h.Kernel.OS)
	if !foreign {
		return
	}
	own := *bond.Own
	if option == bondopt.Mode {
		if m, ok := system.Mode(word); ok {
			own.Mode, bond.Mode = m.Word, m.LinuxMode()
		}
	} else if p, ok := system.Policy(word); ok && p.Counts(own.Mode) {
		own.Policy = p.Word
	}
	if p, ok := system.Policy(own.Policy); ok && !p.Counts(own.Mode) {
		own.Policy = ""
	}
	bond.Own = &own
}
