"""Colours of curves, the same on pages and in figures."""

# On paper and on a dark page: seven for what is compared, then measured, limits, truth.
LIGHT = (
    '#1f6feb', '#c2560f', '#16845b', '#8250df', '#b3367c', '#7a6a00', '#0b7c93', '#5f6873',
    '#c0392b', '#2f3a44',
)  # fmt: skip
DARK = (
    '#58a6ff', '#f0883e', '#3fb27f', '#bc8cff', '#f778ba', '#d2b33b', '#39c5cf', '#9aa4af',
    '#ff7b72', '#e6e9ec',
)  # fmt: skip
MEASURED, LIMIT, TRUTH = 7, 8, 9


def style() -> str:
    """Return the colours as CSS variables, by the scheme that a reader prefers."""
    light, dark = (
        ' '.join(f'--c{i}: {color};' for i, color in enumerate(colors)) for colors in (LIGHT, DARK)
    )
    return (
        f':root {{ {light} }}\n'
        f'@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n'
    )
