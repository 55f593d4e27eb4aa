// Symbols that a new compiler's headers refer to, and that the libraries of older systems lack (glibc before 2.32,
// libstdc++ before 11): the bridge defines them, so that wheels run there.  It does not export them (`VERSION_SCRIPT`
// in build.py).
#include <new>

// Whether reference counts may change without atomic instructions.  They may not.
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;

namespace std {

[[noreturn]] void __throw_bad_array_new_length();
void __throw_bad_array_new_length() { throw bad_array_new_length(); }

}  // namespace std
