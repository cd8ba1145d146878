// Asks Istio with which filters its gateways judge requests: those that it makes of AuthorizationPolicies and
// RequestAuthentications.
package main

import (
	"encoding/json"

	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	corev1 "k8s.io/api/core/v1"

	"policylint.witness/worlds"

	"istio.io/api/label"
	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pilot/pkg/security/authn"
	"istio.io/istio/pilot/pkg/security/authz/builder"
	"istio.io/istio/pilot/pkg/security/trustdomain"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

func main() {
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	worlds.Serve(func(line []byte, told *worlds.Answer) error {
		return test.Wrap(func(t test.Failer) { ask(t, line, told) })
	})
}

// kept are the kinds of which filters are made.
var kept = map[string]bool{"AuthorizationPolicy": true, "RequestAuthentication": true}

func ask(t test.Failer, line []byte, told *worlds.Answer) {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		t.Fatal(err)
	}
	configs, gateways := []config.Config{}, []corev1.ObjectReference{}
	for _, text := range texts {
		var head struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		if err := json.Unmarshal(text, &head); err != nil {
			t.Fatal(err)
		}
		if head.Kind == "Gateway" {
			gateways = append(gateways, corev1.ObjectReference{Namespace: head.Metadata.Namespace, Name: head.Metadata.Name})
		}
		if !kept[head.Kind] {
			continue
		}
		if read, _, err := crd.ParseInputs(string(text)); err != nil { // what the webhook says
			told.Add("Refused"+head.Kind, head.Metadata.Namespace, head.Metadata.Name, err.Error())
		} else {
			configs = append(configs, read...)
		}
	}
	made := core.NewConfigGenTest(t, core.TestOptions{Configs: configs, MeshConfig: mesh.DefaultMeshConfig()})
	push := made.PushContext()
	for _, gateway := range gateways {
		labels := map[string]string{label.IoK8sNetworkingGatewayGatewayName.Name: gateway.Name}
		proxy := made.SetupProxy(&model.Proxy{
			Type: model.Router, ConfigNamespace: gateway.Namespace, Labels: labels,
			Metadata: &model.NodeMetadata{Namespace: gateway.Namespace, Labels: labels},
		})
		policies := push.AuthzPolicies.ListAuthorizationPolicies(
			model.PolicyMatcherForProxy(proxy).WithRootNamespace(push.Mesh.GetRootNamespace()))
		filters := []*hcm.HttpFilter{}
		if tokens := authn.NewPolicyApplier(push, proxy, nil).JwtFilter(false); tokens != nil {
			filters = append(filters, tokens)
		}
		bundle := trustdomain.NewBundle(push.Mesh.TrustDomain, push.Mesh.TrustDomainAliases)
		if rules := builder.New(bundle, push, policies, builder.Option{}); rules != nil {
			filters = append(filters, rules.BuildHTTP()...)
		}
		plain := []json.RawMessage{}
		for _, filter := range filters {
			text, err := protojson.Marshal(filter)
			if err != nil {
				t.Fatal(err)
			}
			plain = append(plain, text)
		}
		told.Add("Filters", gateway.Namespace, gateway.Name, plain)
	}
}
