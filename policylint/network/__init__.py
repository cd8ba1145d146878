"""Network policies: which connections are allowed, by which policy, and what the manifests do not tell.

Reads NetworkPolicy, the Network Policy API's three kinds and Cilium's two (layers 3 and 4). Whether a policy is
enforced is the network plugin's affair; nothing here claims it.
"""

from __future__ import annotations
