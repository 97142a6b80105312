package steer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/ovs"
	"github.com/linerate/linerate/steer/team"
)

// Systems whose link aggregation has rules of its own.
const (
	systemLinux   = "linux"
	systemAIX     = "aix"
	systemFreeBSD = "freebsd"
	systemTeam    = "team" // Linux, where teamd makes the bundle
	systemOVS     = "ovs"
)

// systems is the one table of system words.
var systems = [...]string{systemLinux, systemAIX, systemFreeBSD, systemTeam, systemOVS}

// systemFlags say whose words --policy speaks.
type systemFlags struct {
	system  string
	ovsHash ovs.Hash // of a build of Open vSwitch
}

func (s *systemFlags) add(c *cobra.Command) {
	console.WordVar(c, &s.system, "system", systemLinux, "system that sends: linux, aix, freebsd, team (teamd on Linux) or ovs (Open\nvSwitch); --policy then takes its words:\n"+
		"aix default, src_port, dst_port, src_dst_port, round_robin, netif_backup;\n"+
		"freebsd lacp, loadbalance, failover, roundrobin, broadcast, use_flowid,\nor the layers of lagghash such as l3,l4;\n"+
		"team a tx_hash such as eth,ipv4,ipv6, or another runner's name;\novs balance-slb, balance-tcp, active-backup")
}

// foreign reports a system other than Linux, whose links and policy come from
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
	if !slices.Contains(systems[:], word) {
		all := "the systems are " + strings.Join(systems[:], ", ")
		return console.BadUsage(flag+": unknown system "+word, console.OrMeant(word, systems[:], "", all))
	}
	return nil
}

// aggregation is the spreader of n links that a policy in a system's words
// describes; flag is what the policy's flag begins with, such as "--" or
// "--back-".
func aggregation(flag, system, policy string, links int) (steer.Spreader, error) {
	if links < 1 || links > mostLinks {
		return nil, console.BadUsage(fmt.Sprintf("%slinks: want 1 to %d, not %d", flag, mostLinks, links), "say how many links work, such as "+flag+"links 2")
	}
	names := steer.Declared(0, links).Ports
	switch system {
	case systemAIX:
		return etherChannel(flag, policy, names)
	case systemFreeBSD:
		return lagg(flag, policy, names)
	case systemTeam:
		return teamOf(flag, policy, names)
	case systemOVS:
		return ovsBond(flag, policy, names)
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

func etherChannel(flag, policy string, names []string) (steer.Spreader, error) {
	e := steer.EtherChannel{Mode: steer.Channel8023ad, Adapters: names}
	if policy == steer.ChannelRoundRobin.String() || policy == steer.ChannelBackup.String() {
		return e, e.Mode.UnmarshalText([]byte(policy))
	}
	if policy == "" {
		return e, nil
	}
	if err := e.Hash.UnmarshalText([]byte(policy)); err != nil {
		words := []string{steer.ChannelRoundRobin.String(), steer.ChannelBackup.String()}
		for _, h := range steer.ChannelHashes() {
			words = append(words, h.String())
		}
		slices.Sort(words)
		return nil, console.BadUsage(flag+"policy: unknown policy "+policy, "those of AIX are "+strings.Join(words, ", "))
	}
	return e, nil
}

// flowIDWord is the lagg option that replaces the hash.
const flowIDWord = "use_flowid"

func lagg(flag, policy string, names []string) (steer.Spreader, error) {
	l := steer.Lagg{Proto: steer.LaggLACP, Ports: names}
	switch {
	case policy == "":
		return l, nil
	case policy == flowIDWord:
		l.UseFlowID = true
		return l, nil
	case l.Hash.UnmarshalText([]byte(policy)) == nil:
		return l, nil
	case l.Proto.UnmarshalText([]byte(policy)) == nil:
		return l, nil
	}
	words := []string{flowIDWord}
	for _, p := range steer.LaggProtos() {
		words = append(words, p.String())
	}
	return nil, console.BadUsage(flag+"policy: unknown policy "+policy, "those of FreeBSD are "+strings.Join(words, ", ")+", or layers such as l3,l4")
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
		return con.PrintJSON(shown)
	}
	if err := printFlows(con, aggregationText(on), on.Links(), shown); err != nil {
		return err
	}
	if l, ok := on.(steer.Lagg); ok {
		if groups, known, _ := l.Groups(frames); known && len(frames) > 1 {
			fmt.Fprint(con.Stdout, console.Wrapped("note: ", "whatever the key: "+groupsText(groups), con.Width()))
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
	case steer.EtherChannel:
		if s.Mode == steer.ChannelRoundRobin || s.Mode == steer.ChannelBackup {
			return s.Mode.String()
		}
		return s.Hash.String()
	case steer.Lagg:
		if s.UseFlowID {
			return flowIDWord
		}
		if s.Proto == steer.LaggLACP || s.Proto == steer.LaggLoadBalance {
			return s.Proto.String() + " " + s.Hash.String()
		}
		return s.Proto.String()
	case team.Team:
		if s.Runner.Hashes() {
			return s.Hash.String()
		}
		return s.Runner.String()
	case ovs.Bond:
		return string(s.Mode)
	case steer.Bundle:
		return s.Policy.String()
	}
	return ""
}

// aggregationText names a spreader of another system for people.
func aggregationText(s steer.Spreader) string {
	switch s := s.(type) {
	case steer.EtherChannel:
		return fmt.Sprintf("AIX EtherChannel, mode %s, hash mode %s, over %d adapters", s.Mode, s.Hash, len(s.Adapters))
	case steer.Lagg:
		hash := "lagghash " + s.Hash.String()
		if s.UseFlowID {
			hash = flowIDWord
		}
		return fmt.Sprintf("FreeBSD lagg, laggproto %s, %s, over %d ports", s.Proto, hash, len(s.Ports))
	case team.Team:
		if s.Runner.Hashes() {
			return fmt.Sprintf("team, tx_hash %s, over %d ports, in the order in which they came up", s.Hash, len(s.Ports))
		}
		return fmt.Sprintf("team, runner %s, over %d ports", s.Runner, len(s.Ports))
	case ovs.Bond:
		return fmt.Sprintf("Open vSwitch, bond_mode %s over %d members, hash of %s builds, basis %d", s.Mode, len(s.Members), s.Hash, s.Basis)
	case steer.Multipath:
		return ecmpText(s)
	case steer.Answered:
		return "as the host's kernel routes them, by " + strings.Join(s.Links(), ", ")
	case steer.Bundle:
		return s.Summary()
	}
	return fmt.Sprintf("%d links", len(s.Links()))
}
