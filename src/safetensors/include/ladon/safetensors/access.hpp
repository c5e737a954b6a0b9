// SPDX-License-Identifier: Apache-2.0
// How the bytes of a file come into memory.
#pragma once

namespace ladon::safetensors {

// map: the system reads a page when the page is first used. Start-up is fast, and processes share the pages. The bytes
// are those of the file as long as nobody changes the file. If another process changes the file in place, the bytes
// change. If another process truncates the file, a read behind the new end stops this process (SIGBUS on POSIX), and no
// check in this process can prevent that. A file that is replaced by renaming is safe: the mapping keeps the old file.
// Windows refuses to truncate a mapped file.
//
// copy: the constructor reads the whole file into memory of its own. Later changes of the file have no effect. A file
// whose size changes while it is read is an error. A change of content during the reading is not detected.
enum class Access { map, copy };

}  // namespace ladon::safetensors
