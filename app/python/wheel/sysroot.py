"""Makes GCC compile for an older glibc than this machine's: headers and stub libraries of zig, which PyPI distributes.

The host's GCC brings libstdc++, which is linked statically. It was built for the host's glibc, so the sysroot contains
what libstdc++ uses of newer ones (new_symbols.c), and hides functions from its headers that the old glibc lacks.
"""
import pathlib
import re
import shutil
import subprocess
import sys

MINOR = 28  # of glibc 2.28, as in manylinux_2_28

# glibc 2.30 and 2.36
HIDDEN = ("_GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT", "_GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK",
          "_GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK", "_GLIBCXX_USE_UCHAR_C8RTOMB_MBRTOC8_CXX20",
          "_GLIBCXX_USE_UCHAR_C8RTOMB_MBRTOC8_FCHAR8_T")


def zig_files(work, machine):
    """Return the directories of headers and the files that zig links a program for the old glibc with."""
    source = work / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.2.{MINOR}", "-fno-lto", "-v",
               source, "-o", work / "empty"]
    cache = {"ZIG_GLOBAL_CACHE_DIR": str(work / "cache"), "ZIG_LOCAL_CACHE_DIR": str(work / "cache"), "HOME": str(work)}
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=cache, cwd=work).stderr
    headers = re.findall(r"-isystem (\S+/libc/include/\S+)", said)
    link = [line for line in said.splitlines() if line.startswith("ld.lld")][-1]
    files = re.findall(r"\S+/(?:lib\w+\.so\.\d+|S?crt[1in]\.o|libc_nonshared\.a)", link)
    assert len(headers) == 4 and len(files) == 12, said
    return headers, [work / file for file in files]


def make(directory, machine):
    """Make the sysroot with its compilers, directory/bin/gcc and g++, unless they exist."""
    compilers = directory / "bin"
    if (compilers / "g++").exists():
        return compilers
    shutil.rmtree(directory, ignore_errors=True)
    include, library, zig = directory / "usr/include", directory / "usr/lib", directory / "zig"
    for new in (compilers, include, library, zig):
        new.mkdir(parents=True)
    headers, linked = zig_files(zig, machine)
    for source in reversed(headers):  # the first has precedence
        shutil.copytree(source, include, dirs_exist_ok=True)
    for file in linked:
        shutil.copy(file, library)
    shutil.rmtree(zig)
    shutil.copy(library / "Scrt1.o", library / "crt1.o")
    compiled = library / "new_symbols.o"
    source = pathlib.Path(__file__).with_name("new_symbols.c")
    subprocess.run(["gcc", "-O2", "-fPIC", "-fvisibility=hidden", "-c", source, "-o", compiled], check=True)
    subprocess.run(["ar", "rcs", library / "libnew_symbols.a", compiled], check=True)
    (library / "libc.so").write_text("GROUP(libc.so.6 libc_nonshared.a libnew_symbols.a AS_NEEDED(libld.so.2))\n")
    for file in library.glob("lib*.so.*"):
        if file.name not in ("libc.so.6", "libld.so.2"):
            (library / re.sub(r"\.so\..*", ".so", file.name)).symlink_to(file.name)

    config = directory / "c++/bits/c++config.h"
    config.parent.mkdir(parents=True)
    config.write_text("#include_next <bits/c++config.h>\n" + "".join(f"#undef {name}\n" for name in HIDDEN))
    for name, headers_first in (("gcc", ""), ("g++", f"-isystem {directory / 'c++'}")):
        (compilers / name).write_text(
            f'#!/bin/sh\nexec {name} --sysroot={directory} -B{library} -L{library} -D__GLIBC_MINOR__={MINOR} '
            f'{headers_first} -Wl,--allow-shlib-undefined "$@"\n')
        (compilers / name).chmod(0o755)
    return compilers
