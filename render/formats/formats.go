// Package formats has the list of the formats that a host's network is written
// in and read from, and does either by a format's name.
package formats

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/aix"
	"github.com/linerate/linerate/render/cloudinit"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/freebsd"
	"github.com/linerate/linerate/render/ifcfg"
	"github.com/linerate/linerate/render/ifupdown"
	"github.com/linerate/linerate/render/iproute2"
	"github.com/linerate/linerate/render/keyfile"
	"github.com/linerate/linerate/render/netplan"
	"github.com/linerate/linerate/render/networkd"
	"github.com/linerate/linerate/render/nmstate"
	"github.com/linerate/linerate/render/switchlines"
	"github.com/linerate/linerate/render/switchside"
	"github.com/linerate/linerate/render/sysctl"
	"github.com/linerate/linerate/render/talos"
	"github.com/linerate/linerate/render/teamd"
	"github.com/linerate/linerate/render/truenas"
)

// format is a row of the one list of formats.
type format struct {
	name render.Format
	doc  string // what it is, for help texts
	// write is nil for a format that is read only.
	write func(render.Input) (render.Output, error)
	reading
}

// reading is how a format is read back; the zero value for one that is not.
type reading struct {
	read func(files map[string]string) (render.Found, error)
	// dirs are where the system's program looks for the files; none where it takes a
	// file by its name, wherever it lies. dropIns is where those directories lie
	// whose files add to another's.
	dirs    []string
	dropIns string
	// is tells the format's files by their names and texts, standard is one of them.
	is       func(base, text string) bool
	standard string
}

// list has the formats in the order of help texts.
func list() []format {
	all := hostFormats()
	for _, name := range render.Switches() {
		system, _ := switchlines.SystemOf(string(name))
		all = append(all, format{name, "a switch: " + system.Title, switchside.Writer(name), reading{}})
	}
	return all
}

// hostFormats are those of a host's own files.
func hostFormats() []format {
	return []format{
		{render.FormatNetplan, "netplan YAML (Ubuntu; /etc/netplan)", netplan.Write, reading{
			netplan.Read, append(netplan.Dirs(), networkd.Dirs()...), networkd.Dir,
			func(base, text string) bool {
				return isYAML(base, text) && netplan.Is(text) && !nmstate.Is(text) && !talos.Is(text) || base == cloudinit.FileName
			}, "/etc/netplan/standard-input.yaml",
		}},
		{render.FormatNetworkd, "systemd-networkd .netdev, .network and .link files", networkd.Write, reading{
			networkd.Read, networkd.Dirs(), networkd.Dir,
			ending(".network", ".netdev", ".link"), "/etc/systemd/network/standard-input.network",
		}},
		{render.FormatIfcfg, "ifcfg, route and rule files (RHEL and CentOS up to 8)", ifcfg.Write, reading{
			ifcfg.Read, []string{ifcfg.Dir, ifcfg.SUSEDir}, "",
			beginning("ifcfg-", "route-", "route6-", "routes", "rule-", "rule6-", "ifroute-", "ifrule-"), ifcfg.Dir + "ifcfg-standard-input",
		}},
		{render.FormatKeyfile, "NetworkManager keyfiles (RHEL 9, Fedora; nmconnection)", keyfile.Write, reading{
			keyfile.Read, nil, "",
			ending(".nmconnection"), "/etc/NetworkManager/system-connections/standard-input.nmconnection",
		}},
		{render.FormatIfupdown, "interfaces(5) of Debian, Proxmox VE and Cumulus (ifupdown, ifupdown2)", ifupdown.Write, reading{
			ifupdown.Read, []string{ifupdown.Dir}, ifupdown.Dir,
			beginning("interfaces"), ifupdown.Dir + "interfaces",
		}},
		{render.FormatNmstate, "nmstate YAML for nmstatectl apply", nmstate.Write, reading{
			nmstate.Read, nil, "", func(base, text string) bool { return isYAML(base, text) && nmstate.Is(text) }, "state.yml",
		}},
		{render.FormatIproute2, "a script of ip, tc and ethtool lines, and one that rolls it back", iproute2.Write, reading{}},
		{render.FormatFreeBSD, "FreeBSD rc.conf, loader.conf and sysctl.conf", freebsd.Write, reading{is: beginning("rc.conf", "loader.conf")}},
		{render.FormatTrueNAS, "TrueNAS: the middleware's calls for CORE and SCALE, and the menu", truenas.Write, reading{}},
		{render.FormatAIX, "AIX EtherChannel: mkdev and chdev lines with their rollback", aix.Write, reading{}},
		{render.FormatSysctl, "sysctl.d file with a reason for each key", sysctl.Write, reading{is: sysctl.Is}},
		{render.FormatTalos, "Talos' machine configuration: machine.network, LinkConfig, BondConfig, ...", nil, reading{
			talos.Read, nil, "", func(base, text string) bool { return isYAML(base, text) && talos.Is(text) }, "machine.yaml",
		}},
		{render.FormatTeamd, "teamd's JSON, as the kernel bond that takes the team's place", nil, reading{
			teamd.Read, []string{teamd.Dir}, "", func(base, text string) bool { return !isYAML(base, text) && teamd.Is(text) }, teamd.Dir + "standard-input.conf",
		}},
	}
}

