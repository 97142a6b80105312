package steer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// probeFlags are what probe takes.
type probeFlags struct {
	fabric, family, size, lldp, sport string
	budget, streams                   int
	dport                             uint16
	quick, learn                      bool
	out                               console.Output
	wait                              progress.WaitFlag
}

func newProbe(con *console.Console) *cobra.Command {
	var flags probeFlags
	c := &cobra.Command{
		Use: "probe A B", Short: "detect a switch's hash by sending probe flows",
		Long: `Opens one TCP connection after the other from A to B, sends a short burst down
each, and reads by which links it arrives at both ends: the host's own choice
and the switch's, there and back. Ends with a set of source ports (and pairs of
addresses) that uses all links evenly in both directions, with what the switch
seems to hash, and with the words to send to the people who run it.

It works for any hash, because it looks. On n links that takes about n*H(n)
connections, and at most twice as many (2 links: 3 and 6, 4 links: 8 and 16);
what is left of those tells which policy it is. It sends at most --budget times
--size bytes and changes nothing.

` + learnHelp + `
A and B are local:, netns:NAME, ssh://user@host or nats:NAME, or names in
--fabric FILE.

` + console.ExitHelp,
		Example: `  linerate steer probe local: ssh://root@192.0.2.12
  linerate steer probe rbx lim --fabric fabric.yaml --lldp 35s
  linerate steer probe rbx lim --learn --fabric fabric.yaml -o learned.yaml`,
		Args: console.Exactly(2, "two hosts A and B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := flags.config()
			if err != nil {
				return err
			}
			if err := flags.checkLearn(); err != nil {
				return err
			}
			return steerProbe(cmd.Context(), con, flags, cfg, args[0], args[1])
		},
	}
	c.Flags().StringVar(&flags.fabric, "fabric", "", "fabric file that names A and B")
	_ = c.MarkFlagFilename("fabric", "yaml", "yml")
	c.Flags().StringVar(&flags.family, "family", "", "ipv4 or ipv6 (default: IPv4 where both have it)")
	c.Flags().IntVar(&flags.budget, "budget", 0, "most connections to look at (default: 2*n*H(n) for n links)")
	c.Flags().StringVar(&flags.size, "size", "4Mi", "most bytes to send for one; a sixteenth of it where the network is quiet")
	c.Flags().IntVar(&flags.streams, "streams", 0, "streams that the set shall have (default: enough to cover all links)")
	c.Flags().Uint16Var(&flags.dport, "dport", steer.DefaultDport, "port that B listens on; the set is for it alone")
	c.Flags().StringVar(&flags.sport, "sport", "", fmt.Sprintf("range of source ports to choose from (default: %d-%d)", steer.DefaultFirstPort, steer.DefaultLastPort))
	c.Flags().BoolVar(&flags.quick, "quick", false, "stop when the set is found, without asking further which policy it is")
	c.Flags().BoolVar(&flags.learn, "learn", false, "learn the switch's exact hash, where it is a CRC or an XOR over 2, 4 or 8 links")
	flags.out.Add(c, "with --learn: the fabric file to write, with what was learned", "yaml", "yml")
	c.Flags().StringVar(&flags.lldp, "lldp", "", "listen that long for the names of the switch's ports; they speak every 30 s,\nso 35s hears most")
	flags.wait.Add(c)
	return c
}

// The bounds of what a probe may be asked for.
const (
	mostBudget   = 1024
	leastSize    = 256 * unit.KiB
	mostSize     = unit.GiB
	longestLLDP  = 2 * time.Minute
	mostProbeSet = 256
)

// config is what the flags say of the probe, its ends still open.
func (f probeFlags) config() (probe.Config, error) {
	cfg := probe.Config{Streams: f.streams, Budget: f.budget, Dport: f.dport, Quick: f.quick}
	switch {
	case f.budget < 0 || f.budget > mostBudget:
		return cfg, console.BadUsage(fmt.Sprintf("--budget: want 1 to %d connections, not %d", mostBudget, f.budget), "")
	case f.streams < 0 || f.streams > mostProbeSet:
		return cfg, console.BadUsage(fmt.Sprintf("--streams: want 1 to %d, not %d", mostProbeSet, f.streams), "")
	case f.dport == 0:
		return cfg, console.BadUsage("--dport: port 0 is none to listen on", "")
	case f.family != "" && f.family != "ipv4" && f.family != "ipv6":
		return cfg, console.BadUsage("--family: want ipv4 or ipv6, not "+f.family, "")
	}
	var err error
	if cfg.Size, err = unit.ParseBytes(f.size); err != nil {
		return cfg, console.BadUsage("--size: "+err.Error(), "")
	}
	if cfg.Size < leastSize || cfg.Size > mostSize {
		return cfg, console.BadUsage("--size: want 256Ki to 1Gi, not "+f.size, "")
	}
	if f.lldp != "" {
		if cfg.LLDP, err = unit.ParseDuration(f.lldp); err != nil {
			return cfg, console.BadUsage("--lldp: "+err.Error(), "")
		}
		if cfg.LLDP < 0 || cfg.LLDP > longestLLDP {
			return cfg, console.BadUsage("--lldp: want up to 2m, not "+f.lldp, "")
		}
	}
	if f.sport != "" {
		first, last, err := parsePortRange(f.sport)
		if err != nil {
			return cfg, err
		}
		if first == 0 {
			return cfg, console.BadUsage("--sport: port 0 is none to choose", "")
		}
		cfg.Ports = flow.PortRange{First: first, Last: last}
	}
	return cfg, nil
}

