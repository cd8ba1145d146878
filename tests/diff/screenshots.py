"""The pictures of comments in docs/: `python -m tests.diff.screenshots` takes them again; look at them."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.diff.history import run
from tests.diff.pulls import PULLS, Pull, opened
from tests.diff.rendered import written
from tests.graph.browser import Browser

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images" / "comments"
PAGE = ROOT / "docs" / "comments.md"
LOOKS = (("light", 900, "light"), ("dark", 900, "dark"), ("phone", 400, "light"))
"""The name of a picture, its width, its colours."""
_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))))"
_HEAD = """# Twelve comments

What [`policylint comment`](comment.md) writes on twelve pull requests to real repositories: what the author meant to
do, and what the reviewer reads. The pictures follow your theme; below each is the same one on a phone.
`python -m tests.diff.screenshots` takes them again, and a test holds every headline, that at most 25 lines are seen
before anything is unfolded, and that no column is cut off on a phone.
"""


def comment_of(pull: Pull, place: Path, *arguments: str) -> str:
    """Return the comment on a pull request, as the job of its head writes it."""
    revisions = opened(pull, place)
    links = ("--links", "https://github.com/example/clusters/blob/change", "--revisions", "origin/main...change")
    code, out, err = run(place, "comment", "--dry-run", "--on", "github", *links, *arguments, revisions)
    assert code in (0, 1), err
    return out


def take(browser: Browser, file: Path, place: Path, width: int, theme: str) -> None:
    """Take a picture of a page as high as it is."""
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=200, deviceScaleFactor=1, mobile=False)
    browser.open(file)
    browser.wait(f"document.readyState === 'complete' && location.pathname.endsWith('/{file.name}')")
    height = browser.evaluate("document.querySelector('article').getBoundingClientRect().height")
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=int(height) + 24, deviceScaleFactor=1, mobile=False
    )
    browser.evaluate(_DRAWN)
    browser.screenshot(place, format="webp", quality=60)


def shown(pull: Pull, headline: str) -> str:
    """Return the section of the page that shows a comment."""
    at = f"images/comments/{pull.name}"
    return f"""
## {pull.what}

<picture>
<source media="(prefers-color-scheme: dark)" srcset="{at}-dark.webp"><img src="{at}-light.webp" alt="{headline}">
</picture>

<details><summary>on a phone</summary>

![{headline}]({at}-phone.webp)

</details>
"""


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    sections = []
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile) / "profile", (900, 900)) as browser:
        for pull in PULLS:
            markdown = comment_of(pull, Path(profile) / pull.name)
            file = written(markdown, Path(profile) / f"{pull.name}.html")
            for look, width, theme in LOOKS:
                take(browser, file, IMAGES / f"{pull.name}-{look}.webp", width, theme)
            headline = re.sub(r"[`*\\]|^.*?policylint: ", "", markdown.splitlines()[1])
            sections.append(shown(pull, headline.replace('"', "'").replace("&#36;", "$")))
    PAGE.write_text(_HEAD + "".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
