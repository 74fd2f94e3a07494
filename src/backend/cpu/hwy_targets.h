// Which instruction sets our loops are compiled for, to be included before Highway: the baseline,
// AVX2 and AVX-512 on x86; others would cost compile time and gain little.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
