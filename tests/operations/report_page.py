"""What a page of `warpsmith report` says, read as a person would: its tiles, tables, anchors and dots."""
import html.parser


class ReportPage(html.parser.HTMLParser):
    """`tiles`: (value, remark) by section and name, the header's section is "". `tables`: by caption, rows of cells by
    column. `tips`: what the plots' dots say when they are pointed at. `ids`: every anchor, and how often it is there. Of
    a batch's page what the folds of single problems hold is left out."""

    def __init__(self, path):
        super().__init__()
        self.tiles, self.tables, self.tips, self.ids = {}, {}, [], {}
        self._section, self._folds, self._problem = "", 0, None
        self._text = self._name = self._value = self._table = self._row = None
        with open(path, encoding="utf-8") as text:
            self.feed(text.read())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.ids[attributes["id"]] = self.ids.get(attributes["id"], 0) + 1
        if tag == "section":
            self._section = attributes.get("id", "")
        elif tag == "details":
            self._folds += 1
            if attributes.get("class") == "problem" and self._problem is None:
                self._problem = self._folds
        elif tag == "circle" and attributes.get("data-tip"):
            self.tips.append(attributes["data-tip"])
        if self._problem is not None:
            return
        if tag in ("dt", "b", "small", "caption", "th", "td"):
            if tag in ("b", "small") and (self._name is None or self._row is not None):
                return
            self._text = ""
        if tag == "table":
            self._table = {"caption": None, "columns": [], "rows": []}
        elif tag == "tr":
            self._row = []

    def handle_data(self, data):
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag):
        if tag == "details":
            if self._problem == self._folds:
                self._problem = None
            self._folds -= 1
        if self._problem is not None:
            return
        text = " ".join((self._text or "").split())
        if tag == "dt":
            self._name, self._value = text, None
        elif tag == "b" and self._name is not None and self._row is None:
            self._value = (text, "")
        elif tag == "small" and self._value is not None and self._row is None:
            self._value = (self._value[0], text)
        elif tag == "dd" and self._value is not None:
            self.tiles[self._section, self._name] = self._value
            self._name = self._value = None
        elif tag == "caption":
            self._table["caption"] = text
        elif tag == "th":
            self._table["columns"].append(text)
        elif tag == "td":
            self._row.append(text)
        elif tag == "tr":
            if self._row:
                self._table["rows"].append(dict(zip(self._table["columns"], self._row)))
            self._row = None
        elif tag == "table":
            self.tables[self._table["caption"]] = self._table["rows"]
            self._table = None
        else:
            return
        self._text = None


# The figures as the page writes them.


def ratio_text(ratio):
    if not ratio or ratio <= 0:
        return "–"
    digits = 0 if ratio >= 99.95 else 1 if ratio >= 9.995 else 2 if ratio >= 0.0995 else 4
    return f"{ratio:.{digits}f}×"


def ms_text(milliseconds):
    if not milliseconds or milliseconds <= 0:
        return "–"
    decimals = 1 if milliseconds >= 100 else 2 if milliseconds >= 10 else 3 if milliseconds >= 1 else 4
    return f"{milliseconds:.{decimals if milliseconds >= 0.001 else 6}f} ms"


def usd_text(dollars):
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"


def seconds_text(seconds):
    return f"{seconds:.1f}" if seconds else "–"
