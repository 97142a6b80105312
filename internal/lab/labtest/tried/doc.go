// Package tried carries out in a lab what a remedy says, as it is printed, and counts which
// remedies bring what was promised for them. It knows no cause and no fault.
package tried
