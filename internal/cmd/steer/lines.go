package steer

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// lineFlags say which lines to print.
type lineFlags struct {
	dev, farDev       string
	formats           []string
	nfs, mountPoint   string
	nfsVersion        string
	nfsVersionDecoded snippet.NFSVersion
}

// lineFormats are the words of --format, in the order of printing.
var lineFormats = [...]string{"ip", "netplan", bondopt.FreeBSD, bondopt.AIX, bondopt.ESXi, bondopt.Windows}

func (l *lineFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&l.dev, "dev", "", "interface that gets the addresses (default: the host's with --src, else DEV)")
	c.Flags().StringVar(&l.farDev, "far-dev", "", "the far host's interface, where it is another (default: --dev)")
	c.Flags().StringSliceVar(&l.formats, "format", nil, "lines to print: ip, netplan, freebsd, aix, esxi, windows or all\n(default: ip,netplan, or those of --system and --back-system)")
	c.Flags().StringVar(&l.nfs, "nfs", "", "path that the far host exports by NFS: print the mounts too")
	c.Flags().StringVar(&l.mountPoint, "mount-point", "", "directory for the mount points (default: /mnt and the export's name)")
	c.Flags().StringVar(&l.nfsVersion, "nfs-version", snippet.NFS42.String(), "4.2, 4.1, 4.0 or 3")
}

// section is a heading and the lines under it: commands to type, or a file.
type section struct {
	host, kind, heading string
	lines               []string
}

// commands are all lines that the flags ask for, in the order of use.
func (l *lineFlags) commands(req steer.AddressRequest, picked steer.Addresses, host *netstate.Host, system, backSystem string) []section {
	near, far := l.devices(req, host)
	var out []section
	for _, side := range []struct {
		name, system string
		added        []netip.Addr
		link         device
	}{{"near", system, picked.AddNear, near}, {"far", backSystem, picked.AddFar, far}} {
		if len(side.added) == 0 {
			continue
		}
		aliases := snippet.Aliases{Addrs: side.added, Bits: req.Subnet.Bits(), Device: side.link.name, Kind: side.link.kind}
		out = append(out, l.aliasLines(side.name, aliases, l.chosen(side.system))...)
	}
	if req.Side == steer.SideBoth && slices.Contains(l.chosen(system), "ip") {
		out = append(out, section{"near", "source", "on the near host: which source address goes with which destination, for programs that bind none", snippet.SourceRoutes(picked.Lanes, near.name)})
	}
	if l.nfs != "" {
		out = append(out, l.mounts(picked, system)...)
	}
	return out
}

// validate refuses flags that make no sense together.
func (l *lineFlags) validate(side steer.Side) error {
	for _, f := range l.formats {
		if f != "all" && !slices.Contains(lineFormats[:], f) {
			return console.BadUsage("--format: unknown format "+f, "the formats are "+strings.Join(lineFormats[:], ", ")+", all")
		}
	}
	if err := l.nfsVersionDecoded.UnmarshalText([]byte(l.nfsVersion)); err != nil {
		return console.BadUsage("--nfs-version: want 4.2, 4.1, 4.0 or 3, not "+l.nfsVersion, "")
	}
	if l.nfs == "" {
		if l.mountPoint != "" {
			return console.BadUsage("--mount-point goes with --nfs", "say --nfs /srv/data, the path that the server exports")
		}
		return nil
	}
	if !strings.HasPrefix(l.nfs, "/") {
		return console.BadUsage("--nfs: "+l.nfs+" is no path from the root", "write the path that the server exports, such as /srv/data")
	}
	if l.mountPoint != "" && !strings.HasPrefix(l.mountPoint, "/") {
		return console.BadUsage("--mount-point: "+l.mountPoint+" is no path from the root", "")
	}
	if side == steer.SideNear {
		return console.BadUsage("--nfs: a mount chooses no source address", "choose the server's addresses: --side far")
	}
	return nil
}

// noDevice stands for an interface that is not given.
const noDevice = "DEV"

