// Asks NGINX Gateway Fabric's control plane about worlds.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"policylint.witness/worlds"

	v1alpha1 "github.com/nginx/nginx-gateway-fabric/v2/apis/v1alpha1"
	v1alpha2 "github.com/nginx/nginx-gateway-fabric/v2/apis/v1alpha2"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/clientsettings"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/observability"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/proxysettings"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/ratelimit"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/snippetspolicy"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/upstreamsettings"
	checks "github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/validation"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/dataplane"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/graph"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/resolver"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/validation"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/status"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/framework/kinds"
)

const (
	controller = "gateway.nginx.org/nginx-gateway-controller"
	class      = "nginx"
)

var (
	scheme  = runtime.NewScheme()
	decoder = serializer.NewCodecFactory(scheme).UniversalDeserializer()
)

func init() {
	utilruntime.Must(gatewayv1.Install(scheme))
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(v1alpha2.AddToScheme(scheme))
	install(scheme)
}

func main() {
	worlds.Serve(func(line []byte, told *worlds.Answer) (err error) {
		defer func() {
			if failure := recover(); failure != nil {
				err = fmt.Errorf("panic: %v", failure)
			}
		}()
		return ask(line, told)
	})
}

func ask(line []byte, told *worlds.Answer) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		return err
	}
	processor, services := newProcessor(), places{}
	for _, text := range texts {
		// The API server serves grants in the version that a controller asks for.
		text = bytes.Replace(text, []byte(`"gateway.networking.k8s.io/v1beta1"`), []byte(`"gateway.networking.k8s.io/v1"`), 1)
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return err
		}
		if service, ok := object.(*corev1.Service); ok {
			services[client.ObjectKeyFromObject(service)] = service.Spec.ClusterIP
		}
		processor.CaptureUpsertChange(object.(client.Object))
	}
	made := processor.Process(context.Background())
	if made == nil {
		return nil
	}
	if os.Getenv("WITNESS_PROXIES") != "" {
		configurations(made, services, told)
		return nil
	}
	now := metav1.Now()
	requests := status.PrepareRouteRequests(made.L4Routes, made.Routes, now, controller)
	requests = append(requests, status.PrepareGatewayClassRequests(made.GatewayClass, made.IgnoredGatewayClasses, now)...)
	requests = append(requests, status.PrepareBackendTLSPolicyRequests(made.BackendTLSPolicies, now, controller)...)
	requests = append(requests, status.PrepareNGFPolicyRequests(made.NGFPolicies, now, controller)...)
	requests = append(requests, status.PrepareSnippetsFilterRequests(made.SnippetsFilters, now, controller)...)
	requests = append(requests, status.PrepareAuthenticationFilterRequests(made.AuthenticationFilters, now, controller)...)
	requests = append(requests, status.PrepareListenerSetRequests(made.ListenerSets, now)...)
	for _, gateway := range made.Gateways {
		requests = append(requests, status.PrepareGatewayRequests(gateway, now, nil, gateway.LatestReloadResult)...)
	}
	for _, request := range requests {
		object := request.ResourceType.DeepCopyObject().(client.Object)
		request.Setter(object)
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		var written struct {
			Status json.RawMessage `json:"status"`
		}
		if err := json.Unmarshal(text, &written); err != nil {
			return err
		}
		kind := kinds.NewMustExtractGKV(scheme)(object).Kind
		told.Add(kind, request.NsName.Namespace, request.NsName.Name, written.Status)
	}
	return nil
}

// places says where the only pod of each Service is; one without an address has none.
type places map[types.NamespacedName]string

// Resolve returns the pod of a Service, on the port of the Service.
func (p places) Resolve(
	_ context.Context, _ logr.Logger, name types.NamespacedName, port corev1.ServicePort, _ []discovery.AddressType,
) ([]resolver.Endpoint, error) {
	if p[name] == "" {
		return nil, fmt.Errorf("no endpoints found for Service %s", name)
	}
	return []resolver.Endpoint{{Address: p[name], Port: port.Port}}, nil
}

// configurations adds the files that each Gateway's NGINX gets, by name.
func configurations(made *graph.Graph, services places, told *worlds.Answer) {
	generator := config.NewGeneratorImpl(false, nil, logr.Discard())
	for name, gateway := range made.Gateways {
		if !gateway.Valid {
			continue
		}
		conf := dataplane.BuildConfiguration(context.Background(), logr.Discard(), made, gateway, services, false, "ipv4")
		files := map[string]string{}
		for _, file := range generator.Generate(conf) {
			files[file.Meta.Name] = string(file.Contents)
		}
		told.Add("Proxy", name.Namespace, name.Name, files)
	}
}

// newProcessor returns what builds the graph, with the validators that the manager gives it without NGINX Plus.
func newProcessor() *state.ChangeProcessorImpl {
	extract := kinds.NewMustExtractGKV(scheme)
	generic := checks.GenericValidator{}
	manager := policies.NewManager(extract,
		policies.ManagerConfig{GVK: extract(&v1alpha1.ClientSettingsPolicy{}), Validator: clientsettings.NewValidator(generic)},
		policies.ManagerConfig{GVK: extract(&v1alpha2.ObservabilityPolicy{}), Validator: observability.NewValidator(generic)},
		policies.ManagerConfig{GVK: extract(&v1alpha1.ProxySettingsPolicy{}), Validator: proxysettings.NewValidator(generic)},
		policies.ManagerConfig{GVK: extract(&v1alpha1.UpstreamSettingsPolicy{}), Validator: upstreamsettings.NewValidator(generic, false)},
		policies.ManagerConfig{GVK: extract(&v1alpha1.RateLimitPolicy{}), Validator: ratelimit.NewValidator(generic)},
		policies.ManagerConfig{GVK: extract(&v1alpha1.SnippetsPolicy{}), Validator: snippetspolicy.NewValidator()},
	)
	return state.NewChangeProcessorImpl(state.ChangeProcessorConfig{
		GatewayCtlrName:  controller,
		GatewayClassName: class,
		ClusterDomain:    "cluster.local",
		Logger:           logr.Discard(),
		Validators: validation.Validators{
			HTTPFieldsValidator: checks.HTTPValidator{},
			GenericValidator:    generic,
			AuthFieldsValidator: checks.AuthFieldValidator{},
			PolicyValidator:     manager,
		},
		EventRecorder:  &events.FakeRecorder{},
		MustExtractGVK: extract,
		FeatureFlags:   graph.FeatureFlags{Experimental: true},
		Snippets:       true,
	})
}
