#include "svg.hpp"

#include "text.hpp"

namespace examples::svg {

std::string head(int width, int height, std::string_view style) {
  constexpr std::string_view common =
      "<style>\n"
      "text { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #eeecf5 }\n"
      ".title { font-size: 22px; font-weight: bold } .note { font-size: 12px; fill: #a9a4c0 }\n"
      ".name { font-size: 13px; fill: #a9a4c0 } ";
  return format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", width,
                height, width, height)
      .append(common)
      .append(style)
      .append("</style>\n<rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#13121f\"/>\n");
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string text_at(double x, double y, const char* css_class, std::string_view text) {
  return format("<text x=\"%g\" y=\"%g\" class=\"%s\">", x, y, css_class) + escaped(text) + "</text>\n";
}

std::string rect(double x, double y, double width, double height, Rgb fill) {
  return format("<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%02x%02x%02x\"/>\n", x, y, width, height,
                unsigned{fill.red}, unsigned{fill.green}, unsigned{fill.blue});
}

}  // namespace examples::svg