// device is an interface and netplan's section for it.
type device struct {
	name string
	kind snippet.DeviceKind
}

// devices are the interfaces of both hosts as far as they are known.
func (l *lineFlags) devices(req steer.AddressRequest, host *netstate.Host) (near, far device) {
	near = device{noDevice, snippet.KindBond}
	if host != nil {
		if link, ok := host.LinkWith(req.Src); ok {
			near = device{link.Name, kindOf(link)}
		}
	}
	if l.dev != "" && req.Side != steer.SideFar {
		near = device{l.dev, kindByName(l.dev, host)}
	}
	far = device{noDevice, snippet.KindBond}
	switch {
	case l.farDev != "":
		far = device{l.farDev, kindByName(l.farDev, nil)}
	case l.dev != "":
		far = device{l.dev, kindByName(l.dev, nil)}
	}
	return near, far
}

func kindOf(l netstate.Link) snippet.DeviceKind {
	switch {
	case l.Bond != nil:
		return snippet.KindBond
	case l.VLAN != nil:
		return snippet.KindVLAN
	case l.Kind == "bridge":
		return snippet.KindBridge
	}
	return snippet.KindEthernet
}

// kindByName is the kind of a host's link, or what the usual names mean.
func kindByName(name string, host *netstate.Host) snippet.DeviceKind {
	if host != nil {
		if link, ok := host.Link(name); ok {
			return kindOf(link)
		}
	}
	switch {
	case strings.HasPrefix(name, "vlan"), strings.Contains(name, "."):
		return snippet.KindVLAN
	case strings.HasPrefix(name, "br"):
		return snippet.KindBridge
	case strings.HasPrefix(name, "en"), strings.HasPrefix(name, "eth"):
		return snippet.KindEthernet
	}
	return snippet.KindBond
}

// chosen are the formats to print.
func (l *lineFlags) chosen(system string) []string {
	switch {
	case slices.Contains(l.formats, "all"):
		return lineFormats[:]
	case len(l.formats) > 0:
		return l.formats
	case bondopt.Foreign(system):
		return []string{system}
	}
	return []string{"ip", "netplan"}
}

func (l *lineFlags) aliasLines(side string, a snippet.Aliases, formats []string) []section {
	on := "on the " + side + " host"
	out := []section{{side, "probe", "before: nobody must answer (" + on + ")", a.Probe()}}
	if !slices.Contains(formats, "ip") && !slices.Contains(formats, "netplan") {
		out[0].lines = a.Ping()
	}
	for _, f := range lineFormats {
		if !slices.Contains(formats, f) {
			continue
		}
		switch f {
		case "ip":
			out = append(out, section{side, f, on + ", until it reboots", a.IP()})
		case "netplan":
			out = append(out, section{side, f, on + ", to stay: /etc/netplan/60-lanes.yaml, mode 0600", a.Netplan()})
		case bondopt.ESXi:
			out = append(out, section{side, f, on + ", ESXi, at once and to stay", a.ESXi()})
		case bondopt.Windows:
			out = append(out, section{side, f, on + ", PowerShell, at once and to stay", a.Windows()})
		case bondopt.FreeBSD:
			out = append(out, section{side, f, on + ", FreeBSD", a.FreeBSD()})
		case bondopt.AIX:
			out = append(out, section{side, f, on + ", AIX, at once and to stay", a.AIX()},
				section{side, "aix_now", on + ", AIX, or until it reboots", a.AIXNow()})
		}
	}
	return out
}

// mounts are the lines of the NFS client and server.
func (l *lineFlags) mounts(picked steer.Addresses, client string) []section {
	point := l.mountPoint
	if point == "" {
		point = path.Join("/mnt", path.Base(l.nfs))
	}
	m := snippet.NFSMounts{Export: l.nfs, Point: point, Servers: servers(picked.Lanes), Version: l.nfsVersionDecoded}
	if client == bondopt.ESXi {
		return []section{
			{"server", "prepare", "on the server: a directory for each datastore", m.Prepare()},
			{"client", "mount", "on the ESXi host: a datastore for each server address", m.Datastores()},
		}
	}
	return []section{
		{"server", "prepare", "on the server: a directory for each mount", m.Prepare()},
		{"client", "mount", "on the client", m.Commands()},
		{"client", "fstab", "on the client, to stay: /etc/fstab", m.Fstab()},
		{"client", "check", "on the client: one connection or more for each server address", m.Check()},
	}
}

