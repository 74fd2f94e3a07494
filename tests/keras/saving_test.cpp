// Model files: what comes back is what was saved, and what is damaged or does not fit is an error.
// Files of real Keras go through the same in tests/oracle/keras_files_test.py.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "h5/file.h"
#include "h5/temporary.h"
#include "h5/writer.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

extern char** environ;

namespace plimsoll::keras {
namespace {

using h5::file_bytes;
using h5::TemporaryFolder;
constexpr Verbose kSilent = Verbose::kSilent;
const char* const kEndings[] = {".keras", ".h5"};

Tensor normal(const Shape& shape, std::int64_t seed = 1) {
  return random::stateless_normal(shape, {seed, 2});
}

// Of everything that has a place of its own in files: nested models, shared layers, cells, ops.
std::shared_ptr<FunctionalModel> many_layers() {
  const Nested words = Input({6}, {.name = "words", .dtype = int32});
  const Nested image = Input({8, 8, 3}, {.name = "image"});
  Nested x = layers::Embedding({.input_dim = 11, .output_dim = 4, .mask_zero = true})(words);
  x = layers::Bidirectional({.layer = layers::LSTM({.units = 3, .return_sequences = true})})(x);
  x = layers::MultiHeadAttention({.num_heads = 2, .key_dim = 2})(
      x, {.named = Nested::dict({{"value", x}})});
  x = layers::GRU({.units = 5})(x);
  Nested y = layers::Conv2D({.filters = 4, .kernel_size = 3, .padding = "same"})(image);
  y = layers::BatchNormalization()(y);
  auto block = Sequential({layers::Conv2D({.filters = 4, .kernel_size = 1}),
                           layers::BatchNormalization(), layers::ReLU()});
  y = layers::Add()({block(y), y});
  y = block(y) * 0.5 + 1.0;
  y = layers::GlobalAveragePooling2D()(y);
  const auto shared = layers::Dense({.units = 5, .activation = "gelu"});
  const Nested joined = layers::Concatenate()({x, shared(shared(x)), y});
  return Functional({words, image}, {layers::Dense({.units = 2}, {.name = "a"})(joined),
                                     layers::Dense({.units = 1}, {.name = "b"})(joined)});
}
Nested inputs_of_many() {
  return {cast(abs(normal({4, 6}) * 4.0F), int32), normal({4, 8, 8, 3})};
}

std::shared_ptr<SequentialModel> small_model(std::int64_t units = 3) {
  return Sequential({Input({4}), layers::Dense({.units = units, .activation = "relu"}),
                     layers::BatchNormalization(), layers::Dense({.units = 2})});
}

void expect_same(const std::vector<VariablePtr>& a, const std::vector<VariablePtr>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i]->name(), b[i]->name());
    ASSERT_EQ(a[i]->shape(), b[i]->shape()) << a[i]->path();
    const Tensor same = reduce_all(equal(a[i]->raw().value(), b[i]->raw().value()));
    EXPECT_TRUE(same.item<bool>()) << a[i]->path();
  }
}
void expect_same(const Nested& a, const Nested& b) {
  const auto x = a.flatten(), y = b.flatten();
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(x[i].tensor().to_vector<float>(), y[i].tensor().to_vector<float>());
}

TEST(SavingTest, EverythingComesBack) {
  const TemporaryFolder folder;
  const auto model = many_layers();
  const Nested x = inputs_of_many();
  const Nested y = model->predict(x, {.verbose = kSilent});
  for (const char* ending : kEndings) {
    SCOPED_TRACE(ending);
    const std::string path = folder.file(std::string("model") + ending);
    model->save(path);
    const auto loaded = load_model(path);
    EXPECT_EQ(loaded->get_config(), model->get_config());
    EXPECT_FALSE(loaded->compiled());
    expect_same(loaded->weights(), model->weights());
    expect_same(loaded->predict(x, {.verbose = kSilent}), y);
  }
}

