package report_test

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
)

// A record in one sentence, and for a terminal of 72 columns.
func Example() {
	r := record.Record{Schema: record.Schema, ID: "20260504T031207Z", Trials: []record.Trial{{
		From: "web", To: "store", Direction: flow.Forward, Streams: 4, Protocol: "tcp", Tool: "linerate", Ports: "kernel",
		Goodput: 24.6e9, Ceiling: 49.5e9, CeilingMTU: 9000, Window: 4,
		Finding: &record.Finding{From: "web", To: "store", Direction: flow.Forward, Streams: 4, Cause: record.SingleLink, Confidence: 0.97, Rate: 24.6e9, Ceiling: 49.5e9,
			Summary: "All streams leave web by eno1.", Remedy: "choose source ports"},
	}}}
	fmt.Println(report.Headline(r))
	fmt.Println()
	fmt.Print(report.Text(r, 72))
	// Output:
	// web → store carries 24.6 Gbit/s, 49.7 % of the ceiling: all of this traffic takes part of the links, and the others idle.
	//
	// web → store carries 24.6 Gbit/s, 49.7 % of the ceiling: all of this
	// traffic takes part of the links, and the others idle.
	//
	// web → store
	// direction  streams     measured      ceiling       %  cause
	// forward          4  24.6 Gbit/s  49.5 Gbit/s  49.7 %  single-link
	//
	// single-link: All streams leave web by eno1.
	//   remedy: choose source ports
}
