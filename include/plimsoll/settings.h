// Settings: what can be set by a call or by an environment variable. docs/settings.md lists them.
//
//   settings::set("budget", "2GiB");                    // the same as PLIMSOLL_BUDGET=2GiB
//   settings::get_bytes("budget") == 2_GiB
//   settings::origin("budget").text                     // settings::set("budget")
//
// A call wins over the PLIMSOLL_ variable, which wins over TensorFlow's variables for the same
// thing. The environment is read when a setting is first asked for, so a program may still change
// it after loading the library. A setting that shapes the runtime is fixed once the runtime uses
// it: then only setting it to the value it has is accepted.
//
// Every function here may be called from any thread. Every one that takes a name throws
// NotFoundError for an unknown one, with the nearest known name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::settings {

// Sets `name`; `value` is written as it would stand in the environment.
// throws: InvalidArgumentError for a value that does not read as the setting's type;
//         FailedPreconditionError if the setting is fixed and in use with another value.
void set(std::string_view name, std::string_view value);

// Takes back what set() did: the environment or the default counts again.
// throws: FailedPreconditionError as set() does.
void unset(std::string_view name);

// The value, by type. A bad value in the environment is reported here, with its variable's name.
// throws: InvalidArgumentError for a value that cannot be read, or a setting of another type.
std::optional<std::uint64_t> get_bytes(std::string_view name);  // none: not set
std::int64_t get_int(std::string_view name);
bool get_bool(std::string_view name);
std::string get_string(std::string_view name);             // also choices; empty: not set
std::vector<std::string> get_list(std::string_view name);  // "a, b" gives {"a", "b"}

enum class OriginKind { kDefault, kCall, kEnvironment };

struct Origin {
  OriginKind kind;
  std::string text;  // for messages: default, settings::set("budget") or the variable's name
};

// Where the value that counts comes from.
Origin origin(std::string_view name);

}  // namespace plimsoll::settings
