// Asks NGINX Ingress Controller about worlds: which configuration its VirtualServers make, and what it rejects.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"policylint.witness/worlds"

	"github.com/nginx/kubernetes-ingress/internal/configs"
	"github.com/nginx/kubernetes-ingress/internal/configs/version1"
	"github.com/nginx/kubernetes-ingress/internal/configs/version2"
	"github.com/nginx/kubernetes-ingress/internal/k8s"
	"github.com/nginx/kubernetes-ingress/internal/k8s/secrets"
	logs "github.com/nginx/kubernetes-ingress/internal/logger"
	"github.com/nginx/kubernetes-ingress/internal/nginx"
	conf "github.com/nginx/kubernetes-ingress/pkg/apis/configuration/v1"
	"github.com/nginx/kubernetes-ingress/pkg/apis/configuration/validation"
)

// templates is where the templates of the image lie, below the folder of the controller's source.
const templates = "internal/configs"

var (
	scheme  = runtime.NewScheme()
	decoder = serializer.NewCodecFactory(scheme).UniversalDeserializer()
)

func init() {
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(conf.AddToScheme(scheme))
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

// kept is a manager that keeps the files which it would write.
type kept struct {
	*nginx.FakeManager
	files map[string]string
}

func (k *kept) CreateConfig(name string, content []byte) (bool, error) {
	k.files["/etc/nginx/conf.d/"+name+".conf"] = string(content)
	return true, nil
}

func (k *kept) CreateSecret(name string, content []byte, _ os.FileMode) string {
	file := path.Join("/etc/nginx/secrets", name)
	k.files[file] = string(content)
	return file
}

func ask(line []byte, told *worlds.Answer) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		return err
	}
	manager := &kept{nginx.NewFakeManager("/etc/nginx"), map[string]string{}}
	configurator, err := configuring(manager)
	if err != nil {
		return err
	}
	store := secrets.NewLocalSecretStore(configurator)
	servers := validation.NewVirtualServerValidator()
	configuration := k8s.NewConfiguration(
		func(any) bool { return true }, false, false, false, servers,
		validation.NewGlobalConfigurationValidator(map[int]bool{}),
		validation.NewTransportServerValidator(false, false, false),
		false, false, false, true, false, false,
	)
	policies, addresses := map[string]*conf.Policy{}, map[string]string{}
	for _, text := range texts {
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return err
		}
		switch each := object.(type) {
		case *corev1.Secret:
			store.AddOrUpdateSecret(each)
		case *corev1.Service:
			addresses[each.Namespace+"/"+each.Name] = each.Spec.ClusterIP
		case *conf.Policy:
			if validation.ValidatePolicy(each, validation.PolicyValidationConfig{}) == nil {
				policies[each.Namespace+"/"+each.Name] = each
			}
		case *conf.VirtualServer:
			_, problems := configuration.AddOrUpdateVirtualServer(each)
			for _, problem := range problems {
				told.Add("Problem", each.Namespace, each.Name, problem.Message)
			}
		case *conf.VirtualServerRoute:
			_, problems := configuration.AddOrUpdateVirtualServerRoute(each)
			for _, problem := range problems {
				told.Add("Problem", each.Namespace, each.Name, problem.Message)
			}
		}
	}
	configuration.CompleteStartup()
	for _, resource := range configuration.GetResources() {
		server, ok := resource.(*k8s.VirtualServerConfiguration)
		if !ok {
			continue
		}
		if _, err := configurator.AddOrUpdateVirtualServer(whole(server, policies, addresses, store)); err != nil {
			return err
		}
	}
	told.Add("Proxy", "", "", manager.files)
	return nil
}

// configuring returns what makes configurations, as the controller starts it without any flag.
func configuring(manager *kept) (*configs.Configurator, error) {
	root := os.Getenv("WITNESS_SOURCE")
	first, err := version1.NewTemplateExecutor(
		path.Join(root, templates, "version1/nginx.tmpl"), path.Join(root, templates, "version1/nginx.ingress.tmpl"))
	if err != nil {
		return nil, err
	}
	second, err := version2.NewTemplateExecutor(
		path.Join(root, templates, "version2/nginx.virtualserver.tmpl"),
		path.Join(root, templates, "version2/nginx.transportserver.tmpl"),
		path.Join(root, templates, "version2/oidc.tmpl"))
	if err != nil {
		return nil, err
	}
	ctx := logs.ContextWithLogger(context.Background(), slog.New(slog.DiscardHandler))
	return configs.NewConfigurator(configs.ConfiguratorParams{
		NginxManager: manager,
		StaticCfgParams: &configs.StaticConfigParams{
			DisableIPV6: true, DefaultHTTPListenerPort: 80, DefaultHTTPSListenerPort: 443,
		},
		Config:             configs.NewDefaultConfigParams(ctx, false),
		TemplateExecutor:   first,
		TemplateExecutorV2: second,
	}), nil
}

// whole returns a VirtualServer with all that its configuration is made of.
func whole(
	server *k8s.VirtualServerConfiguration, policies map[string]*conf.Policy, addresses map[string]string,
	store secrets.SecretStore,
) *configs.VirtualServerEx {
	made := &configs.VirtualServerEx{
		VirtualServer:               server.VirtualServer,
		VirtualServerRoutes:         server.VirtualServerRoutes,
		VirtualServerSelectorRoutes: server.VirtualServerRouteSelectors,
		Policies:                    policies,
		SecretRefs:                  map[string]*secrets.SecretReference{},
		Endpoints:                   map[string][]string{},
	}
	hold := func(namespace, name string) {
		if name != "" {
			made.SecretRefs[namespace+"/"+name] = store.GetSecret(namespace + "/" + name)
		}
	}
	if tls := server.VirtualServer.Spec.TLS; tls != nil {
		hold(server.VirtualServer.Namespace, tls.Secret)
	}
	for _, policy := range policies {
		if basic := policy.Spec.BasicAuth; basic != nil {
			hold(policy.Namespace, basic.Secret)
		}
		if shown := policy.Spec.IngressMTLS; shown != nil {
			hold(policy.Namespace, shown.ClientCertSecret)
		}
	}
	reach := func(namespace string, upstreams []conf.Upstream) {
		for _, upstream := range upstreams {
			of, name := configs.ParseServiceReference(upstream.Service, namespace)
			if address := addresses[of+"/"+name]; address != "" {
				key := configs.GenerateEndpointsKey(of, name, upstream.Subselector, upstream.Port)
				made.Endpoints[key] = []string{fmt.Sprintf("%s:%d", address, upstream.Port)}
			}
		}
	}
	reach(server.VirtualServer.Namespace, server.VirtualServer.Spec.Upstreams)
	for _, policy := range policies {
		if asking := policy.Spec.ExternalAuth; asking != nil && len(asking.AuthServicePorts) > 0 {
			port := uint16(asking.AuthServicePorts[0])
			reach(policy.Namespace, []conf.Upstream{{Service: asking.AuthServiceName, Port: port}})
		}
	}
	for _, route := range server.VirtualServerRoutes {
		reach(route.Namespace, route.Spec.Upstreams)
	}
	return made
}
