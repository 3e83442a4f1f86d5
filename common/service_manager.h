// Tells the service manager that started this process how it stands: systemd's protocol of a datagram to
// $NOTIFY_SOCKET, spoken without its library. Where no manager asked for it nothing happens. Threading:
// FindServiceManager before any other thread starts; TellServiceManager from any. Source of the protocol: sd_notify(3).
#ifndef WARPSMITH_COMMON_SERVICE_MANAGER_H_
#define WARPSMITH_COMMON_SERVICE_MANAGER_H_

#include <string>

namespace warpsmith {

// Remembers the address and takes it out of the environment: no child process speaks for this one.
void FindServiceManager();
bool HasServiceManager();
// Lines such as "READY=1\nSTATUS=serving". False where they could not be told now; never waits.
bool TellServiceManager(const std::string& lines);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SERVICE_MANAGER_H_
