package archtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// layerRow is what the layer table says of one package.
type layerRow struct {
	layer int
	row   int // in the table: what a row permits, one of its packages does
	// may are packages of the same layer that it imports; lower layers go
	// without saying.
	may []string
}

// grant is one line of the effects table.
type grant struct {
	what string // an import path
	// to are packages, or single files, that may.
	to []string
}

type rules struct {
	layers map[string]layerRow
	grants []grant
	// pureLayer is the highest layer without effects.
	pureLayer int
}

var (
	backticked = regexp.MustCompile("`([^`]+)`")
	leadingInt = regexp.MustCompile(`^\d+`)
	pureUpTo   = regexp.MustCompile(`Layers 0 to (\d+) are pure`)
)

// parseRules reads the tables headed "layer | packages | may import" and
// "import | only in", and the sentence "Layers 0 to N are pure".
func parseRules(doc string) (rules, error) {
	r := rules{layers: make(map[string]layerRow)}
	for at, row := range table(doc, "layer", "packages", "may import") {
		n, err := strconv.Atoi(leadingInt.FindString(row[0]))
		if err != nil {
			return r, fmt.Errorf("layer table: row %q does not begin with a number", row[0])
		}
		for _, pkg := range names(row[1]) {
			if _, double := r.layers[pkg]; double {
				return r, fmt.Errorf("layer table: %s stands in two rows", pkg)
			}
			r.layers[pkg] = layerRow{layer: n, row: at, may: names(row[2])}
		}
	}
	for _, row := range table(doc, "import", "only in") {
		for _, what := range names(row[0]) {
			r.grants = append(r.grants, grant{what, names(row[1])})
		}
	}
	m := pureUpTo.FindStringSubmatch(doc)
	if m == nil || len(r.layers) == 0 || len(r.grants) == 0 {
		return r, fmt.Errorf("ARCHITECTURE.md: %d packages, %d grants, pure layers %v: a table or the sentence is missing", len(r.layers), len(r.grants), m)
	}
	r.pureLayer, _ = strconv.Atoi(m[1])
	return r, nil
}

// table returns the cells of the Markdown table with the given header.
func table(doc string, header ...string) [][]string {
	var rows [][]string
	inside := false
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case strings.Join(cells, "|") == strings.Join(header, "|"):
			inside = true
		case inside && len(cells) == len(header) && !strings.HasPrefix(cells[0], "--"):
			rows = append(rows, cells)
		}
	}
	return rows
}

func names(cell string) []string {
	var out []string
	for _, m := range backticked.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}
