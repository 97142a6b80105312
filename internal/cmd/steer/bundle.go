package steer

import (
	"context"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// parseMode reads a bond's mode; nil for none.
func parseMode(word string) (*netstate.BondMode, error) {
	if word == "" {
		return nil, nil
	}
	var words []string
	for _, m := range netstate.BondModes() {
		if m.String() == word {
			return &m, nil
		}
		words = append(words, m.String())
	}
	all := "the modes are " + strings.Join(words, ", ")
	return nil, console.BadUsage("--mode: unknown mode "+word, console.OrMeant(word, words, "", all))
}

// declared reports that the flags describe the whole bond: its links, and the
// policy, unless the mode goes without one.
func (b *bundleFlags) declared(policy *netstate.HashPolicy, mode *netstate.BondMode) bool {
	if b.bond != "" || b.links <= 0 {
		return false
	}
	if policy != nil || mode == nil {
		return policy != nil
	}
	switch *mode {
	case netstate.BalanceRR, netstate.ActiveBackup, netstate.Broadcast, netstate.BalanceALB:
		return true
	}
	return false
}

// onHost is the bundle that the flags declare, with the kernel of the host
// that sends and what else it says; the host is nil where --host names none.
func (b *bundleFlags) onHost(ctx context.Context, con *console.Console, declared steer.Bundle) (steer.Bundle, *netstate.Host, error) {
	declared.BigEndian = nativeBigEndian()
	if !b.hostNamed() {
		if b.kernel != "" {
			return declared, nil, nil
		}
		release, linux, err := linuxRelease(ctx, con, b.host)
		if linux {
			declared = declared.OfKernel(release)
		}
		return declared, nil, err
	}
	host, err := discover.Observe(ctx, con, b.host)
	if err != nil {
		return declared, nil, err
	}
	declared.BigEndian = host.Kernel.BigEndian
	if host.Kernel.OS == "linux" {
		declared = declared.OfKernel(host.Kernel.Release)
	}
	return declared, &host, nil
}

// hostNamed reports that --host was given.
func (b *bundleFlags) hostNamed() bool { return b.flags != nil && b.flags.Changed("host") }

// half says which half of a described bond is missing, where a host has none
// to take it from; "" where none is given, or both are.
func (b *bundleFlags) half() (missing, hint string) {
	switch {
	case b.links > 0 && b.policy == "" && b.mode == "":
		return "--policy is missing", "say --policy layer3+4 too, or leave out --links where a host has the bond"
	case b.policy != "" && b.links == 0:
		return "--links is missing", "say --links 2 too, or leave out --policy where a host has the bond"
	case b.mode != "" && b.links == 0:
		return "--links is missing", "say --links 2 too, or leave out --mode where a host has the bond"
	case b.mode != "" && b.policy == "":
		return "--policy is missing", fmt.Sprintf("mode %s goes by it: say --policy layer3+4 too", b.mode)
	}
	return "", ""
}

// alone refuses the flags of a Linux bond for another system's.
func (b *bundleFlags) alone(system string) error {
	if b.mode != "" {
		return console.BadUsage("--mode: not with --system "+system, "--policy takes the words of "+system)
	}
	return nil
}
