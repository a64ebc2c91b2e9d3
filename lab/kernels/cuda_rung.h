// How the ladders' tables name functions that only a build with CUDA has.
#pragma once

#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_CUDA_RUNG(function) function
#else
#define IMGPIPE_CUDA_RUNG(function) nullptr
#endif
