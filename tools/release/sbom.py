# SPDX-License-Identifier: Apache-2.0
"""sbom CHECKOUT FOLDER URL HEADERS: writes FOLDER/ladon-VERSION.spdx.json, a bill of materials in SPDX 2.3.

Lists the files of a release in FOLDER with their checksums. Also lists the packages that build or test these files: the
C++ dependencies that cmake/dependencies.cmake pins, the crates of src/tokenizer/Cargo.lock.in, and the npm packages of
wasm/package-lock.json. The npm tarball contains KissFFT, compiled into the module keywords_front_end, and
@huggingface/tokenizers in tokenizer.js. The programs contain nlohmann_json, CLI11 and protozero, in the versions of the
machine that made the release. No other file of a release contains code of a dependency. xsimd is optional for users of
the headers.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import sys
import time

# Maps the name of each dependency in dependencies.cmake to its licence and its relationship to Ladon. CONTAINED_BY
# means that the npm tarball contains the dependency. The other relationships are between the dependency and the source
# archive.
CPP_DEPENDENCIES = {
    "xsimd": ("BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF"),
    "doctest": ("MIT", "TEST_DEPENDENCY_OF"),
    "nlohmann_json": ("MIT", "BUILD_DEPENDENCY_OF"),
    "cli11": ("BSD-3-Clause", "BUILD_DEPENDENCY_OF"),
    "protozero": ("BSD-2-Clause", "BUILD_DEPENDENCY_OF"),
    "benchmark": ("Apache-2.0", "DEV_DEPENDENCY_OF"),
    "kissfft": ("BSD-3-Clause", "CONTAINED_BY"),
    "sndfile": ("LGPL-2.1-or-later", "DEV_DEPENDENCY_OF"),
    "samplerate": ("BSD-2-Clause", "DEV_DEPENDENCY_OF"),
}
# Matches a call in dependencies.cmake. The groups are the name, the address and the checksum of a dependency.
PINNED = re.compile(r"\(\s*(?:\S+::\S+ |folder )?(\w+) [^()]*?URL (\S+)\s+(?:SHA256 |URL_HASH SHA256=)([0-9a-f]{64})")
# The packages of npm whose code is in the npm tarball. The other packages only build and test it.
CONTAINED_PACKAGES = {"npm-node_modules/@huggingface/tokenizers"}
# The dependencies in the programs, each with a header's path in HEADERS and a pattern of the parts of its version.
IN_PROGRAMS = {
    "nlohmann_json": ("nlohmann", r"define NLOHMANN_JSON_VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)"),
    "cli11": ("CLI", r'define CLI11_VERSION "([0-9.]+)"'),
    "protozero": ("protozero", r'define PROTOZERO_VERSION_STRING "([0-9.]+)"'),
}
AUTHORS = "Organization: The Ladon authors"


def package(identifier, name, version, licence, location, algorithm, checksum, **more):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", identifier),
        "name": name,
        "versionInfo": version,
        "downloadLocation": location,
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "checksums": [{"algorithm": algorithm, "checksumValue": checksum}],
        **more,
    }


def released_files(folder, version):
    """Yields the files of the release. The source archive comes first, because all other files are made from the
    archive."""
    source = folder / f"ladon-{version}.tar.gz"
    for path in [source, *sorted(path for path in folder.iterdir() if path != source)]:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield package(
            path.name,
            path.name,
            version,
            "Apache-2.0",
            "NOASSERTION",
            "SHA256",
            digest,
            packageFileName=path.name,
            supplier=AUTHORS,
            copyrightText="Copyright The Ladon authors",
        )


def cpp_dependencies(checkout):
    """Yields each dependency that CMake fetches, as a pair of the package and its relationship."""
    text = (checkout / "cmake/dependencies.cmake").read_text()
    pinned = PINNED.findall(text)
    found = {name for name, _, _ in pinned}
    if found != set(CPP_DEPENDENCIES):
        sys.exit(f"sbom: cmake/dependencies.cmake has {sorted(found)}, and sbom.py has {sorted(CPP_DEPENDENCIES)}")
    for name, url, digest in pinned:
        licence, relationship = CPP_DEPENDENCIES[name]
        version = re.search(r"/v?([0-9.]+)\.tar\.gz$", url)[1]
        yield package(f"cpp-{name}", name, version, licence, url, "SHA256", digest), relationship


def in_programs(headers):
    """Yields the dependencies that the programs contain. `headers` has a folder for each of them."""
    for name, (folder, pattern) in IN_PROGRAMS.items():
        files = sorted((headers / name / folder).rglob("*.hpp"))
        parts = next(filter(None, (re.findall(pattern, file.read_text()) for file in files)), None)
        if parts is None:
            sys.exit(f"sbom: the headers of {name} in {headers} have no version")
        version = ".".join(parts[:3])
        yield {
            **package(f"program-{name}", name, version, CPP_DEPENDENCIES[name][0], "NOASSERTION", "", ""),
            "checksums": [],
        }


def crates(checkout):
    """Yields the crates from which cargo makes ladon::tokenizer, which no file of the release contains."""
    folder = checkout / "src/tokenizer"
    licences = json.loads((folder / "licences.json").read_text())
    lock = re.findall(
        r'^name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(\w+)"$',
        (folder / "Cargo.lock.in").read_text(),
        re.MULTILINE,
    )
    if {f"{name} {version}" for name, version, _ in lock} != set(licences):
        sys.exit("sbom: src/tokenizer/Cargo.lock.in and licences.json have different crates")
    for name, version, digest in lock:
        yield package(
            f"crate-{name}-{version}",
            name,
            version,
            licences[f"{name} {version}"],
            "NOASSERTION",
            "SHA256",
            digest,
            externalRefs=[
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": f"pkg:cargo/{name}@{version}",
                }
            ],
        )


def npm_dependencies(checkout):
    """Yields each package that builds or tests the binding, as a pair of the package and its relationship. Skips
    optional packages, which are for certain systems only."""
    lock = json.loads((checkout / "wasm/package-lock.json").read_text())
    for place, entry in sorted(lock["packages"].items()):
        if not place or entry.get("optional"):
            continue
        algorithm, digest = entry["integrity"].split("-", 1)
        name = entry.get("name", place.rsplit("node_modules/", 1)[-1])
        identifier = f"npm-{place}"
        relationship = "CONTAINED_BY" if identifier in CONTAINED_PACKAGES else "DEV_DEPENDENCY_OF"
        made = package(
            identifier,
            name,
            entry["version"],
            entry.get("license", "NOASSERTION"),
            "NOASSERTION",
            algorithm.upper(),
            base64.b64decode(digest).hex(),
            externalRefs=[
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}",
                }
            ],
        )
        yield made, relationship


def document(checkout, folder, url, version, headers):
    files = list(released_files(folder, version))
    source, made = files[0], files[1:]
    cpp, npm = list(cpp_dependencies(checkout)), list(npm_dependencies(checkout))
    cargo = list(crates(checkout))
    binding = next(file for file in files if file["name"].endswith(".tgz"))
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", file["SPDXID"]) for file in files]
    relationships += [(file["SPDXID"], "GENERATED_FROM", source["SPDXID"]) for file in made]
    relationships += [
        (one["SPDXID"], relationship, (binding if relationship == "CONTAINED_BY" else source)["SPDXID"])
        for one, relationship in cpp
    ]
    parts = list(in_programs(headers))
    relationships += [
        (part["SPDXID"], "CONTAINED_BY", file["SPDXID"])
        for part in parts
        for file in made
        if file["name"].startswith("ladon-programs-")
    ]
    relationships += [(one["SPDXID"], "OPTIONAL_DEPENDENCY_OF", source["SPDXID"]) for one in cargo]
    relationships += [(one["SPDXID"], relationship, binding["SPDXID"]) for one, relationship in npm]
    created = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"ladon-{version}",
        "documentNamespace": f"{url}/spdx/ladon-{version}-{source['checksums'][0]['checksumValue']}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", created),
            "creators": [AUTHORS, "Tool: ladon-sbom"],
        },
        "packages": files + [one for one, _ in cpp] + parts + cargo + [one for one, _ in npm],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relationships
        ],
    }


def main():
    checkout, folder, url, headers = (
        pathlib.Path(sys.argv[1]),
        pathlib.Path(sys.argv[2]),
        sys.argv[3],
        pathlib.Path(sys.argv[4]),
    )
    archive = next(folder.glob("ladon-*.tar.gz"))
    version = re.fullmatch(r"ladon-(.+)\.tar\.gz", archive.name)[1]
    text = json.dumps(document(checkout, folder, url, version, headers), indent=1)
    (folder / f"ladon-{version}.spdx.json").write_text(text + "\n")


main()
