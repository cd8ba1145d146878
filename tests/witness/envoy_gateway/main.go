// Reads one world per line on stdin and writes what Envoy Gateway makes of it, one line per world: which objects the API
// server would refuse, every status that the controller would write, and the configuration of each Envoy.
//
// A world is {"objects": [manifest…], "xds": bool, "ir": bool}; the objects are those of one GatewayClass.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"

	certificatesv1b1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	gwapiv1b1 "sigs.k8s.io/gateway-api/apis/v1beta1"

	"google.golang.org/protobuf/encoding/protojson"

	envoygateway "github.com/envoyproxy/gateway"
	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	gatewaystatus "github.com/envoyproxy/gateway/internal/gatewayapi/status"
	"github.com/envoyproxy/gateway/internal/logging"
	"github.com/envoyproxy/gateway/internal/xds/translator"

	"policylint.witness/crds"
)

type world struct {
	Objects []map[string]any `json:"objects"`
	Xds     bool             `json:"xds"`
	IR      bool             `json:"ir"`
}

type status struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    any    `json:"status"`
}

type answer struct {
	Refused  map[string]string                       `json:"refused"`
	Error    string                                  `json:"error,omitempty"`
	Statuses []status                                `json:"statuses"`
	Xds      map[string]map[string][]json.RawMessage `json:"xds,omitempty"`
	IR       any                                     `json:"ir,omitempty"`
}

// apiServer has what the CRDs of this release say.
var apiServer = crds.Serve(envoygateway.GatewayCRDs)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			text, failure := json.Marshal(ask(line))
			if failure != nil {
				text, _ = json.Marshal(answer{Error: failure.Error()})
			}
			out.Write(append(text, '\n'))
			out.Flush()
		}
		if err != nil {
			return
		}
	}
}

func ask(line []byte) (told answer) {
	defer func() {
		if reason := recover(); reason != nil {
			told.Error = fmt.Sprintf("panic: %v", reason)
		}
	}()
	told.Refused = map[string]string{}
	var asked world
	if err := utiljson.Unmarshal(line, &asked); err != nil {
		told.Error = err.Error()
		return told
	}
	resources := resource.NewResources()
	for _, object := range asked.Objects {
		if err := add(resources, object); err != nil {
			made := unstructured.Unstructured{Object: object}
			told.Refused[made.GetKind()+" "+made.GetNamespace()+"/"+made.GetName()] = err.Error()
		}
	}
	if resources.GatewayClass == nil {
		told.Error = "no GatewayClass"
		return told
	}
	resources.Sort()
	logger := logging.DefaultLogger(io.Discard, egv1a1.LogLevelInfo)
	named(resources)
	made := &gatewayapi.Translator{
		GatewayControllerName:   string(resources.GatewayClass.Spec.ControllerName),
		GatewayClassName:        gwapiv1.ObjectName(resources.GatewayClass.Name),
		GlobalRateLimitEnabled:  true,
		EndpointRoutingDisabled: true,
		EnvoyPatchPolicyEnabled: true,
		BackendEnabled:          true,
		ControllerNamespace:     "envoy-gateway-system",
		MergeGateways:           gatewayapi.IsMergeGatewaysEnabled(resources),
		Logger:                  logger,
	}
	result, err := made.Translate(context.Background(), resources)
	if err != nil {
		told.Error = err.Error()
	}
	for _, gateway := range result.Gateways {
		if gatewaystatus.GatewayAccepted(gateway) {
			gatewaystatus.UpdateGatewayStatusAccepted(gateway)
		}
	}
	told.Statuses = statuses(&result.Resources)
	if asked.IR {
		told.IR = result.XdsIR
	}
	if asked.Xds {
		told.Xds = map[string]map[string][]json.RawMessage{}
		for key, ir := range result.XdsIR {
			proxy := &translator.Translator{
				ControllerNamespace: "envoy-gateway-system",
				FilterOrder:         ir.FilterOrder,
				GlobalRateLimit:     &translator.GlobalRateLimitSettings{ServiceURL: "grpc://127.0.0.1:8081"},
				Logger:              logger,
			}
			table, err := proxy.Translate(context.Background(), ir)
			if err != nil {
				told.Error += " xds of " + key + ": " + err.Error()
			}
			if table == nil {
				continue
			}
			told.Xds[key] = map[string][]json.RawMessage{}
			for kind, found := range table.XdsResources {
				for _, one := range found {
					text, err := protojson.Marshal(one)
					if err != nil {
						told.Error += " " + err.Error()
						continue
					}
					told.Xds[key][kind] = append(told.Xds[key][kind], text)
				}
			}
		}
	}
	return told
}

