#include "runtime/host_step.h"

#include "memory/rounding.h"

namespace plimsoll {
namespace {

std::uint64_t rounded(std::uint64_t nbytes) noexcept {
  return memory::round_up(nbytes, memory::kGrain);
}

}  // namespace

std::uint64_t host_step_bytes(const Step& step) {
  std::uint64_t sum = step.kernel.scratch_bytes();
  for (const auto* specs : {&step.in_specs, &step.out_specs}) {
    for (const TensorSpec& spec : *specs) sum += rounded(tensor_bytes(spec.dtype, spec.shape));
  }
  return sum;
}

Status run_host_step(const Device& device, const KernelCall& call, const Step& step,
                     std::span<const DeviceSpan> in, std::span<const DeviceSpan> out,
                     memory::Address host) {
  std::vector<DeviceSpan> near;
  for (const auto spans : {in, out}) {
    for (const DeviceSpan& span : spans) {
      near.push_back({host, 0, span.nbytes});
      host += rounded(span.nbytes);
    }
  }
  for (std::size_t i = 0; i < in.size(); ++i)
    device.read(near[i].as<void>(), in[i].buffer + in[i].offset, in[i].nbytes);
  DeviceSpan slots[ScratchBook::kMaxSlots];
  const std::span<const DeviceSpan> all(near);
  const Status status = step.kernel.run({call, all.first(in.size()), all.subspan(in.size()),
                                         step.kernel.grant(host, slots), step.kernel.state()});
  if (!status.ok()) return status;
  for (std::size_t i = 0; i < out.size(); ++i)
    device.write(out[i].buffer + out[i].offset, near[in.size() + i].as<void>(), out[i].nbytes);
  return {};
}

}  // namespace plimsoll
