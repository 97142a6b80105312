package steer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/calibrate"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// calibrated narrows the bundle's eras to those that agree with where the
// host's kernel sends a few frames.
func (b *bundleFlags) calibrated(ctx context.Context, con *console.Console, bundle steer.Bundle, host *netstate.Host) (steer.Bundle, error) {
	switch {
	case host == nil || b.policy != "" || b.links > 0:
		return bundle, console.BadUsage("--calibrate: needs the bond of a host as it is", "leave out --policy and --links")
	case b.kernel != "":
		return bundle, console.BadUsage("--calibrate and --kernel exclude each other", "")
	}
	name := b.bond
	if name == "" {
		var err error
		if name, err = onlyBond(*host); err != nil {
			return bundle, err
		}
	}
	if _, _, bond := host.Below(name); bond != nil {
		name = bond.Name // of a VLAN
	}
	_, h, err := con.Open(ctx, b.host)
	if err != nil {
		return bundle, err
	}
	defer h.Close()
	reply, err := ask.Call(ctx, h, agentapi.Calibrate, agentapi.CalibrateRequest{Bond: name})
	if errors.Is(err, fs.ErrPermission) {
		return bundle, console.WithHint(err, "run it as root, or with CAP_NET_RAW")
	}
	if err != nil {
		return bundle, err
	}
	bundle, note, err := fitted(bundle, calibrate.Sightings(reply))
	if err == nil && !con.Quiet {
		fmt.Fprint(con.Stderr, console.Wrapped("note: ", note, con.Width()))
	}
	return bundle, err
}

// fitted is the bundle with the eras that explain the sightings: of those its
// kernel's release leaves open, else of all.
func fitted(b steer.Bundle, seen []steer.Sighting) (steer.Bundle, string, error) {
	if eras := steer.Fit(b, seen); len(eras) > 0 {
		b = b.AfterFit(eras)
		return b, fmt.Sprintf("calibrated: %d frames left by the links of %s", len(seen), b.Kernels()), nil
	}
	said := b.Kernels()
	b.Era, b.Doubt = steer.EraCurrent, steer.Eras()[1:]
	eras := steer.Fit(b, seen)
	if len(eras) == 0 {
		return b, "", console.WithHint(fmt.Errorf("calibrate: no known kernel sends the %d frames by the links that they took", len(seen)),
			"`linerate steer probe` finds out with probe flows which links flows take")
	}
	b = b.AfterFit(eras)
	return b, fmt.Sprintf("calibrated: the kernel's release says %s, but %d frames left by the links of %s", said, len(seen), b.Kernels()), nil
}
