#include "plimsoll/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/settings_table.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Starts from an environment without any variable of the table, and puts it back.
class SettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const settings::Row& row : settings::table()) {
      hide(std::string(row.variable));
      for (const auto& tf : row.tensorflow) {
        if (!tf.name.empty()) hide(std::string(tf.name));
      }
    }
    settings::reset_for_tests();
  }
  void TearDown() override {
    for (const auto& [name, value] : changed_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
    settings::reset_for_tests();
  }
  void environment(const std::string& name, const std::string& value) {
    remember(name);
    setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  void hide(const std::string& name) {
    remember(name);
    unsetenv(name.c_str());
  }
  void remember(const std::string& name) {
    const char* value = getenv(name.c_str());
    changed_.try_emplace(name, value ? std::optional<std::string>(value) : std::nullopt);
  }
  std::map<std::string, std::optional<std::string>> changed_;
};

template <class E, class F>
std::string message_of(F&& call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(SettingsTest, DefaultsCount) {
  EXPECT_EQ(settings::get_bytes("budget"), std::nullopt);
  EXPECT_EQ(settings::get_int("warm_ms"), 250);
  EXPECT_TRUE(settings::get_bool("huge_pages"));
  EXPECT_TRUE(settings::get_bool("gpu_growth"));
  EXPECT_EQ(settings::get_string("log"), "warning");
  EXPECT_EQ(settings::get_string("trace"), "");
  EXPECT_TRUE(settings::get_list("sim_devices").empty());
  EXPECT_EQ(settings::origin("budget").kind, settings::OriginKind::kDefault);
  EXPECT_EQ(settings::origin("warm_ms").text, "default");
}

TEST_F(SettingsTest, CallWinsOverOurVariableWhichWinsOverTensorFlows) {
  environment("TF_CPU_ALLOCATOR_MEM_LIMIT", "1000");
  EXPECT_EQ(settings::get_bytes("cpu_limit"), 1000u);
  EXPECT_EQ(settings::origin("cpu_limit").text, "TF_CPU_ALLOCATOR_MEM_LIMIT");

  settings::reset_for_tests();
  environment("PLIMSOLL_CPU_LIMIT", "2GiB");
  EXPECT_EQ(settings::get_bytes("cpu_limit"), 2_GiB);
  EXPECT_EQ(settings::origin("cpu_limit").text, "PLIMSOLL_CPU_LIMIT");
  EXPECT_EQ(settings::origin("cpu_limit").kind, settings::OriginKind::kEnvironment);

  settings::set("cpu_limit", "64 MiB");
  EXPECT_EQ(settings::get_bytes("cpu_limit"), 64_MiB);
  EXPECT_EQ(settings::origin("cpu_limit").text, "settings::set(\"cpu_limit\")");

  settings::unset("cpu_limit");
  EXPECT_EQ(settings::get_bytes("cpu_limit"), 2_GiB);
}

TEST_F(SettingsTest, EnvironmentIsReadAtFirstUseAndKept) {
  environment("PLIMSOLL_WARM_MS", "10");
  EXPECT_EQ(settings::get_int("warm_ms"), 10);
  environment("PLIMSOLL_WARM_MS", "20");
  EXPECT_EQ(settings::get_int("warm_ms"), 10);
}

TEST_F(SettingsTest, EmptyVariableCountsAsNotSet) {
  environment("PLIMSOLL_BUDGET", "");
  environment("PLIMSOLL_WARM_MS", "");
  EXPECT_EQ(settings::get_bytes("budget"), std::nullopt);
  EXPECT_EQ(settings::get_int("warm_ms"), 250);
}

TEST_F(SettingsTest, TensorFlowsMegabytesAreMebibytes) {
  environment("TF_CPU_BFC_MEM_LIMIT_IN_MB", "100");
  environment("TF_GPU_HOST_MEM_LIMIT_IN_MB", "3");
  EXPECT_EQ(settings::get_bytes("cpu_limit"), 100_MiB);
  EXPECT_EQ(settings::get_bytes("staging_limit"), 3_MiB);
}

TEST_F(SettingsTest, EveryTensorFlowVariableFeedsItsSetting) {
  environment("TF_MKL_ALLOC_MAX_BYTES", "123456");
  environment("TF_FORCE_GPU_ALLOW_GROWTH", "false");
  EXPECT_EQ(settings::get_bytes("cpu_limit"), 123456u);
  EXPECT_FALSE(settings::get_bool("gpu_growth"));
}

TEST_F(SettingsTest, BadValuesNameTheVariableAndWhatWasReceived) {
  environment("PLIMSOLL_BUDGET", "lots");
  EXPECT_NE(message_of<InvalidArgumentError>([] {
              settings::get_bytes("budget");
            }).find("PLIMSOLL_BUDGET: not a byte size: 'lots'"),
            std::string::npos);
  environment("PLIMSOLL_WARM_MS", "-1");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { settings::get_int("warm_ms"); }),
            "PLIMSOLL_WARM_MS: '-1' is out of range: at least 0, at most 3000");
  environment("PLIMSOLL_HUGE_PAGES", "maybe");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { settings::get_bool("huge_pages"); }),
            "PLIMSOLL_HUGE_PAGES: neither on nor off: 'maybe'; on, 1, true, yes, off, 0, false "
            "and no are");
  environment("PLIMSOLL_LOG", "loud");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { settings::get_string("log"); }),
            "PLIMSOLL_LOG: 'loud' is none of error, warning, info, debug");
  environment("TF_GPU_HOST_MEM_LIMIT_IN_MB", "1GiB");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { settings::get_bytes("staging_limit"); }),
            "TF_GPU_HOST_MEM_LIMIT_IN_MB: not a whole number: '1GiB'");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { settings::set("sim_devices", "a,,b"); }),
            "settings::set(\"sim_devices\"): an empty name in the list 'a,,b'");
}