TEST(SavingTest, TrainingGoesOnExactly) {
  const TemporaryFolder folder;
  const Tensor x = normal({24, 4}), y = normal({24, 2}, 5);
  for (const char* ending : kEndings) {
    for (const char* optimizer : {"sgd", "adam", "nadam", "ftrl", "adafactor"}) {
      SCOPED_TRACE(std::string(optimizer) + ending);
      const auto model = small_model();
      model->compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
      for (int i = 0; i < 3; ++i) model->train_on_batch(x, y);
      const std::string path = folder.file(std::string("model") + ending);
      model->save(path);
      const auto loaded = load_model(path);
      ASSERT_TRUE(loaded->compiled());
      expect_same(loaded->optimizer()->variables(), model->optimizer()->variables());
      model->reset_metrics();
      for (int i = 0; i < 3; ++i) {
        const Logs a = model->train_on_batch(x, y), b = loaded->train_on_batch(x, y);
        ASSERT_TRUE(a.find("mae") && b.find("mae"));
        EXPECT_EQ(*a.find("loss"), *b.find("loss"));
        EXPECT_EQ(*a.find("mae"), *b.find("mae"));
      }
      expect_same(loaded->weights(), model->weights());
    }
  }
}

TEST(SavingTest, WeightsAloneByPlaceByNameAndAsFarAsTheyFit) {
  const TemporaryFolder folder;
  const auto model = small_model();
  const std::string weights = folder.file("model.weights.h5"), whole = folder.file("model.h5");
  model->save_weights(weights);
  model->save(whole);
  const std::string archive = folder.file("model.keras");
  model->save(archive);
  for (const std::string& path : {weights, whole, archive}) {
    const auto other = small_model();
    other->load_weights(path);
    for (std::size_t i = 0; i < model->weights().size(); ++i)
      EXPECT_EQ(model->get_weights()[i].to_vector<float>(),
                other->get_weights()[i].to_vector<float>());
  }
  // The last layer has the same shape in both; the first two have not.
  const auto wider = small_model(3);
  const auto last = layers::Dense({.units = 2}, {.name = model->layers()[2]->name()});
  const auto renamed = Sequential({Input({3}), last});
  renamed->load_weights(whole, {.by_name = true});
  EXPECT_EQ(last->get_weights()[0].to_vector<float>(),
            model->layers()[2]->get_weights()[0].to_vector<float>());
  const auto narrow = small_model(5);
  EXPECT_THROW(narrow->load_weights(weights), InvalidArgumentError);
  const std::vector<float> before = narrow->get_weights()[0].to_vector<float>();
  narrow->load_weights(weights, {.skip_mismatch = true});
  EXPECT_EQ(narrow->get_weights()[0].to_vector<float>(), before);
  EXPECT_EQ(narrow->get_weights().back().to_vector<float>(),
            model->get_weights().back().to_vector<float>());
  EXPECT_THROW(renamed->load_weights(weights, {.by_name = true}), InvalidArgumentError);
}

TEST(SavingTest, VocabulariesComeBack) {
  const TemporaryFolder folder;
  auto text = layers::TextVectorization({.output_sequence_length = 3});
  text->adapt(constant({std::string("a b c"), std::string("b c"), std::string("c")}, {3}));
  const auto model = Sequential({Input({1}, {.dtype = DType::kString}), text,
                                 layers::Embedding({.input_dim = 6, .output_dim = 2})});
  for (const char* ending : {".keras"}) {
    const std::string path = folder.file(std::string("text") + ending);
    model->save(path);
    const auto loaded = load_model(path);
    const auto again = std::dynamic_pointer_cast<TextVectorizationLayer>(loaded->layers()[0]);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->get_vocabulary(), text->get_vocabulary());
  }
}

struct TwiceConfig {
  static constexpr const char* kClassName = "Twice";
  double factor = 2;
  void visit(ConfigVisitor& v) { v("factor", factor); }
};
class Twice : public Configured<Layer, TwiceConfig> {
 public:
  using Configured::Configured;
  std::string registered_name() const override { return "test>Twice"; }
  Nested call(const Nested& inputs, const CallArgs&) override {
    return inputs.leaf().tensor() * static_cast<float>(config_.factor);
  }
};

TEST(SavingTest, ClassesOfOnesOwn) {
  const TemporaryFolder folder;
  const auto model = Sequential({Input({2}), LayerRef<Twice>({.factor = 3})});
  for (const char* ending : kEndings) {
    const std::string path = folder.file(std::string("own") + ending);
    model->save(path);
    EXPECT_THROW(load_model(path), InvalidArgumentError);
    const auto loaded =
        load_model(path, {.custom_objects = {{"Twice", make_layer_of_config<Twice>}}});
    EXPECT_EQ((*loaded)(ones({1, 2})).leaf().tensor().to_vector<float>(),
              (std::vector<float>{3, 3}));
  }
}

