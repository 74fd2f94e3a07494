#include "plimsoll/memory/host.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plimsoll/bytes.h"

namespace plimsoll::memory {
namespace {

namespace fs = std::filesystem;

// A root folder with just the files that tell of memory.
class HostRoomTest : public testing::Test {
 protected:
  HostRoomTest() {
    char name[] = "/tmp/plimsoll_host_XXXXXX";
    root_ = mkdtemp(name);
    write("/proc/meminfo", "MemTotal: 16000000 kB\nMemFree: 5 kB\nMemAvailable:  8000000 kB\n");
  }
  ~HostRoomTest() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(HostRoomTest, ReadsAvailableMemory) {
  const HostRoom room = read_host_room(root_);
  EXPECT_EQ(room.available, 8000000ULL * 1024);
  EXPECT_EQ(room.cgroup, kNoLimit);
  const HostLimit limit = default_host_limit(root_);
  EXPECT_EQ(limit.bytes, 8000000ULL * 1024 / 10 * 9);
  EXPECT_EQ(limit.origin, "90 % of the 7.6 GiB available at start");
}

TEST_F(HostRoomTest, ReadsControlGroupV2WithItsParents) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  write("/sys/fs/cgroup/user/job/memory.current", "100\n");
  write("/sys/fs/cgroup/user/memory.max", "1000000000\n");
  write("/sys/fs/cgroup/user/memory.current", "400000000\n");
  write("/sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 100000000\n");
  EXPECT_EQ(read_host_room(root_).cgroup, 700000000);
  EXPECT_NE(default_host_limit(root_).origin.find("control group"), std::string::npos);
}

TEST_F(HostRoomTest, ReadsControlGroupV1) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000000\n");
  write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "500000000\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "9000000000\n");
  EXPECT_EQ(read_host_room(root_).cgroup, 1500000000);
}

TEST_F(HostRoomTest, FullControlGroupLeavesNothing) {
  write("/proc/self/cgroup", "0::/job\n");
  write("/sys/fs/cgroup/job/memory.max", "1000\n");
  write("/sys/fs/cgroup/job/memory.current", "5000\n");
  EXPECT_EQ(default_host_limit(root_).bytes, 0);
}

TEST_F(HostRoomTest, ASystemThatTellsNothingHasNoLimit) {
  fs::remove_all(root_ + "/proc");
  EXPECT_EQ(default_host_limit(root_).bytes, kNoLimit);
}

TEST(HostLimitTest, OfThisMachineIsSmallerThanItsMemory) {
  const HostLimit limit = default_host_limit();
  EXPECT_GT(limit.bytes, 1_MiB);
  EXPECT_LT(limit.bytes, std::uint64_t{1} << 50);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
TEST(HostLimitTest, FollowsTheAddressSpaceLimit) {
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit{2_GiB, 2_GiB};
    setrlimit(RLIMIT_AS, &limit);
    const HostLimit host = default_host_limit();
    _exit(host.bytes > 1_GiB && host.bytes < 2_GiB &&
                  host.origin.find("RLIMIT_AS") != std::string::npos
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
}  // namespace plimsoll::memory
