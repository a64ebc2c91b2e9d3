// The names of this build. app/build_id.cmake writes their source, the only object that depends on the
// commit.
#pragma once

namespace imgpipe {

extern const char* const kVersion;        // "0.2.0-dev+0123456789ab"; a release: "0.2.0"
extern const char* const kPythonVersion;  // PEP 440: "0.2.0.dev0+g0123456789ab"
extern const char* const kCommit;  // "0123456789ab", with ".dirty" when the tree had changes; or "unknown"
extern const char* const kCommitDate;  // "2026-11-23"; "" when unknown

}  // namespace imgpipe