TEST(SavingTest, ShapesAloneTakeNoMemoryAndCanBePlanned) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.keras");
  std::uint64_t peak = 0;
  {
    const auto model = small_model();
    model->compile({.optimizer = "adam", .loss = "mse"});
    model->save(path);
    peak = model->plan_fit(normal({8, 4}), normal({8, 2}), {.batch_size = 8}).step.arena_bytes;
  }
  const std::uint64_t before = memory::report().total;
  const auto shapes = load_model(path, {.compile = false, .without_weights = true});
  EXPECT_EQ(memory::report().total, before);
  EXPECT_EQ(shapes->count_params(), 4 * 3 + 3 + 4 * 3 + 3 * 2 + 2);
  EXPECT_THROW(shapes->predict(normal({1, 4}), {.verbose = kSilent}), FailedPreconditionError);
  shapes->compile({.optimizer = "adam", .loss = "mse"});
  EXPECT_EQ(shapes->plan_fit(normal({8, 4}), normal({8, 2}), {.batch_size = 8}).step.arena_bytes,
            peak);
  const FileInfo info = inspect_model(path);
  EXPECT_EQ(info.format, ".keras");
  EXPECT_EQ(info.weights.size(), 8U);
  EXPECT_EQ(info.weights_nbytes(), 35U * 4);
}

TEST(SavingTest, WhatDoesNotFitSaysSoWithBytes) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large.h5");
  Sequential({Input({512}), layers::Dense({.units = 1024})})->save(path);
  const std::uint64_t before = memory::report().total;
  {
    const memory::BudgetScope scope("1MiB");
    try {
      load_model(path);
      ADD_FAILURE() << "2 MiB fitted into 1 MiB";
    } catch (const ResourceExhaustedError& e) {
      EXPECT_NE(std::string(e.what()).find("2101248"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(memory::report().total, before);
  // Weights go from the file into their own memory.
  const memory::BudgetScope scope("64MiB");
  const auto model = load_model(path);
  EXPECT_LE(scope.peak(), 2101248U * 11 / 10);
}

TEST(SavingTest, ModelCheckpointKeepsTheBest) {
  const TemporaryFolder folder;
  const auto model = small_model();
  model->compile({.optimizer = "adam", .loss = "mse"});
  const std::string best = folder.file("best.keras"), each = folder.file("{epoch:02d}.weights.h5");
  const auto history = model->fit(
      normal({24, 4}), normal({24, 2}, 5),
      {.epochs = 3,
       .verbose = kSilent,
       .callbacks = {callbacks::ModelCheckpoint(
                         {.filepath = best, .monitor = "loss", .save_best_only = true}),
                     callbacks::ModelCheckpoint({.filepath = each, .save_weights_only = true})}});
  expect_same(load_model(best)->weights(), model->weights());  // the loss fell in every epoch
  const auto other = small_model();
  other->load_weights(folder.file("03.weights.h5"));
  EXPECT_EQ(other->get_weights()[0].to_vector<float>(), model->get_weights()[0].to_vector<float>());
}

// What was interrupted after its second epoch goes on with the third, as if nothing had happened.
TEST(SavingTest, BackupAndRestoreGoesOn) {
  const TemporaryFolder folder;
  const Tensor x = normal({24, 4}), y = normal({24, 2}, 5);
  const auto whole = small_model(), broken = small_model(), again = small_model();
  for (const auto& other : {broken, again}) other->set_weights(whole->get_weights());
  for (const auto& model : {whole, broken, again})
    model->compile({.optimizer = "adam", .loss = "mse"});
  const auto options = [](std::vector<CallbackPtr> more) {
    return FitOptions{
        .epochs = 4, .verbose = kSilent, .callbacks = std::move(more), .shuffle = false};
  };
  whole->fit(x, y, options({}));
  const auto backup = [&] {
    return callbacks::BackupAndRestore({.backup_dir = folder.file("backup")});
  };
  const auto stop = callbacks::LambdaCallback({.on_epoch_end = [](std::int64_t epoch, const Logs&) {
    if (epoch == 1) throw std::runtime_error("interrupted");
  }});
  EXPECT_THROW(broken->fit(x, y, options({backup(), stop})), std::runtime_error);
  const auto history = again->fit(x, y, options({backup()}));
  EXPECT_EQ(history->epoch, (std::vector<std::int64_t>{2, 3}));
  for (std::size_t i = 0; i < whole->weights().size(); ++i)
    EXPECT_EQ(again->get_weights()[i].to_vector<float>(),
              whole->get_weights()[i].to_vector<float>());
}

template <class E>
void expect_error(const std::string& path, const std::string& part) {
  try {
    load_model(path);
    ADD_FAILURE() << path << " was loaded";
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
  }
}
void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(SavingTest, OtherFormatsSayHowTheyAreConverted) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("saved"));
  write_text(folder.file("saved/saved_model.pb"), "x");
  expect_error<UnimplementedError>(folder.file("saved"), "SavedModel");
  write_text(folder.file("ckpt.index"), "x");
  expect_error<UnimplementedError>(folder.file("ckpt"), "checkpoint");
  write_text(folder.file("model.tflite"), std::string("\x1c\0\0\0TFL3....", 12));
  expect_error<UnimplementedError>(folder.file("model.tflite"), ".tflite");
  write_text(folder.file("model.h5"), "this is no model");
  expect_error<DataLossError>(folder.file("model.h5"), "begins neither");
  write_text(folder.file("empty.keras"), "");
  expect_error<DataLossError>(folder.file("empty.keras"), "0 bytes");
  expect_error<NotFoundError>(folder.file("not there.keras"), "No such file");
  EXPECT_THROW(small_model()->save(folder.file("model.pb")), InvalidArgumentError);
  EXPECT_THROW(small_model()->save(folder.file("no/such/folder.h5")), NotFoundError);
}

void write_h5(const std::string& path, const std::string& config,
              const std::vector<std::string>& layers = {"dense"}) {
  h5::Writer writer(path);
  writer.attribute("/", "model_config", config);
  writer.group("model_weights");
  writer.attribute("model_weights", "layer_names", layers, {layers.size()},
                   h5::Type::fixed_string(5));
  writer.finish();
}

TEST(SavingTest, HardSigmoidIsThatOfTheKerasThatWroteIt) {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.h5");
  const auto value_at_2 = [&](const std::string& inputs) {
    write_h5(path,
             R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)" + inputs +
                 R"("activation": "hard_sigmoid", "name": "a"}}]}})",
             {});
    const auto model = load_model(path);
    return Tensor(model->predict(fill({1, 2}, 2.0F), {.verbose = kSilent})).to_vector<float>()[0];
  };
  EXPECT_FLOAT_EQ(value_at_2(R"({"class_name": "Activation", "config": {
      "batch_input_shape": [null, 2], )"),
                  0.9F);
  EXPECT_FLOAT_EQ(value_at_2(R"({"class_name": "InputLayer", "config": {"batch_shape": [null, 2],
      "name": "i"}}, {"class_name": "Activation", "config": {)"),
                  5.0F / 6);
}

