package states

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// inNewNamespace runs fn on a thread in a network namespace of its own, which
// ends with it.
func inNewNamespace(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked
		var err error
		defer func() { done <- err }()
		if err = sys.NewNetNS(); err == nil {
			fn()
		}
	}()
	if err := <-done; err != nil {
		t.Fatalf("new namespace: %v", err)
	}
}

// bench is a bond b in a state, and two links that can be its ports.
type bench struct {
	t      *testing.T
	kernel act.Kernel
	reader *rtnl.Handle
	mode   netstate.BondMode
	up     bool
	ports  bool
}

func (b bench) String() string {
	state, ports := "down", "no ports"
	if b.up {
		state = "up"
	}
	if b.ports {
		ports = "two ports"
	}
	return fmt.Sprintf("%s, %s, %s", b.mode, state, ports)
}

func (b bench) do(s plan.Step) error { return b.kernel.Do(context.Background(), s) }

func (b bench) must(s plan.Step) {
	b.t.Helper()
	if err := b.do(s); err != nil {
		b.t.Fatalf("%v: %v", b, err)
	}
}

func option(key, value string) plan.Step {
	return plan.Step{Kind: plan.BondOption, Link: "b", Key: key, New: value}
}

// set makes the bond; the links p0 and p1 are dummies that are there.
func (b bench) set() {
	b.t.Helper()
	b.must(plan.Step{Kind: plan.LinkPresence, Link: "b", Make: &plan.Made{Kind: "bond"}, Old: plan.Absent, New: plan.Present})
	b.must(option("mode", b.mode.String()))
	b.must(option("miimon", "100"))
	if b.ports {
		for _, p := range []string{"p0", "p1"} {
			b.must(plan.Step{Kind: plan.PortMaster, Link: p, Old: plan.NoMaster, New: "b"})
		}
	}
	if b.up {
		b.must(plan.Step{Kind: plan.LinkState, Link: "b", Old: plan.Down, New: plan.Up})
	}
}

// clear takes the bond away again.
func (b bench) clear() {
	b.t.Helper()
	if b.ports {
		for _, p := range []string{"p0", "p1"} {
			b.must(plan.Step{Kind: plan.PortMaster, Link: p, Old: "b", New: plan.NoMaster})
		}
	}
	b.must(plan.Step{Kind: plan.LinkState, Link: "b", Old: plan.Up, New: plan.Down})
	b.must(plan.Step{Kind: plan.LinkPresence, Link: "b", Make: &plan.Made{Kind: "bond"}, Old: plan.Present, New: plan.Absent})
}

// options reads every option that the bond tells now, as an observer does.
func (b bench) options() map[string]string {
	b.t.Helper()
	links, err := b.reader.Links()
	floor.Must(b.t, err)
	for _, l := range links {
		if l.Bond != nil {
			return told(*l.Bond)
		}
	}
	b.t.Fatalf("%v: no bond", b)
	return nil
}

// told is what a bond was observed with, in the words of steps.
func told(b netstate.Bond) map[string]string {
	out := map[string]string{bondopt.Active: b.Active}
	for name, v := range b.Options {
		out[name] = v
	}
	for _, o := range bondopt.Options() {
		if o.Own() {
			out[o.Name] = o.Of(b)
		}
		if o.Kind != bondopt.Number && o.Kind != bondopt.MAC && out[o.Name] == "" {
			out[o.Name] = plan.NoValue
		}
	}
	return out
}

// expected is the errno's name that the driver refuses the option with in this
// state, "" where it takes it (bond_opt_check_deps, in its order).
func (b bench) expected(r bondopt.Option) string {
	switch {
	case !r.Allows(b.mode):
		return "EACCES"
	case r.NoPorts && b.ports:
		return "ENOTEMPTY"
	case r.NeedsDown && b.up:
		return "EBUSY"
	}
	return ""
}

// TestBondOptions tries every option in every mode (in one, where it is no proof), on a bond that is up or
// down, with ports and without, and holds what the kernel answers against
// bondopt.Options.
func TestBondOptions(t *testing.T) {
	modes := netstate.BondModes()
	if os.Getenv(envSeed) == "" {
		drawn := floor.Draw(t) % uint64(len(modes)) // one mode is the sample
		modes = modes[drawn : drawn+1]
	}
	tried, refused, absent := 0, 0, make(map[string]bool)
	inNewNamespace(t, func() {
		for _, p := range []string{"p0", "p1"} {
			if err := (act.Kernel{}).Do(t.Context(), plan.Step{Kind: plan.LinkPresence, Link: p, Make: &plan.Made{Kind: "dummy"}, New: plan.Present}); err != nil {
				t.Error(err)
				return
			}
		}
		reader, err := rtnl.Open()
		if err != nil {
			t.Error(err)
			return
		}
		defer reader.Close()
		for _, mode := range modes {
			for i := range 4 {
				b := bench{t: t, reader: reader, mode: mode, up: i&1 != 0, ports: i&2 != 0}
				b.set()
				for _, r := range bondopt.Options() {
					switch b.try(r) {
					case "absent":
						absent[r.Name] = true
					case "":
						tried++
					default:
						tried++
						refused++
					}
				}
				b.clear()
			}
		}
	})
	var names []string
	for name := range absent {
		names = append(names, name)
	}
	t.Logf("compared %d options in their states with the table: %d refused as it says, %d taken; not in this kernel: %q",
		tried, refused, tried-refused, names)
	if tried < 100*len(modes) || refused < 25*len(modes) {
		t.Errorf("compared %d, of which %d are refused: too few", tried, refused)
	}
}

