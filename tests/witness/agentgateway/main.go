// Asks agentgateway's controller about worlds.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"

	apisettings "github.com/agentgateway/agentgateway/controller/api/settings"
	"github.com/agentgateway/agentgateway/controller/pkg/agentgateway/plugins"
	"github.com/agentgateway/agentgateway/controller/pkg/agentgateway/testutils"
	"github.com/agentgateway/agentgateway/controller/pkg/apiclient/fake"
	"github.com/agentgateway/agentgateway/controller/pkg/controller"
	"github.com/agentgateway/agentgateway/controller/pkg/pluginsdk/krtutil"
	"github.com/agentgateway/agentgateway/controller/pkg/syncer"
	"github.com/agentgateway/agentgateway/controller/pkg/syncer/status"
	"github.com/agentgateway/agentgateway/controller/pkg/wellknown"

	"policylint.witness/worlds"
)

// statuses keeps the last status of each object.
type statuses struct {
	lock sync.Mutex
	held map[status.Resource]any
}

func (s *statuses) Push(target status.Resource, data any) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.held[target] = data
}

func (s *statuses) Run(context.Context) {}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	quiet := log.DefaultOptions()
	quiet.OutputPaths = []string{"stderr"}
	if err := log.Configure(quiet); err != nil {
		panic(err)
	}
	settings, err := apisettings.BuildSettings()
	if err != nil {
		panic(err)
	}
	worlds.Serve(func(line []byte, told *worlds.Answer) error {
		return test.Wrap(func(t test.Failer) { ask(t, line, told, *settings) })
	})
	os.Exit(0)
}

func ask(t test.Failer, line []byte, told *worlds.Answer, settings apisettings.Settings) {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		t.Fatal(err)
	}
	documents := []string{}
	for _, text := range texts {
		documents = append(documents, string(bytes.TrimSpace(text)))
	}
	held := testutils.BuildMockCollection(t, []any{strings.Join(documents, "\n---\n")})
	held.Settings = settings
	resolver, keys := testutils.BuildRemoteHTTPResolver(held), testutils.BuildJWKSLookup(held)
	made := controller.Plugins(held, resolver, keys, plugins.DefaultCredentialResolverFactory(held))
	stop := test.NewStop(t)
	client := fake.NewClient(t)
	running := syncer.NewAgwSyncer(wellknown.DefaultAgwControllerName, client, held, plugins.MergePlugins(made...), nil,
		krtutil.NewKrtOptions(stop, nil), nil)
	client.RunAndWait(stop)
	written := &statuses{held: map[status.Resource]any{}}
	synced := running.StatusCollections().SetQueue(written)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = running.Start(ctx) }()
	kube.WaitForCacheSync("witness", stop, running.HasSynced)
	for _, each := range synced {
		each.WaitUntilSynced(stop)
	}
	written.lock.Lock()
	defer written.lock.Unlock()
	for object, each := range written.held {
		told.Add(object.Kind, object.Namespace, object.Name, each)
	}
}