TEST(SavingTest, BadConfigurationsNameWhatWasExpected) {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.h5");
  const auto expect_bad = [&](const std::string& config, const std::string& part) {
    write_h5(path, config);
    try {
      load_model(path);
      ADD_FAILURE() << config.substr(0, 100) << " was loaded";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  expect_bad("{", "not JSON");
  expect_bad(std::string(1000, '[') + std::string(1000, ']'), "deep");
  expect_bad(R"({"class_name": "Sequential", "config": {}})", "no list of layers");
  expect_bad(R"({"class_name": "Dense", "config": {"units": 2, "name": "d"}})", "layer");
  const auto with = [](const std::string& layer) {
    return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 4], "name": "i"}}, )" +
           layer + "]}}";
  };
  expect_bad(with(R"({"class_name": "Dence", "config": {"units": 2}})"), "Did you mean 'Dense'");
  expect_bad(with(R"({"class_name": "Lambda", "config": {}})"), "Python code");
  expect_bad(with(R"({"class_name": "Dense", "config": {"units": -2}})"), "units");
  expect_bad(with(R"({"class_name": "Dense", "config": {"units": 9000000000000000000}})"), "");
  expect_bad(with(R"({"class_name": "Dense", "config": {"units": 2, "name": "dense"}})"), "dense");
  expect_bad(R"({"class_name": "Functional", "config": {"name": "f", "layers": [
      {"class_name": "ReLU", "name": "a", "config": {"name": "a"},
       "inbound_nodes": [[["b", 0, 0, {}]]]},
      {"class_name": "ReLU", "name": "b", "config": {"name": "b"},
       "inbound_nodes": [[["a", 0, 0, {}]]]}],
      "input_layers": [["a", 0, 0]], "output_layers": [["b", 0, 0]]}})",
             "no layer gives");
}

