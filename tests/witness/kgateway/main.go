// Asks kgateway about worlds.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/krt"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"

	"policylint.witness/worlds"

	apisettings "github.com/kgateway-dev/kgateway/v2/api/settings"
	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient/fake"
	"github.com/kgateway-dev/kgateway/v2/pkg/deployer"
	proxydeployer "github.com/kgateway-dev/kgateway/v2/pkg/kgateway/deployer"
	"github.com/kgateway-dev/kgateway/v2/pkg/kgateway/extensions2/registry"
	"github.com/kgateway-dev/kgateway/v2/pkg/kgateway/proxy_syncer"
	"github.com/kgateway-dev/kgateway/v2/pkg/kgateway/translator"
	"github.com/kgateway-dev/kgateway/v2/pkg/kgateway/translator/irtranslator"
	"github.com/kgateway-dev/kgateway/v2/pkg/kgateway/wellknown"
	"github.com/kgateway-dev/kgateway/v2/pkg/krtcollections"
	"github.com/kgateway-dev/kgateway/v2/pkg/pluginsdk/collections"
	"github.com/kgateway-dev/kgateway/v2/pkg/pluginsdk/ir"
	"github.com/kgateway-dev/kgateway/v2/pkg/pluginsdk/krtutil"
	"github.com/kgateway-dev/kgateway/v2/pkg/reports"
	"github.com/kgateway-dev/kgateway/v2/pkg/schemes"
	"github.com/kgateway-dev/kgateway/v2/pkg/validator"
)

// withProxies tells whether the configuration of the proxies is asked for, too.
var withProxies = os.Getenv("WITNESS_PROXIES") != ""

var decoder = serializer.NewCodecFactory(schemes.DefaultScheme()).UniversalDeserializer()

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	worlds.Serve(func(line []byte, told *worlds.Answer) error {
		return test.Wrap(func(t test.Failer) { ask(t, line, told) })
	})
}