// named leaves of the EnvoyProxies those that something names, and refuses Gateways that name none, as the controller
// does before it translates (processGatewayParamsRef).
func named(resources *resource.Resources) {
	held := resources.EnvoyProxiesForGateways
	find := func(namespace, name string) *egv1a1.EnvoyProxy {
		for _, proxy := range held {
			if proxy.Namespace == namespace && proxy.Name == name {
				return proxy
			}
		}
		return nil
	}
	resources.EnvoyProxiesForGateways = nil
	if ref := resources.GatewayClass.Spec.ParametersRef; ref != nil && ref.Namespace != nil {
		resources.EnvoyProxyForGatewayClass = find(string(*ref.Namespace), ref.Name)
	}
	for _, gateway := range resources.Gateways {
		if gateway.Spec.Infrastructure == nil || gateway.Spec.Infrastructure.ParametersRef == nil {
			continue
		}
		ref := gateway.Spec.Infrastructure.ParametersRef
		proxy := find(gateway.Namespace, ref.Name)
		failure := ""
		switch {
		case gatewayapi.IsMergeGatewaysEnabled(resources):
			failure = "no parametersRef beside mergeGateways"
		case string(ref.Group) != egv1a1.GroupName || ref.Kind != egv1a1.KindEnvoyProxy:
			failure = "no EnvoyProxy"
		case proxy == nil:
			failure = "failed to find it"
		default:
			resources.EnvoyProxiesForGateways = append(resources.EnvoyProxiesForGateways, proxy)
			continue
		}
		gatewaystatus.UpdateGatewayStatusNotAccepted(gateway, gwapiv1.GatewayReasonInvalidParameters, failure)
	}
}

// add puts an object where its kind belongs, validated and with the defaults of its CRD as the API server would.
func add(resources *resource.Resources, object map[string]any) error {
	made := &unstructured.Unstructured{Object: object}
	group := made.GroupVersionKind().Group
	if group == egv1a1.GroupName || group == gwapiv1.GroupName {
		if err := apiServer.Create(object); err != nil {
			return err
		}
	}
	text, err := json.Marshal(made.Object)
	if err != nil {
		return err
	}
	switch made.GetKind() {
	case "GatewayClass":
		resources.GatewayClass = &gwapiv1.GatewayClass{}
		return json.Unmarshal(text, resources.GatewayClass)
	case "EnvoyProxy":
		return put(text, &resources.EnvoyProxiesForGateways)
	case "Gateway":
		return put(text, &resources.Gateways)
	case "ListenerSet":
		return put(text, &resources.ListenerSets)
	case "HTTPRoute":
		return put(text, &resources.HTTPRoutes)
	case "GRPCRoute":
		return put(text, &resources.GRPCRoutes)
	case "TLSRoute":
		return put(text, &resources.TLSRoutes)
	case "TCPRoute":
		return put(text, &resources.TCPRoutes)
	case "UDPRoute":
		return put(text, &resources.UDPRoutes)
	case "ReferenceGrant":
		return put[gwapiv1b1.ReferenceGrant](text, &resources.ReferenceGrants)
	case "Namespace":
		return put[corev1.Namespace](text, &resources.Namespaces)
	case "Service":
		return put(text, &resources.Services)
	case "ServiceImport":
		return put(text, &resources.ServiceImports)
	case "EndpointSlice":
		return put[discoveryv1.EndpointSlice](text, &resources.EndpointSlices)
	case "Secret":
		return putSecret(text, resources)
	case "ConfigMap":
		return put(text, &resources.ConfigMaps)
	case "ClusterTrustBundle":
		return put[certificatesv1b1.ClusterTrustBundle](text, &resources.ClusterTrustBundles)
	case "EnvoyPatchPolicy":
		return put(text, &resources.EnvoyPatchPolicies)
	case "ClientTrafficPolicy":
		return put(text, &resources.ClientTrafficPolicies)
	case "BackendTrafficPolicy":
		return put(text, &resources.BackendTrafficPolicies)
	case "SecurityPolicy":
		return put(text, &resources.SecurityPolicies)
	case "BackendTLSPolicy":
		return put(text, &resources.BackendTLSPolicies)
	case "EnvoyExtensionPolicy":
		return put(text, &resources.EnvoyExtensionPolicies)
	case "Backend":
		return put(text, &resources.Backends)
	case "HTTPRouteFilter":
		return put(text, &resources.HTTPRouteFilters)
	}
	return fmt.Errorf("kind %q is not read", made.GetKind())
}

func put[T any](text []byte, list *[]*T) error {
	var made T
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	*list = append(*list, &made)
	return nil
}

// putSecret puts a Secret with its stringData as the API server stores it.
func putSecret(text []byte, resources *resource.Resources) error {
	if err := put(text, &resources.Secrets); err != nil {
		return err
	}
	made := resources.Secrets[len(resources.Secrets)-1]
	if made.Data == nil {
		made.Data = map[string][]byte{}
	}
	for name, value := range made.StringData {
		made.Data[name] = []byte(value)
	}
	made.StringData = nil
	return nil
}

// statuses lists the `status` of every object that has one, kind by kind in the order of the fields of Resources.
func statuses(resources *resource.Resources) []status {
	told := []status{}
	all := reflect.ValueOf(resources).Elem()
	for i := range all.NumField() {
		list := all.Field(i)
		if list.Kind() != reflect.Slice {
			continue
		}
		for j := range list.Len() {
			object := reflect.Indirect(list.Index(j))
			if object.Kind() != reflect.Struct {
				continue
			}
			written := object.FieldByName("Status")
			meta := object.FieldByName("ObjectMeta")
			if !written.IsValid() || !meta.IsValid() {
				continue
			}
			told = append(told, status{
				Kind:      object.FieldByName("TypeMeta").FieldByName("Kind").String(),
				Namespace: meta.FieldByName("Namespace").String(),
				Name:      meta.FieldByName("Name").String(),
				Status:    written.Interface(),
			})
		}
	}
	return told
}