// probeTargets are the two hosts, by their way to be reached or by their
// names in the fabric, which is empty without one; family is the path's where the
// flag says none.
func (f *probeFlags) probeTargets(ctx context.Context, con *console.Console, words [2]string) (targets [2]console.Target, file fabric.Fabric, err error) {
	if f.fabric == "" {
		list, err := con.Targets(words[:])
		if err != nil {
			return targets, file, err
		}
		return [2]console.Target(list), file, nil
	}
	if file, err = console.ReadFabric(ctx, f.fabric); err != nil {
		return targets, file, err
	}
	for i, name := range words {
		h, ok := file.Host(name)
		if !ok {
			return targets, file, console.BadUsage("steer probe: no host "+name+" in "+f.fabric, "its hosts are "+console.HostNames(file))
		}
		targets[i] = console.Target{Name: h.Name, Reach: h.Reach}
	}
	if words[0] == words[1] {
		return targets, file, console.BadUsage("steer probe: "+words[0]+" is named twice", "")
	}
	if f.family == "" {
		f.family = familyOf(file, words)
	}
	return targets, file, nil
}

func familyOf(file fabric.Fabric, words [2]string) string {
	for _, p := range file.Paths {
		if p.Joins(words[0], words[1]) {
			return p.Family
		}
	}
	return ""
}

func steerProbe(ctx context.Context, con *console.Console, flags probeFlags, cfg probe.Config, from, to string) error {
	targets, file, err := flags.probeTargets(ctx, con, [2]string{from, to})
	if err != nil {
		return err
	}
	p := progress.New(con)
	p.Stage("reach %s and %s", targets[0].Name, targets[1].Name)
	var ends [2]probe.End
	var hosts []*fleet.Host
	for _, t := range targets {
		h, err := con.Dial(ctx, t)
		if err != nil {
			return err
		}
		defer h.Close()
		hosts = append(hosts, h)
	}
	if err := fleet.LockAll(ctx, hosts, progress.Locking(con, p, flags.wait, "steer probe", from, to)); err != nil {
		return console.WithHint(err, progress.InUseHint(err))
	}
	for i, t := range targets {
		h := hosts[i]
		reply, err := h.Observe(ctx)
		if err != nil {
			return fmt.Errorf("observe %s: %w", t.Name, err)
		}
		ends[i] = probe.End{At: h, Host: discover.InUse(file, t, reply.Host)}
		if i == 0 {
			cfg.Avoid = heldPorts(ctx, h)
		}
	}
	cfg.A, cfg.B, cfg.Logger = ends[0], ends[1], con.Logger()
	p.LeftOut(cfg.A.Host, cfg.B.Host)
	if cfg.Lanes, err = probe.Lanes(cfg.A.Host, cfg.B.Host, flags.family); err != nil {
		return console.WithHint(fmt.Errorf("%w: %w", err, fleet.ErrUnreachable), "`linerate inspect` shows the addresses of a host; `use:` of a fabric file says which links to use")
	}
	if flags.learn {
		return steerLearn(ctx, con, p, flags, cfg, file, hosts)
	}
	plan, err := probe.Prepare(cfg)
	if err != nil {
		return console.BadUsage(err.Error(), "")
	}
	sayPlan(con, p, plan, cfg)
	cfg.Progress = func(l probe.Look) { p.Say("%s", lookLine(l)) }
	report, err := probe.Run(ctx, cfg)
	if errors.Is(err, probe.ErrPortUse) {
		err = console.WithHint(err, "name the port that the application will use, or a free one, with --dport")
	}
	// What was seen is worth showing, also after an interrupt.
	if err != nil && (report.Probes == 0 || con.JSON) {
		return err
	}
	if perr := printProbe(con, report); perr != nil {
		return errors.Join(perr, err)
	}
	return err
}

// heldPorts are source ports that the host's sockets hold or that it keeps;
// none where it cannot say.
func heldPorts(ctx context.Context, h *fleet.Host) []uint16 {
	reply, err := ask.Call(ctx, h, agentapi.Sockets, agentapi.SocketsRequest{Proto: flow.TCP, Listening: true})
	if err != nil {
		return nil
	}
	ports := reply.Ports()
	for _, r := range reply.Reserved {
		for port := int(r.First); port <= int(r.Last); port++ {
			ports = append(ports, uint16(port))
		}
	}
	return ports
}

