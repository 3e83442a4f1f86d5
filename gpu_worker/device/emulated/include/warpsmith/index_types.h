// The two index types that a kernel and the device's scheduler share.
#ifndef WARPSMITH_EMULATED_INDEX_TYPES_H_
#define WARPSMITH_EMULATED_INDEX_TYPES_H_

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif  // WARPSMITH_EMULATED_INDEX_TYPES_H_
