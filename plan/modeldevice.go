package plan

import (
	"maps"
	"strconv"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// setting is where a Ring or Channel step's number is; nil where the device
// has none.
func setting(l netstate.Link, s Step) *int {
	d := l.Device
	switch {
	case d == nil:
	case s.Kind == Ring && d.Rings != nil && s.Key == "rx":
		return &d.Rings.Rx
	case s.Kind == Ring && d.Rings != nil && s.Key == "tx":
		return &d.Rings.Tx
	case s.Kind == Channel && d.Channels != nil && s.Key == "rx":
		return &d.Channels.Rx
	case s.Kind == Channel && d.Channels != nil && s.Key == "tx":
		return &d.Channels.Tx
	case s.Kind == Channel && d.Channels != nil && s.Key == "combined":
		return &d.Channels.Combined
	}
	return nil
}

func currentDevice(l netstate.Link, s Step) (string, error) {
	switch s.Kind {
	case Qdisc:
		w, err := RootQdisc(l)
		if err != nil {
			return "", &StateError{s, err.Error()}
		}
		return w, nil
	case Offload:
		if on, ok := l.Offloads[s.Key]; ok {
			return unit.OnOff(on), nil
		}
		return "", &StateError{s, "no such offload"}
	case Ring, Channel:
		if n := setting(l, s); n != nil {
			return strconv.Itoa(*n), nil
		}
		return "", &StateError{s, "the device has none"}
	case Coalesce:
		if l.Device != nil {
			if n, ok := l.Device.Coalescing[s.Key]; ok {
				return strconv.Itoa(n), nil
			}
		}
		return "", &StateError{s, "the device has none"}
	}
	return "", &StateError{s, "unknown kind"}
}

func setDevice(h *netstate.Host, l netstate.Link, s Step) error {
	l = l.Clone()
	defer func() { h.SetLink(l) }()
	switch s.Kind {
	case Qdisc:
		q, err := ParseQdisc(s.New)
		if err != nil {
			return &StateError{s, err.Error()}
		}
		if l.Qdiscs = nil; q.Kind != DefaultQdisc {
			q.Handle = "8001:"
			l.Qdiscs = []netstate.Qdisc{q}
		}
		return nil
	case Offload:
		if s.New != "on" && s.New != "off" {
			return &StateError{s, "neither on nor off"}
		}
		l.Offloads = maps.Clone(l.Offloads)
		l.Offloads[s.Key] = s.New == "on"
		return nil
	}
	n, err := strconv.Atoi(s.New)
	if err != nil || n < 0 {
		return &StateError{s, "no number"}
	}
	if s.Kind == Coalesce {
		l.Device.Coalescing[s.Key] = n
	} else if at := setting(l, s); at != nil {
		*at = n
	}
	return nil
}
