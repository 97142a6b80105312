package steer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/ovs"
	"github.com/linerate/linerate/steer/switchhash"
	"github.com/linerate/linerate/steer/system"
	"github.com/linerate/linerate/steer/team"
)

// Systems that --system takes beside those of a fabric's hosts: on Linux teamd or Open
// vSwitch makes the bundle.
const (
	systemLinux = bondopt.Linux
	systemTeam  = "team"
	systemOVS   = "ovs"
	// Switches whose makers published what they compute.
	systemCatalyst = "catalyst"
	systemRTAG7    = "rtag7"
)

// systemFlags say whose words --policy speaks.
type systemFlags struct {
	system  string
	ovsHash ovs.Hash // of a build of Open vSwitch
}

func (s *systemFlags) add(c *cobra.Command) {
	console.WordVar(c, &s.system, "system", systemLinux, "system that sends: "+systemList()+";\n--policy then takes its words:\n"+
		"esxi portid, mac, iphash, explicit, loadbased, or the fields of a LACP group\nsuch as srcDestIp;\n"+
		"windows Dynamic, HyperVPort, TransportPorts, IPAddresses, MacAddresses;\n"+
		"freebsd lacp, loadbalance, failover, roundrobin, broadcast, use_flowid,\nor the layers of lagghash such as l3,l4;\n"+
		"aix default, src_port, dst_port, src_dst_port, round_robin, netif_backup;\n"+
		"team (teamd) a tx_hash such as eth,ipv4,ipv6, or another runner's name;\novs (Open vSwitch) balance-slb, balance-tcp, active-backup;\n"+
		"catalyst (2950 to 3750) what port-channel load-balance has, such as src-dst-ip,\nand the members' Load behind it: \"src-dst-ip 55,AA\";\n"+
		"rtag7 (Broadcom; Dell OS9 prints it) a function, seed, offset:\n\"xor16 seed 7 offset 0\"")
}

// systemNames are the words of --system.
func systemNames() []string {
	return append(slices.Clone(bondopt.SystemNames()), systemTeam, systemOVS, systemCatalyst, systemRTAG7)
}

// systemList is "linux, esxi, windows, freebsd, aix, team, ovs, catalyst or rtag7".
func systemList() string {
	all := systemNames()
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// external reports a system other than Linux, whose links and policy come from
// flags alone.
func (s *systemFlags) external(bundle *bundleFlags) (bool, error) {
	if err := knownSystem("--system", s.system); err != nil {
		return false, err
	}
	if s.system == systemLinux {
		return false, nil
	}
	return true, bundle.alone(s.system)
}

func knownSystem(flag, word string) error {
	systems := systemNames()
	if !slices.Contains(systems, word) {
		all := "the systems are " + strings.Join(systems, ", ")
		return console.BadUsage(flag+": unknown system "+word, console.OrMeant(word, systems, "", all))
	}
	return nil
}

// aggregation is the spreader of n links that a policy in a system's words
// describes; flag is what the policy's flag begins with, such as "--" or
// "--back-".
func aggregation(flag, name, policy string, links int) (steer.Spreader, error) {
	if links < 1 || links > mostLinks {
		return nil, console.BadUsage(fmt.Sprintf("%slinks: want 1 to %d, not %d", flag, mostLinks, links), "say how many links work, such as "+flag+"links 2")
	}
	switch name {
	case systemTeam:
		return teamOf(flag, policy, steer.Numbered(links))
	case systemOVS:
		return ovsBond(flag, policy, steer.Numbered(links))
	case systemCatalyst:
		c, err := switchhash.ParseCatalyst(policy, steer.Numbered(links))
		if err != nil {
			return nil, console.BadUsage(flag+"policy: "+err.Error(), "`show etherchannel load-balance` shows it")
		}
		return c, nil
	case systemRTAG7:
		h, err := switchhash.ParseRTAG7(policy, steer.Numbered(links))
		if err != nil {
			return nil, console.BadUsage(flag+"policy: "+err.Error(), "Dell OS9: `show hash-algorithm` shows function and seed")
		}
		return h, nil
	}
	if own, foreign := bondopt.SystemOf(name); foreign {
		return ownAggregation(flag, own, policy, links)
	}
	p, err := parsePolicy(flag+"policy", policy)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, console.BadUsage(flag+"policy: none given", "such as "+flag+"policy layer2+3")
	}
	return steer.Declared(*p, links), nil
}

// hashing are the modes in which a system's policies count, the one that a policy
// alone stands for.
var hashing = map[string]string{bondopt.ESXi: "lacp", bondopt.Windows: "SwitchIndependent", bondopt.FreeBSD: "lacp", bondopt.AIX: "8023ad"}

// ownAggregation is aggregation of a system that is not Linux. A word alone is a
// policy or a mode.
func ownAggregation(flag string, on bondopt.System, word string, links int) (steer.Spreader, error) {
	rule := netstate.OwnRule{Mode: hashing[on.Name]}
	words := bondopt.OwnWords(on.Policies)
	mode, isMode := on.Mode(word)
	isMode = isMode && on.Name != bondopt.Windows // its modes say nothing of what is sent
	policy, isPolicy := on.Policy(word)
	if linuxWord(word) && mode.Word != word {
		isMode, isPolicy = false, false // a fabric takes Linux's words too; here they would say the wrong thing
	}
	switch {
	case isMode:
		rule.Mode = mode.Word
	case isPolicy:
		rule.Policy = policy.Word
	case word == "" && !on.NoDefault:
		if on.Name == bondopt.ESXi {
			rule.Mode = on.Modes[0].Word
		}
	default:
		if on.Name != bondopt.Windows {
			words = append(words, bondopt.OwnWords(on.Modes)...)
		}
		slices.Sort(words)
		what := "unknown policy " + word
		if word == "" {
			what = "none given"
		}
		return nil, console.BadUsage(flag+"policy: "+what, "those of "+on.Title+" are "+strings.Join(words, ", "))
	}
	return system.Of(on.Name, rule, steer.Numbered(links))
}

