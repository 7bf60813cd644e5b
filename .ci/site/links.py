"""A hook of mkdocs: links to files of the repository that are no pages of the site go to the repository."""

import posixpath
import re

REPOSITORY = "https://github.com/texttosql/texttosql/blob/main/"
LINK = re.compile(r"\]\((\.\.?/[^)\s]*)\)")


def on_page_markdown(markdown, page, **_):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def outside(match):
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        if target.startswith("docs/"):
            return match[0]
        return "](" + REPOSITORY + target + ")"

    return LINK.sub(outside, markdown)
