package trial_test

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// What limited the first trial of a record, and what to do about it.
func Example() {
	text, err := os.ReadFile("../../report/testdata/sample.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	var r record.Record
	if err := json.Unmarshal(text, &r); err != nil {
		fmt.Println(err)
		return
	}
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: r.Fabric.Paths}
	for _, h := range r.Environment.Hosts {
		state.Hosts[h.Name] = h
	}
	f := trial.Judge(state, r.Trials[0])
	fmt.Printf("%s, %.0f %%\n%s\n%s\n", f.Cause, 100*f.Confidence, f.Summary, f.Remedy)
	// Output:
	// single-link, 97 %
	// One stream from alpha leaves by eth0, 1 of 2 links: a hash never splits a flow. With 2 streams on as many links: 956 Mbit/s instead of 478 Mbit/s.
	// on alpha: `ip link set dev bond0 type bond xmit_hash_policy layer3+4`; then on beta: `ip link set dev bond0 type bond xmit_hash_policy layer3+4`; then measure with `--ports chosen --streams 2` (until the next boot; to keep it, the same in the network configuration)
}
