"""What ingress-nginx answers, world by world, as its own tests and its source have it (docs/design/doors.md §3)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from policylint.doors import with_doors
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

WEB, NEXT, ADMIN = service("web"), service("next"), service("admin")
HOST = "http://shop.example.com"
TLS = "https://shop.example.com"
ALB_PORTS = '[{"HTTP": 80}, {"HTTPS": 443}]'


class World(NamedTuple):
    """Manifests, requests to them, and what is expected: where they end, and the login that is asked.

    Args:
        source: where that is said or tested.
    """

    name: str
    manifests: tuple[str, ...]
    expected: dict[str, tuple[str, str]]
    source: str = "test/e2e/annotations/auth.go"


WORLDS = (
    World(
        "an Ingress without annotations asks nothing", (ingress(),), {f"{HOST}/": ("web", ""), f"{TLS}/": ("web", "")}
    ),
    World("another host has no server", (ingress(),), {"http://other.example.com/": ("404", "")}),
    World(
        "auth-url asks an external authoriser",
        (ingress(auth_url="http://sso/verify"),),
        {f"{HOST}/": ("web", "externalAuth"), f"{HOST}/a/b": ("web", "externalAuth")},
    ),
    World("auth-signin alone asks nothing", (ingress(auth_signin="http://sso/start"),), {f"{HOST}/": ("web", "")}),
    World(
        "auth-type basic with its Secret asks for a password",
        (ingress(auth_type="basic", auth_secret="users"),),
        {f"{HOST}/": ("web", "basicAuth")},
    ),
    World(
        "auth-type digest asks for a password",
        (ingress(auth_type="digest", auth_secret="users"),),
        {f"{HOST}/": ("web", "digestAuth")},
    ),
    World(
        "auth-type without a Secret closes the location",
        (ingress(auth_type="basic"),),
        {f"{HOST}/": ("503", "")},
        "should return status code 503 when authentication is configured with an invalid secret",
    ),
    World(
        "a Secret of another namespace closes the location",
        (ingress(auth_type="basic", auth_secret="infra/users"),),
        {f"{HOST}/": ("503", "")},
        "allow-cross-namespace-resources is false by default",
    ),
    World("auth-secret without auth-type asks nothing", (ingress(auth_secret="users"),), {f"{HOST}/": ("web", "")}),
    World(
        "auth-tls-secret demands a certificate where there is TLS",
        (ingress(auth_tls_secret="shop/ca"),),
        {f"{TLS}/": ("web", "clientCertificate"), f"{HOST}/": ("web", "")},
        "test/e2e/annotations/authtls.go",
    ),
    World(
        "auth-tls-verify-client off demands none",
        (ingress(auth_tls_secret="shop/ca", auth_tls_verify_client="off"),),
        {f"{TLS}/": ("web", "")},
        "test/e2e/annotations/authtls.go",
    ),
    World(
        "auth-tls-verify-client optional lets pass without one",
        (ingress(auth_tls_secret="shop/ca", auth_tls_verify_client="optional"),),
        {f"{TLS}/": ("web", "optionalClientCertificate?")},
        "internal/ingress/annotations/authtls",
    ),
    World(
        "a certificate is demanded of the whole host",
        (ingress(auth_tls_secret="shop/ca"), ingress("other", "/admin Prefix admin")),
        {f"{TLS}/admin": ("admin", "clientCertificate")},
        "the server block has ssl_verify_client",
    ),
    World(
        "a list of addresses lets in those on it alone",
        (ingress(whitelist_source_range="10.0.0.0/8, 192.168.0.0/16"),),
        {f"{HOST}/ from 10.1.1.1": ("web", ""), f"{HOST}/ from 203.0.113.9": ("403", "")},
        "test/e2e/annotations/ipallowlist.go",
    ),
    World(
        "allowlist-source-range is its other name",
        (ingress(allowlist_source_range="10.0.0.0/8"),),
        {f"{HOST}/ from 203.0.113.9": ("403", "")},
        "test/e2e/annotations/ipallowlist.go",
    ),
    World(
        "a list of addresses keeps those on it out",
        (ingress(denylist_source_range="203.0.113.0/24"),),
        {f"{HOST}/ from 203.0.113.9": ("403", ""), f"{HOST}/ from 10.1.1.1": ("web", "")},
        "test/e2e/annotations/ipdenylist.go",
    ),
    World(
        "who is denied is not let in by the other list",
        (ingress(denylist_source_range="10.0.0.1", allowlist_source_range="10.0.0.0/8"),),
        {f"{HOST}/ from 10.0.0.1": ("403", ""), f"{HOST}/ from 10.0.0.2": ("web", "")},
        "nginx.tmpl: deny comes before allow",
    ),
    World(
        "satisfy any: the list or the login is enough",
        (ingress(satisfy="any", whitelist_source_range="10.0.0.0/8", auth_type="basic", auth_secret="users"),),
        {f"{HOST}/ from 10.1.1.1": ("web", ""), f"{HOST}/ from 203.0.113.9": ("web", "basicAuth")},
        "test/e2e/annotations/satisfy.go",
    ),
    World(
        "satisfy all: both are needed",
        (ingress(satisfy="all", whitelist_source_range="10.0.0.0/8", auth_type="basic", auth_secret="users"),),
        {f"{HOST}/ from 10.1.1.1": ("web", "basicAuth"), f"{HOST}/ from 203.0.113.9": ("403", "")},
        "test/e2e/annotations/satisfy.go",
    ),
    World(
        "a certificate for the host redirects to https",
        (ingress(tls=True),),
        {f"{HOST}/a?b=1": ("308 https://shop.example.com/a?b=1", ""), f"{TLS}/a": ("web", "")},
        "lua_ingress.lua, redirect_to_https",
    ),
    World(
        "a certificate for a host with a variable redirects, too",
        (ingress(tls=True, host="shop.${DOMAIN}"),),
        {f"{HOST}/": ("308 https://shop.example.com/", "")},
        "the same text is the same host",
    ),
    World(
        "ssl-redirect false does not",
        (ingress(tls=True, ssl_redirect="false"),),
        {f"{HOST}/": ("web", "")},
        "test/e2e/annotations: ssl-redirect",
    ),
    World(
        "force-ssl-redirect redirects without a certificate",
        (ingress(force_ssl_redirect="true"),),
        {f"{HOST}/": ("308 https://shop.example.com/", "")},
        "test/e2e/annotations/forcesslredirect.go",
    ),
    World(
        "the redirect comes before the login",
        (ingress(tls=True, auth_url="http://sso/"),),
        {f"{HOST}/": ("308 https://shop.example.com/", ""), f"{TLS}/": ("web", "externalAuth")},
        "rewrite phase before access phase",
    ),
    World(
        "challenges of ACME are neither redirected nor asked for a login, but for their address",
        (
            ingress(tls=True, auth_url="http://sso/", whitelist_source_range="10.0.0.0/8"),
            ingress("acme", "/.well-known/acme-challenge/x Exact web", auth_url="http://sso/"),
        ),
        {f"{HOST}/.well-known/acme-challenge/x": ("web", "")},
        "no-auth-locations and no-tls-redirect-locations",
    ),
    World(
        "permanent-redirect answers before anybody is asked",
        (ingress(permanent_redirect="https://new.example.com/there", auth_url="http://sso/"),),
        {f"{HOST}/a": ("301 https://new.example.com/there", "")},
        "test/e2e/annotations/redirect.go",
    ),
    World(
        "temporal-redirect comes first",
        (ingress(permanent_redirect="https://a.example.com", temporal_redirect="https://b.example.com/x"),),
        {f"{HOST}/": ("302 https://b.example.com/x", "")},
        "internal/ingress/annotations/redirect",
    ),
    World(
        "permanent-redirect-code",
        (ingress(permanent_redirect="https://new.example.com/", permanent_redirect_code="308"),),
        {f"{HOST}/": ("308 https://new.example.com/", "")},
        "test/e2e/annotations/redirect.go",
    ),
    World(
        "Prefix is by elements",
        (ingress(paths="/api Prefix web"),),
        {f"{HOST}/api": ("web", ""), f"{HOST}/api/": ("web", ""), f"{HOST}/apix": ("404", "")},
        "internal/ingress/controller/location.go",
    ),
    World(
        "ImplementationSpecific is Prefix",
        (ingress(paths="/api ImplementationSpecific web"),),
        {f"{HOST}/api": ("web", ""), f"{HOST}/apix": ("404", ""), f"{HOST}/API": ("404", "")},
        "SetDefaultNGINXPathType",
    ),
    World(
        "a path that ends with a slash is redirected to",
        (ingress(paths="/api/ Prefix web, /a/ Exact web"),),
        {f"{HOST}/api": ("301 http://shop.example.com/api/", ""), f"{TLS}/a": ("301 https://shop.example.com/a/", "")},
        "nginx.org, ngx_http_core_module, location",
    ),
    World(
        "permanent-redirect comes before https",
        (ingress(tls=True, permanent_redirect="https://new.example.com/there"),),
        {f"{HOST}/": ("301 https://new.example.com/there", "")},
        "return comes before rewrite_by_lua_block; asked of NGINX",
    ),
    World(
        "a location that is closed redirects nobody",
        (ingress(tls=True, auth_type="basic", permanent_redirect="https://new.example.com/there"),),
        {f"{HOST}/": ("503", "")},
        "isLocationAllowed; asked of NGINX",
    ),
    World(
        "satisfy any: the login is enough for whom a list keeps out",
        (ingress(satisfy="any", denylist_source_range="10.0.0.0/8", auth_type="basic", auth_secret="users"),),
        {f"{HOST}/ from 10.1.1.1": ("web", "basicAuth"), f"{HOST}/ from 203.0.113.9": ("web", "basicAuth")},
        "ngx_http_access_module declines who is on no list; asked of NGINX",
    ),
    World(
        "Exact is exact, and comes first",
        (ingress(paths="/api Exact next, /api Prefix web"),),
        {f"{HOST}/api": ("next", ""), f"{HOST}/api/x": ("web", "")},
        "updateServerLocations",
    ),
    World(
        "the longest path takes a request, whichever Ingress has it",
        (ingress(), ingress("admin", "/admin Prefix admin", auth_url="http://sso/")),
        {f"{HOST}/admin/x": ("admin", "externalAuth"), f"{HOST}/": ("web", ""), f"{HOST}/administration": ("web", "")},
        "test/e2e/annotations/rewrite.go: should use correct longest path match",
    ),
    World(
        "use-regex makes all paths of the host expressions without case",
        (
            ingress(use_regex="true", paths="/api/v[0-9]+ ImplementationSpecific web"),
            ingress("admin", "/admin Prefix admin", auth_url="http://sso/"),
        ),
        {
            f"{HOST}/API/v2": ("web", ""),
            f"{HOST}/ADMIN": ("admin", "externalAuth"),
            f"{HOST}/administration": ("admin", "externalAuth"),
            f"{HOST}/api/vx": ("404", ""),
        },
        "enforceRegexModifier",
    ),
    World(
        "what an expression of PCRE matches that RE2 lacks is not known",
        (ingress(use_regex="true", paths="/(?!admin) ImplementationSpecific web"),),
        {f"{HOST}/shop": ("not known", "")},
        "nginx.org, ngx_http_core_module, location: expressions are PCRE",
    ),
    World(
        "an exact path of such a host is none any more",
        (ingress(paths="/a Exact web"), ingress("b", "/b Prefix next", rewrite_target="/")),
        {f"{HOST}/abc": ("web", "")},
        "should fail to use longest match for documented warning",
    ),
    World(
        "a rewrite-target equal to the path changes nothing",
        (ingress(paths="/api Prefix web", rewrite_target="/api"),),
        {f"{HOST}/apix": ("404", "")},
        "needsRewrite",
    ),
    World(
        "a canary by weight",
        (ingress(), ingress("canary", "/ Prefix next", canary="true", canary_weight="20")),
        {f"{HOST}/": ("next 20%, web 80%", "")},
        "test/e2e/annotations/canary.go",
    ),
    World(
        "a canary by header",
        (ingress(), ingress("canary", "/ Prefix next", canary="true", canary_by_header="X-Canary")),
        {f"{HOST}/ X-Canary: always": ("next", ""), f"{HOST}/ X-Canary: never": ("web", ""), f"{HOST}/": ("web", "")},
        "test/e2e/annotations/canary.go",
    ),
    World(
        "a canary by the value of a header",
        (
            ingress(),
            ingress(
                "canary", "/ Prefix next", canary="true", canary_by_header="X-Canary", canary_by_header_value="DoCanary"
            ),
        ),
        {f"{HOST}/ X-Canary: DoCanary": ("next", ""), f"{HOST}/ X-Canary: always": ("web", "")},
        "test/e2e/annotations/canary.go",
    ),
    World(
        "a canary has the login of the Ingress that it is of",
        (
            ingress(auth_url="http://sso/"),
            ingress("canary", "/ Prefix next", canary="true", canary_by_header="X-Canary"),
        ),
        {f"{HOST}/ X-Canary: always": ("next", "externalAuth")},
        "all other annotations of a canary are those of the main Ingress",
    ),
    World(
        "a canary without an Ingress serves nothing",
        (ingress("canary", "/ Prefix next", canary="true", canary_by_header="X-Canary"),),
        {f"{HOST}/ X-Canary: always": ("404", "")},
        "should return 404 status for requests to the canary if no matching ingress is found",
    ),
    World(
        "an Ingress without a host takes the hosts that have none",
        (ingress(host="", auth_url="http://sso/"), ingress("admin", "/admin Prefix admin")),
        {"http://other.example.com/": ("web", "externalAuth"), f"{HOST}/": ("404", "")},
        "a server of its own takes all requests of a host",
    ),
    World(
        "a default backend takes what no path takes",
        (ingress(paths="/api Prefix web", more="defaultBackend: {service: {name: next, port: {number: 80}}}"),),
        {f"{HOST}/x": ("next", ""), f"{HOST}/api": ("web", "")},
        "createServers",
    ),
    World(
        "a snippet that may turn requests away leaves the login not known",
        (ingress(configuration_snippet="auth_request /check;"),),
        {f"{HOST}/": ("web", "not known")},
        "text that nobody reads",
    ),
    World(
        "a snippet that cannot asks nothing",
        (ingress(configuration_snippet="more_set_headers 'X-A: b';"),),
        {f"{HOST}/": ("web", "")},
        "text that nobody reads",
    ),
    World(
        "the ConfigMap asks everywhere",
        (
            ingress(),
            ingress("open", "/open Prefix web", enable_global_auth="false"),
            ingress("own", "/own Prefix web", auth_url="http://own/"),
            manifest(
                "v1", "ConfigMap", "ingress-nginx-controller", "ingress", "data: {global-auth-url: 'http://sso/'}"
            ),
        ),
        {f"{HOST}/": ("web", "externalAuth"), f"{HOST}/open": ("web", ""), f"{HOST}/own": ("web", "externalAuth")},
        "test/e2e/settings/global_external_auth.go",
    ),
    World(
        "the ConfigMap says below which paths no login is asked",
        (
            ingress(auth_url="http://sso/"),
            ingress("open", "/open Prefix web", auth_url="http://sso/"),
            ingress("acme", "/.well-known/acme-challenge/x Exact web", auth_url="http://sso/"),
            manifest("v1", "ConfigMap", "ingress-nginx-controller", "ingress", "data: {no-auth-locations: '/open,/x'}"),
        ),
        {
            f"{HOST}/": ("web", "externalAuth"),
            f"{HOST}/open": ("web", ""),
            f"{HOST}/.well-known/acme-challenge/x": ("web", "externalAuth"),
        },
        "test/e2e/settings/no_auth_locations.go",
    ),
    World(
        "the ConfigMap keeps addresses out",
        (
            ingress(),
            manifest("v1", "ConfigMap", "ingress-nginx-controller", "ingress", "data: {block-cidrs: '203.0.113.0/24'}"),
        ),
        {f"{HOST}/ from 203.0.113.9": ("403", ""), f"{HOST}/ from 10.1.1.1": ("web", "")},
        "test/e2e/settings/global_access_block.go",
    ),
    World(
        "an alias is the same server",
        (ingress(server_alias="shop.example.net, *.shop.example.org", auth_url="http://sso/", tls=True),),
        {
            "https://shop.example.net/": ("web", "externalAuth"),
            "https://a.shop.example.org/": ("web", "externalAuth"),
            "http://shop.example.net/": ("308 https://shop.example.net/", ""),
            "http://other.example.net/": ("404", ""),
        },
        "test/e2e/annotations/alias.go",
    ),
    World(
        "an alias has the paths of all Ingresses of the host",
        (ingress(server_alias="shop.example.net"), ingress("admin", "/admin Prefix admin", auth_url="http://sso/")),
        {"http://shop.example.net/admin": ("admin", "externalAuth"), "http://shop.example.net/": ("web", "")},
        "nginx.tmpl: server_name has the aliases",
    ),
    World(
        "a host with an Ingress of its own is no alias",
        (ingress(server_alias="own.example.net", auth_url="http://sso/"), ingress("own", host="own.example.net")),
        {"http://own.example.net/": ("web", "")},
        "docs, server-alias: the new server configuration takes place over the alias",
    ),
    World(
        "an alias that is an expression is no name",
        (ingress(server_alias="~^shop[0-9]+"),),
        {"http://shop1.example.net/": ("404", "")},
        "docs, server-alias",
    ),
    World(
        "from-to-www-redirect redirects the other name",
        (ingress(from_to_www_redirect="true", auth_url="http://sso/"),),
        {"http://www.shop.example.com/a": ("308 http://shop.example.com/a", ""), f"{HOST}/": ("web", "externalAuth")},
        "test/e2e/annotations/fromtowwwredirect.go",
    ),
    World(
        "from-to-www-redirect of a name with www",
        (ingress(host="www.example.com", from_to_www_redirect="true"),),
        {"http://example.com/a": ("308 http://www.example.com/a", "")},
        "test/e2e/annotations/fromtowwwredirect.go",
    ),
    World(
        "app-root redirects the root alone",
        (ingress(app_root="/shop"),),
        {f"{HOST}/": ("302 http://shop.example.com/shop", ""), f"{HOST}/a": ("web", "")},
        "test/e2e/annotations/approot.go",
    ),
    World(
        "app-root is of the host, whatever paths its Ingress has, and comes before https",
        (ingress(paths="/shop Prefix web", app_root="/shop", tls=True, auth_url="http://sso/"),),
        {
            f"{HOST}/": ("302 http://shop.example.com/shop", ""),
            f"{TLS}/": ("302 https://shop.example.com/shop", ""),
            f"{HOST}/shop": ("308 https://shop.example.com/shop", ""),
            f"{TLS}/shop": ("web", "externalAuth"),
        },
        "nginx.tmpl, SERVER: `if ($uri = /)` stands in the server, for each location with an app-root",
    ),
    World(
        "auth-tls-match-cn turns away what shows no certificate, over http as well",
        (ingress(auth_tls_secret="shop/ca", auth_tls_match_cn="CN=shop", tls=True, app_root="/shop"),),
        {f"{HOST}/": ("403", ""), f"{HOST}/a": ("403", ""), f"{TLS}/a": ("web", "clientCertificate")},
        "nginx.tmpl, SERVER: `if ($ssl_client_s_dn !~ …)` comes first",
    ),
    World(
        "auth-tls-match-cn wants the certificate that is optional without it",
        (ingress(auth_tls_secret="shop/ca", auth_tls_match_cn="CN=shop", auth_tls_verify_client="optional"),),
        {f"{TLS}/a": ("web", "clientCertificate optionalClientCertificate"), f"{HOST}/a": ("403", "")},
        "nginx.tmpl, SERVER",
    ),
    World(
        "auth-tls-match-cn without auth-tls-secret is nothing",
        (ingress(auth_tls_match_cn="CN=shop"),),
        {f"{HOST}/a": ("web", "")},
        "annotations/authtls, Parse: nothing is read without the Secret",
    ),
    World(
        "a Secret of certificates without its namespace, or of another one, closes the location",
        (ingress(auth_tls_secret="ca"), ingress("other", "/other Prefix next", auth_tls_secret="infra/ca")),
        {f"{HOST}/": ("503", ""), f"{TLS}/": ("503", ""), f"{TLS}/other": ("503", "")},
        "annotations/authtls, Parse: LocationDenied",
    ),
    World(
        "a location that is closed for its Secret asks nothing of others",
        (ingress(auth_tls_secret="ca"), ingress("other", "/other Prefix next")),
        {f"{TLS}/other": ("next", ""), f"{TLS}/": ("503", "")},
        "annotations/authtls, Parse: the server has no certificate to ask for",
    ),
    World(
        "an auth-url that is no address closes the location",
        (ingress(auth_url="/oauth2/auth"), ingress("other", "/other Prefix next", auth_url="https://$host/auth")),
        {f"{HOST}/": ("503", ""), f"{HOST}/other": ("next", "externalAuth")},
        "annotations/authreq, ParseStringToURL: LocationDenied",
    ),
    World(
        "TLS that may be passed through is not known to be asked for anything",
        (ingress(ssl_passthrough="true", auth_url="http://sso/"),),
        {f"{TLS}/": ("web", "not known"), f"{HOST}/": ("web", "externalAuth")},
        "docs, ssl-passthrough: a flag of the controller; all other annotations are of no effect then",
    ),
    World(
        "the ConfigMap switches the redirect off",
        (
            ingress(tls=True),
            manifest("v1", "ConfigMap", "ingress-nginx-controller", "ingress", "data: {ssl-redirect: 'false'}"),
        ),
        {f"{HOST}/": ("web", "")},
        "internal/ingress/controller/config: SSLRedirect",
    ),
)


def asked(world: World, line: str) -> tuple[str, str]:
    """Return the answer to `URL`, `URL from ADDRESS` or `URL Name: value`."""
    url, _, rest = line.partition(" ")
    client = rest.removeprefix("from ") if rest.startswith("from ") else ""
    simulation = simulated(WEB, NEXT, ADMIN, *world.manifests)
    return answer(simulation, url, client, [rest] if rest and not client else [])


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_ingress_nginx(world: World) -> None:
    assert {line: asked(world, line) for line in world.expected} == world.expected


CLASS = "networking.k8s.io/v1"


def of_class(name: str, controller: str, default: str = "") -> str:
    note = f"annotations: {{ingressclass.kubernetes.io/is-default-class: '{default}'}}" if default else ""
    return manifest(CLASS, "IngressClass", name, body=f"spec: {{controller: {controller}}}", more=note)


@pytest.mark.parametrize(
    ("name", "classes", "login"),
    [
        ("edge", (of_class("edge", "k8s.io/ingress-nginx"),), "externalAuth"),
        ("edge", (of_class("edge", "example.com/other"),), ""),
        ("", (of_class("edge", "k8s.io/ingress-nginx", "true"),), "externalAuth"),
        ("", (), "externalAuth"),
        ("haproxy", (), ""),
        ("public", (), "externalAuth"),
        ("internal", (), "externalAuth"),  # by its annotation
    ],
)
def test_the_class_says_whose_annotations_count(name: str, classes: tuple[str, ...], login: str) -> None:
    simulation = simulated(WEB, ingress(auth_url="http://sso/", of_class=name), *classes)
    assert answer(simulation, f"{HOST}/") == ("web", login)


CHART = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ingress, namespace: infra}
spec:
  chart: {spec: {chart: ingress-nginx}}
  values: {controller: {ingressClassResource: CLASS}}
"""


