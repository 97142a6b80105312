// Package render is `linerate render`: a fabric's hosts as other programs' configuration.
package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/advise/profile"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/barehost"
	"github.com/linerate/linerate/render/formats"
)

// fabricFormat is what --to and --from call a fabric file.
const fabricFormat = "fabric"

// opts are the command's.
type opts struct {
	host, to, out, as     string
	switchName            string
	from                  []string
	force, strict, stdout bool
}

// New is `linerate render`.
func New(con *console.Console) *cobra.Command {
	var f opts
	c := &cobra.Command{
		Use: "render FABRIC --to FORMAT", Short: "write a host's network as files of a configuration system",
		Long: `Writes what a fabric file says of a host as the files of a configuration
system. A key that the format does not have is a warning. Nothing is
changed on any host: the files go below a directory, as etc/netplan/...

` + formatList() + `
With --from, files that are there are read in place of a fabric, wherever they
lie: files, a directory of them, a host's root directory, - for standard input;
--to fabric writes the fabric file they mean. What a fabric cannot hold is one
line, with its place in the file.
Files that stand below the directory already are changed in place with --force:
comments and keys that are not known here stay.

With --switch NAME it is a switch's own channels to other switches, in the words
of its system (or of --to): the lines of both ends of a trunk are two calls.

` + console.ExitHelp,
		Example: `  linerate render fabric.yaml --host rbx --to netplan -o out
  linerate render fabric.yaml --host rbx --to iproute2 > network.sh
  linerate render fabric.yaml --host rbx --to eos
  linerate render fabric.yaml --switch leaf1
  linerate render --from /etc/netplan --to fabric -o fabric.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(f.from) == 0 && len(args) != 1:
				return console.BadUsage(console.CommandName(cmd)+": want one fabric file, or --from", "`"+cmd.CommandPath()+" --help` shows how")
			}
			if len(f.from) > 0 {
				f.from = append(f.from, args...) // --from FILE FILE
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if f.switchName != "" && (f.host != "" || len(f.from) > 0) {
				return console.BadUsage("render: --switch goes without --host and --from", "")
			}
			if f.switchName != "" {
				return f.renderSwitch(ctx, con, args)
			}
			if err := f.check(); err != nil {
				return err
			}
			if len(f.from) > 0 {
				return renderFrom(ctx, con, f)
			}
			file, err := console.ReadFabric(ctx, args[0])
			if err != nil {
				return err
			}
			return renderFile(ctx, con, file, f, nil)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.host, "host", "", "host of the fabric (may be left out where it has one)")
	flags.StringVar(&f.switchName, "switch", "", "switch of the fabric whose channels to other switches are written")
	console.WordVar(c, &f.to, "to", "", "format to write: "+strings.Join(FormatWords(), ", ")+", or with --from fabric")
	console.AddPath(flags, &f.out, "output", "o", "directory to write below, or with --to fabric the file (default: standard output)")
	flags.BoolVar(&f.stdout, "stdout", false, "print the files on standard output")
	flags.BoolVar(&f.force, "force", false, "change files that are there")
	flags.BoolVar(&f.strict, "strict", false, "write nothing and end with 1 where the format lacks a key")
	flags.StringArrayVar(&f.from, "from", nil, "configuration files or directories to read instead of a fabric; - is standard input")
	console.WordVar(c, &f.as, "from-format", "", "what --from is, where its names do not tell")
	return c
}

// formatList is the formats with what each is, for the help text.
func formatList() string {
	var b strings.Builder
	b.WriteString("Formats:\n")
	all := formats.All()
	for _, f := range all {
		b.WriteString(console.Wrapped(fmt.Sprintf("  %-10s ", f), formats.Doc(f), 80))
	}
	b.WriteString("Read only, by --from:\n")
	for _, f := range formats.Readable() {
		if !slices.Contains(all, f) {
			b.WriteString(console.Wrapped(fmt.Sprintf("  %-10s ", f), formats.Doc(f), 80))
		}
	}
	return b.String()
}

// FormatWords are the formats that --to takes.
func FormatWords() []string {
	var words []string
	for _, f := range formats.All() {
		words = append(words, string(f))
	}
	return words
}

// HostFormatWords are FormatWords without those of switches.
func HostFormatWords() []string {
	return slices.DeleteFunc(FormatWords(), func(word string) bool { return render.Format(word).Switch() })
}

// check refuses flags that make no sense before anything is read.
func (f *opts) check() error {
	known := FormatWords()
	if len(f.from) > 0 {
		known = append(known, fabricFormat)
	}
	switch {
	case f.to == "":
		return console.BadUsage("render: want --to FORMAT", "formats are "+strings.Join(known, ", "))
	case !slices.Contains(known, f.to):
		return console.BadUsage("render: unknown format "+f.to, console.OrMeant(f.to, known, "", "formats are "+strings.Join(known, ", ")))
	case f.stdout && f.out != "":
		return console.BadUsage("render: --stdout and -o are two places for the same", "")
	case f.as != "" && len(f.from) == 0:
		return console.BadUsage("render: --from-format goes with --from", "")
	}
	return nil
}

// renderFile writes one host of a fabric; found is what it was read from, nil for a
// fabric file.
func renderFile(ctx context.Context, con *console.Console, file fabric.Fabric, f opts, found *render.Found) error {
	host, err := console.ChosenHost("render", file, f.host)
	if err != nil {
		return err
	}
	if err := readsFormat(file, host, render.Format(f.to)); err != nil {
		return err
	}
	in, left, err := InputOf(file, host)
	var unread []render.Unread
	if found != nil {
		unread = found.Unread
		var problems yamldoc.Problems
		if errors.As(err, &problems) {
			// What a plan would refuse is written as it stands, and said.
			for _, p := range problems {
				p = found.Where(p)
				p.What = strings.TrimPrefix(p.What, host+": ")
				fmt.Fprint(con.Stderr, console.Wrapped("warning: ", p.Error(), con.Width()))
			}
			in, err = asRead(file, host)
		}
	}
	if err != nil {
		return err
	}
	format := render.Format(f.to)
	if in.Old, err = OldFiles(f.out, format); err != nil {
		return err
	}
	out, err := Whole(format, in)
	if errors.Is(err, render.ErrEmpty) {
		return console.BadUsage(err.Error(), nothingHint(format, host))
	}
	if err != nil {
		return err
	}
	if f.strict && len(out.Warnings)+len(unread) > 0 {
		PrintWarnings(con, out.Warnings)
		return fmt.Errorf("render %s: %d things cannot be said as they are meant, and --strict was given: nothing is written", f.to, len(out.Warnings)+len(unread))
	}
	return f.put(ctx, con, out, unread, left)
}

// put writes what was rendered below the directory, or prints it.
func (f *opts) put(ctx context.Context, con *console.Console, out render.Output, unread []render.Unread, left []string) error {
	if f.out != "" {
		if err := WriteBelow(ctx, f.out, out.Files, f.force); err != nil {
			return err
		}
	}
	if con.JSON {
		return document.Print(con, reply{console.OrEmpty(out.Files), console.OrEmpty(out.Warnings), unread, left})
	}
	PrintWarnings(con, out.Warnings)
	for _, l := range left {
		fmt.Fprint(con.Stderr, console.Wrapped("left out: ", l, con.Width()))
	}
	if f.out == "" {
		return printFiles(con, out.Files)
	}
	for _, file := range out.Files {
		fmt.Fprintf(con.Stdout, "%s\n", Below(f.out, file.Path))
	}
	return nil
}

// readsFormat refuses a format that the host's system does not read.
func readsFormat(file fabric.Fabric, host string, format render.Format) error {
	h, _ := file.Host(host)
	if format.Switch() { // whatever the host runs
		return nil
	}
	if own := console.RenderedTo(h.System); bondopt.Foreign(h.System) && !slices.Contains(own, format) {
		return console.BadUsage(fmt.Sprintf("render: host %s runs %s, which does not read %s", host, bondopt.SystemTitle(h.System), format), console.NotChanged(file, h))
	}
	return nil
}

// withoutSysctls are formats whose systems read sysctl.d beside them: what
// they cannot say of sysctls is written there.
var withoutSysctls = []render.Format{
	render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatKeyfile, render.FormatIfupdown, render.FormatNmstate,
}

// Whole renders a format, and for one without sysctls the sysctl.d file
// that goes with it.
func Whole(format render.Format, in render.Input) (render.Output, error) {
	out, err := formats.Write(format, in)
	if err != nil || !slices.Contains(withoutSysctls, format) || len(in.Sysctls) == 0 {
		return out, err
	}
	beside, err := formats.Write(render.FormatSysctl, in)
	if err != nil {
		return out, err
	}
	out.Warnings = slices.DeleteFunc(out.Warnings, func(w render.Warning) bool { return strings.HasPrefix(w.Key, "sysctl") })
	out.Files = append(out.Files, beside.Files...)
	for _, w := range beside.Warnings {
		if strings.HasPrefix(w.Key, "sysctl") || w.Key == "" {
			out.Warnings = append(out.Warnings, w)
		}
	}
	return out, nil
}

// reply is what --json prints.
type reply struct {
	Files    []render.File    `json:"files"`
	Warnings []render.Warning `json:"warnings"`
	Unread   []render.Unread  `json:"unread,omitempty"`
	// Left is what the profiles leave out of the files, and why.
	Left []string `json:"left,omitempty"`
}

// nothingHint is what to do where a format has nothing to write.
func nothingHint(format render.Format, host string) string {
	if format.Switch() {
		return "declare the host's bond under hosts." + host + ".network.bonds"
	}
	switch format {
	case render.FormatFreeBSD, render.FormatAIX, render.FormatTrueNAS:
		return "say what the devices are called there: hosts." + host + ".names: {ens2f0: NAME}"
	}
	return "declare the host's network under hosts." + host + ".network"
}

// InputOf is the host as it is wanted, from the file alone: profiles are
// computed for the host that the file describes. left is what they leave out,
// and why.
func InputOf(file fabric.Fabric, name string) (in render.Input, left []string, err error) {
	host, _ := file.Host(name)
	state, err := file.State(name)
	if err != nil {
		return in, nil, err
	}
	in = render.Input{Host: host, State: state, Sysctls: map[string]string{}, SysctlReasons: map[string]string{}, SwitchHash: switchHash(file, name)}
	in.SwitchPorts, in.SwitchChannels = switchPorts(file, state, name)
	bare := barehost.Of(host, state, append(profile.Keys(state.Links), wanted.Sysctls(host)...))
	want, err := wanted.Of(wanted.Request{Fabric: file, Host: name, Observed: bare, FromFile: true})
	if err != nil {
		return in, nil, err
	}
	in.State = want.Host
	maps.Copy(in.Sysctls, host.Sysctl)
	for key, s := range want.Host.Sysctls {
		if reason, named := want.Reasons[key]; named {
			in.Sysctls[key] = s.Value
			in.SysctlReasons[key] = strings.TrimSuffix(reason.By+": "+reason.Why, ": ")
		}
	}
	return in, want.Left, nil
}

// switchHash is what every path of a host says of the switch's hash; "" where they
// differ or do not say.
func switchHash(file fabric.Fabric, host string) string {
	said := ""
	for i, p := range slices.DeleteFunc(slices.Clone(file.Paths), func(p fabric.Path) bool { return p.From != host && p.To != host }) {
		if i > 0 && p.SwitchHash != said {
			return ""
		}
		said = p.SwitchHash
	}
	if said == "" && file.Topology != nil {
		return file.Topology.HashTowards(host)
	}
	return said
}

// switchPorts are the ports of switches that a host's links hang on, as the file has
// them.
func switchPorts(file fabric.Fabric, state netstate.Host, host string) (ports, channels map[string]string) {
	if file.Topology == nil {
		return nil, nil
	}
	ports, channels = make(map[string]string), make(map[string]string)
	for _, l := range state.Links {
		at, ok := file.Topology.Where(host, l.Name)
		if !ok {
			continue
		}
		ports[l.Name] = at.Port
		if c, ok := file.Topology.ChannelOf(at); ok {
			channels[l.Name] = c.Name
		}
	}
	return ports, channels
}

// asRead is the host as the files say it, without anybody having looked whether it can
// be had.
func asRead(file fabric.Fabric, name string) (render.Input, error) {
	host, _ := file.Host(name)
	state, err := file.State(name)
	return render.Input{Host: host, State: state, Sysctls: maps.Clone(host.Sysctl)}, err
}

// PrintWarnings prints what a format cannot say.
func PrintWarnings(con *console.Console, warnings []render.Warning) {
	for _, w := range warnings {
		fmt.Fprint(con.Stderr, console.Wrapped("warning: ", w.String(), con.Width()))
	}
}

// printFiles prints the text of one file as it is, of several each below its
// path.
func printFiles(con *console.Console, files []render.File) error {
	for i, f := range files {
		if len(files) > 1 {
			if i > 0 {
				fmt.Fprintln(con.Stdout)
			}
			fmt.Fprintf(con.Stdout, "==> %s (mode %04o)\n", f.Path, f.Mode)
		}
		if _, err := fmt.Fprint(con.Stdout, f.Text); err != nil {
			return err
		}
	}
	return nil
}
