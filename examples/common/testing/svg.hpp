// Checks whether SVG documents are well-formed XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

// Returns whether every opened element is closed, in the right order, and whether no text contains a bare '<' or '&'.
inline bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    const std::string_view rest = std::string_view(xml).substr(i);
    if (rest[0] == '&') {
      if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;")) return false;
    } else if (rest[0] == '<') {
      const std::size_t end = rest.find('>');
      if (end == rest.npos) return false;
      const std::string tag(rest.substr(1, end - 1));
      const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find(' ') - (tag[0] == '/' ? 1 : 0));
      if (tag[0] == '/') {
        if (open.empty() || open.back() != name) return false;
        open.pop_back();
      } else if (tag.back() != '/') {
        open.push_back(name);
      }
      i += end;
    }
  }
  return open.empty();
}

}  // namespace examples
