// Regular expressions: RE2's, which TensorFlow has too.
#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "base/log.h"
#include "data/strings_util.h"
#include "data/unicode_case.h"
#include "plimsoll/ops.h"
#include "plimsoll/strings.h"

namespace plimsoll::strings {
namespace {

re2::StringPiece as_piece(std::string_view text) {
  return {text.data(), text.size()};
}

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);  // they are thrown
  return options;
}

void check(const RE2& re, std::string_view pattern, const char* op) {
  PLIMSOLL_CHECK(re.ok(), InvalidArgumentError, "Invalid pattern: {}, error: {} [Op:{}]",
                 shown(pattern), re.error(), op);
}

constexpr int kMaxGroups = 10;  // \0 to \9

// What RE2::GlobalReplace and RE2::Replace do, except that what is made is booked as it grows.
class Replacer {
 public:
  Replacer(const RE2& re, std::string_view rewrite, bool is_global)
      : re_(re),
        rewrite_(rewrite),
        is_global_(is_global),
        num_groups_(1 + RE2::MaxSubmatch(as_piece(rewrite))) {
    std::string why;
    if (!re.CheckRewriteString(as_piece(rewrite), &why))
      log_warning("regex_replace: '{}' cannot be filled in: {}", shown(rewrite), why);
  }

  std::string operator()(const std::string& text, StringBuilder& room) const {
    std::string made;
    grow(made, text.size(), room);
    if (num_groups_ > 1 + re_.NumberOfCapturingGroups()) return made = text;
    const std::string_view all(text);
    std::size_t at = 0, last_end = std::string::npos;
    re2::StringPiece groups[kMaxGroups];
    while (at <= all.size() &&
           re_.Match(text, at, text.size(), RE2::UNANCHORED, groups, num_groups_)) {
      const auto first = static_cast<std::size_t>(groups[0].data() - text.data());
      append(made, all.substr(at, first - at), room);
      at = first;
      if (groups[0].empty() && first == last_end) {  // nothing, behind a match: goes a letter on
        const std::size_t end = at + size_of_letter(all.substr(at));
        append(made, all.substr(at, end - at), room);
        at = std::max(end, at + 1);
        continue;
      }
      grow(made, rewritten_size(groups), room);
      if (!re_.Rewrite(&made, as_piece(rewrite_), groups, num_groups_) && !is_global_)
        return made = text;
      at = last_end = first + groups[0].size();
      if (!is_global_) break;
    }
    if (at < all.size()) append(made, all.substr(at), room);
    return made;
  }

 private:
  // Room for `nbytes` more, twice as much as before if it has to move.
  static void grow(std::string& made, std::size_t nbytes, StringBuilder& room) {
    const std::size_t needed = made.size() + nbytes;
    if (needed <= made.capacity()) return;
    const std::size_t capacity = std::max(needed, made.size() * 2);
    room.make_room(capacity);
    made.reserve(capacity);
  }
  static void append(std::string& made, std::string_view part, StringBuilder& room) {
    grow(made, part.size(), room);
    made += part;
  }
  static std::size_t size_of_letter(std::string_view text) noexcept {
    if (text.empty()) return 0;
    std::size_t end = 0;
    const bool is_letter =
        data::next_letter(text, end) != data::kNoLetter || text.starts_with("\xEF\xBF\xBD");
    return is_letter ? end : 1;
  }
  std::size_t rewritten_size(const re2::StringPiece (&groups)[kMaxGroups]) const noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < rewrite_.size(); ++i) {
      const bool is_escape = rewrite_[i] == '\\' && i + 1 < rewrite_.size();
      const char c = is_escape ? rewrite_[++i] : '\\';
      size += c >= '0' && c <= '9' ? groups[c - '0'].size() : 1;
    }
    return size;
  }

  const RE2& re_;
  const std::string_view rewrite_;
  const bool is_global_;
  const int num_groups_;
};

}  // namespace

Tensor regex_replace(const Tensor& input, std::string_view pattern, std::string_view rewrite,
                     bool replace_global) {
  const std::span<const std::string> texts = strings_of(input, "RegexReplace");
  const RE2 re(as_piece(pattern), quiet());
  check(re, pattern, "RegexReplace");
  const Replacer replace(re, rewrite, replace_global);
  StringBuilder made(texts.size(), owner_of_op("RegexReplace"));
  for (const std::string& text : texts) {
    std::string changed = replace(text, made);
    changed.shrink_to_fit();
    made.add(std::move(changed));
  }
  return made.finish(input.shape());
}

Tensor regex_full_match(const Tensor& input, std::string_view pattern) {
  const std::span<const std::string> texts = strings_of(input, "RegexFullMatch");
  const RE2 re(as_piece(pattern), quiet());
  check(re, pattern, "RegexFullMatch");
  const auto matches = std::make_unique<bool[]>(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) matches[i] = RE2::FullMatch(texts[i], re);
  return constant(std::span<const bool>(matches.get(), texts.size()), input.shape());
}

}  // namespace plimsoll::strings
