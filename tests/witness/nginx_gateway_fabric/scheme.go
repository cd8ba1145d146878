package main

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	inference "sigs.k8s.io/gateway-api-inference-extension/api/v1"
	gatewayv1beta1 "sigs.k8s.io/gateway-api/apis/v1beta1"

	"github.com/nginx/nginx-gateway-fabric/v2/internal/framework/kinds"
)

// install makes the kinds known of which the change processor asks, whether worlds have objects of them or not.
func install(scheme *runtime.Scheme) {
	utilruntime.Must(discoveryv1.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(gatewayv1beta1.Install(scheme))
	utilruntime.Must(inference.Install(scheme))
	scheme.AddKnownTypeWithName(kinds.APPolicyGVK, kinds.NewAPPolicyObject())
	scheme.AddKnownTypeWithName(kinds.APLogConfGVK, kinds.NewAPLogConfObject())
}
