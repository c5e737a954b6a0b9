// Fuzzes the date reader. For any text, the date reader must return a date of the calendar, or a status that rejects
// the text.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "reader.hpp"
#include "support/require.hpp"
#include "text.hpp"

namespace {

using namespace date_reader;
using ladon_fuzz::require;

void check_date(const Reading& reading) {
  const auto iso = reading.iso();
  const std::string_view text(iso.data(), iso.size());
  int year = 0, month = 0, day = 0;
  require(std::sscanf(std::string(text).c_str(), "%4d-%2d-%2d", &year, &month, &day) == 3, "a date has three numbers");
  require(year >= first_year && year <= last_year, "a date has a year that the reader knows");
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int february = leap ? 29 : 28, days[] = {31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  require(month >= 1 && month <= 12, "a date has a month");
  require(day >= 1 && day <= days[month - 1], "a date has a day of its month");
}

// Checks that `squeeze` does not change a squeezed text (lower case, single spaces), and that the squeezed text gives
// the same reading as the original text.
void check_squeezed(const Reading& reading, Workspace& workspace) {
  Squeezed again{};
  require(squeeze(reading.text.view(), again) == Status::date, "a squeezed text can be read");
  require(again.view() == reading.text.view(), "a squeezed text is squeezed to itself");
  const Reading same = read(reading.text.view(), workspace);
  require(same.status == reading.status && same.digits == reading.digits, "a squeezed text is read as the text is");
}

void check(std::string_view text, Workspace& workspace, Attention& attention) {
  const Reading reading = read(text, workspace);
  require(reading.text.size <= longest_text, "a squeezed text has at most 40 characters");
  if (reading.status == Status::date || reading.status == Status::no_date) {
    for (const float certainty : reading.certainty)
      require(certainty > 0 && certainty < 1.0001f, "a certainty is a probability");
    for (const std::uint8_t digit : reading.digits) require(digit < classes, "a digit is a class");
    check_squeezed(reading, workspace);
    const Reading looked = read(text, workspace, &attention);
    require(std::memcmp(&looked.digits, &reading.digits, sizeof(reading.digits)) == 0, "to ask where changes nothing");
  }
  if (reading.is_date()) check_date(reading);
  ladon_fuzz::require_shown(examples::printable(text), "a text made printable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto workspace = std::make_unique<Workspace>();
  const auto attention = std::make_unique<Attention>();
  check({reinterpret_cast<const char*>(data), size}, *workspace, *attention);
  return 0;
}
