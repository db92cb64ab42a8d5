"""For mkdocs: links that lead out of docs/ to files of the repository become the names of these files."""

import posixpath
import re

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:]+)\)")


def on_page_markdown(markdown, page, **_):
    def shown(match):
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_path), match[2].partition("#")[0]))
        if not match[2].partition("#")[0] or target.startswith("docs/"):
            return match[0]
        return f"`{target}`" if match[1].strip("`") == target else f"{match[1]} (`{target}`)"

    return LINK.sub(shown, markdown)
