package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/plan"
)

// How long a port may take to carry again before the next is moved, and the
// pause between two looks. Slow LACP answers within 30 s (IEEE 802.1AX,
// Slow_Periodic_Time).
const (
	portPatience = 35 * time.Second
	portPause    = 20 * time.Millisecond
)

// portsOf are the bond's ports in the order that the transmit hash counts them
// in.
func portsOf(bond string) ([]string, error) {
	links, err := rtnl.Links()
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if l.Name == bond && l.Bond != nil {
			return l.Bond.Ports, nil
		}
	}
	return nil, fmt.Errorf("link %s is no bond: %w", bond, errors.ErrUnsupported)
}

func readOrder(l link) (string, error) {
	ports, err := portsOf(l.name)
	if len(ports) == 0 {
		return plan.NoMaster, err
	}
	return strings.Join(ports, ","), err
}

// setOrder takes the ports that are out of place out of the bond and back, one
// at a time; the kernel appends what it takes. A port that carried carries again
// before the next goes.
func setOrder(ctx context.Context, bond, order string) error {
	have, err := portsOf(bond)
	if err != nil {
		return err
	}
	var want []string
	if order != plan.NoMaster {
		want = strings.FieldsFunc(order, func(r rune) bool { return r == ',' })
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			return &refusal{fmt.Sprintf("%s is a port of it that the order lacks", name)}
		}
	}
	at, first := 0, 0
	for ; first < len(want); first++ {
		i := slices.Index(have[at:], want[first])
		if i < 0 {
			break // those from here on come last, in this order
		}
		at += i + 1
	}
	for _, name := range want[first:] {
		if err := movePort(ctx, bond, name); err != nil {
			return fmt.Errorf("move %s: %w", name, err)
		}
	}
	return nil
}

// movePort takes a port out of its bond and back, with its own options.
func movePort(ctx context.Context, bond, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	port, err := findLink(name)
	if err != nil {
		return missing(err)
	}
	waits, err := ready(name)
	if err != nil {
		return err
	}
	options := make(map[string]string)
	if port.master != 0 {
		for _, o := range bondopt.Ports() {
			if v, err := readPortOption(port, o.Name); err == nil {
				options[o.Name] = v
			}
		}
		if err := setMaster(port, plan.NoMaster); err != nil {
			return err
		}
		port.up = false // bond_release closes it
	}
	if err := setMaster(port, bond); err != nil {
		return err
	}
	if port, err = findLink(name); err != nil {
		return err
	}
	for key, was := range options {
		if now, err := readPortOption(port, key); err != nil || now == was {
			continue
		}
		if err := setPortOption(port, key, was); err != nil {
			return err
		}
	}
	if waits != "" {
		return nil // it did not carry before
	}
	return carries(ctx, name)
}

// carries waits until the link carries.
func carries(ctx context.Context, name string) error {
	limited, cancel := context.WithTimeout(ctx, portPatience)
	defer cancel()
	for {
		waits, err := ready(name)
		if err != nil || waits == "" {
			return err
		}
		select {
		case <-limited.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return fmt.Errorf("it does not carry again: %s", waits)
		case <-time.After(portPause):
		}
	}
}
