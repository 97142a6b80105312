package console

import (
	"path/filepath"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/switchwatch"
)

// Switches is how a fabric's switches are asked what they count.
func (con *Console) Switches(f fabric.Fabric) *switchwatch.Config {
	return &switchwatch.Config{Dir: filepath.Dir(f.File), Credentials: con.Env(switchwatch.EnvCredentials), Show: con.SSH.Show, Logger: con.Logger()}
}
