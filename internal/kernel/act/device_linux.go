package act

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/linerate/linerate/internal/kernel/ethtool"
	"github.com/linerate/linerate/plan"
)

// The words of an offload.
const (
	on  = "on"
	off = "off"
)

// setDevice sets what the link's driver is asked for by ethtool.
func setDevice(s plan.Step) error {
	h, err := ethtool.Open()
	if err != nil {
		return err
	}
	defer h.Close()
	if s.Kind == plan.Offload {
		if s.New != on && s.New != off {
			return fmt.Errorf("offload %q: %w", s.New, fs.ErrInvalid)
		}
		return fixed(h.SetFeature(s.Link, s.Key, s.New == on))
	}
	n, err := strconv.ParseUint(s.New, 10, 31)
	if err != nil {
		return fmt.Errorf("%s %q: %w", s.Kind, s.New, fs.ErrInvalid)
	}
	switch s.Kind {
	case plan.Ring:
		return h.SetRing(s.Link, s.Key, int(n))
	case plan.Channel:
		return h.SetChannels(s.Link, s.Key, int(n))
	}
	return h.SetCoalesce(s.Link, s.Key, int(n))
}

// fixed makes a refusal of an offload that nobody can change.
func fixed(err error) error {
	if errors.Is(err, ethtool.ErrFixed) {
		return &refusal{err.Error()}
	}
	return err
}

func readDevice(s plan.Step) (string, error) {
	h, err := ethtool.Open()
	if err != nil {
		return "", err
	}
	defer h.Close()
	if s.Kind == plan.Offload {
		isOn, err := h.Feature(s.Link, s.Key)
		if err != nil {
			return "", fixed(err)
		}
		if isOn {
			return on, nil
		}
		return off, nil
	}
	values, err := deviceValues(h, s)
	if err != nil {
		return "", err
	}
	v, known := values[s.Key]
	if !known {
		return "", fmt.Errorf("%s %q: %w", s.Kind, s.Key, fs.ErrNotExist)
	}
	return strconv.Itoa(v), nil
}

// deviceValues are the settings of the step's kind by key; of what a device
// does not have there are none.
func deviceValues(h *ethtool.Handle, s plan.Step) (map[string]int, error) {
	switch s.Kind {
	case plan.Ring:
		r, err := h.Rings(s.Link)
		if err != nil || r == nil {
			return nil, err
		}
		return map[string]int{"rx": r.Rx, "tx": r.Tx}, nil
	case plan.Channel:
		c, err := h.Channels(s.Link)
		if err != nil || c == nil {
			return nil, err
		}
		return map[string]int{"rx": c.Rx, "tx": c.Tx, "combined": c.Combined}, nil
	}
	values, err := h.Coalescing(s.Link)
	if err == nil && slices.Contains(ethtool.CoalesceNames(), s.Key) {
		values[s.Key] += 0 // a zero is left out there
	}
	return values, err
}
