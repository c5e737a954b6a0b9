// SPDX-License-Identifier: Apache-2.0
#include "member_names.hpp"

#include <cctype>
#include <string_view>
#include <utility>

namespace ladon::import {
namespace {

// The keywords of C++20 that are words in names of tensors, or could be names of models. Others contain a "_" or are
// names of types.
constexpr std::string_view keywords[] = {
    "and",      "asm",      "auto",      "bool",      "break",     "case",     "catch",    "char",    "class",
    "concept",  "const",    "default",   "delete",    "do",        "double",   "else",     "enum",    "explicit",
    "export",   "extern",   "false",     "float",     "for",       "friend",   "goto",     "if",      "inline",
    "int",      "long",     "mutable",   "namespace", "new",       "noexcept", "not",      "nullptr", "operator",
    "or",       "private",  "public",    "register",  "requires",  "return",   "short",    "signed",  "sizeof",
    "static",   "struct",   "switch",    "template",  "this",      "throw",    "true",     "try",     "typedef",
    "typeid",   "typename", "union",     "unsigned",  "using",     "virtual",  "void",     "while",   "xor",
    "volatile", "main",     "std",       "ladon",     "protected", "compl",    "decltype", "alignas", "alignof",
    "bitand",   "bitor",    "consteval", "constexpr", "constinit", "all",      "help",     "clean",   "install",
    "test",     "package",  "errno",     "exp",       "abs",       "index",    "string",   "stddef",  "features",
    "math",     "time",     "stdint",    "unix",      "linux",     "f"};

bool is(int (*test)(int), char c) { return static_cast<unsigned char>(c) < 128 && test(c) != 0; }

}  // namespace

std::string literal(const std::string& text) {
  std::string written = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') written += '\\';
    if (code >= ' ') {
      written += c;
    } else {  // three digits, so that a digit behind them does not belong to the number
      for (const int shift : {6, 3, 0})
        written.append(shift == 6 ? "\\" : "") += static_cast<char>('0' + (code >> shift & 7));
    }
  }
  return written + '"';
}

std::string identifier(const std::string& text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is(std::isupper, c)) {
      if (!name.empty() && name.back() != '_' && i > 0 && !is(std::isupper, text[i - 1])) name += '_';
      name += static_cast<char>(std::tolower(c));
    } else if (is(std::isalnum, c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return "model";
  if (is(std::isdigit, name[0])) name = "model_" + name;
  for (const std::string_view keyword : keywords)
    if (name == keyword) return name + '_';
  return name;
}

std::string type_name(const std::string& member) {
  std::string name;
  bool begins = true;
  for (const char c : member) {
    if (c != '_') name += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return name;
}

MemberNames::MemberNames(std::set<std::string> reserved) : taken_(std::move(reserved)) {}

const std::string& MemberNames::name_of(const std::string& tensor) {
  const auto [found, is_new] = names_.try_emplace(tensor);
  if (!is_new) return found->second;
  const std::string whole = tensor.ends_with(".weight") ? tensor.substr(0, tensor.size() - 7) : tensor;
  std::string name;
  for (std::size_t dot = whole.rfind('.');; dot = whole.rfind('.', dot - 1)) {
    const std::string words = dot == whole.npos ? whole : whole.substr(dot + 1);
    name = identifier(words);
    const bool fits = !taken_.contains(name) && !is(std::isdigit, words.empty() ? '0' : words[0]);
    if (fits || dot == whole.npos || dot == 0) break;
  }
  while (!taken_.insert(name).second) name += '_';
  return found->second = name;
}

}  // namespace ladon::import
