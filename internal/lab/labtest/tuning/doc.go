// Package tuning holds tune against every other recipe on running kernels: the
// defaults, what the published article did, a distribution's profile, a
// research network's values and a full grid, side by side in one lab run.
package tuning
