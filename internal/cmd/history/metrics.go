package history

import (
	"bytes"
	"context"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/metrics"
	"github.com/linerate/linerate/internal/store"
)

// asMetrics writes the newest results of paths beside what is usual for
// them, in one piece: a reader never sees half a file.
func asMetrics(ctx context.Context, con *console.Console, s *store.Store, q store.Query, file string) error {
	lines, err := s.Lines(ctx, q)
	if err != nil {
		return console.StoreHint(err)
	}
	var paths metrics.Paths
	for _, l := range lines {
		paths.AddLine(l)
	}
	if file == "-" {
		return metrics.Write(con.Stdout, metrics.OfThePaths(&paths))
	}
	var text bytes.Buffer
	if err := metrics.Write(&text, metrics.OfThePaths(&paths)); err != nil {
		return err
	}
	return console.WriteFile(ctx, file, text.Bytes())
}
