// Stands for libnvidia-ml.so.1 in tests: one GPU, "GPU-fake", that is warm, and a second, "GPU-mute", about which
// nothing is told, as in some sandboxes.
#include <cstring>

namespace {

struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kTimeout = 10;

int talking;
int mute;
int events_left = 2;

int Say(void* device, unsigned value, unsigned* answer) {
  if (device == &mute) return kNotSupported;
  *answer = value;
  return 0;
}

}  // namespace

extern "C" {
int nvmlInit_v2() { return 0; }
const char* nvmlErrorString(int result) { return result == kNotFound ? "Not Found" : "Not Supported"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.159.04", size);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = std::strcmp(uuid, "GPU-mute") == 0 ? &mute : &talking;
  return std::strcmp(uuid, "GPU-other") == 0 ? kNotFound : 0;
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) { return Say(device, 1000 + type, mhz); }
int nvmlDeviceGetMaxClockInfo(void* device, unsigned type, unsigned* mhz) { return Say(device, 2000 + type, mhz); }
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* celsius) { return Say(device, 61, celsius); }
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) { return Say(device, 345600, milliwatts); }
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) { return Say(device, 700000, milliwatts); }
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  if (device == &mute) return kNotSupported;
  *reasons = 0x44;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (device == &mute) return kNotSupported;
  *memory = {100, 60, 40};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* found) {
  if (device == &mute) return kNotSupported;
  if (*count < 1) return 7;
  found[0] = {1, 5000, 0, 0};  // init, which no test is nor started
  *count = 1;
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void* device, unsigned, unsigned, unsigned long long* errors) {
  if (device == &mute) return kNotSupported;
  *errors = 2;
  return 0;
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  if (device == &mute) return kNotSupported;
  *corrected = *uncorrected = *failed = 0;
  *pending = 1;
  return 0;
}
int nvmlDeviceGetComputeMode(void* device, unsigned* mode) { return Say(device, 3, mode); }
int nvmlEventSetCreate(void** set) {
  *set = &talking;
  return 0;
}
int nvmlDeviceRegisterEvents(void* device, unsigned long long, void*) { return device == &mute ? kNotSupported : 0; }
int nvmlEventSetWait_v2(void*, EventData* event, unsigned) {
  if (events_left == 0) return kTimeout;
  *event = {&talking, events_left == 2 ? 8ULL : 1ULL, 31, 0, 0};
  --events_left;
  return 0;
}
int nvmlEventSetFree(void*) { return 0; }
}
