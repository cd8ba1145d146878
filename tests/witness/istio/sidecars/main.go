// Asks Istio what the sidecars of clients have for requests: the route configurations that it makes of VirtualServices, of
// HTTPRoutes for Services, and of Sidecars; and for connections: the filter chains of each listener.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	listeners "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tcp "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/gateway-api/pkg/consts"

	"policylint.witness/worlds"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/config/kube/gateway"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pilot/pkg/serviceregistry/kube/controller"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/host"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/protocol"
	"istio.io/istio/pkg/config/schema/gvk"
	"istio.io/istio/pkg/config/schema/gvr"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/kclient/clienttest"
	"istio.io/istio/pkg/kube/krt"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

var served = []schema.GroupVersionResource{
	gvr.KubernetesGateway, gvr.ReferenceGrant, gvr.ListenerSet, gvr.GatewayClass, gvr.HTTPRoute, gvr.GRPCRoute,
	gvr.TCPRoute, gvr.TLSRoute, gvr.ServiceEntry, gvr.XBackendTrafficPolicy, gvr.BackendTLSPolicy,
}

// object is what is read of every object.
type object struct {
	APIVersion string
	Kind       string
	Metadata   struct{ Namespace, Name string }
	Spec       struct {
		Ports     []struct{ Name string; Port int }
		ClusterIP string
		Template struct{ Metadata struct{ Labels map[string]string } }
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
	objects, services, clients, configs := []runtime.Object{}, []*model.Service{}, []object{}, []config.Config{}
	for _, text := range texts {
		var each object
		must(t, json.Unmarshal(text, &each))
		switch {
		case strings.HasPrefix(each.APIVersion, "networking.istio.io/"):
			read, _, err := crd.ParseInputs(string(text))
			if err != nil { // what the webhook says
				told.Add("Refused"+each.Kind, each.Metadata.Namespace, each.Metadata.Name, err.Error())
			}
			for _, one := range read {
				one.Domain = "cluster.local"
				configs = append(configs, one)
			}
			continue
		case each.Kind == "Deployment":
			clients = append(clients, each)
			continue
		case each.Kind == "Service":
			services = append(services, service(each))
		}
		read, _, err := kube.IstioCodec.UniversalDeserializer().Decode(text, nil, nil)
		must(t, err)
		objects = append(objects, read)
	}
	client := kube.NewFakeClient(objects...)
	for _, resource := range served {
		clienttest.MakeCRDWithAnnotations(t, client, resource, map[string]string{
			consts.BundleVersionAnnotation: consts.BundleVersion,
		})
	}
	stop := test.NewStop(t)
	always := func(schema.GroupVersionResource, <-chan struct{}) bool { return true }
	options := controller.Options{DomainSuffix: "cluster.local", KrtDebugger: &krt.DebugHandler{}}
	asked := gateway.NewController(client, always, options, nil)
	go asked.Run(stop)
	client.RunAndWait(stop)
	asked.Reconcile(core.NewConfigGenTest(t, core.TestOptions{Services: services}).PushContext())
	kube.WaitForCacheSync("witness", stop, asked.HasSynced)
	configs = append(configs, asked.List(gvk.VirtualService, "")...)
	made := core.NewConfigGenTest(t, core.TestOptions{Configs: configs, Services: services, MeshConfig: mesh.DefaultMeshConfig()})
	for _, each := range clients {
		namespace, labels := each.Metadata.Namespace, each.Spec.Template.Metadata.Labels
		proxy := made.SetupProxy(&model.Proxy{
			Type: model.SidecarProxy, ConfigNamespace: namespace, Labels: labels,
			DNSDomain: namespace + ".svc.cluster.local", IPAddresses: []string{"10.3.3.3"},
			Metadata: &model.NodeMetadata{Namespace: namespace, Labels: labels},
		})
		found := map[string]json.RawMessage{}
		for _, routes := range made.Routes(proxy) {
			text, err := protojson.Marshal(routes)
			must(t, err)
			found[routes.GetName()] = text
		}
		told.Add("Routes", namespace, each.Metadata.Name, found)
		chains := []any{}
		for _, listener := range made.Listeners(proxy) {
			at := listener.GetAddress().GetSocketAddress()
			for _, chain := range append(listener.GetFilterChains(), listener.GetDefaultFilterChain()) {
				if chain == nil {
					continue
				}
				blocks := []string{}
				for _, each := range chain.GetFilterChainMatch().GetPrefixRanges() {
					blocks = append(blocks, fmt.Sprintf("%s/%d", each.GetAddressPrefix(), each.GetPrefixLen().GetValue()))
				}
				chains = append(chains, map[string]any{
					"address": at.GetAddress(), "port": at.GetPortValue(), "blocks": blocks,
					"names": chain.GetFilterChainMatch().GetServerNames(), "to": clusters(t, chain),
					"last": chain == listener.GetDefaultFilterChain(),
				})
			}
		}
		told.Add("Chains", namespace, each.Metadata.Name, chains)
	}
}

func service(each object) *model.Service {
	ports := model.PortList{}
	for _, port := range each.Spec.Ports {
		read := protocol.Parse(strings.Split(port.Name, "-")[0])
		ports = append(ports, &model.Port{Name: port.Name, Port: port.Port, Protocol: read})
	}
	address := each.Spec.ClusterIP
	if address == "" {
		address = "1.2.3.4"
	}
	name, namespace := each.Metadata.Name, each.Metadata.Namespace
	return &model.Service{
		Hostname: host.Name(strings.Join([]string{name, namespace, "svc.cluster.local"}, ".")), Ports: ports,
		Resolution: model.ClientSideLB, DefaultAddress: address,
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
