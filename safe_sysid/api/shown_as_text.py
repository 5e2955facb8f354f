"""How results show themselves in a notebook: as the table that `print` gives."""

from html import escape


class ShownAsText:
    """A result whose `print` is a table."""

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return f'<pre>{escape(str(self))}</pre>'
