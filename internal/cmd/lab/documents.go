package lab

import (
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/record"
)

// What is printed with --json.
var (
	listDocument    = console.Document[listedLabs]{Name: "lab-list", About: "`lab list`"}
	upDocument      = console.Document[standingRow]{Name: "lab-up", About: "`lab up`"}
	downDocument    = console.Document[endedLabs]{Name: "lab-down", About: "`lab down`"}
	runDocument     = console.Document[scenarioDocument]{Name: "lab-run", About: "`lab run SCENARIO`"}
	runAllDocument  = console.Document[allDocument]{Name: "lab-run-all", About: "`lab run all`"}
	pairRunDocument = console.Document[pairDocument]{Name: "lab-run-pair", About: "`lab run` of a lab of two hosts"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{listDocument, upDocument, downDocument, runDocument, runAllDocument, pairRunDocument}
}

// The documents of `lab list`, `lab down` and of a lab of two hosts.
type (
	listedScenario struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	}
	listedLabs struct {
		Scenarios []listedScenario `json:"scenarios"`
		Labs      []standingRow    `json:"labs"`
	}
	endedLabs struct {
		Ended []string `json:"ended"`
	}
	pairDocument struct {
		Scenario string           `json:"scenario"`
		BackEnd  lab.BackEnd      `json:"back_end"`
		Kernel   string           `json:"kernel"`
		Scale    float64          `json:"scale"`
		Rows     []labRow         `json:"rows"`
		Findings []record.Finding `json:"findings"`
	}
)
