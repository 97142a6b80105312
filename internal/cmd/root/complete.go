package root

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/render"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/netstate"
)

// values are what a shell offers for a flag's value.
type values func(cmd *cobra.Command, args []string) []string

// complete gives flags and arguments that take words the words, and those that take a
// host of a fabric file its hosts. Files are completed where nothing is said.
func complete(root *cobra.Command) {
	directions := words("forward", "reverse", "both")
	everywhere := map[string]values{
		"directions": directions, "direction": directions, "protocol": words("tcp", "udp", "mptcp"), "tool": words("linerate", "iperf3", "iperf2"),
		"become": words("sudo"), "family": words("ipv4", "ipv6"), "objective": words("throughput", "latency"), "profiles": words(append(fabric.ProfileNames(), "none")...),
		"policy": policies, "mode": modes, "render": words(render.FormatWords()...), "back-end": words("auto", "host", "uml", "qemu"), "accept": proofs,
		"persist": words(change.PersistAuto, change.PersistAlways, change.PersistNone, "netplan", "networkd", "nmkeyfile", "ifcfg", "ifupdown"),
		"path":    pathsOfFabric, "system": words(append(bondopt.SystemNames(), "team", "ovs")...),
	}
	of := map[string]map[string]values{
		"linerate render":          {"to": words(append(render.FormatWords(), "fabric")...), "host": hostsOfFabric},
		"linerate plan":            {"host": hostsOfFabric},
		"linerate apply":           {"host": hostsOfFabric, "canary": hostsOfFabric},
		"linerate rollback":        {"host": hostsOfFabric},
		"linerate journal":         {"host": hostsOfFabric},
		"linerate measure":         {"ports": words("chosen", "kernel")},
		"linerate predict":         {"ports": words("chosen", "kernel"), "to": hostsOfFabric, "from": hostsOfFabric},
		"linerate steer addresses": {"format": words("ip", "netplan", "freebsd", "aix", "esxi", "windows", "all")},
		"linerate serve token":     {"role": words(string(agentapi.RoleAgent), string(agentapi.RoleWatch), string(agentapi.RoleMeasure), string(agentapi.RoleChange))},
		"linerate serve login":     {"role": words(string(agentapi.RoleWatch), string(agentapi.RoleMeasure), string(agentapi.RoleChange))},
	}
	arguments := map[string]values{
		"linerate lab run": func(c *cobra.Command, args []string) []string { return append(scenarios(c, args), "all") }, "linerate lab up": scenarios, "linerate lab show": scenarios,
		"linerate lab exec": standing, "linerate lab down": func(c *cobra.Command, args []string) []string { return append(standing(c, args), "all") },
	}
	eachCommand(root, func(c *cobra.Command) {
		own := of[c.CommandPath()]
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			offered, known := own[f.Name]
			if !known {
				offered, known = everywhere[f.Name]
			}
			if known && f.Value.Type() != "bool" {
				// The error is a second registration: a command's own is the better one.
				_ = c.RegisterFlagCompletionFunc(f.Name, listed(offered))
			}
		})
		if offered, known := arguments[c.CommandPath()]; known {
			c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return offered(cmd, args), cobra.ShellCompDirectiveDefault // also a file
			}
		}
	})
}

func eachCommand(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, f)
	}
}

// listed offers values, after a comma those that are not named yet.
func listed(offered values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		all := offered(cmd, args)
		if comma := strings.LastIndex(typed, ","); comma >= 0 {
			lead, named := typed[:comma+1], strings.Split(typed[:comma], ",")
			var rest []string
			for _, v := range all {
				if !slices.Contains(named, v) {
					rest = append(rest, lead+v)
				}
			}
			all = rest
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func words(all ...string) values { return func(*cobra.Command, []string) []string { return all } }

func policies(*cobra.Command, []string) (out []string) {
	for _, p := range netstate.HashPolicies() {
		out = append(out, p.String())
	}
	return out
}

func modes(*cobra.Command, []string) (out []string) {
	for _, m := range netstate.BondModes() {
		out = append(out, m.String())
	}
	return out
}

func proofs(*cobra.Command, []string) (out []string) {
	for _, p := range change.Proofs() {
		out = append(out, string(p))
	}
	return out
}

// fabricOf is the fabric file that is named already; false where none is, or it is none.
func fabricOf(cmd *cobra.Command, args []string) (fabric.Fabric, bool) {
	for _, arg := range args {
		if strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") {
			f, err := console.ReadFabric(cmd.Context(), arg)
			return f, err == nil
		}
	}
	return fabric.Fabric{}, false
}

func hostsOfFabric(cmd *cobra.Command, args []string) (out []string) {
	f, _ := fabricOf(cmd, args)
	for _, h := range f.Hosts {
		out = append(out, h.Name)
	}
	return out
}

func pathsOfFabric(cmd *cobra.Command, args []string) (out []string) {
	f, _ := fabricOf(cmd, args)
	for _, p := range f.Paths {
		out = append(out, p.From+","+p.To)
	}
	return out
}

func scenarios(*cobra.Command, []string) (out []string) {
	for _, s := range lab.Scenarios() {
		out = append(out, s.Name)
	}
	files, err := scenario.Builtin()
	if err != nil {
		return out
	}
	for _, s := range files {
		out = append(out, s.Name)
	}
	return out
}

func standing(*cobra.Command, []string) (out []string) {
	labs, err := lab.List()
	if err != nil {
		return nil
	}
	for _, l := range labs {
		out = append(out, l.Name)
	}
	return out
}
