// For arithmetic that the host and a CUDA device share.
#pragma once

#ifdef __CUDACC__
#define IMGPIPE_HOST_DEVICE __host__ __device__
#else
#define IMGPIPE_HOST_DEVICE
#endif