@pytest.mark.parametrize(
    ("stated", "of_ingress", "ends"),
    [
        ("{name: inside}", "inside", {"IngressClass inside": "308"}),
        ("{name: inside}", "other", {"IngressClass other": "web"}),  # whose it is, nobody says
        ("{name: inside, default: true}", "", {"IngressClass inside": "308"}),
        ("{default: true}", "", {"IngressClass nginx": "308"}),
        ("{}", "", {"IngressClass (default)": "web"}),
    ],
)
def test_charts_say_which_class_is_theirs(stated: str, of_ingress: str, ends: dict[str, str]) -> None:
    world = simulated(WEB, CHART.replace("CLASS", stated), ingress(of_class=of_ingress, tls=True))
    doors = [str(each.gateway.key) for each in with_doors(world).topology.gateways]
    assert {each: answer(world, f"{HOST}/")[0].split()[0] for each in doors} == ends


def test_two_classes_are_two_doors() -> None:
    simulation = simulated(
        WEB,
        of_class("a", "k8s.io/ingress-nginx"),
        of_class("b", "k8s.io/ingress-nginx"),
        ingress("a", of_class="a", auth_url="http://sso/"),
        ingress("b", of_class="b"),
    )
    found = {name: answer(simulation, f"{HOST}/", gateway=f"IngressClass/{name}") for name in ("a", "b")}
    assert found == {"a": ("web", "externalAuth"), "b": ("web", "")}


