// Answers requests in lines of JSON.
#pragma once

#include <exception>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

namespace ladon_bench {

// Answers each line of standard input by a line on standard output, until the input ends. Server::answer(json) returns
// an answer. If answer() throws, the line is {"error": TEXT}. Returns the exit status of the program.
template <class Server>
int answer_lines() {
  Server server;
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json answer;
    try {
      answer = server.answer(nlohmann::json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace ladon_bench
