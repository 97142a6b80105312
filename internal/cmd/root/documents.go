package root

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/cmd/change"
	"github.com/linerate/linerate/internal/cmd/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/demo"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/internal/cmd/enroll"
	"github.com/linerate/linerate/internal/cmd/explain"
	"github.com/linerate/linerate/internal/cmd/history"
	"github.com/linerate/linerate/internal/cmd/inspect"
	"github.com/linerate/linerate/internal/cmd/lab"
	"github.com/linerate/linerate/internal/cmd/listen"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/cmd/predict"
	"github.com/linerate/linerate/internal/cmd/render"
	"github.com/linerate/linerate/internal/cmd/report"
	"github.com/linerate/linerate/internal/cmd/schema"
	"github.com/linerate/linerate/internal/cmd/serve"
	"github.com/linerate/linerate/internal/cmd/steer"
	"github.com/linerate/linerate/internal/cmd/tune"
	"github.com/linerate/linerate/internal/cmd/version"
)

// Documents are all that commands print with --json.
func Documents() []console.Described {
	return slices.Concat(demo.Documents(), discover.Documents(), inspect.Documents(), predict.Documents(), steer.Documents(),
		measure.Documents(), explain.Documents(), tune.Documents(), change.Documents(), lab.Documents(), render.Documents(),
		compare.Documents(), report.Documents(), history.Documents(), listen.Documents(), enroll.Documents(), serve.Documents(),
		schema.Documents(), version.Documents())
}

// SchemaOf is the JSON schema of one of Documents.
func SchemaOf(document string) ([]byte, error) {
	for _, d := range Documents() {
		if name, _, _ := d.Described(); name == document {
			return schema.Of(d)
		}
	}
	return nil, fmt.Errorf("find schema of %s: no command prints such a document", document)
}
