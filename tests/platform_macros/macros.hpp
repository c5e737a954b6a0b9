// The macros that headers of platforms leave defined and that are also names in other people's C++. The values have the
// form that the platform gives them. The standard library and xsimd come first: they are not ours.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <utility>
#if __has_include(<xsimd/xsimd.hpp>) && !defined(LADON_ARRAY_LANES)
#include <xsimd/xsimd.hpp>
#endif

// X11/X.h, Xlib.h
#if __has_include(<X11/Xlib.h>)
#include <X11/Xlib.h>
#endif
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define Always 2
#define Above 0
#define Below 1
// Qt, without QT_NO_KEYWORDS
#define slots
#define signals public
#define emit
#define foreach(variable, container) for (variable : container)
// windows.h, rpcndr.h, wingdi.h
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define near
#define far
#define IN
#define OUT
#define interface struct
#define ERROR 0
#define TRANSPARENT 1
// Arduino.h
#define abs(x) ((x) > 0 ? (x) : -(x))
#define round(x) ((x) >= 0 ? (long)((x) + 0.5) : (long)((x) - 0.5))
#define constrain(x, low, high) ((x) < (low) ? (low) : ((x) > (high) ? (high) : (x)))
#define sq(x) ((x) * (x))
#define bit(b) (1UL << (b))
#define word(...) makeWord(__VA_ARGS__)
#define F(text) (text)
// lwIP sockets.h
#define accept(s, address, length) lwip_accept(s, address, length)
#define bind(s, name, length) lwip_bind(s, name, length)
#define connect(s, name, length) lwip_connect(s, name, length)
#define select(n, r, w, e, t) lwip_select(n, r, w, e, t)
#define read(s, memory, length) lwip_read(s, memory, length)
#define write(s, data, length) lwip_write(s, data, length)
#define close(s) lwip_close(s)
// Unreal Engine, AssertMacros.h of older macOS
#define check(expression)
#define verify(assertion)
#define require(assertion, label)
// complex.h of C
#define I (__extension__ 1.0iF)
// g++ with -std=gnu++20
#define linux 1
#define unix 1
