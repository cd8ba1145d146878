// Traefik's own muxer, asked which of some rules takes a request.
//
// A line of input is a world: `{"rules": [{"rule": "…", "syntax": "v3", "priority": 7}], "requests": [{"method": "GET",
// "url": "http://…", "headers": {"X": "1"}, "client": "10.0.0.1"}]}`. A line of output has the number of the rule that takes
// each request, -1 where none does, and what is wrong with the rules that Traefik refuses.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/traefik/traefik/v3/pkg/middlewares/requestdecorator"
	muxer "github.com/traefik/traefik/v3/pkg/muxer/http"
)

type world struct {
	Rules []struct {
		Rule     string
		Syntax   string
		Priority int
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
	taken := -1
	for number, each := range given.Rules {
		priority := each.Priority
		if priority == 0 {
			priority = muxer.GetRulePriority(each.Rule)
		}
		handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { taken = number })
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
		handler.ServeHTTP(httptest.NewRecorder(), request)
		found.Taken = append(found.Taken, taken)
	}
	return json.Marshal(found)
}