func find(name render.Format) (format, bool) {
	for _, f := range list() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// All lists the formats that Write takes, in the order of help texts.
func All() []render.Format {
	all := make([]render.Format, 0, len(list()))
	for _, f := range list() {
		if f.write != nil {
			all = append(all, f.name)
		}
	}
	return all
}

// Doc returns one line on what a format is; "" for one that is not known.
func Doc(name render.Format) string {
	f, _ := find(name)
	return f.doc
}

// Write returns the host's network as the format's files, sorted by path.
// Writing again with these files as Input.Old changes nothing. The error is
// render.ErrFormat for a format that is not known, render.ErrEmpty for a host
// that declares nothing that the format writes, render.ErrText for a value
// that its files cannot hold.
func Write(name render.Format, in render.Input) (render.Output, error) {
	f, known := find(name)
	if !known || f.write == nil {
		var names []string
		for _, name := range All() {
			names = append(names, string(name))
		}
		return render.Output{}, fmt.Errorf("%w %q: want one of %s", render.ErrFormat, name, strings.Join(names, ", "))
	}
	out, err := f.write(in)
	if err == nil {
		err = checkText(in, out)
	}
	if err != nil {
		return render.Output{}, fmt.Errorf("render %s: %w", name, err)
	}
	for i := range out.Warnings {
		out.Warnings[i].Format = name
	}
	sort.SliceStable(out.Files, func(i, j int) bool { return out.Files[i].Path < out.Files[j].Path })
	return out, nil
}

// checkText refuses names of links that would be more than a word in a script or a
// file's name, and unit files in which a value would swallow the next line
// (systemd.syntax(7)).
func checkText(in render.Input, out render.Output) error {
	for _, d := range device.All(in) {
		if why := fabric.ValidLinkName(d.Name); d.Name != "" && why != "" {
			return fmt.Errorf("%w: the link's name %q %s", render.ErrText, d.Name, why)
		}
	}
	for _, f := range out.Files {
		if !strings.HasPrefix(f.Path, networkd.Dir) {
			continue
		}
		for _, line := range strings.Split(f.Text, "\n") {
			if strings.HasSuffix(line, `\`) && !strings.Contains(in.Old[f.Path], line+"\n") {
				return fmt.Errorf("%w: %s: a value ends in a backslash: %s", render.ErrText, f.Path, line)
			}
		}
	}
	return nil
}

// Read returns what a format's files, text by the user's paths, say of a host,
// wherever they lie. The error is render.ErrFormat for a format that is not read back, render.ErrEmpty where
// the files say nothing of a network; what is unread of them is returned with it.
func Read(name render.Format, files map[string]string) (render.Found, error) {
	f, _ := find(name)
	if f.read == nil {
		return render.Found{}, fmt.Errorf("%w: %s is not read back", render.ErrFormat, name)
	}
	p, twice := f.place(files)
	found, err := f.read(p.files)
	var problems yamldoc.Problems
	if errors.As(err, &problems) {
		err = p.unplaceProblems(problems)
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
	}
	p.unplace(&found)
	if where := found.Where; where != nil {
		found.Where = func(problem yamldoc.Problem) yamldoc.Problem {
			return p.unplaceProblems(yamldoc.Problems{where(problem)})[0]
		}
	}
	found.Unread = append(found.Unread, twice...)
	sort.SliceStable(found.Unread, func(i, j int) bool {
		a, b := found.Unread[i], found.Unread[j]
		return a.Path < b.Path || a.Path == b.Path && a.Line < b.Line
	})
	return found, err
}
