"""The language server (`policylint lsp`): diagnostics, fixes, hover, definitions, references, lenses, rename.

Nothing is computed here: a tree is opened as `lint` opens it, with the texts of unsaved files laid over the work tree,
and what editors ask is answered from its simulations. Only `server` imports pygls, which comes with `policylint[lsp]`.
"""

from __future__ import annotations
