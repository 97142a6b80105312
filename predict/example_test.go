package predict_test

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

const twoBonds = `
linerate: v1
hosts:
  web:
    network:
      version: 2
      ethernets: {eno1: {}, eno2: {}}
      bonds:
        bond0:
          interfaces: [eno1, eno2]
          addresses: [192.0.2.10/24]
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}
    hardware: {links: {eno1: {speed: 25G}, eno2: {speed: 25G}}}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456", net.ipv4.tcp_wmem: "4096 16384 4194304"}
  store:
    network:
      version: 2
      ethernets: {eno1: {}, eno2: {}}
      bonds:
        bond0:
          interfaces: [eno1, eno2]
          addresses: [192.0.2.20/24]
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}
    hardware: {links: {eno1: {speed: 25G}, eno2: {speed: 25G}}}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456", net.ipv4.tcp_wmem: "4096 16384 4194304"}
paths:
  - {between: [web, store], rtt: 9ms, switch_hash: layer3+4}
`

// What two hosts of a fabric file carry with one stream and with eight, and
// what binds.
func Example() {
	file, err := fabric.Parse("two-bonds.yaml", []byte(twoBonds))
	if err != nil {
		fmt.Println(err)
		return
	}
	known := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: file.EffectivePaths()}
	for _, h := range file.Hosts {
		if known.Hosts[h.Name], err = file.State(h.Name); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, streams := range []int{1, 8, 32} {
		p, err := predict.Predict(known, predict.TrafficOf(known.Paths[0], fabric.Measure{}, flow.Forward, streams))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d streams: %v of %v, limited by %s\n", streams, p.Rate, p.Ceiling, p.Limit)
	}
	// Output:
	// 1 streams: 2.71 Gbit/s of 47.1 Gbit/s, limited by receive-window
	// 8 streams: 21.6 Gbit/s of 47.1 Gbit/s, limited by receive-window
	// 32 streams: 47.1 Gbit/s of 47.1 Gbit/s, limited by line-rate
}
