// Loaded before glibc (LD_PRELOAD), makes a kernel with pages of 4 KiB look like one with pages of 64 KiB, which many
// aarch64 systems have: `ci/check pages`.  The calls that the project makes refuse what is aligned to less, as there.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

extern "C" {

long __sysconf(int name);

}

namespace {

constexpr size_t kPage = 64 << 10;
constexpr size_t kMost = size_t{1} << 47;

size_t RoundUp(size_t size) { return (size + kPage - 1) & ~(kPage - 1); }

bool IsAligned(uint64_t place) {
  if (place % kPage == 0) return true;
  errno = EINVAL;
  return false;
}

bool IsAligned(const void* start) { return IsAligned(reinterpret_cast<uintptr_t>(start)); }

void* Map(void* start, size_t size, int access, int kind, int file, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, start, size, access, kind, file, offset));
}

// Addresses that nobody uses, in whole pages; the caller maps something over them.
char* Reserve(size_t size) {
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const mapped = Map(nullptr, size + kPage, PROT_NONE, kind, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const all = static_cast<char*>(mapped);
  char* const start = reinterpret_cast<char*>(RoundUp(reinterpret_cast<uintptr_t>(all)));
  if (start > all) syscall(SYS_munmap, all, start - all);
  syscall(SYS_munmap, start + size, all + kPage - start);
  return start;
}

}  // namespace

extern "C" {

long sysconf(int name) noexcept { return name == _SC_PAGESIZE ? kPage : __sysconf(name); }

void* mmap(void* start, size_t size, int access, int kind, int file, off_t offset) noexcept {
  if (!IsAligned(static_cast<uint64_t>(offset))) return MAP_FAILED;
  if ((kind & MAP_FIXED) != 0) {
    return IsAligned(start) ? Map(start, RoundUp(size), access, kind, file, offset) : MAP_FAILED;
  }
  if (size == 0 || size > kMost) return Map(nullptr, size, access, kind, file, offset);  // says why not
  size = RoundUp(size);
  char* const place = Reserve(size);
  if (place == nullptr) return MAP_FAILED;
  void* const mapped = Map(place, size, access, kind | MAP_FIXED, file, offset);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    syscall(SYS_munmap, place, size);
    errno = error;
  }
  return mapped;
}

// Rust's standard library calls this one.
void* mmap64(void* start, size_t size, int access, int kind, int file, off64_t offset) noexcept {
  return mmap(start, size, access, kind, file, offset);
}

int munmap(void* start, size_t size) noexcept {
  return IsAligned(start) ? static_cast<int>(syscall(SYS_munmap, start, RoundUp(size))) : -1;
}

int madvise(void* start, size_t size, int advice) noexcept {
  return IsAligned(start) ? static_cast<int>(syscall(SYS_madvise, start, RoundUp(size), advice)) : -1;
}

// A page is there if its first part is.
int mincore(void* start, size_t size, unsigned char* resident) noexcept {
  if (!IsAligned(start)) return -1;
  for (size_t at = 0; at < size; at += kPage) {
    if (syscall(SYS_mincore, static_cast<char*>(start) + at, 1, resident++) != 0) return -1;
  }
  return 0;
}

}
