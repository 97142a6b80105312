package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

var comparePlain = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b netstate.Route) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }),
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkRoundTrip carries the plan out on the model: nothing is left to change
// towards desired, and undoing it gives what was observed.
func checkRoundTrip(t failer, observed, desired netstate.Host, p plan.Plan) {
	t.Helper()
	after, err := plan.Apply(observed, p)
	if err != nil {
		t.Fatalf("apply: %v\n%s", err, p.Text(80))
	}
	rest, err := plan.Between(after, desired)
	if err != nil {
		t.Fatalf("plan after apply: %v", err)
	}
	// The ports of a changed bond need not say their MTU in desired.
	rest.Steps = slices.DeleteFunc(rest.Steps, func(s plan.Step) bool {
		l, _ := after.Link(s.Link)
		return s.Kind == plan.LinkMTU && l.Master != ""
	})
	if len(rest.Steps) > 0 {
		t.Fatalf("apply left something to do:\n%s", rest.Text(80))
	}
	before, err := plan.Apply(after, p.Rollback())
	if err != nil {
		t.Fatalf("undo: %v\n%s", err, p.Rollback().Text(80))
	}
	if diff := cmp.Diff(spelled(observed), spelled(before), comparePlain, foldSysctls); diff != "" {
		t.Fatalf("undo (-before +after):\n%s\n%s", diff, p.Text(80))
	}
}

// spelled is h with its bonds' options as a step spells them: sysfs says
// "stable 0" for "stable".
func spelled(h netstate.Host) netstate.Host {
	h = h.Clone()
	for i, l := range h.Links {
		if l.Master == "" {
			h.Links[i].Port = nil
		}
		if l.Bond == nil {
			continue
		}
		l.Bond.Options = maps.Clone(l.Bond.Options)
		for k, v := range l.Bond.Options {
			l.Bond.Options[k], _, _ = strings.Cut(v, " ")
		}
	}
	return h
}

// foldSysctls: the kernel prints tabs, a step writes spaces.
var foldSysctls = cmp.Transformer("fold", func(s netstate.Sysctl) string {
	return strings.Join(strings.Fields(s.Value), " ") + string(s.Scope)
})

func TestApplyThenRollbackIsNothing(t *testing.T) {
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		observed := drawHost(t, "observed")
		desired := observed.Clone()
		drawWanted(t, &desired)
		p, err := plan.Between(observed, desired)
		if err != nil {
			var rule *plan.RuleError
			if !errors.As(err, &rule) {
				t.Fatalf("error is no RuleError: %v", err)
			}
			return
		}
		planned++
		checkRoundTrip(t, observed, desired, p)
		for _, s := range p.Preconditions() {
			if now, err := plan.Current(observed, s); err != nil || now != s.Old {
				t.Fatalf("precondition of %s: %q, %v", s.Change(), now, err)
			}
		}
	})
	if planned == 0 {
		t.Error("every drawn wish was refused: the property was never tried")
	}
}

