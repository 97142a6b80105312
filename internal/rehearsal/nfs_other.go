//go:build !linux

package rehearsal

import (
	"context"
	"errors"

	"github.com/linerate/linerate/internal/campaign"
	"github.com/linerate/linerate/scenario"
)

func (r *run) nfs(context.Context, *campaign.Campaign, string, scenario.Measurement) error {
	return errors.ErrUnsupported
}
