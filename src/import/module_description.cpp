// SPDX-License-Identifier: Apache-2.0
#include "module_description.hpp"

#include <string>

#include "chain.hpp"
#include "generation.hpp"

namespace ladon::import {
namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }
std::string member(const std::string& name, std::size_t value) { return quoted(name) + ":" + std::to_string(value); }
std::string member(const std::string& name, bool value) { return quoted(name) + ":" + (value ? "true" : "false"); }
std::string member(const std::string& name, const std::string& value) { return quoted(name) + ":" + quoted(value); }

std::string kind_name(Kind kind) {
  switch (kind) {
    case Kind::ids:
      return "ids";
    case Kind::image:
      return "image";
    case Kind::frames:
      return "frames";
    case Kind::time_series:
      break;
  }
  return "time_series";
}

std::string input(const Argument& argument) {
  return "{" + member("name", argument.name) + "," + member("kind", kind_name(argument.kind)) + "," +
         member("most", argument.most) + "," + member("fixed", argument.fixed) + "," + member("width", argument.width) +
         "," + member("rows", argument.rows) +
         (argument.types.empty()
              ? ""
              : "," + member("types", argument.types) + "," + member("typeRows", argument.type_rows)) +
         "}";
}

// Returns the objects of a list, as the members of a JSON array.
template <class List, class Text>
std::string array(const List& list, Text&& text) {
  std::string all;
  for (const auto& one : list) all += (all.empty() ? "" : ",") + text(one);
  return "[" + all + "]";
}

// In a model of several stacks, a function also has the names of its inputs.
std::string function(const CFunction& called, const Program& program) {
  const std::string inputs = array(called.arguments, [](const Argument& argument) { return quoted(argument.name); });
  return "{" + member("name", called.name.substr(program.choices.name.size() + 1)) + "," +
         member("result", called.result) + "," + member("most", called.most) + "," + member("width", called.width) +
         "," + member("hasRows", called.has_rows) + (runs_of(program).size() == 1 ? "" : ",\"inputs\":" + inputs) + "}";
}

std::string texts(const Program& program) {
  if (!program.generation) return "";
  const Generation& generation = *program.generation;
  std::string text = ",\"texts\":{" + member("most", generation.tokens) + "," +
                     member("vocabulary", generation.vocabulary) + "," + member("piece", prompt_tokens(generation));
  if (generation.source)
    text += "," + member("source", generation.source->name) + ",\"starts\":" +
            array(program.choices.text_tokens.starts, [](std::int32_t id) { return std::to_string(id); });
  return text + "}";
}

}  // namespace

SourceFile module_description(const Program& program) {
  const std::string& name = program.choices.name;
  // All texts are identifiers, so JSON needs no escapes.
  return {name + "_module.cmake",
          file_mark(true) + ".\nset(description [==[{\"ladonModel\":2,\"version\":\"@LADON_VERSION@\"," +
              member("name", name) + ",\"variant\":\"@variant@\"," +
              member("precision", std::string(precision_name(program.choices.precision))) +
              ",\"inputs\":" + array(inputs_of(program), input) + ",\"functions\":" +
              array(c_functions(program, false), [&](const CFunction& called) { return function(called, program); }) +
              texts(program) + "}]==])\n"};
}

}  // namespace ladon::import