// printAddresses prints the choice and its lines.
func printAddresses(con *console.Console, req steer.AddressRequest, p steer.Addresses, sections []section) error {
	if con.JSON {
		doc := snippet.ShownAddresses{ShownAddresses: p.Shown(), Commands: map[string]map[string][]string{}}
		for _, s := range sections {
			if doc.Commands[s.host] == nil {
				doc.Commands[s.host] = map[string][]string{}
			}
			doc.Commands[s.host][s.kind] = s.lines
		}
		return addressesDocument.Print(con, doc)
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d lanes: %s", len(p.Lanes), aggregationText(req.Near)), con.Width()))
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
	header := "LANE\tSRC\tDST\tLINK"
	if req.Far != nil {
		header += "\tFAR LINK"
	}
	if req.Back != nil {
		header += "\tLINK BACK"
	}
	fmt.Fprintln(w, header)
	for i, lane := range p.Lanes {
		row := fmt.Sprintf("%d\t%s\t%s\t%s", i, lane.Src, lane.Dst, laneLink(req.Near, lane))
		if req.Far != nil {
			row += "\t" + indexText(req.Far, lane.FarLink)
		}
		if req.Back != nil {
			row += "\t" + indexText(req.Back, lane.BackLink)
		}
		fmt.Fprintln(w, row)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print lanes: %w", err)
	}
	printEvenness(con, p)
	unnamed := func(s section) bool { return strings.Contains(strings.Join(s.lines, " "), noDevice) }
	if slices.ContainsFunc(sections, unnamed) {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", noDevice+" stands for the interface that gets the addresses: name it with --dev", con.Width()))
	}
	for _, s := range sections {
		fmt.Fprintln(con.Stdout)
		fmt.Fprint(con.Stdout, console.Wrapped("# ", s.heading, con.Width()))
		fmt.Fprintln(con.Stdout, strings.Join(s.lines, "\n"))
	}
	return nil
}

// evenText answers whether links are used evenly.
func evenText(even, relative bool) string {
	text := "no"
	if even {
		text = "yes"
	}
	if relative {
		text += "; the links are told apart, but their numbers are not known"
	}
	return text
}

func printEvenness(con *console.Console, p steer.Addresses) {
	fmt.Fprint(con.Stdout, console.Wrapped("even: ", evenText(p.Even, p.Relative), con.Width()))
	if len(p.AddNear) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("add to the near host: ", words(p.AddNear), con.Width()))
	}
	if len(p.AddFar) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("add to the far host: ", words(p.AddFar), con.Width()))
	}
	printWhy(con, p.Why, p.Remedy)
}

// printWhy prints why something is not even and what helps, where either is said.
func printWhy(con *console.Console, why, remedy string) {
	if why != "" {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", why, con.Width()))
	}
	if remedy != "" {
		fmt.Fprint(con.Stdout, console.Wrapped("remedy: ", remedy, con.Width()))
	}
}

// laneLink is a lane's link, or the letters of its group where only the sharing
// is known.
func laneLink(s steer.Spreader, l steer.AddressLane) string {
	if l.Link < 0 && l.Group >= 0 {
		return "unknown " + groupLetters(l.Group)
	}
	return indexText(s, l.Link)
}

func indexText(s steer.Spreader, i int) string {
	names := s.Links()
	switch {
	case i < 0 || i >= len(names):
		return "unknown"
	case names[i] == fmt.Sprint(i):
		return names[i]
	}
	return fmt.Sprintf("%d %s", i, names[i])
}