TEST_F(SettingsTest, RefusesValuesOutOfRange) {
  for (const char* text : {"0", "-5", "9223372036854775808", "", "1.5"}) {
    EXPECT_THROW(settings::set("budget", text), InvalidArgumentError) << text;
  }
  for (const char* text : {"0", "-1", "8796093022208", "99999999999999999999", "1.5"}) {
    settings::reset_for_tests();
    environment("TF_CPU_BFC_MEM_LIMIT_IN_MB", text);
    EXPECT_THROW(settings::get_bytes("cpu_limit"), InvalidArgumentError) << text;
  }
  for (const char* text : {"", "1 2", "0x10", "99999999999999999999"}) {
    EXPECT_THROW(settings::set("warm_ms", text), InvalidArgumentError) << text;
  }
  EXPECT_EQ(settings::get_int("warm_ms"), 250);
}

TEST_F(SettingsTest, ACallMendsABadVariable) {
  environment("PLIMSOLL_BUDGET", "lots");
  EXPECT_THROW(settings::get_bytes("budget"), InvalidArgumentError);
  settings::set("budget", "1GiB");
  EXPECT_EQ(settings::get_bytes("budget"), 1_GiB);
}

TEST_F(SettingsTest, UnknownNamesGetTheNearestKnownOne) {
  EXPECT_EQ(message_of<NotFoundError>([] { settings::set("buget", "1"); }),
            "no setting is called 'buget'; did you mean 'budget'?");
  EXPECT_EQ(message_of<NotFoundError>([] { settings::get_int("PLIMSOLL_WARM_MS"); }),
            "no setting is called 'PLIMSOLL_WARM_MS'; did you mean 'warm_ms'?");
  EXPECT_EQ(message_of<NotFoundError>([] { settings::origin("zebra crossing"); }),
            "no setting is called 'zebra crossing'; docs/settings.md lists them");
}

TEST_F(SettingsTest, AskingForAnotherTypeIsAnError) {
  EXPECT_EQ(message_of<InvalidArgumentError>([] { settings::get_bool("budget"); }),
            "setting 'budget' is of type bytes, not bool");
}

