package render

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
)

// Format is a configuration system whose files are written.
type Format string

// The formats by the names that the command line takes.
const (
	FormatNetplan  Format = "netplan"
	FormatIfcfg    Format = "ifcfg"
	FormatNetworkd Format = "networkd"
	FormatKeyfile  Format = "nmkeyfile"
	FormatNmstate  Format = "nmstate"
	FormatIproute2 Format = "iproute2"
	FormatFreeBSD  Format = "freebsd"
	FormatTrueNAS  Format = "truenas"
	FormatAIX      Format = "aix"
	FormatSysctl   Format = "sysctl"
)

// ErrFormat is the error for a format that is not in the table.
var ErrFormat = errors.New("unknown format")

// Input is what is written of one host.
type Input struct {
	// Host is what the user declares.
	Host fabric.Host
	// State is the whole host as it is wanted: what devices exist, their
	// permanent addresses, their ports. The zero State leaves it to what Host
	// says alone.
	State netstate.Host
	// Sysctls are the tunables to set, by dotted key; SysctlReasons says who
	// wants each and why, for the comments.
	Sysctls       map[string]string
	SysctlReasons map[string]string
	// Old are the files that are there now, by absolute path, so that they are
	// changed in place: comments, order and unknown keys stay.
	Old map[string]string
}

// Warning is something that a format cannot say, or that somebody must know
// before the files are used.
type Warning struct {
	Format Format `json:"format"`
	// Where is the device, "" the host. Key is in the words of the fabric
	// file ("bonding.lacp_active").
	Where string `json:"where,omitempty"`
	Key   string `json:"key"`
	Why   string `json:"why"`
}

// String is the warning on one line.
func (w Warning) String() string {
	if w.Where == "" {
		return fmt.Sprintf("%s: %s: %s", w.Format, w.Key, w.Why)
	}
	return fmt.Sprintf("%s: %s: %s: %s", w.Format, w.Where, w.Key, w.Why)
}

// File is one file to write: its absolute path on the host, the permission
// bits of a new one, and the whole text.
type File struct {
	Path string `json:"path"`
	Mode uint32 `json:"mode"`
	Text string `json:"text"`
}

// Output is what a format makes of an Input. Files are sorted by path.
type Output struct {
	Files    []File    `json:"files"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// writer is a format's row in the one table of formats.
type writer struct {
	format Format
	doc    string // what it is, for help texts
	write  func(Input) (Output, error)
}

// writers is the one table of formats, in the order that help texts have.
func writers() []writer {
	return []writer{
		{FormatNetplan, "netplan YAML (Ubuntu; /etc/netplan)", writeNetplan},
		{FormatNetworkd, "systemd-networkd .netdev, .network and .link files", writeNetworkd},
		{FormatIfcfg, "ifcfg, route and rule files (RHEL and CentOS up to 8)", writeIfcfg},
		{FormatKeyfile, "NetworkManager keyfiles (RHEL 9, Fedora; nmconnection)", writeKeyfiles},
		{FormatNmstate, "nmstate YAML for nmstatectl apply", writeNmstate},
		{FormatIproute2, "a script of ip, tc and ethtool lines, and one that takes it back", writeIproute2},
		{FormatFreeBSD, "FreeBSD rc.conf, loader.conf and sysctl.conf", writeFreeBSD},
		{FormatTrueNAS, "TrueNAS: the middleware's calls for CORE and SCALE, and the menu", writeTrueNAS},
		{FormatAIX, "AIX EtherChannel: mkdev and chdev lines with their undo", writeAIX},
		{FormatSysctl, "sysctl.d file with a reason for each key", writeSysctl},
	}
}

// Formats lists the formats that Render takes, in the order of help texts.
func Formats() []Format {
	var all []Format
	for _, w := range writers() {
		all = append(all, w.format)
	}
	return all
}

// Doc returns one line on what a format is; "" for one that is not known.
func (f Format) Doc() string {
	for _, w := range writers() {
		if w.format == f {
			return w.doc
		}
	}
	return ""
}

// Render writes the host's network as the format's files. Rendering again
// with these files as Input.Old changes nothing. The error is ErrFormat for a
// format that is not known, ErrEmpty for a host that declares nothing that the
// format writes.
func Render(f Format, in Input) (Output, error) {
	for _, w := range writers() {
		if w.format != f {
			continue
		}
		out, err := w.write(in)
		if err != nil {
			return Output{}, fmt.Errorf("render %s: %w", f, err)
		}
		if err := whole(in, out); err != nil {
			return Output{}, fmt.Errorf("render %s: %w", f, err)
		}
		for i := range out.Warnings {
			out.Warnings[i].Format = f
		}
		sort.SliceStable(out.Files, func(i, j int) bool { return out.Files[i].Path < out.Files[j].Path })
		return out, nil
	}
	names := make([]string, 0, len(writers()))
	for _, w := range Formats() {
		names = append(names, string(w))
	}
	return Output{}, fmt.Errorf("%w %q: want one of %s", ErrFormat, f, strings.Join(names, ", "))
}

// ErrText is the error for a value that a format's files cannot hold as it is.
var ErrText = errors.New("no file can say it")

// whole refuses names of links that would be more than a word in a script or a
// file's name, and unit files in which a value would swallow the next line
// (systemd.syntax(7)).
func whole(in Input, out Output) error {
	for _, d := range devicesOf(in) {
		if why := fabric.ValidLinkName(d.name); d.name != "" && why != "" {
			return fmt.Errorf("%w: the link's name %q %s", ErrText, d.name, why)
		}
	}
	for _, f := range out.Files {
		if !strings.HasPrefix(f.Path, networkdDir) {
			continue
		}
		for _, line := range strings.Split(f.Text, "\n") {
			if strings.HasSuffix(line, `\`) && !strings.Contains(in.Old[f.Path], line+"\n") {
				return fmt.Errorf("%w: %s: a value ends in a backslash: %s", ErrText, f.Path, line)
			}
		}
	}
	return nil
}

// warn notes what cannot be said.
func (o *Output) warn(where, key, why string) {
	o.Warnings = append(o.Warnings, Warning{Where: where, Key: key, Why: why})
}

// add puts a file in.
func (o *Output) add(path string, mode uint32, text string) {
	o.Files = append(o.Files, File{Path: path, Mode: mode, Text: text})
}
