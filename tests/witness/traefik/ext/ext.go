// Package ext has what a build of Traefik may add to its configuration: nothing.
package ext

// HTTP is added to the configuration of HTTP.
type HTTP struct{}

// Router is added to that of a router.
type Router struct{}