TEST_F(SettingsTest, AFixedSettingInUseAcceptsOnlyItsValue) {
  settings::set("budget", "1GiB");
  settings::freeze("budget");
  settings::set("budget", "1024 MiB");
  EXPECT_EQ(message_of<FailedPreconditionError>([] { settings::set("budget", "2GiB"); }),
            "setting 'budget' cannot be changed after it came into use; it is 1024 MiB "
            "(settings::set(\"budget\")), asked for: 2GiB");
  EXPECT_THROW(settings::unset("budget"), FailedPreconditionError);
  EXPECT_EQ(settings::get_bytes("budget"), 1_GiB);
  settings::set("cpu_limit", "5MiB");  // not in use
}

TEST_F(SettingsTest, FreezeWithoutANameFixesAllButTheChangeable) {
  settings::freeze();
  settings::set("log", "debug");
  EXPECT_EQ(settings::get_string("log"), "debug");
  EXPECT_THROW(settings::set("budget", "2GiB"), FailedPreconditionError);
  EXPECT_THROW(settings::set("sim_devices", "x"), FailedPreconditionError);
}

TEST_F(SettingsTest, SplitsLists) {
  settings::set("sim_devices", "small-gpu, large-gpu");
  EXPECT_EQ(settings::get_list("sim_devices"),
            (std::vector<std::string>{"small-gpu", "large-gpu"}));
}

TEST_F(SettingsTest, NotesUnknownVariables) {
  environment("PLIMSOLL_BUGDET", "1GiB");
  environment("PLIMSOLL_XYLOPHONE_TUNING", "440");
  const auto notes = settings::environment_notes();
  EXPECT_NE(std::ranges::find(notes,
                              "PLIMSOLL_BUGDET is set, but no setting is called that; did you mean "
                              "PLIMSOLL_BUDGET?"),
            notes.end());
  EXPECT_NE(
      std::ranges::find(notes, "PLIMSOLL_XYLOPHONE_TUNING is set, but no setting is called that"),
      notes.end());
}

TEST_F(SettingsTest, NotesTensorFlowVariablesThatCountAndWhatReplacesThem) {
  environment("TF_MKL_ALLOC_MAX_BYTES", "123456");
  environment("TF_GPU_HOST_MEM_LIMIT_IN_MB", "3");
  environment("PLIMSOLL_STAGING_LIMIT", "4MiB");  // so TensorFlow's does not count
  const std::string note =
      "TF_MKL_ALLOC_MAX_BYTES is honoured; PLIMSOLL_CPU_LIMIT (or settings::set(\"cpu_limit\", "
      "...)) replaces it";
  EXPECT_EQ(settings::environment_notes(), std::vector<std::string>{note});
}

TEST_F(SettingsTest, NotesValuesThatCannotBeRead) {
  environment("PLIMSOLL_WARM_MS", "soon");
  EXPECT_EQ(settings::environment_notes(),
            std::vector<std::string>{"PLIMSOLL_WARM_MS: not a whole number: 'soon'"});
}

TEST_F(SettingsTest, ReportsTheEnvironmentOnce) {
  environment("PLIMSOLL_ONCE_ONLY_PLEASE", "1");
  testing::internal::CaptureStderr();
  settings::report_environment();
  settings::report_environment();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "plimsoll warning: PLIMSOLL_ONCE_ONLY_PLEASE is set, but no setting is called that\n");
}

TEST_F(SettingsTest, TableIsInOrder) {
  std::vector<std::string_view> names;
  for (const settings::Row& row : settings::table()) {
    std::string variable = "PLIMSOLL_";
    for (const char c : row.name) variable += static_cast<char>(toupper(c));
    EXPECT_EQ(row.variable, variable);
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_EQ(row.type == settings::Type::kChoice, !row.choices.empty()) << row.name;
    EXPECT_NO_THROW(settings::origin(row.name)) << "the default must read as its type";
    names.push_back(row.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST_F(SettingsTest, ThreadsMaySetAndReadTogether) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        if (t % 2) settings::set("budget", i % 2 ? "1GiB" : "2GiB");
        const auto budget = settings::get_bytes("budget");
        EXPECT_TRUE(!budget || *budget == 1_GiB || *budget == 2_GiB);
        settings::origin("warm_ms");
      }
    });
  }
}

}  // namespace
}  // namespace plimsoll
