// Package render has what every format of a host's network configuration is
// given and gives back: the host as it is wanted with the files that are there,
// and the files to write, what is not representable in them, what was read. Each format is a
// package below this one; package formats lists them, and package ledger holds
// what a host is to have until a format has said it, so that the rest is a warning.
//
// Don't look at a host: its files come in as text. Don't touch in a file what
// nobody asked for.
package render

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render/format"
)

// Format is a configuration system whose files are written.
type Format = format.Name

// The formats by the names that the command line takes.
const (
	FormatNetplan  = format.Netplan
	FormatIfcfg    = format.Ifcfg
	FormatNetworkd = format.Networkd
	FormatKeyfile  = format.Keyfile
	FormatIfupdown = format.Ifupdown
	FormatNmstate  = format.Nmstate
	FormatIproute2 = format.Iproute2
	FormatFreeBSD  = format.FreeBSD
	FormatTrueNAS  = format.TrueNAS
	FormatAIX      = format.AIX
	FormatSysctl   = format.Sysctl
	FormatTeamd    = format.Teamd
	FormatTalos    = format.Talos
)

// The formats that are a switch's, for what a host's bonds need of it.
const (
	FormatIOS      = format.IOS
	FormatNXOS     = format.NXOS
	FormatEOS      = format.EOS
	FormatJunos    = format.Junos
	FormatProcurve = format.Procurve
	FormatAOSCX    = format.AOSCX
	FormatCumulus  = format.Cumulus
	FormatSONiC    = format.SONiC
	FormatRouterOS = format.RouterOS
	FormatOVS      = format.OVS
)

// Switches are the formats that are a switch's, in the order of help texts.
func Switches() []Format { return format.Switches() }

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
	// SwitchPorts are the switch's ports by the host's link, SwitchChannels the names of
	// the channels that they are in, SwitchHash what all its paths say of the switch's
	// hash; nil and "" where nobody says.
	SwitchPorts, SwitchChannels map[string]string
	SwitchHash                  string
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

// ErrText is the error for a value that a format's files cannot hold as it is.
var ErrText = errors.New("not representable in this format")

// Warn notes what cannot be said.
func (o *Output) Warn(where, key, why string) {
	o.Warnings = append(o.Warnings, Warning{Where: where, Key: key, Why: why})
}

// Add puts a file in.
func (o *Output) Add(path string, mode uint32, text string) {
	o.Files = append(o.Files, File{Path: path, Mode: mode, Text: text})
}

// AllSysctls are the tunables to set: those that were given, over the file's own.
func (in Input) AllSysctls() map[string]string {
	all := map[string]string{}
	maps.Copy(all, in.Host.Sysctl)
	maps.Copy(all, in.Sysctls)
	return all
}

// ErrEmpty is the error for a network that declares nothing.
var ErrEmpty = errors.New("the host has no network")

// Unread is a line of a file that says something which a fabric has no words
// for, or which could not be understood.
type Unread struct {
	Path   string `json:"path"`
	Line   int    `json:"line"` // from 1
	Column int    `json:"column,omitempty"`
	// Key is the file's own word with its section ("[connection] zone").
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why"`
}

// String is the line as compilers point at one.
func (u Unread) String() string {
	if u.Column > 0 {
		return fmt.Sprintf("%s:%d:%d: %s: %s", u.Path, u.Line, u.Column, u.Key, u.Why)
	}
	return fmt.Sprintf("%s:%d: %s: %s", u.Path, u.Line, u.Key, u.Why)
}

// Found is what the files of a format say of a host.
type Found struct {
	// Keys is the host as hosts.NAME of a fabric file holds it: "network", and
	// beside it what netplan has no words for. Sysctls stand under "sysctl".
	Keys *yamldoc.Node
	// Unread is what Keys leaves out, and what the format's own program refuses.
	Unread []Unread
	// Warnings are what was read and a program that reads the same files takes
	// otherwise, or that somebody must know of them.
	Warnings []Warning
	// Where gives a problem with FabricFile's text the file, line and column where
	// the user has what is wrong; nil, and unchanged, where that is not known.
	Where func(yamldoc.Problem) yamldoc.Problem
}

// FabricFile is what was found as a fabric file with one host.
func (f Found) FabricFile(host string) []byte {
	hosts := &yamldoc.Node{Kind: yamldoc.MappingNode, Pairs: []yamldoc.Pair{{Key: host, Value: f.Keys}}}
	return []byte(yamldoc.Write(&yamldoc.Node{Kind: yamldoc.MappingNode, Pairs: []yamldoc.Pair{
		{Key: "linerate", Value: yamldoc.Text(fabric.Version)},
		{Key: "hosts", Value: hosts},
	}}))
}

// ByName are the files of a kind as programs read them that look in several
// directories: by name, whatever the directory, and of one name that of the last.
func ByName(files map[string]string, suffix string, dirs ...string) []string {
	byName := map[string]string{}
	for _, dir := range dirs {
		for file := range files {
			if path.Dir(file) == path.Clean(dir) && strings.HasSuffix(file, suffix) {
				byName[path.Base(file)] = file
			}
		}
	}
	names := slices.Sorted(maps.Keys(byName))
	for i, name := range names {
		names[i] = byName[name]
	}
	return names
}
