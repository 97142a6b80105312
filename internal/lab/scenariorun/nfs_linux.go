package scenariorun

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

const nfsPort = 2049

// nfs measures what a client writes over its mounts at the same time, and holds
// every file against its checksum, read back while all mounts write.
func (r *run) nfs(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement) (err error) {
	if r.result.Tools[m.Tool], err = version(ctx, m.Tool); err != nil {
		return err
	}
	lanes, err := nfsLanes(c.State(), m)
	if err != nil {
		return err
	}
	sent := predict.Between(m.From, m.To, flow.Forward, len(lanes))
	sent.Lanes, sent.Ports = lanes, m.Ports
	p, err := predict.Predict(c.State(), sent)
	if err != nil {
		return err
	}
	if m.Ports == predict.PortsChosen {
		restore, failed := nfsWindow(c, m, lanes[0])
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, restore()) }()
	}
	server, err := serveNFS(ctx, m.To, len(m.Mounts), 3*m.Size*unit.Bytes(len(m.Mounts)))
	if err != nil {
		return fmt.Errorf("serve NFS: %w", err)
	}
	defer func() { err = errors.Join(err, server.end()) }()
	copied, err := r.copyOver(ctx, m)
	if err != nil {
		return err
	}
	t := record.Trial{CPU: []record.CPUUse{{Host: m.From, Cores: 1, Busiest: copied.busy}}}
	if copied.connections != len(lanes) {
		t.Notes = append(t.Notes, fmt.Sprintf("%d connections, expected %d", copied.connections, len(lanes)))
	}
	r.keep(c, step, m, 0, scenario.Row{
		Streams: copied.connections, Measured: copied.rate, Predicted: p.Rate, Ceiling: p.Ceiling, CPUBound: t.CPUBound(),
	}, t)
	return nil
}

// nfsLanes are the pairs of addresses that the mounts connect, one for each
// connection.
func nfsLanes(f predict.Fabric, m scenario.Measurement) ([]flow.Lane, error) {
	near, err := predict.Lanes(f, m.From, m.To, "")
	if err != nil {
		return nil, err
	}
	var lanes []flow.Lane
	connections := scenario.Connections(m.Mounts)
	for _, one := range m.Mounts {
		for range connections[one.Server] {
			lanes = append(lanes, flow.Lane{Src: near[0].Src, Dst: one.Server})
		}
		delete(connections, one.Server)
	}
	return lanes, nil
}

// The client's own ports (net/sunrpc/xprtsock.c).
const (
	leastResvport = "/proc/sys/sunrpc/min_resvport"
	mostResvport  = "/proc/sys/sunrpc/max_resvport"
)

// nfsWindow leaves the client the ports alone that spread its connections over
// the links; restore puts back what was.
func nfsWindow(c *campaign.Campaign, m scenario.Measurement, lane flow.Lane) (restore func() error, err error) {
	host := c.State().Hosts[m.From]
	var bond string
	for _, l := range host.Links {
		if l.Bond != nil && slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return a.Addr() == lane.Src }) {
			bond = l.Name
		}
	}
	near, err := steer.BundleOf(host, bond)
	if err != nil {
		return nil, err
	}
	picked, how, err := snippet.For(snippet.NFS, steer.PickRequest{Near: near, Lanes: []flow.Lane{lane}, Streams: max(m.Mounts[0].NConnect, 1)})
	if err != nil {
		return nil, err
	}
	if !how.Exact || len(picked.Streams) != max(m.Mounts[0].NConnect, 1) {
		return nil, fmt.Errorf("choose ports of %d connections: %s", m.Mounts[0].NConnect, strings.Join(how.Notes, "; "))
	}
	low, high := picked.Streams[0].Sport, picked.Streams[0].Sport
	for _, s := range picked.Streams {
		low, high = min(low, s.Sport), max(high, s.Sport)
	}
	was, err := resvports()
	if err != nil {
		return nil, err
	}
	restore = func() error { return setResvports(was) }
	return restore, setResvports([2]string{strconv.Itoa(int(low)), strconv.Itoa(int(high))})
}

func resvports() (was [2]string, err error) {
	for i, name := range []string{leastResvport, mostResvport} {
		text, err := os.ReadFile(name)
		if err != nil {
			return was, fmt.Errorf("read client's ports: %w", err)
		}
		was[i] = strings.TrimSpace(string(text))
	}
	return was, nil
}

func setResvports(to [2]string) error {
	for i, name := range []string{leastResvport, mostResvport} {
		if err := os.WriteFile(name, []byte(to[i]), 0o600); err != nil {
			return fmt.Errorf("set client's ports: %w", err)
		}
	}
	return nil
}

