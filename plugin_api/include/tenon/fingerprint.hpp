// The facts about a build that decide whether two libraries can share C++ objects, as text to be compared before
// opening.
#pragma once

#define TENON_TEXT_OF(x) #x
#define TENON_TEXT(x) TENON_TEXT_OF(x)

#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0
#define TENON_STRING_ABI "old"
#else
#define TENON_STRING_ABI "cxx11"
#endif

#ifdef _GLIBCXX_DEBUG
#define TENON_CONTAINER_DEBUG "1"
#else
#define TENON_CONTAINER_DEBUG "0"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TENON_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define TENON_SANITIZER "thread"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_SANITIZER "address"
#elif __has_feature(thread_sanitizer)
#define TENON_SANITIZER "thread"
#endif
#endif
#ifndef TENON_SANITIZER
#define TENON_SANITIZER "none"
#endif

/// "2.11.0" for a build over ATen; the build system defines both. Plugins without libtorch do not carry them.
#if defined(TENON_LIBTORCH_VERSION) && defined(TENON_CUDA_MAJOR)
#define TENON_TORCH_FACTS " libtorch=" TENON_LIBTORCH_VERSION " cuda=" TENON_CUDA_MAJOR
#else
#define TENON_TORCH_FACTS ""
#endif

/// key=value, separated by one blank. Keys: cxxabi (__GXX_ABI_VERSION, family), string, debug, sanitize, libtorch,
/// cuda.
#define TENON_FINGERPRINT \
  "cxxabi=itanium"        \
  " string=" TENON_STRING_ABI " debug=" TENON_CONTAINER_DEBUG " sanitize=" TENON_SANITIZER TENON_TORCH_FACTS