// linuxWord reports a mode or policy of the bonding driver.
func linuxWord(word string) bool {
	var mode netstate.BondMode
	var policy netstate.HashPolicy
	return mode.UnmarshalText([]byte(word)) == nil || policy.UnmarshalText([]byte(word)) == nil
}

// teamOf is the team of a tx_hash, or of a runner; without either as teamd hashes by
// itself.
func teamOf(flag, policy string, names []string) (steer.Spreader, error) {
	t := team.Team{Runner: team.LACP, Hash: team.DefaultHash, Ports: names}
	if policy == "" || t.Hash.UnmarshalText([]byte(policy)) == nil || t.Runner.UnmarshalText([]byte(policy)) == nil {
		return t, nil
	}
	var words []string
	for _, r := range team.Runners() {
		words = append(words, r.String())
	}
	return nil, console.BadUsage(flag+"policy: unknown policy "+policy, "those of teamd are "+strings.Join(words, ", ")+", or what tx_hash has, such as eth,l3,l4")
}

// show answers steer show for a system other than Linux.
func (s *systemFlags) show(con *console.Console, bundle *bundleFlags, read *ovs.Bond, flows *flowFlags, frames []flow.Frame) error {
	var on steer.Spreader
	var err error
	if read != nil {
		on = *read
	} else if on, err = aggregation("--", s.system, bundle.policy, bundle.links); err != nil {
		return err
	}
	if b, ok := on.(ovs.Bond); ok {
		b.Hash = s.ovsHash
		on = b
	}
	if s.system != systemOVS && flows.file == "" && flows.sport == "" && on.Reach().Ports && !on.Reach().Striped {
		return console.BadUsage("steer show: no source port, and the hash goes by it", "say --sport 40000, or a range such as 40000-40015")
	}
	shown := steer.ShowOn(on, aggregationPolicy(on), frames)
	if con.JSON {
		return showDocument.Print(con, shown)
	}
	if err := printFlows(con, aggregationText(on), on.Links(), shown); err != nil {
		return err
	}
	if l, ok := on.(steer.Grouper); ok && slices.ContainsFunc(shown.Flows, func(f steer.ShownFlow) bool { return !f.Known }) {
		if groups, known, _ := l.Groups(frames); known && len(frames) > 1 {
			key := ""
			if _, keyed := on.(steer.Lagg); keyed {
				key = "whatever the key: "
			}
			fmt.Fprint(con.Stdout, console.Wrapped("note: ", key+groupsText(groups), con.Width()))
		}
	}
	return nil
}

// groupsText says which flows share a link.
func groupsText(groups []int) string {
	if len(groups) > 64 {
		return fmt.Sprintf("the flows fall into %d groups that share a port each", slices.Max(groups)+1)
	}
	letters := make([]string, len(groups))
	for i, g := range groups {
		letters[i] = groupLetters(g)
	}
	return "flows with the same letters share a port: " + strings.Join(letters, " ")
}

// groupLetters name a group: A to Z, AA to AZ, BA and so on.
func groupLetters(g int) string {
	text := string(rune('A' + g%26))
	for g = g/26 - 1; g >= 0; g = g/26 - 1 {
		text = string(rune('A'+g%26)) + text
	}
	return text
}

// aggregationPolicy is the policy's word in a document.
func aggregationPolicy(s steer.Spreader) string {
	switch s := s.(type) {
	case team.Team:
		if s.Runner.Hashes() {
			return s.Hash.String()
		}
		return s.Runner.String()
	case ovs.Bond:
		return string(s.Mode)
	case steer.Bundle:
		return s.Policy.String()
	case switchhash.Catalyst:
		return s.Method
	case switchhash.RTAG7:
		return string(s.Function)
	}
	return system.Policy(s)
}

// aggregationText names a spreader of another system for people.
func aggregationText(s steer.Spreader) string {
	switch s := s.(type) {
	case team.Team:
		if s.Runner.Hashes() {
			return fmt.Sprintf("team, tx_hash %s, over %d ports, in the order in which they came up", s.Hash, len(s.Ports))
		}
		return fmt.Sprintf("team, runner %s, over %d ports", s.Runner, len(s.Ports))
	case ovs.Bond:
		return fmt.Sprintf("Open vSwitch, bond_mode %s over %d members, hash of %s builds, basis %d", s.Mode, len(s.Members), s.Hash, s.Basis)
	case switchhash.Catalyst:
		return fmt.Sprintf("Catalyst 2950 to 3750, port-channel load-balance %s over %d links", s.Method, len(s.Members))
	case switchhash.RTAG7:
		return fmt.Sprintf("RTAG7, %s, seed %d, offset %d, over %d links, where the switch takes addresses, ports and protocol alone", s.Function, s.Seed, s.Offset, len(s.Members))
	case steer.Multipath:
		return ecmpText(s)
	case steer.Answered:
		return "as the host's kernel routes them, by " + strings.Join(s.Links(), ", ")
	case steer.Bundle:
		return s.Summary()
	}
	if text := system.Text(s); text != "" {
		return text
	}
	return fmt.Sprintf("%d links", len(s.Links()))
}
