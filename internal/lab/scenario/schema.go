package scenario

import "github.com/linerate/linerate/fabric"

// Schema returns the JSON schema (draft 2020-12) of a scenario file, made from
// the same tables that Parse decodes with.
func Schema() []byte { return fabric.ScenarioSchema(keys(), "linerate scenario "+fabric.Version) }
