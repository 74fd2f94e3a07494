// A peer that runs in a process of its own and answers one line per request:
//   request "case iterations\n", answer "seconds checksum\n"; "ready\n" comes first.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace plimsoll::bench {

struct Timing {
  double seconds = 0;   // for all iterations
  double checksum = 0;  // of the result, to see that the peer computes the same
};

class PeerProcess {
 public:
  // Starts `command`; is_running() is false if it did not get ready, and why() says what it
  // printed.
  explicit PeerProcess(const std::vector<std::string>& command);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  bool is_running() const { return to_ != nullptr; }
  const std::string& why() const { return why_; }
  // None if the peer does not know the case or has died.
  std::optional<Timing> run(const std::string& name, int iterations);

 private:
  std::string read_line();
  void stop();

  int pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
  std::string why_;
};

}  // namespace plimsoll::bench
