// Answers requests in lines of JSON.
#pragma once

#include <exception>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

namespace ladon_bench {

// Reads requests from standard input, one in each line, until the input ends. For each request, writes a line to
// standard output: the result of Server::answer(json), or {"error": TEXT} if answer() throws. Returns the exit status
// of the program.
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