@pytest.mark.parametrize(
    ("prefix", "annotations", "of", "client", "expected"),
    [
        ("haproxy.org/", {"auth_type": "basic-auth", "auth_secret": "users"}, "haproxy", "", ("web", "basicAuth")),
        ("haproxy.org/", {"allow_list": "10.0.0.0/8"}, "haproxy", "203.0.113.9", ("403", "")),
        (
            "alb.ingress.kubernetes.io/",
            {"auth_type": "cognito"},
            "alb",
            "",
            ("web", ""),
        ),
        ("alb.ingress.kubernetes.io/", {"auth_type": "none"}, "alb", "", ("web", "")),
        (
            "alb.ingress.kubernetes.io/",
            {"auth_type": "oidc", "auth_on_unauthenticated_request": "allow"},
            "alb",
            "",
            ("web", ""),
        ),
        ("alb.ingress.kubernetes.io/", {"inbound_cidrs": "10.0.0.0/8"}, "alb", "203.0.113.9", ("403", "")),
        ("haproxy-ingress.github.io/", {"auth_url": "http://sso/"}, "haproxy", "", ("web", "externalAuth")),
        ("haproxy-ingress.github.io/", {"auth_secret": "users"}, "haproxy", "", ("web", "basicAuth")),
        ("haproxy-ingress.github.io/", {"oauth": "oauth2_proxy"}, "haproxy", "", ("web", "login")),
        ("haproxy-ingress.github.io/", {"allowlist_source_range": "10.0.0.0/8"}, "haproxy", "203.0.113.9", ("403", "")),
        ("nginx.org/", {"basic_auth_secret": "users"}, "nginx", "", ("web", "basicAuth")),
        ("nginx.org/", {"policies": "login"}, "nginx", "", ("web", "not known")),
        ("nginx.org/", {"location_snippets": "auth_request /check;"}, "nginx", "", ("web", "not known")),
    ],
)
def test_annotations_of_others(
    prefix: str, annotations: dict[str, str], of: str, client: str, expected: tuple[str, str]
) -> None:
    path = "/* ImplementationSpecific web" if of == "alb" else "/ Prefix web"
    simulation = simulated(WEB, ingress(paths=path, of_class=of, prefix=prefix, **annotations))
    assert answer(simulation, f"{HOST}/", client) == expected


