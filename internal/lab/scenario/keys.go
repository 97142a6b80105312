package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// keys are the scenario's own.
func keys() fabric.Object[Scenario] {
	type s = Scenario
	return fabric.NewObject("scenario", "What `lab run` does with the network: how it is scaled, what is set and measured step by step, and what was published.",
		[]string{"name", "steps"}, map[string]string{"backend": "back_end", "release": "kernel", "url": "source", "step": "steps"},
		fabric.NewKey("name", "its name, of letters, digits and dashes", fabric.Value(name(), func(v *s) *string { return &v.Name })),
		fabric.NewKey("title", "one line on what it shows", fabric.Value(fabric.Text(), func(v *s) *string { return &v.Title })),
		fabric.NewKey("source", "where the published numbers are from", fabric.Value(fabric.Text(), func(v *s) *string { return &v.Source })),
		fabric.NewKey("scale", "what the lab divides rates and windows by, from 1 to 1000; round trips are kept", fabric.Value(scale(), func(v *s) *float64 { return &v.Scale })),
		fabric.NewKey("slow", "the part of scale by which time goes slower: round trips are longer by it, and windows divided by the rest of scale alone; a ping's result is divided by it", fabric.Value(scale(), func(v *s) *float64 { return &v.Slow })),
		fabric.NewKey("back_end", "where the kernel comes from: auto, host, uml or qemu", fabric.Value(fabric.Word("auto", "host", "uml", "qemu"), func(v *s) *string { return &v.BackEnd })),
		fabric.NewKey("kernel", "series of an emulated kernel, such as \"5.10\"", fabric.Value(fabric.Text(), func(v *s) *string { return &v.Kernel })),
		fabric.NewKey("features", "what it needs of a kernel besides what its network shows: a list of "+featureList(), fabric.ValueOrList(fabric.Word(features()...), func(v *s) *[]Feature { return &v.Features })),
		fabric.NewKey("mtu", "the largest frame's payload that the switches pass on; left out: 9000, or the largest of the hosts'", fabric.Value(fabric.Integer(1280, 65535), func(v *s) *int { return &v.MTU })),
		fabric.NewKey("switches", "which ports are in which switch; left out: all in one", fabric.List(switchKeys(), func(v *s) *[]Switch { return &v.Switches })),
		fabric.NewKey("steps", "what is set and measured, in this order", fabric.List(stepKeys(), func(v *s) *[]Step { return &v.Steps })),
	)
}

func switchKeys() fabric.Object[Switch] {
	return fabric.NewObject("scenario_switch", "A switch of the lab.", []string{"name", "ports"}, map[string]string{"links": "ports"},
		fabric.NewKey("name", "its name", fabric.Value(name(), func(v *Switch) *string { return &v.Name })),
		fabric.NewKey("ports", "the ports in it, each HOST.LINK", fabric.ValueOrList(fabric.Text(), func(v *Switch) *[]string { return &v.Ports })),
	)
}

func stepKeys() fabric.Object[Step] {
	return fabric.NewObject("scenario_step", "Changes hosts, then measures. What a step sets stays for those after it.", []string{"name", "measure"},
		map[string]string{"host": "hosts", "sysctls": "sysctl", "set": "with", "tests": "measure"},
		fabric.NewKey("name", "its name, once in the file", fabric.Value(fabric.Text(), func(v *Step) *string { return &v.Name })),
		fabric.NewKey("needs", "features without which the step is left out: a list of "+featureList(), fabric.ValueOrList(fabric.Word(features()...), func(v *Step) *[]Feature { return &v.Needs })),
		fabric.NewKey("hosts", "the hosts that with, sysctl, ports and bond change; left out: all", fabric.ValueOrList(fabric.Text(), func(v *Step) *[]string { return &v.Hosts })),
		fabric.NewKey("with", "changes as predict --what-if takes them: mtu=9000,policy=layer3+4", fabric.Value(fabric.Text(), func(v *Step) *string { return &v.With })),
		fabric.NewKey("sysctl", "kernel tunables by dotted name", fabric.Texts(fabric.Text(), func(v *Step) *map[string]string { return &v.Sysctl })),
		fabric.NewKey("ports", "the ports that the hosts' bonds have from here on; left out: as they were", fabric.ValueOrList(fabric.Text(), func(v *Step) *[]string { return &v.Ports })),
		fabric.NewKey("bond", "parameters of the hosts' bonds by netplan's names: lacp-rate, mii-monitor-interval, down-delay, up-delay", fabric.Texts(fabric.Text(), func(v *Step) *map[string]string { return &v.Bond })),
		fabric.NewKey("measure", "what is measured", fabric.List(measureKeys(), func(v *Step) *[]Measurement { return &v.Measure })),
	)
}