// Every byte changed and every length: an answer, and no memory kept.
void damage_all(const std::string& path, std::size_t stride) {
  const std::vector<std::byte> whole = file_bytes(path);
  const std::string damaged = path + ".damaged";
  const std::uint64_t before = memory::report().total;
  const memory::BudgetScope scope("16MiB");
  std::size_t num_loaded = 0, num_errors = 0;
  double slowest = 0;
  const auto try_it = [&](std::span<const std::byte> bytes) {
    write_text(damaged, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const auto start = std::chrono::steady_clock::now();
    try {
      load_model(damaged);
      ++num_loaded;
    } catch (const Error&) {
      ++num_errors;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    slowest = std::max(slowest, took.count());
  };
  std::vector<std::byte> changed = whole;
  for (std::size_t i = 0; i < whole.size(); i += stride) {
    changed[i] ^= std::byte{i % 2 ? std::uint8_t{0xff} : std::uint8_t{0x01}};
    try_it(changed);
    changed[i] = whole[i];
  }
  for (std::size_t n = 0; n < whole.size(); n += stride) try_it(std::span(whole).first(n));
  EXPECT_GT(num_errors, whole.size() / stride);  // no length but the whole one is a file
  EXPECT_GT(num_loaded, 0U);                     // weights may be anything
  EXPECT_EQ(memory::report().total, before);
  std::printf("%zu loaded, %zu errors, the slowest took %.3f s\n", num_loaded, num_errors, slowest);
}

// Every byte under AddressSanitizer or with TEST_DAMAGE_STRIDE=1; some of them otherwise.
std::size_t damage_stride() {
  if (const char* given = std::getenv("TEST_DAMAGE_STRIDE")) return std::stoul(given);
#ifdef __SANITIZE_ADDRESS__
  return 1;
#else
  return 7;
#endif
}

TEST(SavingTest, DamagedArchives) {
  const TemporaryFolder folder;
  const std::string path = folder.file("small.keras");
  Sequential({Input({2}), layers::Dense({.units = 2})})->save(path);
  damage_all(path, damage_stride());
}
TEST(SavingTest, DamagedH5) {
  const TemporaryFolder folder;
  const std::string path = folder.file("small.h5");
  Sequential({Input({2}), layers::Dense({.units = 2})})->save(path);
  damage_all(path, damage_stride());
}

TEST(SavingTest, WhoeverIsKilledLeavesTheOldFileOrTheNewOne) {
  std::mt19937 random(7);
  for (const char* ending : kEndings) {
    const TemporaryFolder folder;
    const std::string path = folder.file(std::string("model") + ending);
    std::string program = PLIMSOLL_SAVE_FOR_EVER, argument = path;
    char* arguments[] = {program.data(), argument.data(), nullptr};
    for (int round = 0; round < 50; ++round) {
      pid_t child = 0;
      ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ), 0);
      while (round == 0 && !std::filesystem::exists(path))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 60000));
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      const auto weights = load_model(path)->get_weights();
      const auto kernel = weights[0].to_vector<float>();
      EXPECT_EQ(kernel, std::vector<float>(kernel.size(), kernel[0]));
      EXPECT_EQ(weights[1].to_vector<float>()[0], kernel[0]);
    }
  }
}

TEST(SavingTest, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  const auto model = small_model();
  model->save(path);
  const auto before = file_bytes(path);
  EXPECT_THROW(model->save(path, {.overwrite = false}), FailedPreconditionError);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit little{1024, old.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  for (const char* ending : kEndings) {
    setrlimit(RLIMIT_FSIZE, &little);
    EXPECT_THROW(model->save(folder.file(std::string("model") + ending)), ResourceExhaustedError);
    setrlimit(RLIMIT_FSIZE, &old);
  }
  EXPECT_EQ(file_bytes(path), before);
  std::size_t num_files = 0;
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    ++num_files;
  EXPECT_EQ(num_files, 1U);
}

}  // namespace
}  // namespace plimsoll::keras
