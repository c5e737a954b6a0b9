// SPDX-License-Identifier: Apache-2.0
// Selects one of two ways in which the bytes of a file come into memory.
#pragma once

namespace ladon::safetensors {

// map: the system reads a page of the file when the page is first used. Start-up is fast, and processes share the
// pages. If another process changes the file in place, the bytes in memory change, too. If another process truncates
// the file, a read behind the new end stops this process (SIGBUS on POSIX). No check in this process can prevent such a
// stop. Replacing the file by renaming is safe: the mapping keeps the old file. Windows refuses to truncate a mapped
// file.
//
// copy: the constructor reads the whole file into allocated memory. Later changes of the file have no effect. A change
// of the file's size during the reading is an error. A change of content during the reading is not detected.
enum class Access { map, copy };

}  // namespace ladon::safetensors
