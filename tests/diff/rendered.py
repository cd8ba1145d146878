"""A comment as a forge shows it: the Markdown as HTML in the width, type and colours of a pull request's page.

The condensed cut of DejaVu Sans is as wide as the type of the forges on a phone; its usual cut is an eighth wider.
"""

from __future__ import annotations

import re
from pathlib import Path

_WARNING = "\u26a0\ufe0f"
_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --muted: #59636e; --line: #d1d9e0; --back: #fff; --code: #818b981f;
  --link: #0969da; --head: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --muted: #9198a1; --line: #3d444d; --back: #0d1117;
  --code: #656c7633; --link: #4493f8; --head: #151b23; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 12px; background: var(--back); color: var(--text);
  font: 14px/1.5 "DejaVu Sans", sans-serif; font-stretch: condensed; }
article { border: 1px solid var(--line); border-radius: 6px; overflow-wrap: break-word; }
header { padding: 8px 16px; background: var(--head); border-bottom: 1px solid var(--line); color: var(--muted);
  border-radius: 6px 6px 0 0; }
header b { color: var(--text); }
main { padding: 16px; }
main > :first-child { margin-top: 0; } main > :last-child { margin-bottom: 0; }
h3 { font-size: 1.25em; line-height: 1.25; margin: 0 0 16px; }
p, ul, table, details, pre { margin: 0 0 16px; }
table { display: block; width: max-content; max-width: 100%; overflow: auto; border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid var(--line); }
code { background: var(--code); padding: .2em .4em; border-radius: 6px; font: 85% "DejaVu Sans Mono", monospace;
  white-space: break-spaces; }
pre code { display: block; padding: 16px; white-space: pre; overflow: auto; }
a { color: var(--link); text-decoration: none; }
sub { font-size: 75%; line-height: 0; vertical-align: baseline; position: relative; bottom: -.25em; }
details { display: block; } summary { cursor: pointer; }
.warning { display: inline-block; width: 1.1em; text-align: center; color: #9a6700; }
"""
LINES = """(() => {
  const linesOf = (block) => {
    const range = document.createRange();
    range.selectNodeContents(block);
    const ends = [...range.getClientRects()].filter((box) => box.height).map((box) => box.bottom).sort((a, b) => a - b);
    return ends.filter((end, number) => !number || end - ends[number - 1] > 8).length;
  };
  const isSeen = (block) => !block.closest("details > :not(summary)");
  const seen = (query) => [...document.querySelectorAll(query)].filter(isSeen);
  const rows = seen("main tr").map((row) => Math.max(...[...row.cells].map(linesOf)));
  const blocks = seen("main > h3, main > p, main > ul > li, main summary").map(linesOf);
  return [...rows, ...blocks].reduce((sum, lines) => sum + lines, 0);
})()"""
"""A script that counts the lines of text that are seen before anything is unfolded."""


def page(markdown: str) -> str:
    """Return the page that shows a comment."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
    body = re.sub(r"<!--.*?-->\n?", "", body).replace(_WARNING, '<span class="warning">\u26a0</span>')
    head = "<header><b>github-actions</b> bot commented</header>"
    top = f'<!doctype html><meta charset="utf-8"><title>comment</title><style>{_STYLE}</style>'
    return f"{top}<article>{head}<main>{body}</main></article>"


def written(markdown: str, place: Path) -> Path:
    place.write_text(page(markdown), encoding="utf-8")
    return place
