package metrics

import (
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// Write writes what tellers tell in Prometheus's text format.
func Write(w io.Writer, collectors ...prometheus.Collector) error {
	registry, err := Registry(collectors...)
	if err != nil {
		return err
	}
	families, err := registry.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return fmt.Errorf("write metrics: %w", err)
		}
	}
	return nil
}
