// Plugin files made by hand: an ELF shared library with the sections that matter for being found, and no code.
#pragma once

#include <elf.h>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/plugin/fingerprint.hpp>
#include <core/storage/temporary_folder.hpp>

namespace tenon::core {

struct MadeSection {
  std::string name;
  std::string content;
  uint32_t type = SHT_PROGBITS;
  uint32_t link = 0;  ///< Index of another section; the first given one is 1.
};

template <class T>
std::string bytes_as_text(const T& value) {
  std::string text(sizeof value, '\0');
  std::memcpy(text.data(), &value, sizeof value);
  return text;
}

/// A library with these sections, headers at the end as linkers put them.
inline std::string made_library(std::vector<MadeSection> sections) {
  sections.insert(sections.begin(), MadeSection{"", "", SHT_NULL});
  sections.push_back({".shstrtab", "", SHT_STRTAB});
  std::string names;
  std::vector<Elf64_Shdr> headers;
  for (const MadeSection& section : sections) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = section.type;
    header.sh_link = section.link;
    headers.push_back(header);
    names += section.name + '\0';
  }
  sections.back().content = names;
  std::string file(sizeof(Elf64_Ehdr), '\0');
  for (size_t i = 0; i < sections.size(); ++i) {
    headers[i].sh_offset = file.size();
    headers[i].sh_size = sections[i].content.size();
    file += sections[i].content;
  }
  file.append((8 - file.size() % 8) % 8, '\0');
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#else
  header.e_machine = EM_X86_64;
#endif
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::memcpy(file.data(), &header, sizeof header);
  for (const Elf64_Shdr& each : headers) {
    file += bytes_as_text(each);
  }
  return file;
}

/// The entry of one component in a manifest.
inline Json made_component(const std::string& kind, const std::string& name) {
  return {{"kind", kind},
          {"name", name},
          {"summary", "Made for a test"},
          {"interface", "tenon." + kind},
          {"revision", 1},
          {"parameters", {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}},
          {"ports", {{"in", Json::array()}, {"out", Json::array()}}},
          {"traits", Json::array()},
          {"abilities", Json::array()}};
}

/// A manifest that this Tenon takes.
inline Json made_manifest(const std::string& id, std::vector<Json> components) {
  return {{"manifest", 1},
          {"id", id},
          {"version", "1.0.0"},
          {"licence", "Apache-2.0"},
          {"api", 1},
          {"fingerprint", std::string(host_fingerprint())},
          {"namespaces", Json::array()},
          {"components", std::move(components)}};
}

inline std::string made_plugin(const Json& manifest) { return made_library({{".tenon.manifest", manifest.dump()}}); }

/// Puts a plugin with one transform into a folder.
inline std::filesystem::path put_plugin(const std::filesystem::path& path, const std::string& id,
                                        const std::string& name) {
  put(path, made_plugin(made_manifest(id, {made_component("transform", name)})));
  return path;
}

}  // namespace tenon::core
