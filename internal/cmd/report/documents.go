package report

import "github.com/linerate/linerate/internal/cmd/console"

// What is printed with --json.
var (
	reportDocument = console.Document[writtenReport]{Name: "report", About: "`report RECORD -o FILE`"}
	plotsDocument  = console.Document[writtenPlots]{Name: "report-plots", About: "`report RECORD --plots DIR`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{reportDocument, plotsDocument}
}

// What `report` wrote.
type (
	writtenPlots struct {
		Plots   []string `json:"plots"`
		Records []string `json:"records"`
	}
	writtenReport struct {
		Report  string   `json:"report"`
		Records []string `json:"records"`
	}
)
