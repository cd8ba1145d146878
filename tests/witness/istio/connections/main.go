// Asks Istio where its own Gateways lead connections: the filter chains of each listener, with the clusters behind them.
package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	listeners "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tcp "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"

	"policylint.witness/worlds"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/host"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/protocol"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

// object is what is read of every object.
type object struct {
	Kind     string
	Metadata struct{ Namespace, Name string }
	Spec     struct {
		Ports    []struct{ Port int }
		Selector map[string]string
	}
}

func main() {
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	worlds.Serve(func(line []byte, told *worlds.Answer) error {
		return test.Wrap(func(t test.Failer) { ask(t, line, told) })
	})
}

func ask(t test.Failer, line []byte, told *worlds.Answer) {
	var texts []json.RawMessage
	must(t, json.Unmarshal(line, &texts))
	configs, services, gateways := []config.Config{}, []*model.Service{}, []object{}
	for _, text := range texts {
		var each object
		must(t, json.Unmarshal(text, &each))
		switch each.Kind {
		case "Service":
			services = append(services, service(each))
			continue
		case "Gateway":
			gateways = append(gateways, each)
		}
		read, _, err := crd.ParseInputs(string(text))
		if err != nil { // what the webhook says
			told.Add("Refused"+each.Kind, each.Metadata.Namespace, each.Metadata.Name, err.Error())
		}
		configs = append(configs, read...)
	}
	made := core.NewConfigGenTest(t, core.TestOptions{Configs: configs, Services: services, MeshConfig: mesh.DefaultMeshConfig()})
	for _, gateway := range gateways {
		namespace := gateway.Metadata.Namespace
		proxy := made.SetupProxy(&model.Proxy{
			Type: model.Router, ConfigNamespace: namespace, Labels: gateway.Spec.Selector,
			Metadata: &model.NodeMetadata{Namespace: namespace, Labels: gateway.Spec.Selector},
		})
		chains := []any{}
		for _, listener := range made.Listeners(proxy) {
			for _, chain := range listener.GetFilterChains() {
				chains = append(chains, map[string]any{
					"port":  listener.GetAddress().GetSocketAddress().GetPortValue(),
					"names": slices.Sorted(slices.Values(chain.GetFilterChainMatch().GetServerNames())),
					"tls":   chain.GetTransportSocket() != nil, "to": clusters(t, chain),
				})
			}
		}
		told.Add("Chains", namespace, gateway.Metadata.Name, chains)
	}
}

func service(each object) *model.Service {
	ports := model.PortList{}
	for _, port := range each.Spec.Ports {
		ports = append(ports, &model.Port{Name: fmt.Sprintf("tcp-%d", port.Port), Port: port.Port, Protocol: protocol.TCP})
	}
	name, namespace := each.Metadata.Name, each.Metadata.Namespace
	return &model.Service{
		Hostname: host.Name(strings.Join([]string{name, namespace, "svc.cluster.local"}, ".")), Ports: ports,
		Resolution: model.ClientSideLB, DefaultAddress: "1.2.3.4",
		Attributes: model.ServiceAttributes{Name: name, Namespace: namespace},
	}
}

// clusters returns where a chain sends connections, with the weights; nothing where it reads requests.
func clusters(t test.Failer, chain *listeners.FilterChain) map[string]uint32 {
	last := chain.GetFilters()[len(chain.GetFilters())-1]
	if last.GetName() != "envoy.filters.network.tcp_proxy" {
		return nil
	}
	proxy, found := &tcp.TcpProxy{}, map[string]uint32{}
	must(t, last.GetTypedConfig().UnmarshalTo(proxy))
	if proxy.GetCluster() != "" {
		found[proxy.GetCluster()] = 1
	}
	for _, each := range proxy.GetWeightedClusters().GetClusters() {
		found[each.GetName()] += each.GetWeight()
	}
	return found
}

func must(t test.Failer, err error) {
	if err != nil {
		t.Fatal(err)
	}
}