MIDDLEWARE = "traefik.io/v1alpha1", "Middleware"
PLUGIN = "configuration.konghq.com/v1", "KongPlugin"


@pytest.mark.parametrize(
    ("of", "note", "named", "expected"),
    [
        ("traefik", "shop-login@kubernetescrd", (*MIDDLEWARE, "spec: {basicAuth: {secret: a}}"), ("web", "basicAuth")),
        ("traefik", "shop-login@kubernetescrd", (*MIDDLEWARE, "spec: {forwardAuth: {}}"), ("web", "forwardAuth")),
        ("traefik", "shop-login@kubernetescrd", (*MIDDLEWARE, "spec: {stripPrefix: {prefixes: [/a]}}"), ("web", "")),
        ("traefik", "shop-other@kubernetescrd", (*MIDDLEWARE, "spec: {stripPrefix: {}}"), ("404", "")),
        ("traefik", "infra-login@kubernetescrd", (*MIDDLEWARE, "spec: {stripPrefix: {}}"), ("404", "")),
        ("traefik", "login@file", (*MIDDLEWARE, "spec: {stripPrefix: {}}"), ("web", "not known")),
        ("kong", "login", (*PLUGIN, "plugin: key-auth"), ("web", "key-auth")),
        ("kong", "login", (*PLUGIN, "plugin: rate-limiting"), ("web", "")),
    ],
)
def test_objects_that_annotations_name(
    of: str, note: str, named: tuple[str, str, str], expected: tuple[str, str]
) -> None:
    """Traefik leaves out a router of which a middleware is not there."""
    prefix = {"traefik": "traefik.ingress.kubernetes.io/router.", "kong": "konghq.com/"}[of]
    field = {"traefik": "middlewares", "kong": "plugins"}[of]
    version, kind, body = named
    web = ingress(of_class=of, prefix=prefix, **{field: note})
    assert answer(simulated(WEB, web, manifest(version, kind, "login", "shop", body)), f"{HOST}/") == expected