// try sets one option on a bond of its own and returns what it was refused
// with, "" for nothing, "absent" where this kernel lacks it.
func (b bench) try(r bondopt.Option) string {
	b.t.Helper()
	if r.Kind == bondopt.Port && !b.ports {
		// Nothing can be named.
		if err := b.do(option(r.Name, "p0")); err == nil {
			b.t.Errorf("%v: %s takes a link that is no port", b, r.Name)
		}
		return "no port"
	}
	before := b.options()
	if !b.has(r, before) {
		if err := b.do(option(r.Name, b.other(r, before))); !errors.Is(err, fs.ErrNotExist) {
			b.t.Errorf("%v: %s is not told, and set with %v", b, r.Name, err)
		}
		return "absent"
	}
	want, value := b.expected(r), b.other(r, before)
	err := b.do(option(r.Name, value))
	var refused *act.PreconditionError
	switch {
	case want == "" && err != nil:
		b.t.Errorf("%v: %s to %s: %v", b, r.Name, value, err)
	case want != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Why, want)):
		b.t.Errorf("%v: %s to %s: %v, want %s", b, r.Name, value, err, want)
	}
	after := b.options()
	if want == "" && err == nil && after[r.Name] != value {
		b.t.Errorf("%v: %s reads %q after setting %q", b, r.Name, after[r.Name], value)
	}
	b.untouched(r, want == "", before, after)
	b.restore(before, after)
	return want
}

// restore sets what changed back: miimon last, which the others switch off, and
// the mode first, which has settings of its own.
func (b bench) restore(before, after map[string]string) {
	b.t.Helper()
	order := bondopt.Options()
	order = append(order, order[slices.IndexFunc(order, func(r bondopt.Option) bool { return r.Name == "miimon" })])
	for _, r := range order {
		was, told := before[r.Name]
		if !told || after[r.Name] == was || after[r.Name] == "" || r.Name == "active_slave" {
			continue
		}
		if now, err := b.kernel.Read(context.Background(), option(r.Name, "")); err == nil && now != was {
			b.must(option(r.Name, was))
		}
	}
}

// has reports whether this kernel has the option: it tells it, or keeps it to
// itself in this mode and tells it in another.
func (b bench) has(r bondopt.Option, told map[string]string) bool {
	if _, ok := told[r.Name]; !ok {
		return r.Hidden
	}
	if r.Kind != bondopt.IPv6List {
		return true
	}
	// An empty list is told by no kernel; lacp's partner in age says which it is.
	_, newer := told["arp_missed_max"]
	return newer
}

// tied are the options that the driver itself changes along with one.
var tied = map[string][]string{
	"mode":         {"miimon", "arp_interval", "tlb_dynamic_lb", "ad_actor_sys_prio", "ad_user_port_key", "ad_actor_system", "active_slave", "updelay", "downdelay"},
	"arp_interval": {"miimon", "active_slave"},
	"miimon":       {"arp_interval", "active_slave"},
	"primary":      {"active_slave"},
	"arp_validate": {"active_slave"},
}

// untouched: no option but the one set changes, save those tied to it; a
// refusal changes none.
func (b bench) untouched(r bondopt.Option, taken bool, before, after map[string]string) {
	b.t.Helper()
	for name, was := range before {
		if after[name] == was || taken && (name == r.Name || contains(tied[r.Name], name)) || name == "active_slave" {
			continue
		}
		b.t.Errorf("%v: setting %s changed %s from %s to %s", b, r.Name, name, was, after[name])
	}
}

func contains(all []string, one string) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

// other is a value that the option does not have, by the table's words.
func (b bench) other(r bondopt.Option, told map[string]string) string {
	was := told[r.Name]
	switch r.Kind {
	case bondopt.Port:
		if was == "p1" {
			return "p0"
		}
		return "p1"
	case bondopt.IPv4List:
		return "10.9.0.1,10.9.0.2"
	case bondopt.IPv6List:
		return "fd09::1,fd09::2"
	case bondopt.MAC:
		return "02:00:00:00:09:01"
	}
	if r.Words != nil {
		for _, w := range r.Words[:min(len(r.Words), 3)] {
			if w != was {
				return w
			}
		}
	}
	n, _ := strconv.ParseInt(was, 10, 64)
	switch {
	case r.Max == 1:
		return strconv.FormatInt(1-n, 10)
	case r.Name == "miimon":
		return "50"
	case r.Max >= 300_000:
		return "200" // a multiple of miimon
	case n == r.Min+1:
		return strconv.FormatInt(r.Min+2, 10)
	}
	return strconv.FormatInt(r.Min+1, 10)
}
