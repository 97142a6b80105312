// Package switchwatch asks the switches of a fabric for their counters while something is
// measured, by SNMP, gNMI or their command line, and says what their ports carried. It only
// reads. Community, users and passwords come from files; nothing prints or keeps them.
package switchwatch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/internal/switchwatch/cli"
	"github.com/linerate/linerate/internal/switchwatch/gnmi"
	"github.com/linerate/linerate/internal/switchwatch/snmp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Config is how switches are asked.
type Config struct {
	// Dir is the fabric file's folder, where the credentials that it names lie.
	Dir string
	// Credentials is the file for switches that name none; "" is none.
	Credentials string
	// Every is the time between two readings; zero is a second.
	Every time.Duration
	// Show types a command on a switch that is reached by ssh.
	Show   func(ctx context.Context, reach string, c cli.Command) (string, error)
	Logger *slog.Logger // nil is silence
}

// Reader is a switch that can be asked.
type Reader interface {
	// Find looks for ports by the fabric's names; Read reads those that it found.
	Find(ctx context.Context, ports []string) (missing, have []string, err error)
	Read(ctx context.Context) (switchcount.Reading, error)
	// Describe is all that the switch says of itself.
	Describe(ctx context.Context) (switchstate.Switch, error)
	Close() error
}

// dial reaches one switch.
func (cfg Config) dial(ctx context.Context, s topology.Switch) (Reader, string, error) {
	r, err := topology.ParseReach(s.Reach)
	if err != nil {
		return nil, "", err
	}
	if r.Scheme == topology.SSH {
		client, err := cli.Dial(ctx, s.System, func(ctx context.Context, c cli.Command) (string, error) { return cfg.Show(ctx, s.Reach, c) })
		return client, r.Scheme, err
	}
	c, err := cfg.read(ctx, s)
	if err != nil {
		return nil, r.Scheme, err
	}
	if r.Scheme == topology.GNMI {
		a, err := cfg.gnmi(ctx, c, r)
		if err != nil {
			return nil, r.Scheme, err
		}
		client, err := gnmi.Dial(r.Host, r.Port, a)
		return client, r.Scheme, err
	}
	a, err := c.access(r)
	if err != nil {
		return nil, r.Scheme, err
	}
	client, err := snmp.Dial(ctx, r.Host, r.Port, a)
	return client, r.Scheme, err
}

// Describe asks one switch what it says of itself.
func Describe(ctx context.Context, s topology.Switch, cfg Config) (switchstate.Switch, error) {
	reader, _, err := cfg.dial(ctx, s)
	if err != nil {
		return switchstate.Switch{}, fmt.Errorf("switch %s: %w", s.Name, err)
	}
	defer reader.Close()
	d, err := reader.Describe(ctx)
	if err != nil {
		return d, fmt.Errorf("switch %s: %w", s.Name, err)
	}
	return d, nil
}

// Watch is the switches of a fabric that answered.
type Watch struct {
	cfg      Config
	switches []*one
	// lost are those that did not.
	lost []record.SwitchUse

	mu    sync.Mutex
	users int
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// one is a switch that answers.
type one struct {
	name, source string
	ports        []record.PortUse
	reader       Reader
	notes        []string

	mu       sync.Mutex
	readings []switchcount.Reading
	failed   error         // of the last reading
	failures int           // one after the other
	fresh    chan struct{} // closed at the next reading
	wait     time.Duration // between two
}

// firstWait is how long a switch has for its first answers.
const firstWait = 10 * time.Second

// Open reaches the switches of a fabric that say how, all at the same time. One that is not
// reached, or lacks ports, is noted in what Over gives and told; it is no error. Nil where the
// fabric names none.
func Open(ctx context.Context, n *topology.Network, speed func(host, link string) unit.BitRate, cfg Config, tell func(string)) *Watch {
	if n == nil {
		return nil
	}
	w := &Watch{cfg: cfg}
	var all []topology.Switch
	for _, s := range n.Switches {
		if s.Reach != "" {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	opened, errs := make([]*one, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() { opened[i], errs[i] = cfg.open(ctx, s, switchcount.Ports(n, s.Name, speed)) })
	}
	wg.Wait()
	for i, s := range all {
		if errs[i] != nil {
			scheme, _, _ := strings.Cut(s.Reach, "://")
			why := errs[i].Error()
			tell(fmt.Sprintf("switch %s is not read: %s", s.Name, why))
			w.lost = append(w.lost, record.SwitchUse{Switch: s.Name, Source: scheme, Ports: switchcount.Ports(n, s.Name, speed), Notes: []string{"not read: " + why}})
			continue
		}
		for _, note := range opened[i].notes {
			tell("switch " + s.Name + ": " + note)
		}
		w.switches = append(w.switches, opened[i])
	}
	return w
}

func (cfg Config) open(ctx context.Context, s topology.Switch, ports []record.PortUse) (*one, error) {
	ctx, cancel := context.WithTimeout(ctx, firstWait)
	defer cancel()
	reader, scheme, err := cfg.dial(ctx, s)
	if err != nil {
		return nil, err
	}
	o := &one{name: s.Name, source: scheme, ports: ports, reader: reader, fresh: make(chan struct{})}
	var names []string
	for _, p := range ports {
		names = append(names, p.Port)
	}
	missing, have, err := reader.Find(ctx, names)
	if err == nil && len(missing) == len(names) {
		err = fmt.Errorf("it has none of the ports %s%s", strings.Join(names, ", "), yamldoc.Choices(have))
	}
	if err == nil {
		_, err = reader.Read(ctx)
	}
	if err != nil {
		_ = reader.Close()
		return nil, err
	}
	for _, name := range missing {
		o.notes = append(o.notes, "it has no port "+name+yamldoc.Nearest(name, have))
	}
	o.ports = slices.DeleteFunc(o.ports, func(p record.PortUse) bool { return slices.Contains(missing, p.Port) })
	return o, nil
}

// Close lets go of the switches.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	for _, o := range w.switches {
		_ = o.reader.Close()
	}
}

