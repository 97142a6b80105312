package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// coreRateFlags ask for what one core moves.
type coreRateFlags struct {
	calibrate bool
	wait      progress.WaitFlag
}

func (r *coreRateFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&r.calibrate, "calibrate", false, "measure what one core sends and receives; keeps two cores busy for 3 s")
	r.wait.Add(c)
}

func (r *coreRateFlags) check() error {
	if r.wait.D != 0 && !r.calibrate {
		return console.BadUsage("inspect: --wait: nothing is measured, so nothing is waited for", "add --calibrate, or leave --wait out")
	}
	return nil
}

// calibration is what `inspect --calibrate` measured.
type calibration struct {
	agentapi.CoreRateReply
	// Fabric is the line for the fabric file, below hosts.NAME.hardware.
	Fabric string `json:"fabric_line"`
}

// coreRate measures a host that was reached, and writes what was found into
// its state.
func coreRate(ctx context.Context, con *console.Console, h *fleet.Host, state *netstate.Host, flags coreRateFlags) (*calibration, error) {
	p := progress.New(con)
	if err := fleet.LockAll(ctx, []*fleet.Host{h}, progress.Locking(con, p, flags.wait, "inspect --calibrate", state.Name)); err != nil {
		return nil, console.WithHint(err, progress.InUseHint(err))
	}
	p.Stage("%s: what one core moves: two cores busy for %.0f s, no packet leaves the host", state.Name, agentapi.DefaultCoreRate.Seconds())
	reply, err := ask.Call(ctx, h, agentapi.CoreRate, agentapi.CoreRateRequest{})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, console.WithHint(err, "it takes Linux, and a linerate on the host that is as new as this one")
	case err != nil:
		return nil, err
	}
	state.CPU.StreamRate, state.CPU.PacketRate = significant(reply.StreamRate), float64(significant(unit.BitRate(reply.PacketRate)))
	return &calibration{CoreRateReply: reply, Fabric: coreLine(state.CPU)}, nil
}

// significant rounds to three digits: a measurement of seconds knows no more.
func significant(r unit.BitRate) unit.BitRate {
	if r <= 0 || math.IsInf(float64(r), 0) {
		return 0
	}
	step := math.Pow(10, math.Floor(math.Log10(float64(r)))-2)
	return unit.BitRate(math.Round(float64(r)/step) * step)
}

// coreLine is the processor as a line of a fabric file.
func coreLine(c netstate.CPU) string {
	var parts []string
	if c.Cores > 0 {
		parts = append(parts, fmt.Sprintf("cores: %d", c.Cores))
	}
	if text, err := c.StreamRate.MarshalText(); err == nil && c.StreamRate > 0 {
		parts = append(parts, "stream_rate: "+string(text))
	}
	if c.PacketRate > 0 {
		parts = append(parts, "packet_rate: "+strconv.FormatFloat(c.PacketRate, 'f', 0, 64))
	}
	return "cpu: {" + strings.Join(parts, ", ") + "}"
}

func printCalibration(con *console.Console, host string, c calibration) {
	out, width := con.Stdout, con.Width()
	where := "over a veth pair between two namespaces of its own"
	if c.Over == agentapi.OverLoopback {
		where = "over loopback"
	}
	cores := fmt.Sprintf("sender on core %d, receiver on core %d", c.Sender, c.Receiver)
	if c.Sender == c.Receiver {
		cores = fmt.Sprintf("sender and receiver on core %d", c.Sender)
	}
	fmt.Fprintln(out)
	fmt.Fprint(out, console.Wrapped("", fmt.Sprintf("what one core of %s moves, measured for %.1f s %s, %s:", host, c.Elapsed, where, cores), width))
	fmt.Fprintf(out, "  one stream      %v with its busier core full\n", significant(c.StreamRate))
	fmt.Fprintf(out, "  single packets  %.0f a second, %d bytes each\n", float64(significant(unit.BitRate(c.PacketRate))), int(c.PacketBytes))
	fmt.Fprintf(out, "  time of a core  %-12s %-12s %s\n", "sender", "softirq", "receiver")
	fmt.Fprintf(out, "    a gigabyte    %-12s %-12s %s\n", coreTime(c.Stream.Send), coreTime(c.Stream.Softirq), coreTime(c.Stream.Receive))
	fmt.Fprintf(out, "    a packet      %-12s %-12s %s\n", coreTime(c.Packet.Send), coreTime(c.Packet.Softirq), coreTime(c.Packet.Receive))
	if c.Why != "" {
		fmt.Fprint(out, console.Wrapped("  note: ", "loopback, because: "+c.Why, width))
	}
	for _, n := range c.Notes {
		fmt.Fprint(out, console.Wrapped("  note: ", n, width))
	}
	fmt.Fprint(out, console.Wrapped("  ", fmt.Sprintf("These are bounds from above: no card, driver or DMA took part, and what crossed were up to 64 KiB at once. With sending, softirq and receiving on a core each a stream would reach %v at most. `predict` makes a range of it.", significant(c.StreamMost)), width))
	fmt.Fprintf(out, "for the fabric file, below hosts.%s.hardware:\n  %s\n", host, c.Fabric)
}

// coreTime is a core's time in seconds, in the unit that suits it.
func coreTime(seconds float64) string {
	switch {
	case seconds <= 0:
		return "-"
	case seconds >= 1e-3:
		return fmt.Sprintf("%.0f ms", 1e3*seconds)
	case seconds >= 1e-6:
		return fmt.Sprintf("%.2f us", 1e6*seconds)
	}
	return fmt.Sprintf("%.0f ns", 1e9*seconds)
}