func drawHost(t *rapid.T, name string) netstate.Host {
	mtu := rapid.SampledFrom([]int{1500, 4000, 9000}).Draw(t, name+" mtu")
	h := netstate.Host{Name: "h", Sysctls: map[string]netstate.Sysctl{
		"net.ipv4.tcp_rmem": {Value: "4096\t131072\t6291456", Scope: netstate.ScopeNamespace},
	}}
	b := &netstate.Bond{
		Mode:   rapid.SampledFrom(netstate.BondModes()).Draw(t, name+" mode"),
		Miimon: 100 * time.Millisecond, PacketsPerSlave: 1, TLBDynamic: true,
		Ports: []string{"p0", "p1"}, Options: map[string]string{"ad_select": "stable 0", "fail_over_mac": "none 0"},
	}
	b.UpDelay = time.Duration(rapid.IntRange(0, 2).Draw(t, name+" updelay")) * b.Miimon
	for _, port := range b.Ports {
		own := rapid.SampledFrom([]int{mtu, mtu, mtu, 1400}).Draw(t, port+" mtu")
		h.Links = append(h.Links, netstate.Link{Name: port, Up: true, MTU: own, MaxMTU: 9216, Master: "b", Port: &netstate.BondPort{Bond: "b"}})
	}
	h.Links = append(h.Links,
		netstate.Link{Name: "b", Kind: "bond", Up: rapid.Bool().Draw(t, name+" up"), MTU: mtu, Bond: b},
		netstate.Link{Name: "v", Kind: "vlan", Up: true, MTU: mtu - 500, VLAN: &netstate.VLAN{ID: 1, Parent: "b"},
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
		netstate.Link{Name: "q", Kind: "vlan", Up: true, MTU: mtu - 500, VLAN: &netstate.VLAN{ID: 2, Parent: "v"}})
	if h.Links[2].Up {
		h.Routes = []netstate.Route{
			{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "v", Table: 254},
			{Dst: netip.MustParsePrefix("10.0.0.0/24"), Link: "v", Table: 254},
			{Dst: netip.MustParsePrefix("10.9.0.0/24"), Link: "b", Table: 100},
		}
	}
	return h
}

func drawWanted(t *rapid.T, h *netstate.Host) {
	bond, _ := h.Link("b")
	b := bond.Bond
	if rapid.Bool().Draw(t, "other mode") {
		b.Mode = rapid.SampledFrom(netstate.BondModes()).Draw(t, "mode")
	}
	if b.Mode == netstate.LACP {
		b.LACPRate = rapid.SampledFrom(netstate.LACPRates()).Draw(t, "rate")
	}
	b.HashPolicy = rapid.SampledFrom(netstate.HashPolicies()).Draw(t, "policy")
	b.Miimon = time.Duration(rapid.IntRange(0, 2).Draw(t, "miimon")) * 50 * time.Millisecond
	b.UpDelay = time.Duration(rapid.IntRange(0, 3).Draw(t, "updelay")) * b.Miimon
	b.MinLinks = rapid.IntRange(0, 2).Draw(t, "min_links")
	b.Options = map[string]string{"ad_select": rapid.SampledFrom([]string{"stable", "count"}).Draw(t, "ad_select"),
		"fail_over_mac": rapid.SampledFrom([]string{"none", "active"}).Draw(t, "fail_over_mac")}
	bond.MTU = rapid.SampledFrom([]int{1500, 4000, 9000}).Draw(t, "bond mtu")
	h.SetLink(bond)
	for _, name := range []string{"v", "q"} {
		l, _ := h.Link(name)
		l.MTU = rapid.SampledFrom([]int{1400, 1500, 8000}).Draw(t, name+" mtu")
		h.SetLink(l)
	}
	for _, port := range b.Ports {
		l, _ := h.Link(port)
		if rapid.Bool().Draw(t, "port says its MTU") {
			l.MTU = bond.MTU
		}
		h.SetLink(l)
	}
	h.Sysctls["net.ipv4.tcp_rmem"] = netstate.Sysctl{Value: rapid.SampledFrom([]string{"4096 131072 6291456", "4096 131072 1048576"}).Draw(t, "rmem")}
}

// FuzzPlanJSON: a plan that came over the wire or out of a journal never
// panics, whatever it says.
func FuzzPlanJSON(f *testing.F) {
	f.Add([]byte(`{"host":"h","steps":[{"kind":"route","old":"present","new":"absent"}]}`))
	f.Add([]byte(`{"host":"h","steps":[{"kind":"bond-option","link":"b","key":"mode","old":"balance-rr","new":"x"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p plan.Plan
		if json.Unmarshal(b, &p) != nil {
			return
		}
		_ = p.Text(80) + p.Rollback().Text(80)
		_ = p.Preconditions()
		h := netstate.Host{Links: []netstate.Link{{Name: "b", Bond: &netstate.Bond{}}}}
		_, _ = plan.Apply(h, p)
	})
}
