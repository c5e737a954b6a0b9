// Steps of replacing a file, as the system offers them. Each returns the error that stopped it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace files {

// Creates a file with the content and waits until the storage device has it. An existing file or link is an error,
// std::errc::file_exists, and stays as it is. The file gets the permissions, or without them those of any new file.
// After an error there is no new file.
std::error_code write_new_file(const std::filesystem::path& file, std::string_view content,
                               std::optional<std::filesystem::perms> permissions);

// Writes the content into an existing device or pipe.
std::error_code write_into(const std::filesystem::path& device, std::string_view content);

// Waits until the storage device has the folder's new names. Does nothing where the folder cannot be opened.
std::error_code synchronise_folder(const std::filesystem::path& folder);

}  // namespace files
