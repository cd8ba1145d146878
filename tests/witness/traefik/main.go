// Traefik's own muxer, asked which of some rules takes a request, and its middlewares, asked what they do with it.
//
// A line of input is a world: `{"rules": [{"rule": "…", "syntax": "v3", "priority": 7, "middlewares": [{"addPrefix": {"prefix":
// "/a"}}]}], "requests": [{"method": "GET", "url": "http://…", "headers": {"X": "1"}, "client": "10.0.0.1"}]}`. A line of output
// has the number of the rule whose backend gets each request, -1 where none does, what is wrong with the rules that Traefik
// refuses, and for each request the path that the backend gets, or status and Location of the response.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/ip"
	"github.com/traefik/traefik/v3/pkg/middlewares/addprefix"
	"github.com/traefik/traefik/v3/pkg/middlewares/headers"
	"github.com/traefik/traefik/v3/pkg/middlewares/redirect"
	"github.com/traefik/traefik/v3/pkg/middlewares/requestdecorator"
	"github.com/traefik/traefik/v3/pkg/middlewares/stripprefix"
	"github.com/traefik/traefik/v3/pkg/middlewares/stripprefixregex"
	muxer "github.com/traefik/traefik/v3/pkg/muxer/http"
)

type world struct {
	Rules []struct {
		Rule        string
		Syntax      string
		Priority    int
		Middlewares []dynamic.Middleware
	}
	Requests []struct {
		Method  string
		URL     string
		Headers map[string]string
		Client  string
	}
}

type answer struct {
	Taken   []int          `json:"taken"`
	Refused map[int]string `json:"refused"`
	Ends    []string       `json:"ends"`
}

// allowing returns a handler for the clients that Traefik's own checker of addresses authorizes: the package of the middleware
// brings tracing, and with it all of Traefik.
func allowing(next http.Handler, networks []string) (http.Handler, error) {
	checker, err := ip.NewChecker(networks)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if checker.IsAuthorized((&ip.RemoteAddrStrategy{}).GetIP(request)) != nil {
			response.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(response, request)
	}), nil
}

// through returns a handler behind a middleware.
func through(next http.Handler, said dynamic.Middleware) (http.Handler, error) {
	ctx := context.Background()
	switch {
	case said.AddPrefix != nil:
		return addprefix.New(ctx, next, *said.AddPrefix, "m")
	case said.Headers != nil:
		return headers.New(ctx, next, *said.Headers, "m")
	case said.IPAllowList != nil:
		return allowing(next, said.IPAllowList.SourceRange)
	case said.RedirectRegex != nil:
		return redirect.NewRedirectRegex(ctx, next, *said.RedirectRegex, "m")
	case said.RedirectScheme != nil:
		return redirect.NewRedirectScheme(ctx, next, *said.RedirectScheme, "m")
	case said.StripPrefix != nil:
		return stripprefix.New(ctx, next, *said.StripPrefix, "m")
	case said.StripPrefixRegex != nil:
		return stripprefixregex.New(ctx, next, *said.StripPrefixRegex, "m")
	}
	return nil, errors.New("a middleware of another sort")
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		said, err := asked(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(said))
	}
}

func asked(line []byte) ([]byte, error) {
	var given world
	if err := json.Unmarshal(line, &given); err != nil {
		return nil, err
	}
	parser, err := muxer.NewSyntaxParser()
	if err != nil {
		return nil, err
	}
	router := muxer.NewMuxer(parser, nil)
	found := answer{Taken: []int{}, Refused: map[int]string{}}
	taken, path := -1, ""
	for number, each := range given.Rules {
		priority := each.Priority
		if priority == 0 {
			priority = muxer.GetRulePriority(each.Rule)
		}
		var handler http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			taken, path = number, request.URL.RequestURI()
		})
		for place := len(each.Middlewares) - 1; place >= 0 && err == nil; place-- {
			handler, err = through(handler, each.Middlewares[place])
		}
		if err != nil {
			found.Refused[number] = err.Error()
			err = nil
			continue
		}
		if err := router.AddRoute(each.Rule, each.Syntax, priority, "", handler); err != nil {
			found.Refused[number] = err.Error()
		}
	}
	decorated := requestdecorator.WrapHandler(requestdecorator.New(nil))
	handler, err := decorated(router)
	if err != nil {
		return nil, err
	}
	for _, each := range given.Requests {
		request := httptest.NewRequest(each.Method, each.URL, nil)
		for name, value := range each.Headers {
			request.Header.Set(name, value)
		}
		request.RemoteAddr = net.JoinHostPort(each.Client, "40000")
		taken = -1
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		found.Taken = append(found.Taken, taken)
		end := path
		if taken < 0 {
			end = strings.TrimSpace(fmt.Sprintf("%d %s", response.Code, response.Header().Get("Location")))
		}
		found.Ends = append(found.Ends, end)
	}
	return json.Marshal(found)
}
