"""Makes an SVG of matplotlib much smaller, without a change that a reader sees.

Numbers are rounded to a tenth of a point, styles become classes, and groups, metadata and unused identifiers go. Within
a panel, paths of equal style become one path. Copies of a symbol become one path with an SVG marker at each point.
"""

import html
import re
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
FONT = "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif}"


class Names(dict):
    """Gives each new key the next name of a prefix: a0, a1, ..."""

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def __missing__(self, key):
        self[key] = f"{self._prefix}{len(self)}"
        return self[key]


def rounded(text, digits=1):
    return re.sub(r"-?\d+\.\d+", lambda number: f"{round(float(number[0]), digits) + 0.0:g}", text)


def short_path(path, digits=1):
    """Rounds the numbers of a path, and writes horizontal and vertical lines with one number."""
    short, last = [], [None, None]
    for command, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", rounded(path, digits)):
        numbers = numbers.split()
        if command == "L" and numbers[1] == last[1]:
            short.append("H" + numbers[0])
        elif command == "L" and numbers[0] == last[0]:
            short.append("V" + numbers[1])
        else:
            short.append(command + " ".join(numbers))
        last = numbers[-2:] or last
    return "".join(short)


class Smaller:
    def __init__(self, text):
        self.classes, self.markers, self.clips = Names("s"), Names("m"), Names("c")
        self.root = xml.fromstring(text)
        self.by_id = {element.get("id"): element for element in self.root.iter() if element.get("id")}

    def class_of(self, style):
        """Returns the class of a style. A text has the font of FONT."""
        return self.classes[re.sub(r"([:;]) ", r"\1", re.sub(r"font-family: [^;]*(; )?", "", style))]

    def clip_of(self, element, outer):
        found = re.search(r"#(\w+)", element.get("clip-path", ""))
        return self.clips[found[1]] if found else outer

    def drawn(self, element, clip=None):
        """Yields (class, marker, clip, path) of each path below an element, and the text of each text."""
        clip = self.clip_of(element, clip)
        style = element.get("style", "")
        if element.tag == SVG + "use":
            marker = self.markers[element.get(LINK)[1:], style]
            yield "", marker, clip, "M" + rounded(f"{float(element.get('x'))} {float(element.get('y'))}")
        elif element.tag == SVG + "path" and style != "fill: none":  # otherwise it is an invisible background
            yield self.class_of(style), "", clip, short_path(element.get("d"))
        elif element.tag == SVG + "text":
            yield self.text(element)
        elif element.tag == SVG + "g":
            for child in element:
                yield from self.drawn(child, clip)

    def text(self, element):
        place = {key: rounded(value) for key in ("x", "y", "transform") if (value := element.get(key))}
        if place.get("transform", "").startswith("rotate(-0 "):
            del place["transform"]
        place = " ".join(f'{key}="{value}"' for key, value in place.items())
        text = html.escape(element.text, quote=False)
        return f'<text class="{self.class_of(element.get("style"))}" {place}>{text}</text>'

    def panel(self, element):
        """Returns the lines of a panel: its paths, each at the place of the last path of its kind, and its texts."""
        paths, texts = {}, []
        for one in self.drawn(element):
            if isinstance(one, str):
                texts.append(one)
            else:
                paths[one[:3]] = paths.pop(one[:3], "") + one[3]
        lines = []
        for (kind, marker, clip), d in paths.items():
            look = f'style="fill:none;marker:url(#{marker})"' if marker else f'class="{kind}"'
            clip = f' clip-path="url(#{clip})"' if clip else ""
            lines.append(f'<path {look}{clip} d="{d}"/>')
        return lines + texts

    def definitions(self):
        """Returns the lines of the markers and clip paths, and of the styles."""
        lines = []
        for (symbol, style), marker in self.markers.items():
            d = short_path(self.by_id[symbol].get("d"), 2)
            lines.append(f'<marker id="{marker}" overflow="visible" markerUnits="userSpaceOnUse">'
                         f'<path class="{self.class_of(style)}" d="{d}"/></marker>')
        for clip, name in self.clips.items():
            box = " ".join(f'{key}="{rounded(value)}"' for key, value in self.by_id[clip][0].attrib.items())
            lines.append(f'<clipPath id="{name}"><rect {box}/></clipPath>')
        styles = [f".{name}{{{style}}}" for style, name in self.classes.items()]
        return ["<defs>", "<style>*{stroke-linejoin:round}", FONT, *styles, "</style>", *lines, "</defs>"]

    def svg(self):
        panels = [line for panel in self.by_id["figure_1"] for line in self.panel(panel)]
        size = " ".join(f'{key}="{self.root.get(key)}"' for key in ("width", "height", "viewBox"))
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
        return "\n".join([svg, *self.definitions(), *panels, "</svg>", ""])
