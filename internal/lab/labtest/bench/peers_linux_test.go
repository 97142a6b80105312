package bench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The ports that peers listen on.
const (
	iperf3Port = 5301
	iperf2Port = 5302
	nuttcpPort = 5303
	nuttcpData = 5304
)

// patience is how long a peer's server may take to listen, or to end.
const patience = 10 * time.Second

// serverAndClient runs a peer's server until its client has ended, and returns
// what each wrote and the processor time of both. A server that does not end
// by itself is told to.
func serverAndClient(on pair, port int, server, client []string, endsItself bool) (said, served string, cpu time.Duration, err error) {
	srv := on.command(on.to, server...)
	var srvOut, out, diag bytes.Buffer
	srv.Stdout, srv.Stderr = &srvOut, &srvOut
	if err := on.to.Do(srv.Start); err != nil {
		return "", "", 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Wait() }()
	stop := func() {
		_ = srv.Process.Kill()
		<-ended
	}
	if err := awaitListener(on, port); err != nil {
		stop()
		return "", srvOut.String(), 0, fmt.Errorf("%s: %w: %s", server[0], err, srvOut.String())
	}
	cli := on.command(on.from, client...)
	cli.Stdout, cli.Stderr = &out, &diag
	if err := on.from.Do(cli.Start); err != nil {
		stop()
		return "", "", 0, err
	}
	if err := cli.Wait(); err != nil {
		stop()
		return out.String(), srvOut.String(), 0, fmt.Errorf("%s: %w: %s%s", strings.Join(client, " "), err, out.String(), diag.String())
	}
	if endsItself {
		select {
		case <-ended:
		case <-time.After(patience):
			stop()
		}
	} else {
		stop()
	}
	return out.String(), srvOut.String(), used(cli) + used(srv), nil
}

