// Runs the program as users do.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "h5/writer.h"
#include "npy.h"
#include "plimsoll/json.h"
#include "plimsoll/keras.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/ops.h"

namespace plimsoll::cli {
namespace {

namespace fs = std::filesystem;

struct Result {
  int code = -1;
  std::string text;  // stdout, then stderr

  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
};

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("cli_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  Result run(const std::string& arguments, const std::string& environment = "") const {
    const std::string errors = at("stderr");
    const std::string command =
        environment + " '" PLIMSOLL_CLI "' " + arguments + " 2> '" + errors + "'";
    std::FILE* pipe = popen(command.c_str(), "r");
    Result result;
    char buffer[4096];
    while (const std::size_t size = std::fread(buffer, 1, sizeof(buffer), pipe))
      result.text.append(buffer, size);
    const int status = pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::ifstream file(errors);
    result.text.append(std::istreambuf_iterator<char>(file), {});
    return result;
  }

  std::string save_classifier(const std::string& name) const {
    const auto model = keras::Sequential(
        {keras::Input({8, 8, 3}),
         keras::layers::Conv2D({.filters = 4, .kernel_size = 3}, {.name = "stem"}),
         keras::layers::Flatten(), keras::layers::Dense({.units = 5, .activation = "softmax"})},
        {.name = "classifier"});
    keras::save_model(*model, at(name));
    return at(name);
  }
  std::string save_two_inputs() const {
    const auto a = keras::Input({3}, {.name = "left"}), b = keras::Input({3}, {.name = "right"});
    const auto model = keras::Functional({a, b}, {a - b, a + b});
    keras::save_model(*model, at("two.keras"));
    return at("two.keras");
  }

