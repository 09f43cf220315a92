// What libtenon_kernel shows to programs; everything else in it is hidden.
#pragma once

#define TENON_KERNEL_API __attribute__((visibility("default")))
