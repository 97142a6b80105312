package ifcfg

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/teamd"
)

// teams are those of a host's files: teamd's configuration stands in the team's own
// file, its ports name the team, each in theirs.
type teams struct {
	host *readback.Host
	of   map[string]*teamd.Team
	// named are the lines that name a port's team, by file.
	named    map[string]int
	warnings []render.Warning
}

func newTeams(host *readback.Host) *teams {
	return &teams{host: host, of: map[string]*teamd.Team{}, named: map[string]int{}}
}

func (t *teams) team(name string) *teamd.Team {
	if t.of[name] == nil {
		t.of[name] = &teamd.Team{Name: name, Config: node.Mapping()}
	}
	return t.of[name]
}

// read takes what a file says of a team that its device is, or is a port of.
func (t *teams) read(r *reader) {
	if strings.EqualFold(r.get("DEVICETYPE"), "team") || strings.EqualFold(r.get("TYPE"), "team") || r.values["TEAM_CONFIG"].Key != "" {
		team := t.team(r.id)
		team.File = r.file
		t.host.Kinds[r.id] = "bonds"
		if config := r.teamJSON("TEAM_CONFIG"); config != nil {
			team.Config = config
		}
	}
	master := r.get("TEAM_MASTER")
	if !readback.LinkName(master) || master == r.id {
		return
	}
	port := teamd.Port{Name: r.id, Config: r.teamJSON("TEAM_PORT_CONFIG"), File: r.file}
	if own := port.Config.Get(r.id); own != nil && len(port.Config.Pairs) == 1 {
		port.Config = own // some name the port once more
	}
	team := t.team(master)
	team.Ports = append(team.Ports, port)
	t.named[r.file] = r.values["TEAM_MASTER"].Line
}

// teamJSON is the JSON of a key; nil for none, and for what is none, which is noted.
func (r *reader) teamJSON(key string) *yamldoc.Node {
	text := r.get(key)
	if text == "" {
		return nil
	}
	config, err := teamd.Embedded(text, r.values[key].Line)
	if err != nil {
		r.wrong(key, err.Error())
	}
	return config
}

// move puts the bonds in that take the teams' places. A team that ports name and no
// file makes is as NetworkManager would have it: none.
func (t *teams) move(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(t.of)) {
		team := t.of[name]
		if team.File == "" {
			for _, p := range team.Ports {
				t.host.Miss(p.File, t.named[p.File], "TEAM_MASTER", name, "no file makes this team")
			}
			continue
		}
		teamd.Move(t.host, *team)
		t.host.Mark(team.File, files[team.File], 1, strings.Count(files[team.File], "\n")+1)
		t.warnings = append(t.warnings, teamd.Moved(render.FormatIfcfg, name))
	}
}