func measureKeys() fabric.Object[Measurement] {
	type m = Measurement
	return fabric.NewObject("scenario_measure", "One tool between two hosts, or several pairs at the same time, once for each number of streams.", []string{"tool", "from", "to"},
		map[string]string{"stream": "streams", "buffer": "socket_buffer", "window": "socket_buffer", "length": "block", "nodelay": "no_delay", "rate": "published", "tolerance": "within", "time": "duration"},
		fabric.NewKey("tool", "linerate, or a program: iperf3, iperf2, ping; nfs: what a client writes over mounts; tune: what linerate's own tune comes to", fabric.Value(tool(), func(v *m) *Tool { return &v.Tool })),
		fabric.NewKey("from", "the host that sends; with linerate a list of them, all at the same time", fabric.ValueOrList(fabric.Text(), func(v *m) *[]string { return &v.Senders })),
		fabric.NewKey("to", "the host that receives; with linerate a list of them, each from every sender", fabric.ValueOrList(fabric.Text(), func(v *m) *[]string { return &v.Receivers })),
		fabric.NewKey("direction", "forward, reverse or both; left out: forward, of tune both", fabric.Value(fabric.Direction(), func(v *m) *flow.Direction { return &v.Direction })),
		fabric.NewKey("streams", "numbers of streams in each direction, of each pair, a row each", fabric.ValueOrList(fabric.Integer(1, 1024), func(v *m) *[]int { return &v.Streams })),
		fabric.NewKey("aliases", "numbers of addresses on the sender, a stream from each, in place of streams", fabric.ValueOrList(fabric.Integer(1, 254), func(v *m) *[]int { return &v.Aliases })),
		fabric.NewKey("protocol", "of linerate's streams: tcp, or mptcp, each over addresses that steer chooses for all links of a bond; left out: tcp", fabric.Value(fabric.Word(ProtocolTCP, ProtocolMPTCP), func(v *m) *string { return &v.Protocol })),
		fabric.NewKey("ports", "source ports of linerate's streams and of nfs's connections: chosen or kernel; left out: kernel", fabric.Value(fabric.Word(predict.PortsChosen, predict.PortsKernel), func(v *m) *string { return &v.Ports })),
		fabric.NewKey("socket_buffer", "what each socket asks for; left out: autotuning", fabric.Value(fabric.Buffer(), func(v *m) *unit.Bytes { return &v.Buffer })),
		fabric.NewKey("block", "bytes of each write of iperf3 and iperf2; left out: 1Mi", fabric.Value(fabric.Buffer(), func(v *m) *unit.Bytes { return &v.Block })),
		fabric.NewKey("no_delay", "true: the sockets of linerate, iperf3 or iperf2 send without Nagle's algorithm; left out: with it", fabric.Value(fabric.Truth(), func(v *m) *bool { return &v.NoDelay })),
		fabric.NewKey("duration", "length of each window", fabric.Value(fabric.Duration(), func(v *m) *time.Duration { return &v.Duration })),
		fabric.NewKey("full", "length of each window with lab run --full; left out: duration", fabric.Value(fabric.Duration(), func(v *m) *time.Duration { return &v.Full })),
		fabric.NewKey("count", "packets of a ping; left out: 20", fabric.Value(fabric.Integer(1, 1000), func(v *m) *int { return &v.Count })),
		fabric.NewKey("published", "published rates, one for each row", fabric.ValueOrList(fabric.Rate(), func(v *m) *[]unit.BitRate { return &v.Published })),
		fabric.NewKey("published_ratio", "published ratios to the same rows of the step that of names", fabric.ValueOrList(fabric.Amount(), func(v *m) *[]float64 { return &v.Ratios })),
		fabric.NewKey("of", "the step that published_ratio is of", fabric.Value(fabric.Text(), func(v *m) *string { return &v.Of })),
		fabric.NewKey("published_rtt", "published round trip of a ping", fabric.Value(fabric.Duration(), func(v *m) *time.Duration { return &v.RTT })),
		fabric.NewKey("published_cpu", "what the sender and the receiver of the first row were published to take of one thread of a processor, [7%, 12%]; of iperf3", fabric.ValueOrList(fabric.Share(), func(v *m) *[]float64 { return &v.CPU })),
		fabric.NewKey("kind", "what was published: rate, ratio, burst or claim; one for all rows, or one for each; of tune best", fabric.ValueOrList(kind(), func(v *m) *[]Kind { return &v.Kinds })),
		fabric.NewKey("mounts", "NFS mounts on from of what to exports, a directory each", fabric.List(mountKeys(), func(v *m) *[]Mount { return &v.Mounts })),
		fabric.NewKey("size", "what each mount writes, as it is in the lab; left out: 32Mi", fabric.Value(fabric.Buffer(), func(v *m) *unit.Bytes { return &v.Size })),
		fabric.NewKey("fail", "a link that fails while linerate measures: HOST.LINK@AT,FOR; left out of it: @2s,3s", fabric.Value(failure(), func(v *m) *Failure { return &v.Fail })),
		fabric.NewKey("fail_how", "loud: its carrier goes; silent: the switch drops what passes, and the carrier stays; left out: loud", fabric.Value(fabric.Word(Loud, Silent), func(v *m) *FailureKind { return &v.FailKind })),
		fabric.NewKey("within", "how far off a row of kind rate may be; left out: 10%", fabric.Value(fabric.Ratio(), func(v *m) *float64 { return &v.Within })),
		fabric.NewKey("keep", "leave the hosts as tune made them; left out: false, they are rolled back", fabric.Value(fabric.Truth(), func(v *m) *bool { return &v.Keep })),
	)
}

func tool() fabric.Scalar[Tool] { return fabric.Word(Linerate, Tune, IPerf3, IPerf2, Ping, NFS) }

func kind() fabric.Scalar[Kind] { return fabric.Word(Rate, Ratio, Burst, Claim, Best) }

// name is one that may be a file's, a namespace's, an argument.
func name() fabric.Scalar[string] {
	return fabric.Parsed("letters, digits and dashes, 32 at most", func(s string) (string, error) {
		for _, r := range s {
			if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return "", fmt.Errorf("%q is no name", s)
			}
		}
		if len(s) > 32 || s[0] == '-' {
			return "", fmt.Errorf("%q is no name", s)
		}
		return s, nil
	})
}

// mostScale leaves of 100 Gbit/s as much as a lab can shape well.
const mostScale = 1000

func scale() fabric.Scalar[float64] {
	return fabric.Parsed("a number from 1 to 1000", func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 1 && v <= mostScale) {
			return 0, fmt.Errorf("%q is not from 1 to %d", s, mostScale)
		}
		return v, nil
	})
}