// copied is how one copy over all mounts went.
type copied struct {
	connections int
	rate        unit.BitRate
	busy        float64
}

// copyOver mounts, writes a file over each mount at the same time, then reads
// those back while a second one is written over each, and reads these. It
// unmounts whatever happens; a mount that does not go is an error.
func (r *run) copyOver(ctx context.Context, m scenario.Measurement) (out copied, err error) {
	point, err := os.MkdirTemp("", "linerate-nfs-")
	if err != nil {
		return out, fmt.Errorf("make mount point: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(point)) }()
	var dirs []string
	for i, one := range m.Mounts {
		dir := filepath.Join(point, lane(i))
		unmount, failed := mountNFS(ctx, m.From, one, lane(i), dir)
		if failed != nil {
			return out, failed
		}
		defer func() { err = errors.Join(err, unmount()) }()
		// The server's grace period is not to be timed.
		if err := os.WriteFile(filepath.Join(dir, "first"), nil, 0o600); err != nil {
			return out, fmt.Errorf("write file: %w", err)
		}
		dirs = append(dirs, dir)
	}
	if out.connections, err = nfsConnections(m); err != nil {
		return out, err
	}
	before, err := procfs.Stat()
	if err != nil {
		return out, err
	}
	first, second := contents(0, m), contents(len(dirs), m)
	if out.rate, err = copyRate(dirs, first); err != nil {
		return out, err
	}
	after, err := procfs.Stat()
	if err != nil {
		return out, err
	}
	out.busy = busiest(before, after)
	err = eachMount(append(slices.Clone(dirs), dirs...), func(i int, dir string) error {
		if i < len(dirs) {
			return second[i].write(filepath.Join(dir, "second"))
		}
		return readBack(first[i-len(dirs)], filepath.Join(dir, "first"))
	})
	if err != nil {
		return out, err
	}
	return out, eachMount(dirs, func(i int, dir string) error { return readBack(second[i], filepath.Join(dir, "second")) })
}

// timedCopies is how often a copy is timed: the machine stands still now and then,
// and one copy in three may.
const timedCopies = 3

// copyRate writes a file over each mount at the same time, again and again, and
// returns the median of what they carried together.
func copyRate(dirs []string, files []*content) (unit.BitRate, error) {
	var rates []unit.BitRate
	for range timedCopies {
		begin := time.Now()
		if err := eachMount(dirs, func(i int, dir string) error { return files[i].write(filepath.Join(dir, "first")) }); err != nil {
			return 0, err
		}
		rates = append(rates, unit.FromBytes(float64(len(dirs))*float64(files[0].length()), time.Since(begin).Seconds()))
	}
	slices.Sort(rates)
	return rates[len(rates)/2], nil
}

func contents(from int, m scenario.Measurement) (all []*content) {
	for i := range m.Mounts {
		all = append(all, newContent(from+i, m.Size))
	}
	return all
}

// eachMount does something for every mount at the same time.
func eachMount(dirs []string, do func(int, string) error) error {
	results := make(chan error)
	for i, dir := range dirs {
		go func() { results <- do(i, dir) }()
	}
	var errs []error
	for range dirs {
		errs = append(errs, <-results)
	}
	return errors.Join(errs...)
}

// readBack holds a file against its checksum as the server has it, not as the
// client's cache does.
func readBack(c *content, name string) error {
	f, err := sys.OpenUncached(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.verify(name, f)
}

// mountNFS mounts one directory of the server's in the client's namespace.
func mountNFS(ctx context.Context, host string, one scenario.Mount, export, dir string) (unmount func() error, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make mount point: %w", err)
	}
	server := one.Server.String()
	if one.Server.Is6() {
		server = "[" + server + "]"
	}
	if err := runIn(ctx, host, "mount", "-t", "nfs", "-o", one.Options(), server+":/"+export, dir); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	back := context.WithoutCancel(ctx)
	return func() error { return errors.Join(runIn(back, host, "umount", dir), os.Remove(dir)) }, nil
}

// nfsConnections counts the client's connections to the servers' addresses.
func nfsConnections(m scenario.Measurement) (n int, err error) {
	err = netns.Named(lab.Namespace(m.From)).Do(func() error {
		sockets, err := sockdiag.Sockets(sockdiag.Query{Proto: flow.TCP, Dport: nfsPort})
		for _, s := range sockets {
			if s.State == sockdiag.Established {
				n++
			}
		}
		return err
	})
	return n, err
}
