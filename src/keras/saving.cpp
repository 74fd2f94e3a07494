#include <fmt/format.h>

#include "plimsoll/error.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::keras {
namespace {

[[noreturn]] void not_yet(const char* what, const std::string& path) {
  throw UnimplementedError(fmt::format(
      "{} of model files is not built yet. Received: '{}'. Until then: get_weights() and "
      "set_weights()",
      what, path));
}

}  // namespace

void Model::save(const std::string& path) const {
  not_yet("writing", path);
}
void Model::save_weights(const std::string& path) const {
  not_yet("writing", path);
}
void Model::load_weights(const std::string& path) {
  not_yet("reading", path);
}

}  // namespace plimsoll::keras
