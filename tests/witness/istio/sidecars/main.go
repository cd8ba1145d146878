// Asks Istio what the sidecars of clients have for requests: the route configurations that it makes of VirtualServices, of
// HTTPRoutes for Services, and of Sidecars.
package main

import (
	"encoding/json"
	"strings"

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
		Ports    []struct{ Port int }
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
	}
}

func service(each object) *model.Service {
	ports := model.PortList{}
	for _, port := range each.Spec.Ports {
		ports = append(ports, &model.Port{Name: "http", Port: port.Port, Protocol: protocol.HTTP})
	}
	name, namespace := each.Metadata.Name, each.Metadata.Namespace
	return &model.Service{
		Hostname: host.Name(strings.Join([]string{name, namespace, "svc.cluster.local"}, ".")), Ports: ports,
		Resolution: model.ClientSideLB, DefaultAddress: "1.2.3.4",
		Attributes: model.ServiceAttributes{Name: name, Namespace: namespace},
	}
}

func must(t test.Failer, err error) {
	if err != nil {
		t.Fatal(err)
	}
}
