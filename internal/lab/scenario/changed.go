package scenario

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/unit"
)

// A what-if's keys, as far as a lab that stands can be changed so. Those of the
// network are changed in the fabric, and the lab is shaped anew; those of hosts
// are changed on the hosts.
func networkKeys() []string { return []string{"loss", "rate", "rtt", "speed"} }

// structureKeys change what is joined to what: the lab is built anew.
func structureKeys() []string { return []string{"links", "mode", "switch_hash"} }

func hostKeys() []string { return []string{"cc", "mtu", "policy"} }

// windowKeys are of hosts too, and scaled.
func windowKeys() []string { return []string{"rmem", "rmem_max", "wmem", "wmem_max"} }

func among(key string, lists ...[]string) bool {
	return slices.Contains(slices.Concat(lists...), key)
}

// ChangeError is a change that a lab that stands cannot be given; the error's text
// names it.
type ChangeError struct{ Key string }

func (e *ChangeError) Error() string {
	return e.Key + " is not changed in a lab that stands"
}

// ChangeHint says what a lab that stands can be given.
func ChangeHint() string {
	return "what can be changed: " + strings.Join(slices.Concat(hostKeys(), windowKeys(), networkKeys(), structureKeys()), ", ")
}

// parts are a what-if's keys and values.
func parts(with string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for part := range strings.SplitSeq(with, ",") {
			key, value, _ := strings.Cut(part, "=")
			if key = strings.TrimSpace(key); key != "" && !yield(key, strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// CheckChange reads a what-if as a step may have it. Errors: whatif.ErrChange,
// *ChangeError.
func CheckChange(with string) error {
	if _, err := whatif.Parse(with); err != nil {
		return err
	}
	for key := range parts(with) {
		if !among(key, networkKeys(), hostKeys(), windowKeys(), structureKeys()) {
			return &ChangeError{key}
		}
	}
	return nil
}

// Changed is the scenario with what a what-if, which CheckChange has read,
// changes of the network, at the published scale, and what it changes of hosts,
// at the lab's, to be read by whatif.Parse. Nothing that was given is
// changed.
func (s Scenario) Changed(with string) (Scenario, string, error) {
	var hosts []string
	f := &s.Fabric
	f.Hosts, f.Paths = append([]fabric.Host(nil), f.Hosts...), append([]fabric.Path(nil), f.Paths...)
	for key, value := range parts(with) {
		switch {
		case among(key, structureKeys()):
			if err := changeStructure(&s, key, value); err != nil {
				return Scenario{}, "", fmt.Errorf("%s=%s: %w", key, value, err)
			}
			continue
		case among(key, networkKeys()):
			if err := changeNetwork(f, key, value); err != nil {
				return Scenario{}, "", fmt.Errorf("%s=%s: %w", key, value, err)
			}
			continue
		case among(key, windowKeys()):
			b, err := unit.ParseBytes(value)
			if err != nil {
				return Scenario{}, "", fmt.Errorf("%s=%s: %w", key, value, err)
			}
			value = strconv.FormatInt(scaledWindow(int64(b), s.Windows()), 10)
		}
		hosts = append(hosts, key+"="+value)
	}
	if _, err := s.Uplinks(); err != nil {
		return Scenario{}, "", err
	}
	return s, strings.Join(hosts, ","), nil
}

func changeNetwork(f *fabric.Fabric, key, value string) error {
	if key == "speed" {
		speed, err := unit.ParseBitRate(value)
		for i := range f.Hosts {
			h := &f.Hosts[i]
			h.Hardware.Links = maps.Clone(h.Hardware.Links)
			for name, l := range h.Hardware.Links {
				l.Speed = speed
				h.Hardware.Links[name] = l
			}
		}
		return err
	}
	w, err := whatif.Parse(key + "=" + value)
	if err != nil {
		return err
	}
	changed, _, _, err := w.Apply(predict.Fabric{Paths: f.Paths}, f.Measure)
	f.Paths = changed.Paths
	return err
}
