package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
)

// Run carries out a command on the switch, and returns what it printed.
type Run func(ctx context.Context, c Command) (string, error)

// Client is a switch that is read by its command line.
type Client struct {
	run    Run
	system system
	// ports are those that Find found: the fabric's names, and the switch's.
	ports map[string]string
}

// ErrSystem: nothing is known to type on such a switch.
var ErrSystem = errors.New("no commands are known for it over ssh")

// Dial makes a client of a switch that runs a system, one of topology.Systems; with "" it
// is asked for.
func Dial(ctx context.Context, name string, run Run) (*Client, error) {
	c := &Client{run: run}
	if name != "" {
		s, ok := named(name)
		if !ok {
			return nil, fmt.Errorf("%w (system: %s): these have some: %s; the others answer by snmp://", ErrSystem, name, strings.Join(Systems(), ", "))
		}
		c.system = s
		return c, nil
	}
	text, err := run(ctx, version)
	if err != nil {
		return nil, err
	}
	s, ok := shown(text)
	if !ok {
		return nil, fmt.Errorf("%w: what `%s` prints is of none of %s: say system: in the fabric file", ErrSystem, version, strings.Join(Systems(), ", "))
	}
	c.system = s
	return c, nil
}

// Close lets go of the switch; there is nothing to end.
func (c *Client) Close() error { return nil }

// prompt stands before each command, as in a paste.
const prompt = "switch"

// state types commands and reads what they print. A command that the switch does not know
// is passed over, unless it is the only one.
func (c *Client) state(ctx context.Context, commands []Command) (switchstate.Switch, error) {
	var text strings.Builder
	var last error
	answered := 0
	for _, command := range commands {
		out, err := c.run(ctx, command)
		if err != nil {
			if last = err; ctx.Err() != nil {
				break
			}
			continue
		}
		answered++
		fmt.Fprintf(&text, "%s#%s\n%s\n", prompt, command, strings.ReplaceAll(out, "\r", ""))
	}
	if answered == 0 {
		return switchstate.Switch{}, last
	}
	return Parse(text.String())
}

// ErrNothing: what was printed has nothing of a switch that is read.
var ErrNothing = errors.New("nothing that it prints is read as a switch's: may this user type show commands?")

// Parse reads what a switch printed, prompts and commands in it.
func Parse(text string) (switchstate.Switch, error) {
	var found *piece.Host
	for _, h := range paste.Parse([]piece.Text{{Name: "switch", Bytes: []byte(text)}}).Hosts {
		if h.Switch && (found == nil || len(h.Facts) > len(found.Facts)) {
			found = h
		}
	}
	if found == nil {
		return switchstate.Switch{}, ErrNothing
	}
	s := switchfacts.State(found)
	if s.Name == prompt {
		s.Name = "" // ours, not its own
	}
	return s, nil
}

// Describe reads all that the switch says of itself.
func (c *Client) Describe(ctx context.Context) (switchstate.Switch, error) {
	return c.state(ctx, c.system.told)
}

// Find looks for ports by the names that a fabric gives them: long or short, whatever
// their case. It says which are not there, and which names there are.
func (c *Client) Find(ctx context.Context, names []string) (missing, have []string, err error) {
	s, err := c.state(ctx, c.system.count)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range s.Ports {
		have = append(have, p.Name)
	}
	c.ports = make(map[string]string)
	for _, name := range names {
		i := slices.IndexFunc(s.Ports, func(p switchstate.Port) bool { return strings.EqualFold(p.Name, name) })
		if i < 0 {
			i = slices.IndexFunc(s.Ports, func(p switchstate.Port) bool { return samePort(p.Name, name) })
		}
		if i < 0 {
			missing = append(missing, name)
			continue
		}
		c.ports[name] = s.Ports[i].Name
	}
	return missing, have, nil
}

// samePort reports two names of one port, one the other's short form: Gi1/0/1 and
// GigabitEthernet1/0/1.
func samePort(a, b string) bool {
	wordA, restA := apart(a)
	wordB, restB := apart(b)
	return restA == restB && restA != "" && wordA != "" && wordB != "" && (strings.HasPrefix(wordA, wordB) || strings.HasPrefix(wordB, wordA))
}

// apart cuts a port's name before its number.
func apart(name string) (word, rest string) {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	at := strings.IndexAny(name, "0123456789")
	if at < 0 {
		return name, ""
	}
	return strings.TrimRight(name[:at], "-"), name[at:]
}

// Read reads the counters of the ports that Find found. The moment is that before the
// switch was asked.
func (c *Client) Read(ctx context.Context) (switchcount.Reading, error) {
	r := switchcount.Reading{At: time.Now(), Ports: make(map[string]switchcount.Port)}
	s, err := c.state(ctx, c.system.count)
	if err != nil {
		return r, err
	}
	for name, own := range c.ports {
		i := slices.IndexFunc(s.Ports, func(p switchstate.Port) bool { return p.Name == own })
		if i < 0 {
			continue
		}
		if p := counted(s, s.Ports[i]); p.Bytes || p.Drops || p.Errors {
			r.Ports[name] = p
		}
	}
	if len(r.Ports) == 0 {
		return r, errors.New("its commands print no counters of the ports that are read")
	}
	return r, nil
}

// counted is what was printed of a port. Bytes count in 64 bits, the rest may be 32.
func counted(s switchstate.Switch, p switchstate.Port) switchcount.Port {
	value := func(c switchstate.Counter) uint64 { return p.Counters[c] }
	all := func(counters ...switchstate.Counter) bool {
		return !slices.ContainsFunc(counters, func(c switchstate.Counter) bool { _, ok := p.Counters[c]; return !ok })
	}
	out := switchcount.Port{
		Width: switchcount.NarrowErrors, Speed: p.Speed,
		Bytes: all(switchstate.InBytes, switchstate.OutBytes), Drops: all(switchstate.OutDrops), Errors: all(switchstate.InErrors, switchstate.OutErrors),
		Counters: netstate.Counters{
			RxBytes: value(switchstate.InBytes), TxBytes: value(switchstate.OutBytes), RxDropped: value(switchstate.InDrops), TxDropped: value(switchstate.OutDrops),
			RxErrors: value(switchstate.InErrors), TxErrors: value(switchstate.OutErrors),
		},
	}
	for _, channel := range s.Channels {
		for _, m := range channel.Members {
			if m.Port == p.Name && m.State != "" {
				bundled := m.State == switchstate.Bundled
				out.Attached = &bundled
			}
		}
	}
	return out
}
