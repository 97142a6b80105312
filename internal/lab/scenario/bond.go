package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/netstate"
)

// BondChange changes one bond of a host.
type BondChange func(*netstate.Bond)

// ParseBond reads a step's parameters of bonds, by netplan's names: those that
// a bond takes while its switch's half stays as it is. LACP's rate is left
// alone where a bond has no LACP.
func ParseBond(parameters map[string]string) (BondChange, error) {
	var all []BondChange
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		change, err := bondChange(key, parameters[key])
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	return func(b *netstate.Bond) {
		for _, change := range all {
			change(b)
		}
	}, nil
}

func bondChange(key, value string) (BondChange, error) {
	if key == "lacp-rate" {
		var rate netstate.LACPRate
		if err := rate.UnmarshalText([]byte(value)); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		return func(b *netstate.Bond) {
			if b.Mode == netstate.LACP {
				b.LACPRate = rate
			}
		}, nil
	}
	times := map[string]func(*netstate.Bond) *time.Duration{
		"mii-monitor-interval": func(b *netstate.Bond) *time.Duration { return &b.Miimon },
		"down-delay":           func(b *netstate.Bond) *time.Duration { return &b.DownDelay },
		"up-delay":             func(b *netstate.Bond) *time.Duration { return &b.UpDelay },
	}
	at, known := times[key]
	if !known {
		return nil, fmt.Errorf("%s is not changed in a lab that stands", key)
	}
	ms, err := strconv.Atoi(value)
	if err != nil || ms < 0 || ms > mostMilliseconds {
		return nil, fmt.Errorf("%s: %q is no number of milliseconds from 0 to %d", key, value, mostMilliseconds)
	}
	return func(b *netstate.Bond) { *at(b) = time.Duration(ms) * time.Millisecond }, nil
}

// mostMilliseconds is an hour: longer than any rehearsal.
const mostMilliseconds = 3600_000
