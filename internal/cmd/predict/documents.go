package predict

import (
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab/benchmarks"
	"github.com/linerate/linerate/predict"
)

// What is printed with --json.
var (
	predictDocument   = console.Document[predicted]{Name: "predict", About: "`predict`, also with --what-if and --workload"}
	togetherDocument  = console.Document[predictedTogether]{Name: "predict-together", About: "`predict --together`"}
	buyAnswer         = console.Document[buyDocument]{Name: "predict-buy", About: "`predict --buy`"}
	pageDocument      = console.Document[writtenPage]{Name: "predict-page", About: "`predict -o FILE`"}
	validateDocument  = console.Document[validated]{Name: "predict-validate", About: "`predict --validate`"}
	workloadsDocument = console.Document[listedWorkloads]{Name: "predict-workloads", About: "`predict --workload list`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{predictDocument, togetherDocument, buyAnswer, pageDocument, validateDocument, workloadsDocument}
}

// predicted is what `predict` prints, alone or with what changes would make of it.
type predicted struct {
	Predictions  []predict.Prediction `json:"predictions"`
	Differences  []fabric.Difference  `json:"differences,omitempty"`
	LeftOut      []string             `json:"left_out,omitempty"`
	Calibrations []learned            `json:"calibrations,omitempty"`
	Workload     *workloadJSON        `json:"workload,omitempty"`
	WhatIf       []supposed           `json:"what_if,omitempty"`
}

// predictedTogether is what `predict --together` prints.
type predictedTogether struct {
	Predictions []predict.Joint    `json:"predictions"`
	WhatIf      []supposedTogether `json:"what_if,omitempty"`
}

// writtenPage is the file that `predict -o` wrote.
type writtenPage struct {
	Report string `json:"report"`
	Fabric string `json:"fabric"`
}

// validated is the model beside published results.
type validated struct {
	Rows     []benchmarks.Judged        `json:"rows"`
	Profiles []benchmarks.JudgedProfile `json:"profiles"`
	Summary  []benchmarks.Summary       `json:"summary"`
}

// listedWorkloads are the programs that `predict --workload list` knows.
type listedWorkloads struct {
	Workloads []workloadJSON `json:"workloads"`
}
