package steer_test

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Which link of a bond do four connections take that the kernel chose ports
// for, and with which ports do they take both?
func Example() {
	bond := steer.Bundle{Mode: netstate.LACP, Policy: netstate.Layer34, Ports: []string{"eth0", "eth1"}}
	lane := flow.Lane{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}

	var kernel []string
	for _, port := range []uint16{51234, 51238, 51242, 51246} {
		placed := bond.Place(flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: lane.Src, Dst: lane.Dst, Sport: port, Dport: 5201}})
		kernel = append(kernel, placed.Link)
	}
	fmt.Println("the kernel's ports:", kernel)

	picked, err := steer.Pick(steer.PickRequest{Near: bond, Lanes: []flow.Lane{lane}, Streams: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range picked.Streams {
		placed := bond.Place(flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport}})
		fmt.Println("source port", s.Sport, "takes", placed.Link)
	}
	fmt.Println("streams on each link:", picked.PerLink, "even:", picked.Even)
	// Output:
	// the kernel's ports: [eth0 eth0 eth0 eth0]
	// source port 40002 takes eth0
	// source port 40000 takes eth1
	// source port 40003 takes eth0
	// source port 40001 takes eth1
	// streams on each link: [2 2] even: true
}
