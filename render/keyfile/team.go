package keyfile

import (
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/teamd"
)

// teamType is [connection] type of a team's connection.
const teamType = "team"

// team reads a team: teamd's JSON under config. NetworkManager writes and reads no
// other key of [team] in a file (parse_infos, nm-keyfile.c of 1.59).
func (r *connectionReader) team() {
	t := teamd.Team{Name: r.name, Config: r.teamJSON("team"), File: r.path}
	if t.Config == nil {
		t.Config = node.Mapping()
	}
	r.unusedTeamKeys("team")
	r.teams = append(r.teams, t)
}

// teamPort reads a port of a team; of anything else nothing is kept.
func (r *connectionReader) teamPort(team string) {
	port := teamd.Port{Name: r.name, Config: r.teamJSON("team-port"), File: r.path}
	r.unusedTeamKeys("team-port")
	r.teamPorts[team] = append(r.teamPorts[team], port)
}

// teamJSON is a section's config; nil for none, and for what is no JSON, which
// NetworkManager ignores and is noted.
func (r *connectionReader) teamJSON(group string) *yamldoc.Node {
	l, ok := r.file.find(group, "config")
	if !ok || l.value == "" {
		return nil
	}
	config, err := teamd.Embedded(l.value, l.number)
	if err != nil {
		r.refuse(l, err.Error())
	}
	r.used[l.number] = true
	return config
}

func (r *connectionReader) unusedTeamKeys(group string) {
	for _, l := range r.file.lines {
		if l.group == group && l.key != "" && l.key != "config" && l.key != "interface-name" {
			r.refuse(l, "NetworkManager reads config alone of this section, and not this key")
		} else if l.group == group {
			r.used[l.number] = true
		}
	}
}

// moveTeams puts the bonds in that take the teams' places, before their ports are
// placed.
func (r *reader) moveTeams(files map[string]string) {
	for _, t := range r.teams {
		t.Ports = r.teamPorts[t.Name]
		teamd.Move(r.Host, t)
		r.Mark(t.File, files[t.File], 1, 1)
	}
}