// Begin reads every switch, and goes on until Over was called as often. The first readings
// are there when it returns, or their errors.
func (w *Watch) Begin(ctx context.Context) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users++; w.users > 1 {
		return
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	var first sync.WaitGroup
	for _, o := range w.switches {
		first.Add(1)
		w.done.Go(func() { w.poll(ctx, o, first.Done) })
	}
	first.Wait()
}

// pace is how many times longer than a reading takes the next waits, at the least: a
// switch's processor has other work. No pause is longer than longest.
const (
	pace    = 10
	longest = 10 * time.Second
)

// most is how many readings are kept of one trial: half a day of seconds.
const most = 40_000

func (w *Watch) poll(ctx context.Context, o *one, first func()) {
	for i := 0; ; i++ {
		began := time.Now()
		r, err := o.reader.Read(ctx)
		if ctx.Err() != nil {
			if i == 0 {
				first()
			}
			return
		}
		if err != nil && w.cfg.Logger != nil {
			w.cfg.Logger.WarnContext(ctx, "switch not read", "switch", o.name, "error", err)
		}
		o.took(r, err)
		if i == 0 {
			first()
		}
		wait := max(cmp.Or(w.cfg.Every, time.Second), min(pace*time.Since(began), longest))
		o.mu.Lock()
		o.wait = wait
		o.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (o *one) took(r switchcount.Reading, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = err
	if o.failures++; err == nil {
		o.failures = 0
		if len(o.readings) < most {
			o.readings = append(o.readings, r)
		}
	}
	close(o.fresh)
	o.fresh = make(chan struct{})
}

// gaveUp is how many readings may fail one after the other.
const gaveUp = 3

// patience is how long after a trial a switch is waited for that refreshes its counters
// rarely, beside the pauses between readings: what it has not told by then is noted as missing.
const patience = 8 * time.Second

// Over waits until the switches tell of all that was counted in a span, and returns what
// it was: of each switch in the order of the file, with the ones that were not read last. A
// zero span ends what Begin began and returns nothing.
func (w *Watch) Over(ctx context.Context, s switchcount.Span) []record.SwitchUse {
	if w == nil {
		return nil
	}
	var out []record.SwitchUse
	if !s.Close.IsZero() {
		out = make([]record.SwitchUse, len(w.switches))
		var wg sync.WaitGroup
		for i, o := range w.switches {
			wg.Go(func() { out[i] = o.over(ctx, s) })
		}
		wg.Wait()
		out = append(out, w.lost...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users--; w.users == 0 {
		w.stop()
		w.done.Wait()
		for _, o := range w.switches {
			o.readings, o.failed, o.failures = nil, nil, 0
		}
	}
	return out
}

func (o *one) over(ctx context.Context, s switchcount.Span) record.SwitchUse {
	o.mu.Lock()
	end := time.NewTimer(patience + 2*o.wait)
	o.mu.Unlock()
	defer end.Stop()
	for {
		o.mu.Lock()
		readings, failed, gone, fresh := slices.Clone(o.readings), o.failed, o.failures >= gaveUp, o.fresh
		o.mu.Unlock()
		if gone || switchcount.Settled(readings, s.Close, switchcount.Lag(readings, s.Start, s.Close)) {
			return o.use(readings, failed, s)
		}
		select {
		case <-fresh:
		case <-ctx.Done():
			return o.use(readings, ctx.Err(), s)
		case <-end.C:
			return o.use(readings, failed, s)
		}
	}
}

func (o *one) use(readings []switchcount.Reading, failed error, s switchcount.Span) record.SwitchUse {
	use := switchcount.Over(o.ports, readings, s)
	use.Switch, use.Source = o.name, o.source
	use.Notes = append(slices.Clone(o.notes), use.Notes...)
	if failed != nil {
		use.Notes = append(use.Notes, "not read to the end: "+failed.Error())
	}
	return use
}
