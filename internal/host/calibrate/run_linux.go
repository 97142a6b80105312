package calibrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Errors of Run.
var (
	ErrBond = errors.New("cannot be calibrated")
	// ErrNoise is a bond on which other traffic moves the counters too often
	// for a single frame to be seen.
	ErrNoise = errors.New("too much other traffic to see single frames")
)

// Run sends the frames over the bond, in the calling thread's network
// namespace, and returns which port each took. It changes nothing, and no
// frame reaches another host. Needs CAP_NET_RAW, else fs.ErrPermission. A link
// that is no bond with two usable ports is ErrBond; so is, before anything is
// sent, a bond whose mode or policy leaves nothing to find out.
func Run(ctx context.Context, req agentapi.CalibrateRequest) (agentapi.CalibrateReply, error) {
	reply, err := run(ctx, req.Bond)
	if err != nil {
		return reply, fmt.Errorf("calibrate %s: %w", req.Bond, err)
	}
	return reply, nil
}

func run(ctx context.Context, bond string) (agentapi.CalibrateReply, error) {
	var reply agentapi.CalibrateReply
	h, err := rtnl.Open()
	if err != nil {
		return reply, err
	}
	defer h.Close()
	links, err := h.Links()
	if err != nil {
		return reply, err
	}
	host := netstate.Host{Links: links}
	l, ok := host.Link(bond)
	if !ok || l.Bond == nil {
		return reply, fmt.Errorf("%w: it is no bond", ErrBond)
	}
	if reply.Ports = host.UsablePorts(bond); len(reply.Ports) < 2 {
		return reply, fmt.Errorf("%w: %d of its ports carry traffic", ErrBond, len(reply.Ports))
	}
	bundle, err := steer.BundleOf(host, bond)
	if err != nil {
		return reply, err
	}
	frames := flows(l.MAC, len(reply.Ports))
	if can, why := bundle.TellsEras(frames); !can {
		return reply, fmt.Errorf("%w: %s", ErrBond, why)
	}
	s, err := sys.OpenPacketSocket(l.Index, 0)
	if err != nil {
		return reply, err
	}
	defer s.Close()
	g := gauge{handle: h, ports: reply.Ports, socket: s, frames: mostFrames}
	for _, f := range frames {
		port, seen, err := g.place(ctx, f)
		if err != nil {
			return reply, err
		}
		if seen {
			reply.Frames = append(reply.Frames, agentapi.PlacedFrame{Frame: f, Link: port})
		}
		if g.frames == 0 {
			break
		}
	}
	if len(reply.Frames) < enough(len(reply.Ports)) {
		return reply, ErrNoise
	}
	return reply, nil
}

// gauge sends frames and reads which port's counter moved.
type gauge struct {
	handle *rtnl.Handle
	ports  []string
	socket *sys.PacketSocket
	frames int // that may still be sent
}

// place sends the frame until two readings agree; seen is false when none do
// within a few.
func (g *gauge) place(ctx context.Context, f flow.Frame) (port int, seen bool, err error) {
	const tries = 4
	count := make([]int, len(g.ports))
	for range tries {
		if g.frames == 0 {
			return 0, false, nil
		}
		g.frames--
		at, err := g.send(ctx, f)
		if err != nil {
			return 0, false, err
		}
		if at < 0 {
			continue
		}
		if count[at]++; count[at] == 2 {
			return at, true, nil
		}
	}
	return 0, false, nil
}

// Counters follow a frame at once on most drivers; some write them up once a
// second.
const (
	patience = 1500 * time.Millisecond
	glance   = time.Millisecond
)

// send sends one frame and returns the only port whose counter moved by one;
// -1 when others moved too.
func (g *gauge) send(ctx context.Context, f flow.Frame) (port int, err error) {
	before, err := g.read()
	if err != nil {
		return -1, err
	}
	wire, etherType := encode(f)
	if err := g.socket.Send(wire, etherType); err != nil {
		return -1, err
	}
	deadline := time.Now().Add(patience)
	for pause := glance; ; pause *= 2 {
		now, err := g.read()
		if err != nil {
			return -1, err
		}
		moved, at := uint64(0), -1
		for i := range now {
			if d := now[i] - before[i]; d > 0 {
				moved, at = moved+d, i
			}
		}
		switch {
		case moved == 1:
			return at, nil
		case moved > 1 || time.Now().After(deadline):
			return -1, nil
		}
		select {
		case <-ctx.Done():
			return -1, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (g *gauge) read() ([]uint64, error) {
	all, err := g.handle.Counters(g.ports)
	if err != nil {
		return nil, err
	}
	out := make([]uint64, len(all))
	for i, c := range all {
		out[i] = c.Counters.TxPackets
	}
	return out, nil
}
