#include "peer_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plimsoll::bench {

PeerProcess::PeerProcess(const std::vector<std::string>& command) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return;
  signal(SIGPIPE, SIG_IGN);  // a peer that died is found by its answer
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
  why_ = read_line();
  if (why_ == "ready") return;
  if (why_.empty()) why_ = command[0] + " could not be started";
  stop();
}

PeerProcess::~PeerProcess() {
  stop();
}

void PeerProcess::stop() {
  if (to_) fclose(to_);
  if (from_) fclose(from_);
  to_ = from_ = nullptr;
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

std::string PeerProcess::read_line() {
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t size = getline(&line, &room, from_);
  std::string text = size > 0 ? std::string(line, static_cast<std::size_t>(size)) : "";
  std::free(line);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<Timing> PeerProcess::run(const std::string& name, int iterations) {
  if (!is_running()) return std::nullopt;
  std::fprintf(to_, "%s %d\n", name.c_str(), iterations);
  std::fflush(to_);
  Timing timing;
  const std::string answer = read_line();
  if (std::sscanf(answer.c_str(), "%lf %lf", &timing.seconds, &timing.checksum) != 2)
    return std::nullopt;
  return timing;
}

}  // namespace plimsoll::bench
