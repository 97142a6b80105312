//go:build !linux

package rtnl

import (
	"errors"
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Handle does nothing here.
type Handle struct{}

var errUnsupported = fmt.Errorf("open rtnetlink: %w", errors.ErrUnsupported)

// Open is errors.ErrUnsupported.
func Open() (*Handle, error) { return nil, errUnsupported }

// Close does nothing.
func (h *Handle) Close() {}

// Read is errors.ErrUnsupported.
func (h *Handle) Read() (Reading, error) { return Reading{}, errUnsupported }

// Links is errors.ErrUnsupported.
func (h *Handle) Links() ([]netstate.Link, error) { return nil, errUnsupported }

// Routes is errors.ErrUnsupported.
func (h *Handle) Routes() ([]netstate.Route, error) { return nil, errUnsupported }

// Rules is errors.ErrUnsupported.
func (h *Handle) Rules() ([]netstate.Rule, error) { return nil, errUnsupported }

// Counters is errors.ErrUnsupported.
func (h *Handle) Counters([]string) ([]LinkCounters, error) { return nil, errUnsupported }

// RouteFor is errors.ErrUnsupported.
func (h *Handle) RouteFor(flow.Tuple) (RouteTo, error) { return RouteTo{}, errUnsupported }

// RoutesFor is errors.ErrUnsupported.
func (h *Handle) RoutesFor([]flow.Tuple) ([]RouteTo, error) { return nil, errUnsupported }

// Spread is errors.ErrUnsupported.
func (h *Handle) Spread(flow.Tuple) (bool, error) { return false, errUnsupported }

// Neighbours is errors.ErrUnsupported.
func (h *Handle) Neighbours() ([]Neighbour, error) { return nil, errUnsupported }
