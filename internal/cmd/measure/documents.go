package measure

import (
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
)

// What is printed with --json.
var (
	recordDocument = console.Document[record.Record]{Name: "record", About: "`measure`; also what `measure -o` and `tune -o` write"}
	sweepDocument  = console.Document[sweepPlans]{Name: "measure-dry-run", About: "`measure --mtu` or `--aliases` with --dry-run"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{recordDocument, sweepDocument}
}

// sweepPlans are the changes that a sweep would make.
type sweepPlans struct {
	Plans []plan.Plan `json:"plans"`
}
