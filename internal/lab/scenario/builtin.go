package scenario

import (
	"embed"
	"fmt"
	"path"
)

//go:embed data/*.yaml
var data embed.FS

// Builtin are the program's own scenarios, by name.
func Builtin() ([]Scenario, error) {
	files, err := data.ReadDir("data")
	if err != nil {
		return nil, fmt.Errorf("list scenarios: %w", err)
	}
	var all []Scenario
	for _, f := range files {
		text, err := Source(f.Name())
		if err != nil {
			return nil, err
		}
		s, err := Parse(f.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Named is one of Builtin; false when there is none of the name.
func Named(name string) (Scenario, bool, error) {
	all, err := Builtin()
	for _, s := range all {
		if s.Name == name {
			return s, true, err
		}
	}
	return Scenario{}, false, err
}

// Source is the text of one of Builtin's files, as an example of the format.
func Source(file string) ([]byte, error) {
	text, err := data.ReadFile(path.Join("data", file))
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return text, nil
}