  fs::path folder_;
};

TEST_F(CliTest, HelpHasExamplesForEveryCommand) {
  const Result all = run("--help");
  EXPECT_EQ(all.code, 0);
  for (const char* name : {"info", "plan", "run", "devices"}) {
    EXPECT_TRUE(all.has(name)) << all.text;
    const Result help = run(std::string(name) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(help.has("Examples:")) << help.text;
    EXPECT_TRUE(help.has(std::string("plimsoll ") + name)) << help.text;
  }
  const Result version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.text.starts_with("plimsoll 0.")) << version.text;
}

TEST_F(CliTest, CommandLinesThatCannotBeRead) {
  for (const char* arguments : {"", "sail", "info", "plan x.h5 --batch -1",
                                "plan x.h5 --train adam --infer", "run x.h5", "devices --nothing"})
    EXPECT_EQ(run(arguments).code, 2) << arguments;
}

TEST_F(CliTest, InfoShowsLayersAndBytes) {
  for (const char* name : {"model.keras", "model.h5"}) {
    const Result info = run("info " + save_classifier(name) + " --batch 2");
    EXPECT_EQ(info.code, 0) << info.text;
    for (const char* part : {"stem (Conv2D)", "(None, 6, 6, 4)", "112", "classifier",
                             "Total params: 837", "not compiled"})
      EXPECT_TRUE(info.has(part)) << part << "\n" << info.text;
    EXPECT_TRUE(info.has(std::string("Format: ") + fs::path(name).extension().string()))
        << info.text;
  }
  const Result json = run("info " + at("model.h5") + " --json");
  const Json read = Json::parse(json.text);
  EXPECT_EQ(read.at("params").as_int(), 837);
  EXPECT_EQ(read.at("weights_nbytes").as_int(), 4 * 837);
  EXPECT_EQ(read.at("layers").as_array().size(), 3U);
  EXPECT_EQ(read.at("weights").as_array().size(), 4U);
}

TEST_F(CliTest, InfoOfWeightsAlone) {
  const auto model = keras::Sequential({keras::Input({3}), keras::layers::Dense({.units = 2})});
  keras::save_weights(*model, at("model.weights.h5"));
  const Result info = run("info " + at("model.weights.h5"));
  EXPECT_EQ(info.code, 0);
  EXPECT_TRUE(info.has("(3, 2)")) << info.text;
  EXPECT_TRUE(info.has(".weights.h5")) << info.text;
}

TEST_F(CliTest, PlanSaysWhetherItFits) {
  const std::string file = save_classifier("model.keras");
  const Result plan = run("plan " + file + " --batch 4");
  EXPECT_EQ(plan.code, 0) << plan.text;
  for (const char* part : {"inference, batch 4", "peak", "by tag", "by layer", "fits: peak",
                           "largest batch that fits"})
    EXPECT_TRUE(plan.has(part)) << part << "\n" << plan.text;

  const Json fits = Json::parse(run("plan " + file + " --batch 4 --train adam --json").text);
  EXPECT_TRUE(fits.at("fits").as_bool());
  EXPECT_GE(fits.at("optimizer_bytes").as_int(), 2 * fits.at("weights_bytes").as_int());
  const std::int64_t peak = fits.at("peak_bytes").as_int();

  const Result tight =
      run("plan " + file + " --batch 64 --train adam --json --budget " + std::to_string(peak));
  EXPECT_EQ(tight.code, 3) << tight.text;
  const Json refused = Json::parse(tight.text);
  EXPECT_FALSE(refused.at("fits").as_bool());
  EXPECT_EQ(refused.at("limit_bytes").as_int(), peak);
  EXPECT_EQ(refused.at("largest_batch").as_int(), 4);  // whose peak is the budget

  const Result none = run("plan " + file + " --batch 4 --budget 1KiB");
  EXPECT_EQ(none.code, 3);
  EXPECT_TRUE(none.has("does not fit")) << none.text;
  EXPECT_TRUE(none.has("no batch fits")) << none.text;
}

TEST_F(CliTest, PlanForADeviceThatIsNotHere) {
  const std::string file = save_classifier("model.keras");
  const Result plan = run("plan " + file + " --batch 2 --device jetson-nano-4gb");
  EXPECT_EQ(plan.code, 0) << plan.text;
  EXPECT_TRUE(plan.has("3.9 GiB")) << plan.text;
  EXPECT_TRUE(plan.has("GPU:0")) << plan.text;
  const Result unknown = run("plan " + file + " --device jetson-nona-4gb");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(unknown.has("jetson-nano-4gb")) << unknown.text;
  EXPECT_EQ(run("plan " + file + " --device CPU:0").code, 0);
}

TEST_F(CliTest, PlanOfAModelFarLargerThanTheMachine) {
  // As Keras 2 wrote it, but without the 4 TiB of weights.
  h5::Writer writer(at("huge.h5"));
  writer.group("model_weights");
  writer.attribute(
      "/", "model_config",
      R"({"class_name": "Sequential", "config": {"name": "huge", "layers": [{"class_name": "Dense", "config":
      {"name": "wide", "units": 1048576, "batch_input_shape": [null, 1048576], "use_bias": false}}]}})");
  writer.finish();
  const Result plan = run("plan " + at("huge.h5") + " --batch 1");
  EXPECT_EQ(plan.code, 3) << plan.text;
  EXPECT_TRUE(plan.has("4.0 TiB") || plan.has("4096.0 GiB")) << plan.text;
  EXPECT_TRUE(plan.has("no batch fits")) << plan.text;
}

TEST_F(CliTest, RunWritesAndPrintsPredictions) {
  const std::string file = save_classifier("model.h5");
  const keras::ModelPtr model = keras::load_model(file);
  const Tensor x = random::normal({3, 8, 8, 3});
  npy::write(at("x.npy"), x);
  const Result wrote =
      run("run " + file + " --input " + at("x.npy") + " --output " + at("y.npy") + " --batch 2");
  EXPECT_EQ(wrote.code, 0) << wrote.text;
  const Tensor y = npy::read(at("y.npy"));
  EXPECT_EQ(y.shape(), Shape({3, 5}));
  const Tensor expected = model->predict(x, {.batch_size = 2, .verbose = keras::Verbose::kSilent});
  EXPECT_EQ(y.to_vector<float>(), expected.to_vector<float>());

  const Result shown = run("run " + file + " --input " + at("x.npy") + " --top 2");
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(shown.has("float32 [3,5]")) << shown.text;
  EXPECT_TRUE(shown.has("peak")) << shown.text;

  npy::write(at("one.npy"), cast(fill({8, 8, 3}, 7.0), uint8));  // one image, as bytes
  EXPECT_TRUE(run("run " + file + " --input " + at("one.npy")).has("float32 [1,5]"));
}

