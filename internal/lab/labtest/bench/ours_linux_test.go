package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/engine"
	"github.com/linerate/linerate/record"
)

// The engine runs as the peers do: a process for the sender and one for the
// receiver, each in its namespace. They are this test's own program again.
const childEnv = "LINERATE_BENCH_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := child(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// request is a line to a child: one of the engine's requests.
type request struct {
	Sink   *agentapi.SinkRequest
	Source *agentapi.SourceRequest
	Start  *agentapi.StartRequest
	Sample *agentapi.SampleRequest
	Finish *agentapi.SessionRequest
}

// answer is what a child says to it.
type answer struct {
	Sink    agentapi.SinkReply
	Source  agentapi.SourceReply
	Samples []agentapi.Sample
	Error   string
}

// child serves requests until its input ends.
func child(in io.Reader, out io.Writer) error {
	e := engine.New(engine.Config{})
	defer e.Close()
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := serve(context.Background(), e, r)
		if err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func serve(ctx context.Context, e *engine.Engine, r request) (a answer, err error) {
	switch {
	case r.Sink != nil:
		a.Sink, err = e.OpenSink(ctx, *r.Sink)
	case r.Source != nil:
		a.Source, err = e.OpenSource(ctx, *r.Source)
	case r.Start != nil:
		_, err = e.Start(ctx, *r.Start)
	case r.Sample != nil:
		var reply agentapi.SampleReply
		reply, err = e.Sample(ctx, *r.Sample)
		a.Samples = reply.Samples
		if len(reply.Errors) > 0 {
			err = errors.New(reply.Errors[0])
		}
	case r.Finish != nil:
		var reply agentapi.FinishReply
		reply, err = e.Finish(ctx, *r.Finish)
		a.Samples = reply.Samples
	}
	return a, err
}

// process is a running child.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func startChild(on pair, at place) (*process, error) {
	cmd := on.command(at, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := at.Do(cmd.Start); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, in: in, out: json.NewDecoder(out)}, nil
}

func (p *process) ask(r request) (answer, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return answer{}, err
	}
	var a answer
	if err := p.out.Decode(&a); err != nil {
		return a, fmt.Errorf("read child's answer: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// end closes the child's input, which ends it, and returns the processor time
// of its whole life.
func (p *process) end() (time.Duration, error) {
	_ = p.in.Close()
	err := p.cmd.Wait()
	return used(p.cmd), err
}

// ours is the engine in one of its modes.
func ours(mode agentapi.Mode, udp *agentapi.Datagrams) func(pair, int) (outcome, error) {
	return func(on pair, streams int) (out outcome, err error) {
		receiver, err := startChild(on, on.to)
		if err != nil {
			return out, err
		}
		sender, err := startChild(on, on.from)
		if err != nil {
			_, _ = receiver.end()
			return out, err
		}
		out, err = transfer(sender, receiver, on, streams, mode, udp)
		for _, p := range []*process{sender, receiver} {
			cpu, ended := p.end()
			out.CPU += cpu
			err = errors.Join(err, ended)
		}
		return out, err
	}
}

// warmUp is what is left out of a measurement where a tool can: linerate and
// iperf3.
const warmUp = time.Second

// pollEvery is how often a measurement samples its ends.
const pollEvery = 200 * time.Millisecond

func transfer(sender, receiver *process, on pair, streams int, mode agentapi.Mode, udp *agentapi.Datagrams) (out outcome, err error) {
	key := agentapi.Key{1}
	sink, err := receiver.ask(request{Sink: &agentapi.SinkRequest{
		Session: "in", Key: key, Bind: []netip.Addr{on.toAddr}, Peers: []netip.Addr{on.fromAddr}, Streams: streams,
		Mode: mode, UDP: udp, Socket: record.Socket{Congestion: congestion(udp)}, Lifetime: time.Minute,
	}})
	if err != nil {
		return out, err
	}
	want := make([]agentapi.Stream, streams)
	for i := range want {
		want[i] = agentapi.Stream{Lane: flow.Lane{Src: on.fromAddr, Dst: on.toAddr}, Dport: uint16(sink.Sink.Port), Socket: record.Socket{Congestion: congestion(udp)}}
	}
	source, err := sender.ask(request{Source: &agentapi.SourceRequest{
		Session: "out", Key: key, Streams: want, Mode: mode, UDP: udp, Lifetime: time.Minute,
	}})
	if err != nil {
		return out, err
	}
	out.Method = source.Source.Method.Send + ", " + sink.Sink.Method.Receive
	if _, err := sender.ask(request{Start: &agentapi.StartRequest{Session: "out"}}); err != nil {
		return out, err
	}
	// Both ends are sampled as measure does it, and what comes before the window
	// is not counted.
	var first, last answer
	for begin, opened := time.Now(), false; time.Since(begin) < warmUp+on.length; {
		left := warmUp - time.Since(begin)
		if opened {
			left += on.length
		}
		time.Sleep(min(pollEvery, max(left, time.Millisecond)))
		if last, err = receiver.ask(request{Sample: &agentapi.SampleRequest{Session: "in", Since: -1}}); err != nil {
			return out, err
		}
		if _, err = sender.ask(request{Sample: &agentapi.SampleRequest{Session: "out", Since: -1}}); err != nil {
			return out, err
		}
		if !opened && time.Since(begin) >= warmUp {
			first, opened = last, true
		}
	}
	a, b := first.Samples[len(first.Samples)-1], last.Samples[len(last.Samples)-1]
	out.Seconds = (b.At - a.At).Seconds()
	if slices.ContainsFunc(b.CPU.Pinned, func(core int) bool { return core >= 0 }) {
		out.Method += ", on the sender's core"
	}
	for i := range b.Bytes {
		out.Bytes += b.Bytes[i] - a.Bytes[i]
	}
	for i := range b.UDP {
		out.Datagrams += b.UDP[i].Datagrams - a.UDP[i].Datagrams
	}
	for end, session := range map[*process]string{sender: "out", receiver: "in"} {
		final, err := end.ask(request{Finish: &agentapi.SessionRequest{Session: session}})
		if err != nil {
			return out, err
		}
		if end == receiver {
			for _, n := range final.Samples[len(final.Samples)-1].Bytes {
				out.Total += n
			}
		}
	}
	return out, nil
}

func congestion(udp *agentapi.Datagrams) string {
	if udp != nil {
		return ""
	}
	return congestionControl
}
