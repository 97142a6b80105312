package discover

import (
	"context"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/switchwatch"
	"github.com/linerate/linerate/netstate"
)

// apart tells switches from hosts, by how they are reached: ssh:// is a host.
func apart(args []string) (hosts, switches []string) {
	for _, arg := range args {
		scheme, _, _ := strings.Cut(arg, "://")
		if scheme != topology.SSH && slices.Contains(topology.Schemes(), scheme) {
			switches = append(switches, arg)
		} else {
			hosts = append(hosts, arg)
		}
	}
	return hosts, switches
}

// switches asks switches what hangs on their ports and gives it to the paths. One that
// does not answer, or heard none of the hosts, is said.
func switches(ctx context.Context, con *console.Console, p *progress.Progress, hosts []netstate.Host, reaches []string, paths []fabric.Path) (unread []error) {
	if len(reaches) == 0 {
		return nil
	}
	p.Stage("ask %s", strings.Join(reaches, ", "))
	cfg := *con.Switches(fabric.Fabric{})
	var asked []hashsurvey.Asked
	for _, reach := range reaches {
		d, err := switchwatch.Describe(ctx, topology.Switch{Name: reach, Reach: reach}, cfg)
		if err != nil {
			p.Note(err.Error())
			unread = append(unread, err)
			continue
		}
		if fabric.BadName(d.Name) != "" || slices.ContainsFunc(hosts, func(h netstate.Host) bool { return h.Name == d.Name }) {
			d.Name = strings.NewReplacer("://", "-", ":", "-", "@", "-").Replace(reach)
		}
		asked = append(asked, hashsurvey.Asked{Reach: reach, State: d})
	}
	tied := hashsurvey.Tied(hosts, asked)
	for _, s := range tied {
		if len(s.Ports) == 0 {
			p.Note("switch " + s.Name + " heard none of these hosts by LLDP: do they run lldpd?")
		}
	}
	tied = slices.DeleteFunc(tied, func(s topology.Switch) bool { return len(s.Ports) == 0 })
	if len(tied) > 0 {
		fabric.Fabric{Topology: topology.New(tied)}.Over(paths)
	}
	return unread
}
