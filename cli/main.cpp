// plimsoll: looks at model files, plans their memory and runs them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "commands.h"
#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

using Command = std::function<int()>;

CLI::App* add(CLI::App& app, const char* name, const char* what, const char* examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(std::string("Examples:\n") + examples);
  return command;
}

void add_info(CLI::App& app, InfoArguments& a, Command& chosen) {
  CLI::App* info =
      add(app, "info", "Layers, shapes, parameters and bytes of a model file; reads no weights",
          "  plimsoll info resnet50.h5\n"
          "  plimsoll info model.keras --batch 32 --nested\n"
          "  plimsoll info backbone.weights.h5\n");
  info->add_option("FILE", a.file, ".keras, .h5 or .weights.h5")->required();
  info->add_option("--batch", a.batch, "of the outputs that are shown")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  info->add_flag("--nested", a.show_nested, "show the layers of models inside");
  info->add_flag("--json", a.as_json, "as JSON");
  info->callback([&] { chosen = [&a] { return show_info(a); }; });
}

void add_plan(CLI::App& app, PlanArguments& a, Command& chosen) {
  CLI::App* plan =
      add(app, "plan", "The memory that a model will take, before it runs; reads no weights",
          "  plimsoll plan resnet50.h5 --batch 32\n"
          "  plimsoll plan resnet50.h5 --batch 32 --train adam --budget 2GiB\n"
          "  plimsoll plan model.keras --batch 8 --device jetson-nano-4gb\n"
          "  plimsoll plan mobilenet.keras --input-shape 224,224,3 --json > plan.json\n"
          "Exit code: 0 if it fits, 3 if it does not.\n");
  plan->add_option("FILE", a.file, ".keras or .h5")->required();
  plan->add_option("--batch", a.batch, "samples at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  plan->add_option("--budget", a.budget,
                   "what it may take: 512MiB, 2GiB; none: the device's limit");
  plan->add_option("--device", a.device,
                   "a profile to simulate (plimsoll devices lists them), or CPU:0, GPU:0");
  CLI::Option* train =
      plan->add_option("--train", a.optimizer, "a step of training, with sgd, adam, ...");
  plan->add_flag("--infer", a.infer, "a step of inference; the default")->excludes(train);
  plan->add_option("--loss", a.loss, "of training; none: the file's, or one for the outputs")
      ->needs(train);
  plan->add_option("--input-shape", a.input_shape,
                   "of each input, without the batch, where the model leaves it open: 224,224,3");
  plan->add_flag("--json", a.as_json, "as JSON, with every buffer of the step");
  plan->callback([&] { chosen = [&a] { return show_plan(a); }; });
}

void add_run(CLI::App& app, RunArguments& a, Command& chosen) {
  CLI::App* run =
      add(app, "run", "Predictions of a model for arrays in .npy files",
          "  plimsoll run resnet50.h5 --input image.npy\n"
          "  plimsoll run model.keras --input x.npy --output y.npy --batch 8\n"
          "  plimsoll run model.keras --input left=a.npy --input right=b.npy --budget 1GiB\n");
  run->add_option("FILE", a.file, ".keras or .h5")->required();
  run->add_option("--input", a.inputs, "an .npy file for each input, or name=file")->required();
  run->add_option("--output", a.output,
                  "an .npy file; with several outputs NAME_0.npy, NAME_1.npy, ...");
  run->add_option("--batch", a.batch, "samples at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run->add_option("--budget", a.budget, "what it may take: 512MiB, 2GiB");
  run->add_option("--top", a.top, "values that are printed of a row")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  run->callback([&] { chosen = [&a] { return run_model(a); }; });
}

void add_devices(CLI::App& app, DevicesArguments& a, Command& chosen) {
  CLI::App* devices =
      add(app, "devices", "Devices with their limits, and those that can be simulated",
          "  plimsoll devices\n"
          "  PLIMSOLL_SIM_DEVICES=jetson-nano-4gb plimsoll devices\n");
  devices->add_flag("--json", a.as_json, "as JSON");
  devices->callback([&] { chosen = [&a] { return show_devices(a); }; });
}

int run(int argc, char** argv) {
  CLI::App app{"What models take, before they run", "plimsoll"};
  app.set_version_flag("--version", "plimsoll " PLIMSOLL_VERSION);
  app.require_subcommand(1);
  app.footer("plimsoll COMMAND --help says more, with examples.");
  Command chosen;
  InfoArguments info;
  PlanArguments plan;
  RunArguments run;
  DevicesArguments devices;
  add_info(app, info, chosen);
  add_plan(app, plan, chosen);
  add_run(app, run, chosen);
  add_devices(app, devices, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return chosen();
}

}  // namespace
}  // namespace plimsoll::cli

int main(int argc, char** argv) {
  try {
    return plimsoll::cli::run(argc, argv);
  } catch (const plimsoll::ResourceExhaustedError& error) {
    std::fprintf(stderr, "error: %s: %s\n", error.name(), error.what());
    return plimsoll::cli::kDoesNotFit;
  } catch (const plimsoll::Error& error) {
    std::fprintf(stderr, "error: %s: %s\n", error.name(), error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return plimsoll::cli::kError;
}