TEST_F(CliTest, RunWithSeveralInputsAndOutputs) {
  const std::string file = save_two_inputs();
  npy::write(at("a.npy"), constant({1.0F, 2.0F, 3.0F}, {1, 3}));
  npy::write(at("b.npy"), constant({10.0F, 20.0F, 30.0F}, {1, 3}));
  const Result wrote = run("run " + file + " --input right=" + at("b.npy") +
                           " --input left=" + at("a.npy") + " --output " + at("y.npy"));
  EXPECT_EQ(wrote.code, 0) << wrote.text;
  EXPECT_EQ(npy::read(at("y_0.npy")).to_vector<float>(), (std::vector<float>{-9, -18, -27}));
  EXPECT_EQ(npy::read(at("y_1.npy")).to_vector<float>(), (std::vector<float>{11, 22, 33}));
  const Result missing = run("run " + file + " --input left=" + at("a.npy"));
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(missing.has("'right'")) << missing.text;
  const Result unknown = run("run " + file + " --input middle=" + at("a.npy"));
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(unknown.has("left, right")) << unknown.text;
}

TEST_F(CliTest, RunUnderABudgetThatIsTooSmall) {
  const std::string file = save_classifier("model.keras");
  npy::write(at("x.npy"), zeros({64, 8, 8, 3}));
  const Result refused = run("run " + file + " --input " + at("x.npy") + " --budget 16KiB");
  EXPECT_EQ(refused.code, 3) << refused.text;
  EXPECT_TRUE(refused.has("ResourceExhaustedError")) << refused.text;
}

TEST_F(CliTest, FilesThatAreNoModels) {
  std::ofstream(at("model.tflite")) << "TFL3";
  std::ofstream(at("notes.txt")) << "no model";
  fs::create_directories(folder_ / "saved");
  std::ofstream(at("saved/saved_model.pb")) << "x";
  struct Row {
    const char* file;
    const char* part;
  };
  for (const Row& row : {Row{"nothing.keras", "NotFoundError"}, Row{"model.tflite", "tflite"},
                         Row{"notes.txt", "notes.txt"}, Row{"saved", "SavedModel"}}) {
    for (const char* command : {"info", "plan"}) {
      const Result refused = run(std::string(command) + " " + at(row.file));
      EXPECT_EQ(refused.code, 1) << refused.text;
      EXPECT_TRUE(refused.has(row.part)) << refused.text;
      EXPECT_TRUE(refused.has("error: ")) << refused.text;
    }
  }
}

TEST_F(CliTest, DevicesListsLimitsAndProfiles) {
  const Result here = run("devices", "PLIMSOLL_CPU_LIMIT=1GiB");
  EXPECT_EQ(here.code, 0);
  for (const char* part :
       {"CPU:0", "1.0 GiB", "PLIMSOLL_CPU_LIMIT", "jetson-nano-4gb", "a100-80gb"})
    EXPECT_TRUE(here.has(part)) << part << "\n" << here.text;
  const Json json = Json::parse(run("devices --json", "PLIMSOLL_SIM_DEVICES=rtx-3060-12gb").text);
  ASSERT_GE(json.at("devices").as_array().size(), 2U);
  EXPECT_EQ(json.at("devices").as_array()[1].at("name").as_string(), "GPU:0");
  EXPECT_EQ(json.at("devices").as_array()[1].at("capacity_bytes").as_int(), 12042LL << 20);
  EXPECT_GE(json.at("profiles").as_array().size(), 7U);
}

}  // namespace
}  // namespace plimsoll::cli
