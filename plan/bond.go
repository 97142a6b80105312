package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
)

// bondSteps is the steps that give a bond its wanted options. Options the
// kernel refuses on a bond that is up, or has slaves, share one bounce.
func bondSteps(host netstate.Host, have, want netstate.Link) ([]Step, []error) {
	if want.Bond.Ports != nil && !slices.Equal(want.Bond.Ports, have.Bond.Ports) {
		return nil, []error{rule(have.Name+" slaves", "a plan adds, removes and reorders no ports")}
	}
	c := bondChange{link: have.Name, mode: have.Bond.Mode, newMode: want.Bond.Mode}
	old := c.values(have.Bond)
	wanted := c.values(want.Bond)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	for _, r := range BondOptions() {
		if v, ok := wanted[r.Name]; ok && v != old[r.Name] {
			c.rules = append(c.rules, r)
		}
	}
	if len(c.rules) == 0 {
		return nil, nil
	}
	c.old, c.wanted = old, wanted
	c.check()
	c.sequence()
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return c.bounce(host, have)
}

// bondChange collects what has to change on one bond.
type bondChange struct {
	link          string
	mode, newMode netstate.BondMode
	rules         []BondRule // the options that differ
	old, wanted   map[string]string
	steps         []Step
	problems      []error
}

// values is every option of the table that b has, in the steps' words.
func (c *bondChange) values(b *netstate.Bond) map[string]string {
	raw := map[string]string{
		"mode":              b.Mode.String(),
		"xmit_hash_policy":  b.HashPolicy.String(),
		"lacp_rate":         b.LACPRate.String(),
		"miimon":            c.milliseconds("miimon", b.Miimon),
		"updelay":           c.milliseconds("updelay", b.UpDelay),
		"downdelay":         c.milliseconds("downdelay", b.DownDelay),
		"min_links":         strconv.Itoa(b.MinLinks),
		"packets_per_slave": strconv.Itoa(b.PacketsPerSlave),
		"tlb_dynamic_lb":    "0",
	}
	if b.TLBDynamic {
		raw["tlb_dynamic_lb"] = "1"
	}
	for name, v := range b.Options {
		if _, known := BondOptionRule(name); known && raw[name] == "" {
			raw[name] = v
		}
	}
	for name, v := range raw {
		r, _ := BondOptionRule(name)
		w, err := r.Word(v)
		if err != nil {
			c.problems = append(c.problems, rule(c.link+" "+name, "%v", err))
			continue
		}
		raw[name] = w
	}
	return raw
}

func (c *bondChange) milliseconds(option string, d time.Duration) string {
	if d%time.Millisecond != 0 {
		c.problems = append(c.problems, rule(c.link+" "+option, "%v is no whole number of milliseconds", d))
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// delays are the options that the driver stores as a multiple of miimon, so
// that they change with it (bond_option_miimon_set).
var delays = [...]string{"updelay", "downdelay", "peer_notif_delay"}

// check names the rules of the driver that the wanted options break.
func (c *bondChange) check() {
	changed := func(name string) bool {
		return slices.ContainsFunc(c.rules, func(r BondRule) bool { return r.Name == name })
	}
	for _, r := range c.rules {
		if !r.Allows(c.mode) && !r.Allows(c.newMode) {
			c.problems = append(c.problems, rule(c.link+" "+r.Name,
				"only in mode %s (%s); %s is %s", strings.Join(words(r.Modes), ", "), r.Source, c.link, c.newMode))
		}
		if c.old[r.Name] == "" {
			c.problems = append(c.problems, rule(c.link+" "+r.Name, "it was not observed, so it could not be put back"))
		}
	}
	miimon, _ := strconv.ParseInt(c.wanted["miimon"], 10, 64)
	needs := c.newMode == netstate.LACP || c.newMode == netstate.BalanceTLB || c.newMode == netstate.BalanceALB
	if needs && miimon == 0 && (changed("mode") || changed("miimon")) {
		c.problems = append(c.problems, rule(c.link+" miimon",
			"mode %s needs link monitoring: the kernel itself sets 100 for 0 (bond_option_mode_set)", c.newMode))
	}
	if arp := c.wanted["arp_interval"]; miimon > 0 && arp != "" && arp != "0" && (changed("mode") || changed("miimon") || changed("arp_interval")) {
		c.problems = append(c.problems, rule(c.link+" miimon",
			"miimon and arp_interval exclude each other (bond_option_miimon_set)"))
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

// sequence orders the options so that each is legal when its turn comes, and
// so that the reverse order is legal too.
func (c *bondChange) sequence() {
	now := make(map[string]string, len(c.old))
	for k, v := range c.old {
		now[k] = v
	}
	set := func(name, value string) {
		if now[name] == value || now[name] == "" {
			return
		}
		r, _ := BondOptionRule(name)
		c.steps = append(c.steps, Step{Kind: BondOption, Link: c.link, Key: name, Old: now[name], New: value, Disruption: r.Disruption()})
		now[name] = value
	}
	monitoring := func() {
		if now["miimon"] == c.wanted["miimon"] {
			return
		}
		for _, name := range delays {
			set(name, "0")
		}
		if c.wanted["arp_interval"] == "0" {
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
	set("mode", c.wanted["mode"])
	monitoring()
	for _, r := range c.rules {
		set(r.Name, c.wanted[r.Name])
	}
	for _, name := range delays {
		if v, ok := c.wanted[name]; ok {
			set(name, v)
		}
	}
}
