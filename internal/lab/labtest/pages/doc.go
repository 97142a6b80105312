// Package pages holds what people see in a browser against a real one: the
// report and the web page in Chromium, wide and narrow, light and dark, by
// keyboard, judged for accessibility by axe-core (testdata/axe.min.js, MPL 2.0).
package pages
