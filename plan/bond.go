package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// bondChange orders what has to change on one bond.
type bondChange struct {
	link          string
	kernel        netstate.Kernel
	mode, newMode netstate.BondMode
	rules         []bondopt.Option // those that differ
	old, wanted   map[string]string
	steps         []Step
	problems      []error
	left          []string
}

// newBondChange compares a bond with the wanted one. A made bond's options
// that have no meaning in its mode, and no word for "unsaid", are not wanted.
func newBondChange(k netstate.Kernel, have, want netstate.Link, made bool) *bondChange {
	c := &bondChange{link: have.Name, kernel: k, mode: have.Bond.Mode, newMode: want.Bond.Mode}
	wanted, bad := spell(want.Bond)
	_, worse := spell(have.Bond)
	for _, err := range append(bad, worse...) {
		c.problems = append(c.problems, rule(c.link, "%v", err))
	}
	c.old, c.wanted = optionsOf(have.Bond), wanted
	if made {
		for _, name := range [...]string{"packets_per_slave", "tlb_dynamic_lb"} {
			if r, _ := bondopt.Find(name); !r.Allows(c.newMode) && (wanted[name] == "0" || wanted[name] == r.Default) {
				delete(wanted, name)
			}
		}
	}
	for _, r := range bondopt.Options() {
		v, ok := wanted[r.Name]
		switch {
		case !ok:
		case c.idle(r):
			if v != r.Default && v != NoValue {
				c.left = append(c.left, fmt.Sprintf("%s %s: %s has no meaning in mode %s (%s)", c.link, r.Name, v, c.newMode, r.Source))
			}
			delete(wanted, r.Name)
		case c.old[r.Name] == "" && v == r.Default && missing(r, k):
			delete(wanted, r.Name) // a kernel without it does just that
		case v != c.old[r.Name] && r.Kind != bondopt.Port:
			c.rules = append(c.rules, r)
		}
	}
	return c
}

// idle reports options that a bond of the new mode neither takes nor tells: it
// loses them with its ports or its mode, or keeps them hidden.
func (c *bondChange) idle(r bondopt.Option) bool {
	return !r.Allows(c.newMode) && (r.Hidden || r.Kind == bondopt.Port || r.Name == "arp_validate" || r.Name == "tlb_dynamic_lb")
}

// disruption is what traffic feels when the option changes on a bond that is up
// and has ports.
func disruption(o bondopt.Option) Disruption {
	switch {
	case o.NoPorts:
		return Recreate
	case o.NeedsDown:
		return BondDown
	}
	return Online
}

// missing reports an option that the kernel is known not to have.
func missing(r bondopt.Option, k netstate.Kernel) bool {
	known, there := r.On(k)
	return known && !there
}

// plan fills in the steps.
func (c *bondChange) plan() {
	if len(c.rules) == 0 || len(c.problems) > 0 {
		return
	}
	c.check()
	c.sequence()
}

// delays are the options that the driver stores as a multiple of miimon, so
// that they change with it (bond_option_miimon_set).
var delays = [...]string{"updelay", "downdelay", "peer_notif_delay"}

// check names the rules of the driver that the wanted options break.
func (c *bondChange) check() {
	changed := func(name string) bool {
		return slices.ContainsFunc(c.rules, func(r bondopt.Option) bool { return r.Name == name })
	}
	for _, r := range c.rules {
		if !r.Allows(c.mode) && !r.Allows(c.newMode) {
			c.problems = append(c.problems, rule(c.link+" "+r.Name,
				"only in mode %s (%s); %s is %s", r.ModeWords(), r.Source, c.link, c.newMode))
		}
		if gone := r.Refused(c.kernel, c.wanted[r.Name]); gone != "" {
			c.problems = append(c.problems, rule(c.link+" "+r.Name, "kernel %s takes no %s: Linux %s removed it", c.kernel.Release, c.wanted[r.Name], gone))
		}
		if c.old[r.Name] != "" {
			continue
		}
		if missing(r, c.kernel) {
			c.problems = append(c.problems, rule(c.link+" "+r.Name,
				"kernel %s has no such option: it came with %s", c.kernel.Release, r.Releases()))
			continue
		}
		c.problems = append(c.problems, rule(c.link+" "+r.Name, "it was not observed, so it could not be rolled back"))
	}
	miimon, _ := strconv.ParseInt(c.wanted["miimon"], 10, 64)
	if needsMonitor(c.newMode) && miimon == 0 && (changed("mode") || changed("miimon")) {
		c.problems = append(c.problems, rule(c.link+" miimon",
			"mode %s needs link monitoring: the kernel itself sets 100 for 0 (bond_option_mode_set)", c.newMode))
	}
	arp := c.wanted["arp_interval"]
	if arp != "" && arp != "0" && (changed("mode") || changed("miimon") || changed("arp_interval")) {
		switch {
		case miimon > 0:
			c.problems = append(c.problems, rule(c.link+" miimon",
				"miimon and arp_interval exclude each other (bond_option_miimon_set)"))
		case c.final("arp_ip_target") == NoValue && c.final("ns_ip6_target") == NoValue:
			c.problems = append(c.problems, rule(c.link+" arp_interval",
				"no arp_ip_target and no ns_ip6_target to ask: every port would count as down (bond_option_arp_interval_set)"))
		}
	}
	for _, name := range delays {
		d, _ := strconv.ParseInt(c.wanted[name], 10, 64)
		if d == 0 || !changed(name) && !changed("miimon") {
			continue
		}
		if miimon == 0 {
			c.problems = append(c.problems, rule(c.link+" "+name, "it needs miimon (_bond_option_delay_set)"))
		} else if d%miimon != 0 {
			c.problems = append(c.problems, rule(c.link+" "+name,
				"%d ms is no multiple of miimon, %d ms: the kernel would round it", d, miimon))
		}
	}
}

