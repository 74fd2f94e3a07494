// Looking at what the runtime does.
#pragma once

namespace plimsoll::debugging {

// From now on every op says on stderr where it runs:
//   Executing op MatMul in device /job:localhost/replica:0/task:0/device:GPU:0
void set_log_device_placement(bool enabled);
bool get_log_device_placement();

}  // namespace plimsoll::debugging
