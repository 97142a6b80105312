package steer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/hoststate"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/ovs"
)

// ovsFlags say what a bond of Open vSwitch was read to be, and how it hashes.
type ovsFlags struct {
	show, hash string
	// bond is what --bond-show has; nil none.
	bond *ovs.Bond
}

func (o *ovsFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&o.show, "bond-show", "", "file with the output of ovs-appctl bond/show, for a bond of Open vSwitch:\nits mode, members and buckets (--bond where there are several); - is standard input")
	console.WordVar(c, &o.hash, "ovs-hash", ovs.Portable.String(), "hash of the build of Open vSwitch: portable (Debian), or crc32c (x86-64-v2 as\nRHEL 9, aarch64); ovs-appctl bond/hash MAC tells which")
}

// read takes the bond from --bond-show, and so the system.
func (o *ovsFlags) read(ctx context.Context, con *console.Console, system *systemFlags, bundle *bundleFlags) error {
	hash, known := ovs.ParseHash(o.hash)
	if !known {
		return console.BadUsage("--ovs-hash: unknown hash "+o.hash, "the hashes are portable and crc32c")
	}
	system.ovsHash = hash
	if o.show == "" {
		return nil
	}
	if bundle.policy != "" || bundle.links > 0 {
		return console.BadUsage("steer show: --bond-show and --policy, --links exclude each other", "the file has the mode and the members")
	}
	var text []byte
	var err error
	if o.show == "-" {
		text, err = userfile.ReadStream(ctx, "standard input", con.Stdin, console.MostFabric)
	} else {
		text, err = userfile.Read(ctx, o.show, console.MostFabric)
	}
	if err != nil {
		return console.BadFile("read bond/show", err)
	}
	b, err := shownBond(text, bundle.bond)
	if err != nil {
		return err
	}
	b.Hash = hash
	o.bond, system.system, bundle.policy, bundle.links = &b, systemOVS, string(b.Mode), len(b.Members)
	return nil
}

// shownBond is the bond of that name in what bond/show printed, or the only one.
func shownBond(text []byte, name string) (ovs.Bond, error) {
	hosts, _ := hoststate.Hosts(paste.Parse([]piece.Text{{Name: "bond/show", Bytes: text}}))
	var names []string
	var found []ovs.Bond
	for _, h := range hosts {
		for _, l := range h.Links {
			if b, err := ovs.Of(h, l.Name); err == nil && (name == "" || name == l.Name) {
				names, found = append(names, l.Name), append(found, b)
			}
		}
	}
	switch {
	case len(found) == 0:
		return ovs.Bond{}, console.BadUsage("read bond/show: it has no bond of Open vSwitch "+name, "give it what `ovs-appctl bond/show` prints")
	case len(found) > 1:
		return ovs.Bond{}, console.BadUsage(fmt.Sprintf("read bond/show: it has %d bonds", len(found)), "name one with --bond: "+strings.Join(names, ", "))
	}
	return found[0], nil
}

// ovsBond is a bond of Open vSwitch that flags describe.
func ovsBond(flag, policy string, names []string) (steer.Spreader, error) {
	var words []string
	for _, m := range netstate.OVSModes() {
		words = append(words, string(m))
	}
	if !slices.Contains(words, policy) {
		return nil, console.BadUsage(flag+"policy: unknown policy "+policy, "those of Open vSwitch are "+strings.Join(words, ", "))
	}
	return ovs.Bond{Mode: netstate.OVSMode(policy), LACP: netstate.OVSLACPActive, Members: names}, nil
}
