// Package discovering proves on running kernels that what was discovered plans
// nothing: hosts that somebody else set up, drawn and recorded, are built by ip
// and bridge, discovered, planned as they are, changed once and put back.
package discovering