// asksSooner is what traffic feels when arp_interval changes. When a bond begins
// to ask, or asks more often, what a port last heard is too old at the first
// look: every port counts as down until an answer comes, an interval later
// (bond_loadbalance_arp_mon, bond_ab_arp_inspect).
func asksSooner(old, value string) Disruption {
	was, _ := strconv.ParseInt(old, 10, 64)
	is, _ := strconv.ParseInt(value, 10, 64)
	if is > 0 && (was == 0 || is < was) {
		return BondDown
	}
	return Online
}

// final is what an option is in the end.
func (c *bondChange) final(name string) string {
	if v, ok := c.wanted[name]; ok {
		return v
	}
	return c.old[name]
}

// sequence orders the options so that each is legal when its turn comes, and
// so that the reverse order is legal too.
func (c *bondChange) sequence() {
	now := make(map[string]string, len(c.old))
	maps.Copy(now, c.old)
	set := func(name, value string) {
		if now[name] == value || now[name] == "" {
			return
		}
		r, _ := bondopt.Find(name)
		there, back := disruption(r), Disruption("")
		if name == "arp_interval" {
			if there, back = asksSooner(now[name], value), asksSooner(value, now[name]); there == back {
				back = ""
			}
		}
		c.steps = append(c.steps, Step{Kind: BondOption, Link: c.link, Key: name, Old: now[name], New: value, Disruption: there, DisruptionOfRollback: back})
		now[name] = value
	}
	// A new mode, and monitoring by link where it was by ARP, drop arp_validate.
	validate, _ := bondopt.Find("arp_validate")
	// Monitoring by link ends that by ARP, asked for or not; so that a rollback finds
	// it again it is a step.
	arpEnds := c.wanted["arp_interval"] == "0" || c.wanted["arp_interval"] == "" && c.wanted["miimon"] != "0"
	monitors := c.old["arp_interval"] != "0" && arpEnds
	if (c.mode != c.newMode || monitors) && validate.Allows(c.mode) {
		set(validate.Name, "none")
	}
	monitoring := func() {
		if now["miimon"] == c.wanted["miimon"] {
			return
		}
		for _, name := range delays {
			set(name, "0")
		}
		if arpEnds {
			set("arp_interval", "0")
		}
		set("miimon", c.wanted["miimon"])
	}
	// Some modes turn monitoring on by themselves when they are set: it is on
	// before such a mode comes, and off only after it has gone.
	if c.wanted["miimon"] != "0" {
		monitoring()
	}
	for _, r := range c.rules {
		if r.Name != "mode" && !r.Allows(c.newMode) {
			set(r.Name, c.wanted[r.Name])
		}
	}
	if c.mode != c.newMode {
		// balance-alb turns it on by itself when it comes; a bond of neither mode
		// keeps it as it was and takes no other, so it has the default there.
		if dynamic, _ := bondopt.Find("tlb_dynamic_lb"); dynamic.Allows(c.mode) && (c.mode == netstate.BalanceALB || c.newMode != netstate.BalanceTLB) {
			set(dynamic.Name, "1")
		}
		if c.newMode == netstate.BalanceALB {
			now["tlb_dynamic_lb"] = "1"
		}
		if dynamic, _ := bondopt.Find("tlb_dynamic_lb"); dynamic.Allows(c.newMode) {
			defer func() { set(dynamic.Name, c.final(dynamic.Name)) }()
		}
	}
	set("mode", c.wanted["mode"])
	monitoring()
	if arpEnds {
		set("arp_interval", "0")
	}
	for _, r := range c.rules {
		set(r.Name, c.wanted[r.Name])
	}
	if validate.Allows(c.newMode) {
		set(validate.Name, c.final(validate.Name))
	}
	for _, name := range delays {
		if v, ok := c.wanted[name]; ok {
			set(name, v)
		}
	}
}
