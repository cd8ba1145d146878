"""What Terraform of the tree makes may be there, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.test_alternatives import GATEWAY, ROUTE, tree

OTHER = "apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: shop}\nspec: {ports: [{port: 8080}]}\n"
FILES = {
    "k8s/gateway.yaml": GATEWAY.format(listener="http"),
    "k8s/route.yaml": ROUTE.format(section=""),
    "k8s/kustomization.yaml": "resources: [gateway.yaml, route.yaml, services.yaml]\n",
    "k8s/services.yaml": "---\n".join(OTHER % name for name in ("orders", "stock", "users")),
}
STATED = """
resource "kubernetes_service%s" "it" {
  count = var.enabled ? 1 : 0
  metadata {
    name        = "%s"
    namespace   = %s
    annotations = { "example.com/address" = var.address }
  }
  spec { type = "LoadBalancer" }
}
"""
HCL = """
resource "kubernetes_manifest" "it" {
  manifest = {
    apiVersion = "v1"
    kind       = "Service"
    metadata = {
      name      = "checkout"
      namespace = "shop"
      labels    = { name = "other" }
    }
  }
}
"""
YAML = """
resource "kubectl_manifest" "it" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Service
    metadata:
      name: checkout
      namespace: shop
  YAML
}
"""
RELEASE = """
resource "helm_release" "it" {
  name      = "%s"
  chart     = "web"
  namespace = "shop"
  set { name = "service.port" }
}
"""


@pytest.mark.parametrize(
    ("terraform", "is_doubtful"),
    [
        (STATED % ("", "checkout", '"shop"'), True),
        (STATED % ("_v1", "checkout", '"shop"'), True),
        (STATED % ("", "checkout", "kubernetes_namespace.shop.metadata[0].name"), True),
        (STATED % ("", "checkout", '"other"'), False),
        (STATED % ("", "cart", '"shop"'), False),
        (STATED % ("", "cart", '"shop"') + STATED % ("", "checkout", '"shop"'), True),
        (STATED.replace("kubernetes_service", "kubernetes_deployment") % ("", "checkout", '"shop"'), False),
        (HCL, True),
        (HCL.replace('"Service"', '"ConfigMap"'), False),
        (YAML, True),
        (YAML.replace("checkout", "cart"), False),
        (RELEASE % "checkout", True),
        (RELEASE % "checkout" + 'data "kubernetes_service" "it" {}\n', True),
        (RELEASE.replace('"shop"', '"other"') % "checkout", False),
        ('resource "aws_eks_cluster" "it" {\n  name = "checkout"\n}\n', False),
        ("", False),
    ],
)
def test_a_backend_that_terraform_makes(tmp_path: Path, terraform: str, is_doubtful: bool) -> None:
    """wdiazux/infra: a Service with an address of its own, beside a release of the chart."""
    found = tree(tmp_path, {**FILES, "terraform/main.tf": terraform}).findings()
    assert [each.confidence == "unknown" for each in found if each.rule == "GWP406"] == [is_doubtful]


def test_a_gateway_that_terraform_makes(tmp_path: Path) -> None:
    gateway = HCL.replace('"v1"', '"gateway.networking.k8s.io/v1"').replace('"Service"', '"Gateway"')
    files = {"k8s/route.yaml": FILES["k8s/route.yaml"], "main.tf": gateway.replace('"checkout"', '"edge"')}
    found = tree(tmp_path, files).findings()
    assert [each.confidence for each in found if each.rule == "GWP401"] == ["unknown"]