// awaitListener waits until somebody listens on the port, without connecting:
// a server for one client would take it for that.
func awaitListener(on pair, port int) error {
	listens := regexp.MustCompile(fmt.Sprintf(`:%04X [0-9A-F]+:0000 0A `, port)) // proc(5), TCP_LISTEN
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
		var tables []byte
		err := on.to.Do(func() error {
			for _, name := range []string{"tcp", "tcp6"} {
				text, err := os.ReadFile("/proc/thread-self/net/" + name)
				if err != nil {
					return err
				}
				tables = append(tables, text...)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if listens.Match(tables) {
			return nil
		}
	}
	return errors.New("does not listen")
}

// iperf3 runs iperf3 with further client options.
func iperf3(options ...string) func(pair, int) (outcome, error) {
	return func(on pair, streams int) (outcome, error) {
		client := append([]string{"iperf3", "-c", on.toAddr.String(), "-p", fmt.Sprint(iperf3Port), "-t", seconds(on), "-O", fmt.Sprint(int(warmUp.Seconds())), "-P", fmt.Sprint(streams), "-J"}, options...)
		said, _, cpu, err := serverAndClient(on, iperf3Port, []string{"iperf3", "-s", "-1", "-p", fmt.Sprint(iperf3Port), "-J"}, client, true)
		if err != nil {
			return outcome{}, err
		}
		type sum struct {
			Seconds float64 `json:"seconds"`
			Bytes   uint64  `json:"bytes"`
			Packets uint64  `json:"packets"`
			Lost    uint64  `json:"lost_packets"`
		}
		var report struct {
			Error     string `json:"error"`
			Intervals []struct {
				Sum struct {
					Bytes   uint64 `json:"bytes"`
					Omitted bool   `json:"omitted"`
				} `json:"sum"`
			} `json:"intervals"`
			End struct {
				Received sum `json:"sum_received"`
				Sum      sum `json:"sum"` // of UDP: what was sent, less what was lost
			} `json:"end"`
		}
		if err := json.Unmarshal([]byte(said), &report); err != nil || report.Error != "" {
			return outcome{}, fmt.Errorf("read iperf3's report: %w %s", err, report.Error)
		}
		r := report.End.Received
		out := outcome{Bytes: r.Bytes, Seconds: r.Seconds, CPU: cpu}
		if s := report.End.Sum; s.Packets > 0 {
			out.Datagrams = s.Packets - min(s.Lost, s.Packets)
			out.Seconds = s.Seconds
			out.Bytes = out.Datagrams * datagramPayload
		}
		var omitted, counted uint64
		for _, i := range report.Intervals {
			if i.Sum.Omitted {
				omitted += i.Sum.Bytes
			} else {
				counted += i.Sum.Bytes
			}
		}
		if out.Seconds == 0 || out.Bytes == 0 || counted == 0 {
			return out, errors.New("iperf3 carried nothing")
		}
		// What it sent in the time left out arrived in the same proportion.
		out.Total = uint64(float64(out.Bytes) * (1 + float64(omitted)/float64(counted)))
		return out, nil
	}
}

// iperf2 runs iperf; what its server reports counts.
func iperf2(options ...string) func(pair, int) (outcome, error) {
	return func(on pair, streams int) (outcome, error) {
		client := append([]string{"iperf", "-c", on.toAddr.String(), "-p", fmt.Sprint(iperf2Port), "-t", seconds(on), "-P", fmt.Sprint(streams), "-Z", congestionControl}, options...)
		_, served, cpu, err := serverAndClient(on, iperf2Port, []string{"iperf", "-s", "-p", fmt.Sprint(iperf2Port), "-P", fmt.Sprint(streams), "-y", "C"}, client, true)
		if err != nil {
			return outcome{}, err
		}
		return iperf2Report(served, streams, cpu)
	}
}

// iperf2Report reads the server's lines, one a stream: their bytes over the
// time from the first one's start to the last one's end.
func iperf2Report(served string, streams int, cpu time.Duration) (outcome, error) {
	out, lines := outcome{CPU: cpu}, 0
	earliest, latest := math.Inf(1), 0.0
	for line := range strings.Lines(served) {
		r, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil || len(r) < 9 {
			continue
		}
		if r[5] == "-1" { // the sum, which it writes or not
			continue
		}
		from, to, _ := strings.Cut(r[6], "-")
		begin, err1 := strconv.ParseFloat(from, 64)
		end, err2 := strconv.ParseFloat(to, 64)
		n, err3 := strconv.ParseUint(r[7], 10, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return out, err
		}
		out.Bytes += n
		earliest, latest = min(earliest, begin), max(latest, end)
		lines++
	}
	out.Total, out.Seconds = out.Bytes, latest-earliest
	if lines != streams || out.Bytes == 0 || out.Seconds <= 0 {
		return out, fmt.Errorf("iperf tells of %d streams, want %d: %s", lines, streams, served)
	}
	return out, nil
}

var nuttcpReport = regexp.MustCompile(`([\d.]+) MB /\s+([\d.]+) sec`)

// nuttcp runs nuttcp; its line is what the receiver took.
func nuttcp(options ...string) func(pair, int) (outcome, error) {
	return func(on pair, streams int) (outcome, error) {
		ports := []string{"-P", fmt.Sprint(nuttcpPort), "-p", fmt.Sprint(nuttcpData)}
		client := append(append([]string{"nuttcp", "-T" + seconds(on)}, ports...), options...)
		if streams > 1 {
			client = append(client, "-N"+fmt.Sprint(streams))
		}
		said, _, cpu, err := serverAndClient(on, nuttcpPort, []string{"nuttcp", "-S", "-1", "--nofork", "-P", fmt.Sprint(nuttcpPort)}, append(client, on.toAddr.String()), true)
		if err != nil {
			return outcome{}, err
		}
		m := nuttcpReport.FindStringSubmatch(said)
		if m == nil {
			return outcome{}, fmt.Errorf("nuttcp said %q", said)
		}
		megabytes, err1 := strconv.ParseFloat(m[1], 64)
		took, err2 := strconv.ParseFloat(m[2], 64)
		n := uint64(megabytes * (1 << 20))
		return outcome{Bytes: n, Total: n, Seconds: took, CPU: cpu}, errors.Join(err1, err2)
	}
}

func seconds(on pair) string { return fmt.Sprint(int(on.length.Round(time.Second) / time.Second)) }