// sayPlan says what will be sent before it is.
func sayPlan(con *console.Console, p *progress.Progress, plan probe.Plan, cfg probe.Config) {
	n := plan.Names
	p.Say("        %s sends on %s", n.A, strings.Join(n.Links[hashsurvey.NearOut], ", "))
	p.Say("        %s receives on %s", n.B, strings.Join(n.Links[hashsurvey.FarIn], ", "))
	for _, side := range hashsurvey.Sides() {
		if why := n.Ignored[side]; why != "" {
			p.Say("%s", strings.TrimRight(console.Wrapped("        ", sideText(side, n.A, n.B)+" cannot be even: "+why, con.Width()), "\n"))
		}
	}
	p.Say("%s", strings.TrimRight(console.Wrapped("        ", fmt.Sprintf("at most %d connections to port %d, about %.1f to be expected, %d pairs of addresses; at most %v are sent, nothing is changed",
		plan.Limit, plan.Dport, plan.Expected, len(cfg.Lanes), plan.Most), con.Width()), "\n"))
}

// sideText says whose choice of link a side is.
func sideText(side hashsurvey.Side, a, b string) string {
	host := a
	if side.Far() {
		host = b
	}
	if side.Out() {
		return host + " sends"
	}
	return "switch to " + host
}

// lookLine is one flow looked at.
func lookLine(l probe.Look) string {
	if l.Problem != "" {
		return fmt.Sprintf("  %2d    %s", l.Number, console.OneLine(l.Problem))
	}
	word := func(side hashsurvey.Side) string {
		if l.Links[side] == "" {
			return "?"
		}
		return l.Links[side]
	}
	again := ""
	if l.Repeats > 0 {
		again = fmt.Sprintf(" (%d more bursts)", l.Repeats)
	}
	return fmt.Sprintf("  %2d    port %d: there %s > %s, back %s > %s%s", l.Number, l.Frame.Sport,
		word(hashsurvey.NearOut), word(hashsurvey.FarIn), word(hashsurvey.FarOut), word(hashsurvey.NearIn), again)
}

// shownProbe is the document of `linerate steer probe --json`.
type shownProbe struct {
	hashsurvey.Report
	// Letter is the words for the people who run the switch.
	Letter string `json:"letter"`
}

func printProbe(con *console.Console, r hashsurvey.Report) error {
	if con.JSON {
		return probeDocument.Print(con, shownProbe{r, r.Letter()})
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%d streams from %s to %s, after looking at %d connections (%.1f expected, limit %d), %v sent",
		len(r.Streams), r.A, r.B, r.Probes, r.Expected, r.Limit, r.Sent), con.Width()))
	if r.Separate {
		what := "separate interfaces, nothing hashes: each address is one link."
		if !slices.ContainsFunc(r.Sides, func(s hashsurvey.SideReport) bool { return len(s.Links) > 1 }) {
			what = "one link each, nothing hashes."
		}
		fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s and %s have %s", r.A, r.B, what), con.Width()))
	}
	if len(r.Streams) > 0 {
		w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "SPORT\tSRC\tDST\tDPORT\tTHERE\tBACK\tSEEN")
		for _, s := range r.Streams {
			seen := "yes"
			if !s.Seen {
				seen = "derived"
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%s\t%s\t%s\n", s.Sport, s.Src, s.Dst, s.Dport,
				linkPair(s, hashsurvey.NearOut, hashsurvey.FarIn), linkPair(s, hashsurvey.FarOut, hashsurvey.NearIn), seen)
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print streams: %w", err)
		}
	}
	for _, side := range r.Sides {
		printSide(con, r, side)
	}
	even := "yes, on all sides"
	if !r.Even {
		even = "no"
	}
	fmt.Fprint(con.Stdout, console.Wrapped("even: ", even, con.Width()))
	for _, why := range r.Reasons() {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", why, con.Width()))
	}
	for _, note := range r.Notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", console.OneLine(note), con.Width()))
	}
	ports := make([]string, len(r.Ports))
	for i, p := range r.Ports {
		ports[i] = fmt.Sprint(p)
	}
	fmt.Fprintln(con.Stdout, "ports: "+strings.Join(ports, ","))
	if letter := r.Letter(); letter != "" {
		fmt.Fprintf(con.Stdout, "\n--- for the people who run the switch\n%s---\n", letter)
	}
	return nil
}

func linkPair(s hashsurvey.Stream, out, in hashsurvey.Side) string {
	word := func(side hashsurvey.Side) string {
		if s.Links[side] == "" {
			return "?"
		}
		return s.Links[side]
	}
	return word(out) + " > " + word(in)
}

// printSide is how the set uses one side's links, and what chooses them.
func printSide(con *console.Console, r hashsurvey.Report, s hashsurvey.SideReport) {
	if len(s.Links) < 2 {
		return
	}
	counts := make([]string, len(s.Links))
	for i, l := range s.Links {
		counts[i] = fmt.Sprintf("%s: %d", l, s.PerLink[i])
	}
	lead := sideText(s.Side, r.A, r.B) + ": "
	fmt.Fprint(con.Stdout, console.Wrapped(lead, strings.Join(counts, ", "), con.Width()))
	if len(s.Guesses) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("  ", hashsurvey.GuessWords(s.Guesses), con.Width()))
	}
}
