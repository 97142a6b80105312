//go:build !linux

package scenariorun

import (
	"context"
	"errors"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
)

func (r *run) nfs(context.Context, *campaign.Campaign, string, scenario.Measurement) error {
	return errors.ErrUnsupported
}
