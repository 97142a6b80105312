package paths

import (
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

var limitAsks = []scene.Missing{
	{Command: "tc -s qdisc show; tc filter show dev LINK (OVS: ovs-vsctl list interface LINK | grep polic; Solaris: flowadm show-flow, dladm show-linkprop -p maxbw)", Host: "the host or switch that limits", Why: "the rate and the burst that are in force, and what they drop"},
	{Command: "iperf3 -c PEER -t 30, then -u at just that rate", Host: "", Why: "whether UDP passes at the rate where TCP stays below it"}}

// heldStories are limits that somebody set, programs that wait and windows that are told of.
var heldStories = []story{
	{[]string{"policing", "udp_near"}, nil, true, record.Shaper, 0.56, "the policer",
		"By what is said, the rate is limited by a policer, and UDP gets just that: it drops what is above its rate, and TCP takes each drop for a loss and stays below, the more so the smaller the burst that the policer allows.",
		"Shape instead of police (a queue: tbf, htb, `shape average`; OVS: egress QoS of type linux-htb on the other side), or give the policer a burst of a round trip and more (rate times 0.1 s or so; OVS: ingress_policing_burst), or raise its rate.", limitAsks},
	{[]string{"limit_set", "below_limit"}, nil, false, record.Shaper, 0.56, "the limit that was set",
		"By what is said, somebody set a limit for the bandwidth, and what passes is far below it: a limiter that drops what is above its rate, or that counts in steps too coarse for it, leaves TCP much less than its figure.",
		"Take the limit off for a trial; if it is fast then, use one that queues and has a burst of at least a round trip, a higher figure, or the limiter of another place (the switch, the hypervisor).", limitAsks},
	{[]string{"limited_by", "stays_low"}, nil, false, record.Shaper, 0.52, "the limits on the way",
		"By what is said, a qdisc and a filter both limit the rate: where one drops what the other would queue, TCP stays below both, in bursts.",
		"Limit in one place, with a queue (htb or tbf with a burst for some milliseconds), and without police in a filter.", limitAsks},
	{[]string{"pps_limit"}, nil, false, record.Shaper, 0.58, "the instance's packets a second",
		"By what is said, an instance reached its provider's limit of packets a second: more are dropped, whatever its bandwidth is, and small packets reach it first.",
		"A larger instance or several of them; larger packets (MTU 9001 inside one network), fewer small ones. On AWS `ethtool -S LINK | grep allowance` counts what was dropped (pps_allowance_exceeded).", []scene.Missing{
			{Command: "ethtool -S LINK | grep allowance", Host: "the instance", Why: "before and after: which limit drops packets"}}},
	{[]string{"requests_fixed", "long_wait"}, nil, false, record.Application, 0.54, "the requests that are under way at once",
		"By what is said, the program keeps a fixed number of requests under way: their sizes over a round trip are its rate, however fast the way is and however large TCP's windows are.",
		"Let it keep more under way (its own setting, or a newer version), larger requests, several transfers at once, or a program that does.", eachAsks},
	{[]string{"window_low"}, []string{"not_window", "window_helps_not"}, false, record.ReceiveWindow, 0.48, "the window over the round trip",
		"By what is said, a connection carries its window in each round trip, and the window is small for that way: the link beyond it does not matter.",
		windowRemedy, longAsks},
}
