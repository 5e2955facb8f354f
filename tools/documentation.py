"""Pages of the documentation site that are made of other files, for `mkdocs.yml`.

README, CONTRIBUTING and CHANGELOG become pages, examples a gallery, docstrings the reference.
"""

import ast
import logging
from pathlib import Path
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / 'safe_sysid'
WHOLE = {
    'README.md': 'index.md',
    'CONTRIBUTING.md': 'contributing.md',
    'CHANGELOG.md': 'changelog.md',
}
STAGES = ('sets', 'trajectory', 'model', 'measure', 'identify', 'reach', 'plan', 'track', 'excite',
          'calibrate', 'identifiability', 'simulate')  # fmt: skip
LINK = re.compile(r'\]\((?!\w+:|#)([^)]+)\)')


def on_startup(**_: object) -> None:
    """Let units in docstrings be: `[theta] [J]` looks like a reference, and is none."""
    log = logging.getLogger('mkdocs.plugins.mkdocs_autorefs._internal.plugin')
    log.addFilter(lambda record: 'cross-reference target' not in record.getMessage())


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/, and the files that pages link to."""
    pages = {page: (ROOT / path).read_text(encoding='utf-8') for path, page in WHOLE.items()}
    pages = {page: LINK.sub(_link_from_root, text) for page, text in pages.items()}
    pages['gallery.md'] = _gallery()
    pages['reference/public.md'] = _public()
    for stage in STAGES:
        pages[f'reference/{stage}.md'] = _stage(stage)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    linked = [
        ROOT / 'LICENSE',
        ROOT / 'CITATION.cff',
        *ROOT.glob('config/*.yaml'),
        *ROOT.glob('examples/*.*'),
    ]
    for path in linked:
        name = f'source/{path.relative_to(ROOT).as_posix()}'
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links out of docs/ lead to the copy of the file in the site."""
    return markdown.replace('](../', '](source/') if '/' not in page.file.src_uri else markdown


def _link_from_root(match: re.Match[str]) -> str:
    """Return a link of a file beside docs/ as one of a page inside it."""
    target = match[1]
    page = WHOLE.get(target.partition('#')[0])
    if page:
        return f']({page})'
    if target.startswith('docs/'):
        return f']({target.removeprefix("docs/")})'
    return f'](source/{target})'


def _gallery() -> str:
    """Every numbered example: what it does, its code, and its picture where there is one."""
    parts = ['# Examples\n\nNumbered by difficulty; each is run by a test.\n']
    for path in sorted(ROOT.glob('examples/[0-9]*.py')):
        text = path.read_text(encoding='utf-8')
        sentence = (ast.get_docstring(ast.parse(text)) or '').partition('\n')[0]
        parts.append(f'## {path.stem.replace("_", " ")}\n\n{sentence}\n')
        for picture in sorted(ROOT.glob(f'docs/gallery/{path.stem[:2]}*.*')):
            parts.append(f'![{sentence}](gallery/{picture.name})\n')
        parts.append(f'```python\n{text.strip()}\n```\n')
    notebooks = [path.name for path in sorted(ROOT.glob('examples/*.ipynb'))]
    parts += [f'- notebook [{name}](source/examples/{name})' for name in notebooks]
    return '\n'.join(parts)


def _public() -> str:
    """Return what `import safe_sysid as ss` offers, from the imports that type checkers read."""
    tree = ast.parse((PACKAGE / '__init__.py').read_text(encoding='utf-8'))
    names = [
        f'{node.module}.{alias.name}'
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('safe_sysid')
        for alias in node.names
    ]
    parts = ['# Public API\n\n`import safe_sysid as ss`\n']
    return '\n'.join([*parts, *(f'::: {name}\n' for name in sorted(names, key=_functions_first))])


def _functions_first(name: str) -> tuple[bool, str]:
    last = name.rpartition('.')[2]
    return last[0].isupper(), last


def _stage(stage: str) -> str:
    """Modules of one folder."""
    modules = [path for path in sorted(PACKAGE.glob(f'{stage}/**/*.py')) if path.stem[0] != '_']
    dotted = ['.'.join(path.relative_to(ROOT).with_suffix('').parts) for path in modules]
    return '\n'.join([f'# safe_sysid.{stage}\n', *(f'::: {name}\n' for name in dotted)])