func ask(t test.Failer, line []byte, told *worlds.Answer) {
	failed := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var texts []json.RawMessage
	failed(json.Unmarshal(line, &texts))
	objects := []client.Object{}
	for _, text := range texts {
		object, _, err := decoder.Decode(text, nil, nil)
		failed(err)
		objects = append(objects, object.(client.Object))
	}
	held := fake.NewClient(t, objects...)
	defer held.Shutdown()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	settings, err := apisettings.BuildSettings()
	failed(err)
	common, err := collections.NewCommonCollections(
		ctx, krtutil.KrtOptions{Stop: ctx.Done()}, held, wellknown.DefaultGatewayControllerName, *settings)
	failed(err)
	checking := validator.New(*settings)
	plugins := append(registry.Plugins(ctx, common, *settings, checking), krtcollections.NewBuiltinPlugin(ctx))
	extensions := registry.MergePlugins(plugins...)
	common.InitPlugins(ctx, extensions, *settings)
	made := translator.NewCombinedTranslator(ctx, extensions, common, checking)
	made.Init(ctx)
	parameters := proxydeployer.NewGatewayParameters(held, &deployer.Inputs{
		CommonCollections: common, ImageInfo: &deployer.ImageInfo{}, GatewayClassName: wellknown.DefaultGatewayClassName,
	})
	held.RunAndWait(ctx.Done())
	common.GatewayIndex.Gateways.WaitUntilSynced(ctx.Done())
	kube.WaitForCacheSync("witness", ctx.Done(), parameters.GetCacheSyncHandlers()...)
	kube.WaitForCacheSync("witness", ctx.Done(), common.Routes.HasSynced, extensions.HasSynced, common.HasSynced,
		made.HasSynced, common.BackendIndex.HasSynced, common.Endpoints.HasSynced)

	inner := krt.TestingDummyContext{}
	proxies := []reports.ReportMap{}
	for _, gateway := range common.GatewayIndex.Gateways.List() {
		proxy, report := made.TranslateGateway(inner, ctx, gateway)
		proxies = append(proxies, report)
		if proxy != nil && withProxies {
			told.Add("Proxy", gateway.Namespace, gateway.Name, plain(t, proxy))
		}
	}
	ofProxies := reports.MergeReportMaps(proxies...)
	common.Routes.ProcessRouteStatusMarkers(inner, ofProxies)
	backends := []*ir.BackendObjectIR{}
	for _, each := range common.BackendIndex.BackendsWithPolicyRequiringStatus() {
		backends = append(backends, each.List()...)
	}
	excluded := map[schema.GroupKind]struct{}{}
	for kind, plugin := range extensions.ContributesPolicies {
		if plugin.PolicyStatusFromGatewayReports {
			excluded[kind] = struct{}{}
		}
	}
	ofBackends := proxy_syncer.GenerateBackendPolicyReport(backends, excluded)
	for _, plugin := range extensions.ContributesPolicies {
		if plugin.ProcessPolicyStaleStatusMarkers == nil {
			continue
		}
		if plugin.ProcessBackend == nil || plugin.PolicyStatusFromGatewayReports {
			plugin.ProcessPolicyStaleStatusMarkers(inner, &ofProxies)
		} else {
			plugin.ProcessPolicyStaleStatusMarkers(inner, &ofBackends)
		}
	}
	const controller = wellknown.DefaultGatewayControllerName
	for _, object := range objects {
		kind, namespace, name := object.GetObjectKind().GroupVersionKind().Kind, object.GetNamespace(), object.GetName()
		switch each := object.(type) {
		case *gwv1.Gateway:
			if _, found := ofProxies.Gateways[types.NamespacedName{Namespace: namespace, Name: name}]; found {
				if status := ofProxies.BuildGWStatus(ctx, *each, nil); status != nil {
					// Who deploys proxies writes this one over what the reporter writes, and again until it is gone.
					if _, err := parameters.GetValues(ctx, each); err != nil && !errors.Is(err, proxydeployer.ErrNoValidPorts) {
						meta.SetStatusCondition(&status.Conditions, metav1.Condition{
							Type:   string(gwv1.GatewayConditionAccepted),
							Status: metav1.ConditionFalse, Reason: string(gwv1.GatewayReasonInvalidParameters), Message: err.Error(),
						})
					}
					told.Add(kind, namespace, name, status)
				}
			}
		case *gwv1.ListenerSet:
			if status := ofProxies.BuildListenerSetStatus(ctx, *each); status != nil {
				told.Add(kind, namespace, name, status)
			}
		default:
			if status := ofProxies.BuildRouteStatus(ctx, object, controller); status != nil {
				told.Add(kind, namespace, name, status)
			}
		}
	}
	for _, report := range []reports.ReportMap{ofProxies, ofBackends} {
		for key := range report.Policies {
			build := report.BuildPolicyStatus(ctx, key, controller, gwv1.PolicyStatus{})
			plugin := extensions.ContributesPolicies[schema.GroupKind{Group: key.Group, Kind: key.Kind}]
			if plugin.BuildPolicyStatus != nil {
				build = plugin.BuildPolicyStatus(ctx, report, key, controller, gwv1.PolicyStatus{})
			}
			if build != nil {
				told.Add(key.Kind, key.Namespace, key.Name, build)
			}
		}
	}
}

// plain returns the configuration of a proxy by type URL.
func plain(t test.Failer, proxy *irtranslator.TranslationResult) map[string][]json.RawMessage {
	made := map[string][]json.RawMessage{}
	add := func(each proto.Message) {
		text, err := protojson.Marshal(each)
		if err != nil {
			t.Fatal(err)
		}
		url := "type.googleapis.com/" + string(each.ProtoReflect().Descriptor().FullName())
		made[url] = append(made[url], text)
	}
	for _, each := range proxy.Listeners {
		add(each)
	}
	for _, each := range proxy.Routes {
		add(each)
	}
	for _, each := range proxy.ExtraClusters {
		add(each)
	}
	for _, each := range proxy.Secrets {
		add(each)
	}
	return made
}
